//! What statistics are asked for.

use traceloom_core::TimeRange;

/// How to count.
#[derive(Clone, Debug)]
pub struct Options {
    /// What tells groups apart, besides the name.
    pub by: Vec<By>,
    /// Only spans that start in it.
    pub range: TimeRange,
    /// Only what has one of these names; all where none is given.
    pub names: Vec<String>,
    /// Order of the rows, the largest first.
    pub sort: Sort,
    /// A name whose durations are wanted as a histogram.
    pub histogram: Option<String>,
    /// How many of the first rows get a small histogram of their durations.
    pub histograms: usize,
    /// A value and the spans that it is told of.
    pub relation: Option<Pairing>,
    /// Bytes that samples for quantiles may take; beyond it quantiles are estimated.
    pub sample_bytes: usize,
    /// Groups that are told apart; what comes later is counted together.
    pub groups: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            by: Vec::new(),
            range: TimeRange::ALL,
            names: Vec::new(),
            sort: Sort::SelfTime,
            histogram: None,
            histograms: 0,
            relation: None,
            sample_bytes: 512 << 20,
            groups: 1 << 20,
        }
    }
}

impl Options {
    /// Whether spans of a name count.
    pub(super) fn takes_name(&self, name: Option<&str>) -> bool {
        self.names.is_empty() || name.is_some_and(|name| self.names.iter().any(|one| one == name))
    }

    /// Only the names tell spans apart, and all of them count.
    pub(super) fn is_plain(&self) -> bool {
        self.by.is_empty() && self.range.is_all() && self.names.is_empty() && self.relation.is_none()
    }

    pub(crate) fn has(&self, by: By) -> bool {
        self.by.contains(&by)
    }
}

/// What tells groups apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// `block`, `call`, `scope`, `frame`, `range`.
    Category,
    /// Source file.
    File,
    /// The frame around it: a `frame` of the trace, or else the outermost span of its thread.
    Frame,
    /// Source file and line.
    Line,
    /// The name of the span around it.
    Parent,
    /// Its thread.
    Thread,
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sort {
    /// Number of spans.
    Calls,
    /// Longest span.
    Max,
    /// Mean duration.
    Mean,
    /// In the order of the alphabet.
    Name,
    /// Median.
    P50,
    /// 95 of 100 are not longer.
    P95,
    /// 99 of 100 are not longer.
    P99,
    /// Time without what is inside.
    SelfTime,
    /// Time with what is inside.
    Total,
}

/// Which values are compared with which durations.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// Name of the value.
    pub value: String,
    /// Name of the spans.
    pub span: String,
}
