//! The memory report of a trace, as plain data.

use serde::Serialize;

use super::sites::StackKey;

/// The result of [`super::memory`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Sums over the whole trace.
    pub totals: Totals,
    /// Usage over time.
    pub curve: Vec<Curve>,
    /// The peak usage, and the blocks in use then.
    pub peak: Moment,
    /// The blocks in use at the requested time.
    pub at: Option<Moment>,
    /// All allocation sites, most bytes first.
    pub sites: Vec<Site>,
    /// Lifetimes of freed allocations.
    pub lifetimes: Vec<Lifetimes>,
    /// Whether the tracer does not record addresses, so that frees are unknown and only growth can be shown.
    pub is_growth_only: bool,
    /// Whether there were too many events to sort individually; the peak is then a lower bound.
    pub is_coarse: bool,
}

/// Sums over a trace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MemoryTotals"))]
pub struct Totals {
    /// Number of allocations.
    pub allocations: u64,
    /// Bytes of all allocations.
    pub allocated_bytes: u64,
    /// Frees, matched or not.
    pub frees: u64,
    /// Bytes freed.
    pub freed_bytes: u64,
    /// Number of allocations that were never freed.
    pub live: u64,
    /// Bytes that were never freed.
    pub live_bytes: u64,
    /// Number of addresses that were allocated again without a free.
    pub reused: u64,
    /// Frees of blocks that were already freed.
    pub double_frees: u64,
    /// Frees of blocks whose allocation is not in the trace.
    pub unknown_frees: u64,
    /// Number of allocations that the next event freed.
    pub temporary: u64,
    /// Number of garbage collections.
    pub collections: u64,
    /// First timestamp.
    pub first_ns: i64,
    /// Last timestamp.
    pub last_ns: i64,
}

impl Totals {
    /// Bytes allocated per second.
    pub fn churn_bytes_per_second(&self) -> f64 {
        let seconds = self.last_ns.saturating_sub(self.first_ns).max(0) as f64 / 1e9;
        if seconds > 0.0 { self.allocated_bytes as f64 / seconds } else { 0.0 }
    }
}

/// A point of the usage curve, which covers a time range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MemoryPoint"))]
#[non_exhaustive]
pub struct Curve {
    /// Start of the range.
    pub ts_ns: i64,
    /// Bytes in use at the end of the range.
    pub used_bytes: u64,
    /// Maximum bytes in use during the range.
    pub max_bytes: u64,
}

/// The blocks alive at a time.
#[derive(Debug, Default)]
pub struct Moment {
    /// The time.
    pub ts_ns: i64,
    /// Bytes in use.
    pub bytes: u64,
    /// Number of live allocations.
    pub count: u64,
    /// Index into [`Report::sites`], live bytes and live allocations of each site, most bytes first.
    pub sites: Vec<(usize, u64, u64)>,
}

/// All allocations with one stack.
#[derive(Clone, Debug)]
pub struct Site {
    pub(super) key: StackKey,
    /// Frames, innermost first; empty if the tracer recorded no stack.
    pub stack: Vec<SiteFrame>,
    /// Number of allocations.
    pub count: u64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Number of allocations that were never freed.
    pub live: u64,
    /// Bytes that were never freed.
    pub live_bytes: u64,
    /// Time of the oldest allocation that was never freed.
    pub oldest_live_ns: Option<i64>,
    /// The sum of the lifetimes of freed allocations.
    pub lifetime_ns: u64,
    /// Number of freed allocations.
    pub freed: u64,
    /// Number of allocations that the next event freed.
    pub temporary: u64,
    /// Bytes of allocations that the next event freed.
    pub temporary_bytes: u64,
    /// Bytes allocated in each quarter of the trace.
    pub quarters: [u64; 4],
}

/// One frame of a stack.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct SiteFrame {
    /// The function.
    pub function: String,
    /// Source file.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u32>,
}

/// Lifetimes up to a bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Lifetimes {
    /// Upper bound of these lifetimes.
    pub below_ns: u64,
    /// Number of allocations.
    pub count: u64,
    /// Bytes of these allocations.
    pub bytes: u64,
}
