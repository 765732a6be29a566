//! What is known about the memory of a trace.

use serde::Serialize;

use super::sites::StackKey;

/// Everything that [`super::memory`] finds out.
#[derive(Debug, Default)]
pub struct Report {
    /// Sums over the whole trace.
    pub totals: Totals,
    /// Usage over time.
    pub curve: Vec<Curve>,
    /// The most that was in use, and what that was.
    pub peak: Moment,
    /// What was in use at the time that was asked for.
    pub at: Option<Moment>,
    /// Every site that allocated, the most bytes first.
    pub sites: Vec<Site>,
    /// How long what was freed had lived.
    pub lifetimes: Vec<Lifetimes>,
    /// Whether the tracer knows no addresses, so that fates cannot be known and only growth can be shown.
    pub is_growth_only: bool,
    /// Whether there were too many events to put each in order: the peak is a lower bound then.
    pub is_coarse: bool,
}

/// Sums over a trace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MemoryTotals"))]
pub struct Totals {
    /// Allocations, and their bytes.
    pub allocations: u64,
    /// Bytes of all allocations.
    pub allocated_bytes: u64,
    /// Frees, matched or not.
    pub frees: u64,
    /// Bytes that frees gave back.
    pub freed_bytes: u64,
    /// Allocations that were never freed.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// Addresses that were given out again without a free.
    pub reused: u64,
    /// Frees of what was freed before.
    pub double_frees: u64,
    /// Frees of what the trace never saw taken.
    pub unknown_frees: u64,
    /// Allocations that the very next event freed.
    pub temporary: u64,
    /// Collections of a garbage collector.
    pub collections: u64,
    /// First time.
    pub first_ns: i64,
    /// Last time.
    pub last_ns: i64,
}

impl Totals {
    /// Bytes allocated in a second.
    pub fn churn_bytes_per_second(&self) -> f64 {
        let seconds = self.last_ns.saturating_sub(self.first_ns).max(0) as f64 / 1e9;
        if seconds > 0.0 { self.allocated_bytes as f64 / seconds } else { 0.0 }
    }
}

/// One point of the curve: a stretch of time.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MemoryPoint"))]
pub struct Curve {
    /// When it begins.
    pub ts_ns: i64,
    /// In use at its end.
    pub used_bytes: u64,
    /// The most in use during it.
    pub most_bytes: u64,
}

/// What was alive at a time.
#[derive(Debug, Default)]
pub struct Moment {
    /// When.
    pub ts_ns: i64,
    /// In use.
    pub bytes: u64,
    /// Allocations that were alive.
    pub count: u64,
    /// By site: bytes and allocations alive then, the most bytes first; the index is into [`Report::sites`].
    pub sites: Vec<(usize, u64, u64)>,
}

/// All allocations with one stack.
#[derive(Clone, Debug)]
pub struct Site {
    pub(super) key: StackKey,
    /// The innermost frame first; empty where the tracer knows no stack.
    pub stack: Vec<SiteFrame>,
    /// Allocations.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that were never freed.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// The oldest that was never freed: when it was taken.
    pub oldest_live_ns: Option<i64>,
    /// The sum of the lifetimes of those that were freed.
    pub lifetime_ns: u64,
    /// Those that were freed.
    pub freed: u64,
    /// Those that the very next event freed.
    pub temporary: u64,
    /// Their bytes.
    pub temporary_bytes: u64,
    /// Bytes taken in each quarter of the trace.
    pub quarters: [u64; 4],
}

/// One frame of a stack.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SiteFrame {
    /// The function.
    pub function: String,
    /// Its file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
}

/// Lifetimes up to a bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lifetimes {
    /// They are shorter than this.
    pub below_ns: u64,
    /// Allocations that lived so long.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}
