//! Arguments of the verbs that count and compare.

use std::path::PathBuf;

use clap::Args;
use traceloom_analysis::{
    diff::{self, Metric},
    stats::{By, Sort},
};

use super::{Answer, EachFile, Reading, Runs, Shifts, choice};
use traceloom_core::{TimeRange, parse_duration};

#[derive(Args, Debug)]
pub(crate) struct Stats {
    /// Traces, added together; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Group by these keys in addition to the name.
    #[arg(long, value_parser = choice::<By>(), value_delimiter = ',', value_name = "KEY,…")]
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
    #[arg(long, value_parser = choice::<Sort>(), default_value = "self", value_name = "KEY")]
    pub(crate) sort: Sort,
    /// Maximum rows per list (default: 20 on a terminal, otherwise all).
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
    #[arg(long, value_parser = choice::<Metric>(), default_value = "mean", value_name = "METRIC")]
    pub(crate) metric: Metric,
    /// Exit with 1 if anything got worse by more than this, such as `5%`.
    #[arg(long, value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) fail_over: Option<f64>,
    /// Treat smaller changes as equal.
    #[arg(long, alias = "least-change", default_value = "1%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) min_change: f64,
    /// Leave out names with less than this share of the self time on both sides.
    #[arg(long, alias = "least-share", default_value = "0%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) min_share: f64,
    /// Also show unchanged names.
    #[arg(long)]
    pub(crate) all: bool,
    /// Maximum rows per list (default: all).
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
            metric: self.metric,
            min_change: self.min_change,
            min_share: self.min_share,
            ..diff::Options::default()
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Advise {
    /// Time budget per frame.
    #[arg(long, default_value = "16.667ms", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) budget: i64,
    /// Report names with more than this share of the busy time.
    #[arg(long, default_value = "10%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) hot: f64,
    /// Report frames that take at least this many times the median.
    #[arg(long, default_value_t = 1.3, value_name = "FACTOR", value_parser = parse_times)]
    pub(crate) spike: f64,
    /// Print the SQL query of each finding.
    #[arg(long)]
    pub(crate) sql: bool,
    #[command(flatten)]
    pub(crate) each: EachFile,
}

#[derive(Args, Debug)]
pub(crate) struct Summary {
    /// Maximum rows per list.
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
