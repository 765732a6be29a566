//! EasyProfiler: one section per thread, one block per span, in the order of ends.
//!
//! A file starts with the number of its records and with all descriptors. So everything becomes an
//! [`entry::Entry`], is sorted, counted, and then written.

mod entry;
mod points;
mod sections;
mod spans;
mod write;

use std::io::Write;

use traceloom_core::{Result, Source};
use traceloom_easyprofiler::edit::canonical;

use self::{entry::Entries, sections::Sections};
use traceloom_passes::{ArgRows, LAYERS, Need, POINTS, Pass, ROSTER, Target, Writer, add_loss};

pub(crate) static TARGET: Target = Target {
    about: "EasyProfiler's own viewer and converter: times in nanoseconds",
    needs: &[ROSTER, LAYERS, POINTS, &[Need::of::<ArgRows<'_>>()]],
    writer: Writer::Pass(write),
    ..Target::of_format(&traceloom_easyprofiler::FORMAT)
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    if TARGET.variant(None)? == pass.variant {
        return write_latest(pass, out);
    }
    // Older versions hold less; the format's own conversion handles that.
    let latest = Source::written(|out| write_latest(pass, out))?;
    let reading = traceloom_core::Options::default().with_limits(pass.options.limits.clone());
    let edited = canonical(&latest, out, Some(pass.variant), &reading)?;
    add_loss(&mut pass.loss, &edited.loss);
    Ok(())
}

fn write_latest(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let sections = Sections::new(&pass.roster, &mut pass.loss);
    let mut file = Draft { sections, entries: Entries::new(&pass.options.limits) };
    spans::push(pass, &mut file)?;
    points::push(pass, &mut file)?;
    write::write(file, pass, out)
}

/// The file to be written: its sections, and their entries.
struct Draft {
    sections: Sections,
    entries: Entries,
}
