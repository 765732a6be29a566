//! What is added up for one group of spans.

use traceloom_passes::{Budget, Samples, Sums};

/// Durations and own time of one group.
///
/// What else is asked for follows from the durations when all are there: a span costs little more than to keep its
/// duration.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Spans that were not closed, and have no time.
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

    /// Adds a span that was closed.
    #[inline]
    pub(crate) fn add_closed(&mut self, dur_ns: u64, self_ns: u64, budget: &mut Budget) {
        self.self_ns = self.self_ns.saturating_add(self_ns);
        self.samples.push(dur_ns, budget);
    }

    /// Number, sum and reach of the durations.
    pub(crate) fn sums(&self) -> Sums {
        self.samples.sums()
    }

    /// Whether anything is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.unclosed == 0 && self.samples.is_empty()
    }
}

/// A duration; the tables have none below 0.
#[inline]
pub(crate) fn whole(ns: i64) -> u64 {
    ns.max(0) as u64
}

pub(crate) fn mean(total: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 }
}
