//! Pynytprof: sums per line, and of calls between subs.
//!
//! The documented layout holds neither single calls nor file names. If a trace has sums, they are used; for other
//! traces they are computed from the spans.

mod figures;
mod walk;

use std::io::Write;

use traceloom_core::Result;

use self::figures::Figures;
use crate::nytprof::from_tables::{SUMS, header::Facts};
use traceloom_passes::{Pass, ROSTER, Target, Writer};

pub(crate) static TARGET: Target = Target {
    about: "the layout of Pynytprof's document: sums of lines and calls; Devel::NYTProf does not load it",
    needs: &[ROSTER, SUMS],
    writer: Writer::Pass(write),
    ..Target::of_format(&traceloom_nytprof::pynytprof::FORMAT)
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let facts = Facts::read(pass)?;
    let mut figures = Figures::new(&pass.options.limits);
    figures.take_subs(pass)?;
    let own = figures.take_sums(pass)?;
    walk::add(pass, &own, &mut figures)?;
    figures.write(&facts, pass, out)
}
