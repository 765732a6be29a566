//! Memlyze: allocations with their stacks, frees, collections; other points in time are markers.
//!
//! The names of the file stand before its events, and events follow in the order of time. So everything becomes an
//! [`item::Item`], names are numbered on the way, and the items go out sorted.

mod item;
mod names;
mod read;
mod write;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_memlyze::raw::Packing;
use traceloom_model::Table;

use self::names::Names;
use traceloom_passes::{Descriptor, Gathered, Need, Request, Target, Timeline};

/// Memlyze.
#[derive(Debug)]
pub(crate) struct Memlyze;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_memlyze::FORMAT,
    "Memlyze's own tools: allocations, frees and collections; events and log entries are markers",
    &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Attributes, &[]),
        Need::of(Table::Processes, &[]),
        Need::of(Table::Threads, &[]),
        Need::of(Table::Definitions, &["kind", "name"]),
        Need::of(Table::Files, &["name"]),
        Need::of(Table::Events, &["ts_ns", "thread_id", "name", "category"]),
        Need::of(Table::Logs, &["ts_ns", "thread_id", "format"]),
        Need::of(Table::Allocations, &[]),
        Need::of(Table::Frees, &[]),
        Need::of(Table::Frames, &[]),
        Need::of(Table::Stacks, &[]),
        Need::of(Table::Args, &[]),
    ],
);

impl Target for Memlyze {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, variant, .. } = *request;
        let packing = if variant == "lz4" { Packing::Blocks } else { Packing::Plain };
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let timeline = Timeline::new(&gathered.roster);
        let mut names = Names::read(source, &mut gathered, options, &mut loss)?;
        let items = read::items(source, &mut gathered, options, &timeline, &mut names, &mut loss)?;
        write::write(items, names, &timeline, packing, out)?;
        Ok(loss)
    }
}
