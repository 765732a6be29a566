//! A summary, as plain data.

use std::fmt;

use serde::Serialize;

use crate::{
    advise::{Advice, SlowSpan},
    memory::{Curve, SiteFrame},
};

/// The most important facts about one trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Summary {
    /// Facts about the file.
    #[serde(flatten)]
    pub about: About,
    /// Problems in the file.
    pub health: Health,
    /// The main finding in one sentence.
    pub verdict: String,
    /// Problems of the program, most serious first.
    pub findings: Vec<Advice>,
    /// The names with the most self time.
    pub names: Vec<NameRow>,
    /// Number of all names.
    pub all_names: usize,
    /// Self time of all names; shares are relative to it.
    pub self_ns: u64,
    /// The busiest threads.
    pub threads: Vec<ThreadUse>,
    /// Slow spans with their causes, or else the longest frames.
    pub slow: Vec<SlowSpan>,
    /// Memory, if the trace has allocations.
    pub memory: Option<MemorySummary>,
    /// Log lines, if the trace has any.
    pub logs: Option<LogSummary>,
}

/// Facts about a file.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AboutTrace"))]
pub struct About {
    /// Path of the file.
    pub file: String,
    /// Id of the format.
    pub format: String,
    /// Name of the format.
    pub format_name: String,
    /// The version of the format.
    pub version: String,
    /// The program that wrote the file, if known.
    pub producer: Option<String>,
    /// Decompressed size.
    pub bytes: u64,
    /// The clock of the timestamps; `count` means that one unit is shown as one nanosecond.
    pub clock: String,
    /// The first timestamp.
    pub first_ns: Option<i64>,
    /// The last timestamp.
    pub last_ns: Option<i64>,
    /// Time from the first timestamp to the last.
    pub duration_ns: Option<u64>,
    /// Rows of each table that has any.
    pub counts: Vec<RowCount>,
}

/// Rows of one table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct RowCount {
    /// The name of the table.
    pub table: &'static str,
    /// Number of rows.
    pub rows: u64,
}

impl fmt::Display for RowCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.table.replace('_', " ");
        let one = words.strip_suffix("es").filter(|one| one.ends_with('s')).or(words.strip_suffix('s'));
        write!(f, "{} {}", self.rows, one.filter(|_| self.rows == 1).unwrap_or(&words))
    }
}

/// Whether the results are reliable.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Badge {
    /// No problems, or only harmless ones.
    #[default]
    Fine,
    /// The format's own tool rejects the file.
    Damaged,
    /// Records are missing.
    DataMissing,
}

impl Badge {
    /// The text for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Damaged => "damaged",
            Self::DataMissing => "data missing",
        }
    }
}

/// The problems of a file.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Health {
    /// The verdict on the file.
    pub badge: Badge,
    /// The first problem of each kind, worst first.
    pub problems: Vec<Problem>,
}

/// Problems of one kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Problem {
    /// The rule, such as `easyprofiler.count-mismatch`.
    pub code: String,
    /// `note`, `warning` or `error`.
    pub severity: String,
    /// Byte offset of the first problem.
    pub offset: Option<u64>,
    /// Message of the first problem.
    pub message: String,
    /// Number of problems of this kind that were kept.
    pub count: u64,
}

/// Spans or functions of one name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NameSummary"))]
#[non_exhaustive]
pub struct NameRow {
    /// The name.
    pub name: String,
    /// Number of calls that ended.
    pub calls: u64,
    /// Total time.
    pub total_ns: u64,
    /// Self time.
    pub self_ns: u64,
    /// Self time as a share of the self time of all names.
    pub share: f64,
    /// The mean duration.
    pub mean_ns: f64,
    /// Percentiles and histogram, unless the profiler recorded only sums.
    pub durations: Option<NameDurations>,
}

/// The distribution of the durations of a name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct NameDurations {
    /// The shortest.
    pub min_ns: u64,
    /// The median.
    pub p50_ns: f64,
    /// The 95th percentile.
    pub p95_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
    /// The longest.
    pub max_ns: u64,
    /// Histogram from the shortest to the longest duration; empty if all are equal.
    pub bins: Vec<u64>,
    /// Whether bins are logarithmic.
    pub is_logarithmic: bool,
}

/// The activity of a thread.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ThreadUse {
    /// Name of the thread, or else its id.
    pub name: String,
    /// Id of the thread.
    pub tid: Option<u64>,
    /// Number of spans.
    pub spans: u64,
    /// Time inside spans.
    pub busy_ns: u64,
    /// Time off the processor, as far as recorded.
    pub off_cpu_ns: u64,
}

/// Memory in use.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct MemorySummary {
    /// Number of allocations.
    pub allocations: u64,
    /// Bytes allocated.
    pub allocated_bytes: u64,
    /// Peak usage.
    pub peak_bytes: u64,
    /// Time of the peak.
    pub peak_ns: i64,
    /// Number of allocations that were never freed.
    pub live: u64,
    /// Bytes that were never freed.
    pub live_bytes: u64,
    /// Frees of blocks that were already freed.
    pub double_frees: u64,
    /// Whether the tracer does not record addresses, so that nothing is known about frees.
    pub is_growth_only: bool,
    /// Memory in use over time.
    pub curve: Vec<Curve>,
    /// The sites with the most bytes that were never freed.
    pub leaks: Vec<MemorySiteUse>,
    /// The sites with the most bytes in use at the peak.
    pub at_peak: Vec<MemorySiteUse>,
    /// The sites that allocated the most bytes.
    pub hot: Vec<MemorySiteUse>,
}

/// Some blocks of one site.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct MemorySiteUse {
    /// The innermost frames, innermost first.
    pub stack: Vec<SiteFrame>,
    /// Number of blocks.
    pub count: u64,
    /// Bytes of the blocks.
    pub bytes: u64,
}

/// Log lines.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct LogSummary {
    /// Number of lines.
    pub lines: u64,
    /// Lines by level, worst level first.
    pub levels: Vec<LevelCount>,
    /// The sites with the most lines, errors first.
    pub sites: Vec<LogSiteUse>,
    /// Number of all sites.
    pub all_sites: usize,
    /// The first errors.
    pub first_errors: Vec<ErrorLine>,
    /// The last errors that are not among the first.
    pub last_errors: Vec<ErrorLine>,
}

/// Lines of one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct LevelCount {
    /// The level as named in the trace.
    pub level: String,
    /// Number of lines.
    pub lines: u64,
}

/// Lines of one site.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct LogSiteUse {
    /// The level as named in the trace.
    pub level: String,
    /// The format string, if it is known.
    pub format: Option<String>,
    /// `file:line`, if it is known.
    pub place: Option<String>,
    /// Number of lines.
    pub lines: u64,
}

/// One line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ErrorLine {
    /// Timestamp, if the file has times.
    pub ts_ns: Option<i64>,
    /// The level as named in the trace.
    pub level: String,
    /// The text, cut if it is long.
    pub message: String,
    /// `file:line`, if it is known.
    pub place: Option<String>,
}
