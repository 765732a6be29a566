//! EasyProfiler: a section a thread, a block a span, in the order of ends.
//!
//! A file tells how much is in it before it has any of it, and all descriptors come first. So everything becomes an
//! [`entry::Entry`], is sorted, counted, and then written.

mod entry;
mod points;
mod sections;
mod spans;
mod write;

use std::io::{BufWriter, Write};

use traceloom_core::{Loss, Result, Source};
use traceloom_easyprofiler::edit::canonical;
use traceloom_model::Table;

use self::{entry::Entries, sections::Sections};
use traceloom_passes::{
    ArgRows, COUNTERS, Descriptor, EVENTS, LOGS, Need, Pass, Request, SpanRows, SwitchRows, Target, add_loss,
};

/// EasyProfiler.
#[derive(Debug)]
pub(crate) struct EasyProfiler;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_easyprofiler::FORMAT,
    "EasyProfiler's own viewer and converter: times in nanoseconds",
    &[
        Need::shown(Table::Traces),
        Need::shown(Table::Processes),
        Need::shown(Table::Threads),
        Need::of::<SpanRows<'_>>(),
        Need::of::<SwitchRows<'_>>(),
        EVENTS,
        COUNTERS,
        LOGS,
        Need::of::<ArgRows<'_>>(),
    ],
);

impl Target for EasyProfiler {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        if DESCRIPTOR.variant(None)? == request.variant {
            return write_latest(request, out);
        }
        // Older versions hold less, and the format's own conversion knows what.
        let file = tempfile::tempfile()?;
        let mut latest = BufWriter::new(&file);
        let mut loss = write_latest(request, &mut latest)?;
        latest.into_inner().map_err(|error| error.into_error())?;
        let reading = traceloom_core::Options::default().with_limits(request.options.limits.clone());
        let edited = canonical(&Source::file(file), out, Some(request.variant), &reading)?;
        add_loss(&mut loss, &edited.loss);
        Ok(loss)
    }
}

fn write_latest(request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
    let mut pass = Pass::new(request, &DESCRIPTOR)?;
    let sections = Sections::new(&pass.roster, &mut pass.loss);
    let mut file = Draft { sections, entries: Entries::new(&pass.options.limits) };
    spans::push(&mut pass, &mut file)?;
    points::push(&mut pass, &mut file)?;
    write::write(file, &mut pass, out)?;
    Ok(pass.loss)
}

/// The file to be: its sections, and the entries of each.
struct Draft {
    sections: Sections,
    entries: Entries,
}
