//! Pynytprof: sums of lines, and of calls from sub to sub.
//!
//! The document's layout holds no single call and no name of a file. Sums that a trace has of its own are taken; for
//! others they are made of the spans.

mod figures;
mod walk;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource};
use traceloom_nytprof::edit::level_of;

use self::figures::Figures;
use crate::nytprof::from_tables::header::Facts;
use traceloom_passes::{Descriptor, Gathered, Need, Options, SPAN_COLUMNS, Target, Timeline, Variant};

/// Pynytprof.
#[derive(Debug)]
pub(crate) struct Pynytprof;

/// As the list of targets has it.
pub(crate) static TARGET: &dyn Target = &Pynytprof;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "pynytprof",
    name: "Pynytprof",
    about: "the layout of Pynytprof's document: sums of lines and calls; Devel::NYTProf does not load it",
    extensions: &["pynytprof"],
    variants: &[
        Variant { id: "document", about: "as its document says, not compressed" },
        Variant { id: "zlib", about: "the same, compressed at level 6; zlib0 to zlib9 choose the level" },
    ],
    needs: &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Attributes, &[]),
        Need::of(Table::Processes, &[]),
        Need::of(Table::Threads, &[]),
        Need::of(Table::Definitions, &["kind", "name", "line"]),
        Need::by_begin(Table::Spans, SPAN_COLUMNS),
        // Those of a profile are made of its calls.
        Need::of(Table::Frames, &["line"]),
        Need::of(Table::Stacks, &["depth"]),
        Need::of(Table::LineTimes, &[]),
        Need::of(Table::Calls, &[]),
    ],
    is_text: false,
};

impl Target for Pynytprof {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss> {
        let level = level_of(options.variant.as_deref().unwrap_or("document"))?;
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let timeline = Timeline::new(&gathered.roster);
        let facts = Facts::read(source, &mut gathered, &options.limits, &mut loss)?;
        let mut figures = Figures::new(options.limits.entries);
        figures.take_subs(source, &mut gathered)?;
        let has_own = figures.take_sums(source, &mut gathered, options, &mut loss)?;
        walk::add(&mut gathered, &has_own, &mut figures, &options.limits, &mut loss)?;
        figures.write(&facts, &mut gathered, &timeline, level, out, &mut loss)?;
        Ok(loss)
    }
}
