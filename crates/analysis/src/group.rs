//! What is added up for one group of spans.

use arrow_array::{Array, RecordBatch, cast::AsArray, types::Int64Type};

use crate::quantile::{Budget, Samples};

/// Calls, times and samples of one group.
#[derive(Debug)]
pub(crate) struct Group {
    /// Spans that were closed.
    pub(crate) calls: u64,
    /// Spans that were not, and have no time.
    pub(crate) unclosed: u64,
    pub(crate) total_ns: u64,
    pub(crate) self_ns: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) samples: Samples,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            calls: 0,
            unclosed: 0,
            total_ns: 0,
            self_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            samples: Samples::default(),
        }
    }
}

impl Group {
    /// Adds a span.
    #[inline]
    pub(crate) fn add(&mut self, dur_ns: Option<i64>, self_ns: Option<i64>, budget: &mut Budget) {
        let Some(dur_ns) = dur_ns else {
            self.unclosed += 1;
            return;
        };
        self.add_closed(whole(dur_ns), whole(self_ns.unwrap_or(dur_ns)), budget);
    }

    /// Adds a span that was closed.
    #[inline]
    pub(crate) fn add_closed(&mut self, dur_ns: u64, self_ns: u64, budget: &mut Budget) {
        self.calls += 1;
        self.total_ns = self.total_ns.saturating_add(dur_ns);
        self.self_ns = self.self_ns.saturating_add(self_ns);
        self.min_ns = self.min_ns.min(dur_ns);
        self.max_ns = self.max_ns.max(dur_ns);
        self.samples.push(dur_ns, budget);
    }

    /// Mean of the closed spans.
    pub(crate) fn mean_ns(&self) -> f64 {
        mean(self.total_ns, self.calls)
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

/// A column of numbers of which none is NULL.
pub(crate) fn dense<'b>(batch: &'b RecordBatch, column: &str) -> Option<&'b [i64]> {
    let array = batch.column_by_name(column)?.as_primitive_opt::<Int64Type>()?;
    (array.null_count() == 0).then(|| &**array.values())
}
