//! EasyProfiler: a section a thread, a block a span, in the order of ends.
//!
//! A file tells how much is in it before it has any of it, and all descriptors come first. So everything becomes an
//! [`entry::Entry`], is sorted, counted, and then written.

mod entry;
mod points;
mod sections;
mod spans;
mod write;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource};

use self::{entry::Entries, sections::Sections};
use traceloom_passes::{COLORED_SPAN_COLUMNS, Descriptor, Gathered, Need, Options, Target, Timeline};

/// EasyProfiler.
#[derive(Debug)]
pub(crate) struct EasyProfiler;

/// As the list of targets has it.
pub(crate) static TARGET: &dyn Target = &EasyProfiler;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "easyprofiler",
    name: "EasyProfiler",
    about: "EasyProfiler's own viewer and converter: a file of version 2.1.0, times in nanoseconds",
    extensions: &["prof"],
    variants: &[],
    needs: &[
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
    is_text: false,
};

impl Target for EasyProfiler {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss> {
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
}
