//! Options of the statistics.

use traceloom_core::TimeRange;

use crate::choice::choice;

/// Options of the statistics.
#[derive(Clone, Debug)]
pub struct Options {
    /// Grouping keys in addition to the name.
    pub by: Vec<By>,
    /// Only spans that start in this range.
    pub range: TimeRange,
    /// Only rows with one of these names; all if empty.
    pub names: Vec<String>,
    /// Sort key of the rows, largest first.
    pub sort: Sort,
    /// Max number of rows of spans.
    pub rows: usize,
    /// No rows of frames and ranges, which overlap other spans, nor of spans that were never closed.
    pub parts_only: bool,
    /// A name whose durations are shown as a histogram.
    pub histogram: Option<String>,
    /// Number of first rows that get a small histogram of their durations.
    pub histograms: usize,
    /// A value and the spans to correlate it with.
    pub relation: Option<Pairing>,
    /// Memory limit for the samples of percentiles, in bytes; beyond it, percentiles are estimated.
    pub sample_bytes: usize,
    /// Max number of groups; later ones are counted together.
    pub groups: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            by: Vec::new(),
            range: TimeRange::ALL,
            names: Vec::new(),
            sort: Sort::SelfTime,
            rows: usize::MAX,
            parts_only: false,
            histogram: None,
            histograms: 0,
            relation: None,
            sample_bytes: 512 << 20,
            groups: 1 << 18,
        }
    }
}

impl Options {
    /// Whether spans of a name count.
    pub(super) fn takes_name(&self, name: Option<&str>) -> bool {
        self.names.is_empty() || name.is_some_and(|name| self.names.iter().any(|one| one == name))
    }

    /// Max number of names that are distinguished: those beyond the max number of groups share one.
    pub(super) fn most_names(&self) -> usize {
        let is_any = self.names.is_empty() && self.relation.is_none() && self.histogram.is_none();
        if is_any { self.groups } else { usize::MAX }
    }

    /// Whether spans are grouped only by name, and all of them count.
    pub(super) fn is_plain(&self) -> bool {
        self.by.is_empty() && self.range.is_all() && self.names.is_empty() && self.relation.is_none()
    }

    pub(crate) fn has(&self, by: By) -> bool {
        self.by.contains(&by)
    }
}

choice! {
    /// Grouping keys.
    pub enum By {
        /// block, call, scope, frame or range.
        Category "category",
        /// Source file.
        File "file",
        /// Enclosing frame, or outermost span of the thread.
        Frame "frame",
        /// Source file and line.
        Line "line",
        /// Name of the enclosing span.
        Parent "parent",
        /// Thread.
        Thread "thread",
    }
}

choice! {
    /// The sort key of rows.
    pub enum Sort {
        /// Number of calls.
        Calls "calls",
        /// Longest duration.
        Max "max",
        /// Mean duration.
        Mean "mean",
        /// Name, in alphabetical order.
        Name "name",
        /// Median.
        P50 "p50",
        /// 95th percentile.
        P95 "p95",
        /// 99th percentile.
        P99 "p99",
        /// Self time.
        SelfTime "self",
        /// Total time.
        Total "total",
    }
}

/// The values and durations to correlate.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// Name of the value.
    pub value: String,
    /// Name of the spans.
    pub span: String,
}
