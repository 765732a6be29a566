//! A summary, as plain data.

use std::fmt;

use serde::Serialize;

use crate::{
    advise::{Advice, SlowSpan},
    memory::{Curve, SiteFrame},
};

/// What matters first about one trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Summary {
    /// What the file is.
    #[serde(flatten)]
    pub about: About,
    /// What is wrong with the file.
    pub health: Health,
    /// The main finding in one sentence.
    pub verdict: String,
    /// Problems of the program, the most serious first.
    pub findings: Vec<Advice>,
    /// The names with the most self time.
    pub names: Vec<NameRow>,
    /// How many names there are.
    pub all_names: usize,
    /// Self time of all names: the whole that shares are parts of.
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

/// What a file is.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AboutTrace"))]
pub struct About {
    /// Its path.
    pub file: String,
    /// The id of its format.
    pub format: String,
    /// The name of its format.
    pub format_name: String,
    /// The version of the format.
    pub version: String,
    /// The program that wrote it, if the file says so.
    pub producer: Option<String>,
    /// Its size, decompressed.
    pub bytes: u64,
    /// The clock of its times: `count` means that one unit is shown as one nanosecond.
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
pub struct RowCount {
    /// The name of the table.
    pub table: &'static str,
    /// How many rows it has.
    pub rows: u64,
}

impl fmt::Display for RowCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.table.replace('_', " ");
        let one = words.strip_suffix("es").filter(|one| one.ends_with('s')).or(words.strip_suffix('s'));
        write!(f, "{} {}", self.rows, one.filter(|_| self.rows == 1).unwrap_or(&words))
    }
}

/// Whether the answers can be trusted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Badge {
    /// Nothing is wrong, or nothing that matters.
    #[default]
    Fine,
    /// The tool of the format refuses the file.
    Damaged,
    /// Records are missing.
    DataMissing,
}

impl Badge {
    /// The words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Damaged => "damaged",
            Self::DataMissing => "data missing",
        }
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Health {
    /// The verdict on the file.
    pub badge: Badge,
    /// The first problem of each kind, the worst first.
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
    /// The byte of the first one.
    pub offset: Option<u64>,
    /// The sentence of the first one.
    pub message: String,
    /// How many were kept of this kind.
    pub count: u64,
}

/// Spans or functions of one name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NameSummary"))]
pub struct NameRow {
    /// The name.
    pub name: String,
    /// Calls that ended.
    pub calls: u64,
    /// Time with everything inside.
    pub total_ns: u64,
    /// Time without.
    pub self_ns: u64,
    /// Self time as a share of the self time of all names.
    pub share: f64,
    /// The mean duration.
    pub mean_ns: f64,
    /// Quantiles and histogram, unless the profiler kept sums only.
    pub durations: Option<NameDurations>,
}

/// How the durations of a name are distributed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
    /// Durations in bins from the shortest to the longest; empty if they are all the same.
    pub bins: Vec<u64>,
    /// Whether bins grow in proportion.
    pub is_logarithmic: bool,
}

/// What a thread did.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ThreadUse {
    /// Its name, or else its number.
    pub name: String,
    /// Its number.
    pub tid: Option<u64>,
    /// Spans on it.
    pub spans: u64,
    /// Time inside spans.
    pub busy_ns: u64,
    /// How long it was off the processor, as far as the trace shows it.
    pub off_cpu_ns: u64,
}

/// Memory in use.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemorySummary {
    /// Allocations.
    pub allocations: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// The most that was in use.
    pub peak_bytes: u64,
    /// When that was.
    pub peak_ns: i64,
    /// Allocations that were never freed.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// Frees of blocks that had been freed before.
    pub double_frees: u64,
    /// Whether the tracer knows no addresses, so that nothing is known about frees.
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
pub struct MemorySiteUse {
    /// The innermost frames, the innermost first.
    pub stack: Vec<SiteFrame>,
    /// Blocks.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Log lines.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LogSummary {
    /// All lines.
    pub lines: u64,
    /// Lines by level, the worst level first.
    pub levels: Vec<LevelCount>,
    /// The sites with the most lines, errors first.
    pub sites: Vec<LogSiteUse>,
    /// How many sites there are.
    pub all_sites: usize,
    /// The first errors.
    pub first_errors: Vec<ErrorLine>,
    /// The last errors, as far as they are not among the first.
    pub last_errors: Vec<ErrorLine>,
}

/// Lines of one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LevelCount {
    /// The level, in the words of the trace.
    pub level: String,
    /// How many lines.
    pub lines: u64,
}

/// Lines of one site.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LogSiteUse {
    /// The level, in the words of the trace.
    pub level: String,
    /// The format string, if it is known.
    pub format: Option<String>,
    /// `file:line`, if it is known.
    pub place: Option<String>,
    /// How many lines.
    pub lines: u64,
}

/// One line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorLine {
    /// When it was logged, if the file has times.
    pub ts_ns: Option<i64>,
    /// The level, in the words of the trace.
    pub level: String,
    /// The text, cut if it is long.
    pub message: String,
    /// `file:line`, if it is known.
    pub place: Option<String>,
}
