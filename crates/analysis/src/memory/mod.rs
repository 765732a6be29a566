//! Memory: usage over time, allocation sites, and leaks.
//!
//! Two passes over the tables: the first finds the peak, the second finds the blocks that were alive then.

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

/// Options of the analysis.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A time besides the peak for which to list live blocks.
    pub at_ns: Option<i64>,
    /// Number of points of the usage curve.
    pub points: usize,
    /// Memory limit for sorting events, in bytes; in a longer trace, neighboring events are merged.
    pub order_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { at_ns: None, points: 100, order_bytes: 256 << 20 }
    }
}

/// Analyzes all allocations of a source.
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
