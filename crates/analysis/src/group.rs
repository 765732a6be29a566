//! The sums of one group of spans.

use traceloom_passes::{Budget, Samples, Sums};

/// Durations and self time of one group.
///
/// All other figures are computed from the durations at the end, so adding a span costs little more than storing its
/// duration.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Number of spans that were not closed and have no time.
    pub(crate) unclosed: u64,
    pub(crate) self_ns: u64,
    pub(crate) samples: Samples,
}

impl Group {
    /// Adds a span.
    #[inline]
    pub(crate) fn add(&mut self, dur_ns: Option<i64>, self_ns: Option<i64>, budget: &mut Budget) {
        match dur_ns {
            Some(dur_ns) => self.add_closed(whole(dur_ns), whole(self_ns.unwrap_or(dur_ns)), budget),
            None => self.unclosed += 1,
        }
    }

    /// Adds a closed span.
    #[inline]
    pub(crate) fn add_closed(&mut self, dur_ns: u64, self_ns: u64, budget: &mut Budget) {
        self.self_ns = self.self_ns.saturating_add(self_ns);
        self.samples.push(dur_ns, budget);
    }

    /// Number, sum, minimum and maximum of the durations.
    pub(crate) fn sums(&self) -> Sums {
        self.samples.sums()
    }

    /// Whether the group is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.unclosed == 0 && self.samples.is_empty()
    }
}

/// A duration; the tables have no negative ones.
#[inline]
pub(crate) fn whole(ns: i64) -> u64 {
    ns.max(0) as u64
}

pub(crate) fn mean(total: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 }
}
