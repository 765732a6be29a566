//! Pynytprof: sums of lines, and of calls from sub to sub.
//!
//! The document's layout holds no single call and no name of a file. Sums that a trace has of its own are taken; for
//! others they are made of the spans.

mod figures;
mod walk;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use self::figures::Figures;
use crate::nytprof::from_tables::{
    header::Facts,
    lines::LineRows,
    subs::{CallRows, DefinitionRows},
};
use traceloom_passes::{AttributeRows, Descriptor, Need, Pass, Request, SpanRows, Target};

/// Pynytprof.
#[derive(Debug)]
pub(crate) struct Pynytprof;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_nytprof::pynytprof::FORMAT,
    "the layout of Pynytprof's document: sums of lines and calls; Devel::NYTProf does not load it",
    &[
        Need::shown(Table::Traces),
        Need::of::<AttributeRows<'_>>(),
        Need::shown(Table::Processes),
        Need::shown(Table::Threads),
        Need::of::<DefinitionRows<'_>>(),
        Need::of::<SpanRows<'_>>(),
        // Those of a profile are made from its calls.
        Need::shown(Table::Frames),
        Need::shown(Table::Stacks),
        Need::of::<LineRows<'_>>(),
        Need::of::<CallRows<'_>>(),
    ],
);

impl Target for Pynytprof {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let mut pass = Pass::new(request, &DESCRIPTOR)?;
        let facts = Facts::read(&mut pass)?;
        let mut figures = Figures::new(&pass.options.limits);
        figures.take_subs(&mut pass)?;
        let own = figures.take_sums(&mut pass)?;
        walk::add(&mut pass, &own, &mut figures)?;
        figures.write(&facts, &mut pass, out)?;
        Ok(pass.loss)
    }
}
