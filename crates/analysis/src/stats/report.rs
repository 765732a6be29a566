//! The answer, as plain data.

use super::histogram::Histogram;

/// Statistics of one trace or of several together.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Spans, one row for each group.
    pub spans: Vec<SpanRow>,
    /// Functions as the profiler added them up, where a trace has sums instead of spans.
    pub calls: Vec<CallRow>,
    /// Points in time, by name.
    pub events: Vec<EventRow>,
    /// Values, by name.
    pub values: Vec<ValueRow>,
    /// Threads, the busiest first.
    pub threads: Vec<ThreadRow>,
    /// The durations of the name that was asked for.
    pub histogram: Option<Histogram>,
    /// The values and durations that were asked for.
    pub relation: Option<Relation>,
    /// Time of all spans, without what lies inside others: the whole that shares are parts of.
    pub self_ns: u64,
    /// Spans that were counted together as `(other)`, because there are too many groups.
    pub merged: u64,
}

/// What is known of one group of spans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanRow {
    /// The name.
    pub name: String,
    /// The thread, where it tells groups apart.
    pub thread: Option<String>,
    /// The number of the thread, which stays the same where names are not unique.
    pub tid: Option<u64>,
    /// The source file, where it tells groups apart and is known.
    pub file: Option<String>,
    /// The source line, where it tells groups apart and is known.
    pub line: Option<u32>,
    /// The category, where it tells groups apart; always for frames and ranges.
    pub category: Option<String>,
    /// The name of the span around it, where it tells groups apart and there is one.
    pub parent: Option<String>,
    /// The frame around it, where it tells groups apart and there is one.
    pub frame: Option<FrameOf>,
    /// Spans that were closed.
    pub calls: u64,
    /// Spans that were never closed: they have no time and are in none of the figures.
    pub unclosed: u64,
    /// Time with what lies inside.
    pub total_ns: u64,
    /// Time without.
    pub self_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: Option<f64>,
    /// 95 of 100 are not longer.
    pub p95_ns: Option<f64>,
    /// 99 of 100 are not longer.
    pub p99_ns: Option<f64>,
    /// The longest.
    pub max_ns: u64,
    /// Self time as a part of the self time of all; none for frames and ranges, which lie across the others.
    pub share: Option<f64>,
    /// Whether the quantiles are exact.
    pub is_exact: bool,
    /// Its durations by length, for the first rows if the options ask for it.
    pub histogram: Option<Histogram>,
}

/// One frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FrameOf {
    /// Its number in the trace, from 0.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// When it began.
    pub ts_ns: i64,
}

/// A function with the sums of its profiler.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    /// The function.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Time with what it called.
    pub total_ns: u64,
    /// Time without.
    pub self_ns: u64,
    /// Mean of the total.
    pub mean_ns: f64,
    /// Self time as a part of that of all.
    pub share: f64,
}

/// Points in time of one name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventRow {
    /// The name.
    pub name: String,
    /// What kind of point, in the words of the table.
    pub category: String,
    /// The thread, where it tells groups apart.
    pub thread: Option<String>,
    /// The number of the thread.
    pub tid: Option<u64>,
    /// How many.
    pub count: u64,
}

/// Values of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueRow {
    /// The name.
    pub name: String,
    /// Numbers.
    pub count: u64,
    /// What is no number: texts, and not-a-number.
    pub others: u64,
    /// The least.
    pub min: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// 95 of 100 are not greater.
    pub p95: Option<f64>,
    /// 99 of 100 are not greater.
    pub p99: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// The earliest.
    pub first: Option<f64>,
    /// The latest.
    pub last: Option<f64>,
    /// Whether the quantiles are exact.
    pub is_exact: bool,
}

/// What a thread did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ThreadRow {
    /// Its name, or else its number.
    pub name: String,
    /// Its number.
    pub tid: Option<u64>,
    /// Number of the trace, in the order given.
    pub trace: u32,
    /// Spans on it.
    pub spans: u64,
    /// Time inside of spans.
    pub busy_ns: u64,
    /// How often it was taken off the processor.
    pub switches: u64,
    /// How long it was off.
    pub off_cpu_ns: u64,
}

/// Values against durations.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Values that lie in a span.
    pub pairs: u64,
    /// Values and spans that there was no room for.
    pub left_out: u64,
    /// What connects them; none where there are too few, or all values are the same.
    pub fit: Option<Fit>,
    /// Some of the pairs, spread evenly over all of them: enough for a picture.
    pub points: Vec<Pair>,
}

/// A value, and the span that it lies in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Number of the trace, in the order given.
    pub trace: u32,
    /// When the span began.
    pub ts_ns: i64,
    /// How long it took.
    pub dur_ns: i64,
    /// The value.
    pub value: f64,
}

/// How durations depend on values.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Pearson's coefficient, from -1 to 1.
    pub correlation: f64,
    /// Nanoseconds for each unit of the value, on the straight line of least squares.
    pub slope_ns: f64,
    /// Where that line begins.
    pub intercept_ns: f64,
    /// The law that fits best.
    pub complexity: Complexity,
    /// The part of the scatter that the law explains.
    pub r2: Option<f64>,
}

/// How durations grow with a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Complexity {
    /// Not at all.
    Constant,
    /// With its cube.
    Cubic,
    /// They double with each unit.
    Exponential,
    /// In proportion.
    Linear,
    /// With the value times its logarithm.
    LinearLogarithmic,
    /// With its logarithm.
    Logarithmic,
    /// With its square.
    Quadratic,
}

impl Complexity {
    /// As it is written.
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
