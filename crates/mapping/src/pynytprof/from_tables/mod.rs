//! Pynytprof: sums of lines, and of calls from sub to sub.
//!
//! The document's layout holds no single call and no name of a file. Sums that a trace has of its own are taken; for
//! others they are made of the spans.

mod figures;
mod walk;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::Table;
use traceloom_nytprof::pynytprof::edit::level_of;

use self::figures::Figures;
use crate::nytprof::from_tables::header::Facts;
use traceloom_passes::{Descriptor, Gathered, Need, Request, SPAN_COLUMNS, Target, Timeline};

/// Pynytprof.
#[derive(Debug)]
pub(crate) struct Pynytprof;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_nytprof::pynytprof::FORMAT,
    "the layout of Pynytprof's document: sums of lines and calls; Devel::NYTProf does not load it",
    &[
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
);

impl Target for Pynytprof {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, .. } = *request;
        let level = level_of(request.variant)?;
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
