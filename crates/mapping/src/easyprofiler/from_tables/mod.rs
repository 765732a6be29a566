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
use traceloom_passes::{COLORED_SPAN_COLUMNS, Descriptor, Gathered, Need, Request, Target, Timeline, add_loss};

/// EasyProfiler.
#[derive(Debug)]
pub(crate) struct EasyProfiler;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_easyprofiler::FORMAT,
    "EasyProfiler's own viewer and converter: times in nanoseconds",
    &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Processes, &[]),
        Need::of(Table::Threads, &[]),
        Need::by_begin(Table::Spans, COLORED_SPAN_COLUMNS),
        Need::by_begin(Table::Switches, &[]),
        Need::of(Table::Events, &["ts_ns", "thread_id", "span_id", "name", "category"]),
        Need::of(Table::Counters, &["ts_ns", "thread_id", "name", "value_id", "value", "text"]),
        Need::of(Table::Logs, &["ts_ns", "thread_id", "level_name", "file", "line", "format", "message"]),
        Need::of(Table::Args, &[]),
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
    let Request { source, options, .. } = *request;
    let mut loss = Loss::default();
    let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
    let timeline = Timeline::new(&gathered.roster);
    let mut sections = Sections::new(&gathered.roster, &mut loss);
    let mut entries = Entries::new(&options.limits);
    spans::push(&mut gathered, &timeline, &mut sections, &mut entries, &mut loss)?;
    points::push(source, &mut gathered, options, &timeline, &mut sections, &mut entries, &mut loss)?;
    write::write(entries, &sections, &mut gathered, &mut loss, out)?;
    Ok(loss)
}
