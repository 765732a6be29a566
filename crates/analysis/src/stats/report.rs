//! The report, as plain data.

use super::histogram::Histogram;

/// Statistics of one trace or of several together.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Spans, one row per group, up to [`Options::rows`](super::Options::rows).
    pub spans: Vec<SpanRow>,
    /// Number of rows of spans without that limit.
    pub all_spans: usize,
    /// Number of spans that were never closed.
    pub unclosed: u64,
    /// Functions with the totals of the profiler, if a trace has sums instead of spans.
    pub calls: Vec<CallRow>,
    /// Points in time, by name.
    pub events: Vec<EventRow>,
    /// Values, by name.
    pub values: Vec<ValueRow>,
    /// Threads, busiest first.
    pub threads: Vec<ThreadRow>,
    /// The histogram of the requested name.
    pub histogram: Option<Histogram>,
    /// The requested correlation of values and durations.
    pub relation: Option<Relation>,
    /// Self time of all spans; shares are relative to it.
    pub self_ns: u64,
    /// Spans that were counted together as `(other)`, because there are too many groups.
    pub merged: u64,
}

/// The sums of all spans.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SpanSums {
    /// Number of distinct names.
    pub names: usize,
    /// Number of closed spans.
    pub closed: u64,
    /// Number of spans that were never closed.
    pub unclosed: u64,
    /// Total time of all spans.
    pub total_ns: u64,
}

/// The figures of one group of spans.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SpanRow {
    /// The name.
    pub name: String,
    /// The thread, if it is a grouping key.
    pub thread: Option<String>,
    /// The id of the thread, which is unique even if names are not.
    pub tid: Option<u64>,
    /// The source file, if it is a grouping key and known.
    pub file: Option<String>,
    /// The source line, if it is a grouping key and known.
    pub line: Option<u32>,
    /// The category, if it is a grouping key; always present for frames and ranges.
    pub category: Option<String>,
    /// The name of the enclosing span, if it is a grouping key and there is one.
    pub parent: Option<String>,
    /// The enclosing frame, if it is a grouping key and there is one.
    pub frame: Option<FrameOf>,
    /// Number of closed spans.
    pub calls: u64,
    /// Number of spans that were never closed, which have no time and are not part of the other figures.
    pub unclosed: u64,
    /// Total time.
    pub total_ns: u64,
    /// Self time.
    pub self_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: Option<f64>,
    /// 95th percentile.
    pub p95_ns: Option<f64>,
    /// 99th percentile.
    pub p99_ns: Option<f64>,
    /// The longest.
    pub max_ns: u64,
    /// Share of the self time of all spans; `None` for frames and ranges, which overlap the other spans.
    pub share: Option<f64>,
    /// Whether the percentiles are exact.
    pub is_exact: bool,
    /// Histogram of its durations, for the first rows if requested by the options.
    pub histogram: Option<Histogram>,
}

/// One frame.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FrameOf {
    /// Index in the trace, from 0.
    pub number: u32,
    /// Name of the frame.
    pub name: String,
    /// Start time.
    pub ts_ns: i64,
}

/// A function with the totals of its profiler.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallRow {
    /// The function.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Total time.
    pub total_ns: u64,
    /// Self time.
    pub self_ns: u64,
    /// Mean total time per call.
    pub mean_ns: f64,
    /// Share of the self time of all functions.
    pub share: f64,
}

/// Points in time of one name.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EventRow {
    /// The name.
    pub name: String,
    /// The category from the table.
    pub category: String,
    /// The thread, if it is a grouping key.
    pub thread: Option<String>,
    /// The id of the thread.
    pub tid: Option<u64>,
    /// Number of points.
    pub count: u64,
}

/// Values of one name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueRow {
    /// The name.
    pub name: String,
    /// Number of numeric values.
    pub count: u64,
    /// Number of other values: text and NaN.
    pub others: u64,
    /// The smallest.
    pub min: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
    /// The first value.
    pub first: Option<f64>,
    /// The last value.
    pub last: Option<f64>,
    /// Whether the percentiles are exact.
    pub is_exact: bool,
}

/// The activity of a thread.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ThreadRow {
    /// Name of the thread, or else its id.
    pub name: String,
    /// Id of the thread.
    pub tid: Option<u64>,
    /// Index of the trace, in the order given.
    pub trace: u32,
    /// Number of threads in this row: more than 1 only for the row of all threads that are not listed one by one.
    pub threads: u64,
    /// Number of spans.
    pub spans: u64,
    /// Time inside spans.
    pub busy_ns: u64,
    /// Number of times the thread was taken off the processor; `None` if the trace has no switches.
    pub switches: Option<u64>,
    /// Time off the processor; `None` if the trace has no switches.
    pub off_cpu_ns: Option<u64>,
}

impl ThreadRow {
    /// Whether the thread has spans or switches.
    pub fn is_active(&self) -> bool {
        self.spans > 0 || self.switches > Some(0)
    }
}

/// Correlation of values and durations.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Number of values inside a span.
    pub pairs: u64,
    /// Number of values and spans that did not fit into memory.
    pub left_out: u64,
    /// The fitted law; `None` if there are too few values or all are equal.
    pub fit: Option<Fit>,
    /// A subset of the pairs at regular intervals, for plotting.
    pub points: Vec<Pair>,
}

/// A value and its enclosing span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Index of the trace, in the order given.
    pub trace: u32,
    /// Start time of the span.
    pub ts_ns: i64,
    /// Duration of the span.
    pub dur_ns: i64,
    /// The value.
    pub value: f64,
}

/// How durations depend on values.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// Pearson's coefficient, from -1 to 1.
    pub correlation: f64,
    /// Nanoseconds per unit of the value, on the least-squares line.
    pub slope_ns: f64,
    /// Intercept of that line.
    pub intercept_ns: f64,
    /// The best-fitting law.
    pub complexity: Complexity,
    /// The share of the variance that the law explains.
    pub r2: Option<f64>,
}

/// How durations grow with a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Complexity {
    /// Constant.
    Constant,
    /// Cubic.
    Cubic,
    /// Exponential: durations double with each unit.
    Exponential,
    /// Linear.
    Linear,
    /// Value times its logarithm.
    LinearLogarithmic,
    /// Logarithmic.
    Logarithmic,
    /// Quadratic.
    Quadratic,
}

impl Complexity {
    /// The law in O notation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Constant => "O(1)",
            Self::Cubic => "O(n³)",
            Self::Exponential => "O(2ⁿ)",
            Self::Linear => "O(n)",
            Self::LinearLogarithmic => "O(n log n)",
            Self::Logarithmic => "O(log n)",
            Self::Quadratic => "O(n²)",
        }
    }
}
