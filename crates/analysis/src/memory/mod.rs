//! Memory: usage over time, allocation sites, and leaks.
//!
//! The first pass over the tables finds the peak, and usually also the blocks that were alive then. A second pass finds
//! them in other cases, and what else depends on the whole trace: blocks alive at a requested time, and double frees.

mod alive;
mod collect;
mod extract;
mod owners;
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
    /// Memory limit for sorting events, in bytes; in a longer trace, neighboring events are merged. The sites of the
    /// events take up to a quarter more.
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

/// The second pass, if it is needed, after the first has filled `collected`.
pub(crate) fn complete(
    source: &dyn TableSource,
    filter: &Filter,
    collected: Collected,
    options: &Options,
) -> Result<Report> {
    let (mut report, peak, at_peak) = collected.finish(options);
    let has_unmatched = report.totals.unknown_frees > 0;
    match at_peak {
        Some(at_peak) if options.at_ns.is_none() && !has_unmatched => report.peak = at_peak.finish(&report),
        _ => {
            let mut alive = Alive::new(peak, options.at_ns, has_unmatched);
            source.pour(filter, &mut alive)?;
            alive.finish(&mut report);
        }
    }
    Ok(report)
}
