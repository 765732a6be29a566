//! Arguments of the verbs that count and compare.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use traceloom_analysis::{diff, stats};

use super::{Answer, EachFile, Reading, Runs, Shifts};
use traceloom_core::{TimeRange, parse_duration};

#[derive(Args, Debug)]
pub(crate) struct Stats {
    /// Traces, added together; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Group by these keys in addition to the name.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KEY,…")]
    pub(crate) by: Vec<By>,
    /// Only spans that start in this time range, such as `1.5s..1.7s`, `..250ms` or `3s..`.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    #[command(flatten)]
    pub(crate) shifts: Shifts,
    /// Only this name; may be repeated.
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Sort by this key, largest first.
    #[arg(long, value_enum, default_value_t, value_name = "KEY")]
    pub(crate) sort: Sort,
    /// Rows of each list (default: 20 on a terminal, otherwise all).
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show a histogram of the durations of this name.
    #[arg(long, value_name = "NAME", conflicts_with = "value")]
    pub(crate) histogram: Option<String>,
    /// Correlate this value with the durations of the enclosing spans.
    #[arg(long, value_name = "NAME", requires = "inside")]
    pub(crate) value: Option<String>,
    /// Name of the enclosing spans for `--value`.
    #[arg(long, value_name = "NAME", requires = "value")]
    pub(crate) inside: Option<String>,
    #[command(flatten)]
    pub(crate) answer: Answer,
}

/// How spans are grouped.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum By {
    /// block, call, scope, frame or range.
    Category,
    /// Source file.
    File,
    /// Enclosing frame, or outermost span of the thread.
    Frame,
    /// Source file and line.
    Line,
    /// Name of the enclosing span.
    Parent,
    /// Thread.
    Thread,
}

impl From<By> for stats::By {
    fn from(by: By) -> Self {
        match by {
            By::Category => Self::Category,
            By::File => Self::File,
            By::Frame => Self::Frame,
            By::Line => Self::Line,
            By::Parent => Self::Parent,
            By::Thread => Self::Thread,
        }
    }
}

/// The sort key of rows.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Sort {
    /// Number of calls.
    Calls,
    /// Longest duration.
    Max,
    /// Mean duration.
    Mean,
    /// Name, in alphabetical order.
    Name,
    /// Median.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// Self time.
    #[default]
    #[value(name = "self")]
    SelfTime,
    /// Total time.
    Total,
}

impl From<Sort> for stats::Sort {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Calls => Self::Calls,
            Sort::Max => Self::Max,
            Sort::Mean => Self::Mean,
            Sort::Name => Self::Name,
            Sort::P50 => Self::P50,
            Sort::P95 => Self::P95,
            Sort::P99 => Self::P99,
            Sort::SelfTime => Self::SelfTime,
            Sort::Total => Self::Total,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// Trace before the change.
    #[arg(value_name = "A", required_unless_present = "baseline", conflicts_with_all = ["baseline", "candidate"])]
    pub(crate) before: Option<PathBuf>,
    /// Trace after the change.
    #[arg(value_name = "B", required_unless_present = "baseline")]
    pub(crate) after: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) runs: Runs,
    #[command(flatten)]
    pub(crate) comparison: Comparison,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How two sets of runs are compared and shown.
#[derive(Args, Debug)]
pub(crate) struct Comparison {
    /// Metric to compare: `mean` for runs of different lengths, `total` if all do the same work.
    #[arg(long, value_enum, default_value_t, value_name = "METRIC")]
    pub(crate) metric: Metric,
    /// Exit with 1 if anything got worse by more than this, such as `5%`.
    #[arg(long, value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) fail_over: Option<f64>,
    /// Treat smaller changes as equal.
    #[arg(long, default_value = "1%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) least_change: f64,
    /// Leave out names with a smaller share on both sides.
    #[arg(long, default_value = "0%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) least_share: f64,
    /// Also show unchanged names.
    #[arg(long)]
    pub(crate) all: bool,
    /// Rows of each list (default: all).
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Comparison {
    /// How the runs are compared.
    pub(crate) fn options(&self) -> diff::Options {
        diff::Options {
            metric: self.metric.into(),
            least_change: self.least_change,
            least_share: self.least_share,
            ..diff::Options::default()
        }
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum Metric {
    /// Number of calls.
    Calls,
    /// Mean time per call.
    #[default]
    Mean,
    /// Median.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// Self time of all calls.
    #[value(name = "self")]
    SelfTime,
    /// Total time of all calls.
    Total,
}

impl From<Metric> for diff::Metric {
    fn from(metric: Metric) -> Self {
        match metric {
            Metric::Calls => Self::Calls,
            Metric::Mean => Self::Mean,
            Metric::P50 => Self::P50,
            Metric::P95 => Self::P95,
            Metric::P99 => Self::P99,
            Metric::SelfTime => Self::SelfTime,
            Metric::Total => Self::Total,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Advise {
    /// Time budget of a frame.
    #[arg(long, default_value = "16.667ms", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) budget: i64,
    /// Share of the busy time above which a name is hot.
    #[arg(long, default_value = "10%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) hot: f64,
    /// A slow frame takes at least this many times the median.
    #[arg(long, default_value_t = 1.3, value_name = "TIMES", value_parser = parse_times)]
    pub(crate) spike: f64,
    /// Print the SQL query of each finding.
    #[arg(long)]
    pub(crate) sql: bool,
    #[command(flatten)]
    pub(crate) each: EachFile,
}

#[derive(Args, Debug)]
pub(crate) struct Summary {
    /// Rows of each list.
    #[arg(long, default_value_t = SUMMARY_ROWS, value_name = "N")]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) each: EachFile,
}

/// Rows per list of a summary.
pub(crate) const SUMMARY_ROWS: usize = 8;

/// Parses `5%` or `5` as 0.05.
pub(super) fn parse_part(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let percent = number.parse::<f64>().ok().filter(|percent| percent.is_finite() && *percent >= 0.0);
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("`{text}` is not a percentage; expected something like `5%`"))
}

/// Parses a factor of at least 1.
fn parse_times(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').unwrap_or(text);
    let times = number.parse::<f64>().ok().filter(|times| times.is_finite() && *times >= 1.0);
    times.ok_or_else(|| format!("`{text}` is not a factor; expected something like `2` or `2.5`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_and_factors_are_read() {
        assert_eq!(parse_part("5%"), Ok(0.05));
        assert_eq!(parse_part("12.5"), Ok(0.125));
        assert_eq!(parse_times("2x"), Ok(2.0));
        for wrong in ["", "%", "-1%", "inf", "NaN", "5%%"] {
            assert!(parse_part(wrong).is_err(), "{wrong}");
        }
        assert!(parse_times("0.5").is_err());
    }
}
