//! Memory: how much was in use, who took it, what never came back.
//!
//! Two passes over the tables: the first finds the peak, the second what was alive then.

mod alive;
mod collect;
mod extract;
mod report;
mod sites;
mod stacks;
mod usage;

use traceloom_core::Result;
use traceloom_model::{Filter, TableSource};

use self::alive::Alive;
pub(crate) use self::collect::Collected;
pub use self::{
    extract::{AliveSite, Extract, MemoryLifetimes, MemoryMoment, MemoryReport, MemorySite},
    report::{Curve, Lifetimes, Moment, Report, Site, SiteFrame, Totals},
    stacks::{Held, stacks},
};

/// What to find out.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A time of which to say what was alive, besides the peak.
    pub at_ns: Option<i64>,
    /// Points of the curve of usage.
    pub points: usize,
    /// Most bytes that may be used to put events in order; a longer trace has neighboring events added together.
    pub order_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { at_ns: None, points: 100, order_bytes: 256 << 20 }
    }
}

/// Looks at all allocations of a source.
pub fn memory(source: &dyn TableSource, filter: &Filter, options: &Options) -> Result<Report> {
    let mut collected = Collected::new(options);
    source.pour(filter, &mut collected)?;
    complete(source, filter, collected, options)
}

/// The second pass, after the first has filled `collected`.
pub(crate) fn complete(
    source: &dyn TableSource,
    filter: &Filter,
    collected: Collected,
    options: &Options,
) -> Result<Report> {
    let (mut report, usage) = collected.finish(options);
    let mut alive = Alive::new(&usage, options.at_ns, report.totals.unknown_frees > 0);
    source.pour(filter, &mut alive)?;
    alive.finish(&mut report);
    Ok(report)
}
