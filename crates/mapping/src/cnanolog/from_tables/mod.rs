//! CNanoLog: a log entry a row; spans are two, one when they begin and one when they end.
//!
//! The file tells how many entries it has before the first, and what their sites say after the last. So entries are
//! laid out as bytes, wait in a [`traceloom_core::Store`], and go out in the order of time.

mod entry;
mod points;
mod sites;
mod spans;
mod values;
mod write;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use self::entry::Entries;
use traceloom_passes::{Descriptor, Gathered, Need, Request, Target};

/// CNanoLog.
#[derive(Debug)]
pub(crate) struct Cnanolog;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_cnanolog::FORMAT,
    "CNanoLog's decompressor and `traceloom log`: log entries; events, values and spans as such",
    &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Attributes, &["key"]),
        Need::of(Table::Processes, &[]),
        Need::of(Table::Threads, &[]),
        Need::of(Table::Definitions, &["kind"]),
        Need::by_begin(
            Table::Spans,
            &[
                "parent_id",
                "thread_id",
                "depth",
                "ts_ns",
                "dur_ns",
                "name",
                "category",
                "definition_id",
                "file",
                "line",
            ],
        ),
        Need::of(Table::Events, &["ts_ns", "thread_id", "name", "category", "definition_id"]),
        Need::of(Table::Counters, &["ts_ns", "thread_id", "name", "value", "text"]),
        Need::of(Table::Logs, &[]),
        Need::of(Table::Args, &[]),
    ],
);

impl Target for Cnanolog {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, variant, .. } = *request;
        let is_document = variant == "document";
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let mut entries = Entries::new(&gathered, is_document, &options.limits);
        spans::push(&mut gathered, &mut entries, &mut loss)?;
        points::push(source, &mut gathered, options, &mut entries, &mut loss)?;
        points::count_rest(source, &mut gathered, &entries, &mut loss)?;
        write::write(entries, &gathered.roster, &mut gathered.names, out, &mut loss)?;
        Ok(loss)
    }
}
