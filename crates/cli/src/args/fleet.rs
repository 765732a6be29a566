//! Arguments of the verbs for many traces.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{
    Answer,
    figures::{Comparison, parse_part},
};

#[derive(Args, Debug)]
pub(crate) struct Ingest {
    /// Traces and folders of traces, then the store, which is created if needed.
    #[arg(required = true, value_name = "SRC|STORE")]
    pub(crate) files: Vec<PathBuf>,
    /// Take partition values from paths, as in `{host}/{build}/{day}/*.prof`; files that do not match are skipped.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,
    /// Set a partition value for all files; may be repeated.
    #[arg(long = "tag", value_name = "COLUMN=VALUE", value_parser = parse_tag)]
    pub(crate) tags: Vec<(String, String)>,
    /// Merge the small files of each table and partition.
    #[arg(long)]
    pub(crate) compact: bool,
    #[command(flatten)]
    pub(crate) answer: Answer,
}

#[derive(Args, Debug)]
pub(crate) struct Trend {
    /// Store written by `traceloom ingest`.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// Name of the spans (default: the names that changed).
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Metric in which to find changes.
    #[arg(long, value_enum, default_value_t, value_name = "METRIC")]
    pub(crate) metric: TrendMetric,
    /// Ignore smaller changes.
    #[arg(long, alias = "least-change", default_value = "5%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) min_change: f64,
    /// Maximum number of names.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Run the query on a cluster (URL of its scheduler); needs `traceloom-cluster`.
    #[arg(long, value_name = "URL")]
    pub(crate) cluster: Option<String>,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A metric of a name in a trace.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum TrendMetric {
    /// Mean time per call.
    Mean,
    /// Median.
    #[default]
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
}

#[derive(Args, Debug)]
pub(crate) struct Regressions {
    /// Store written by `traceloom ingest`.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// Build before the change.
    #[arg(long, value_name = "BUILD")]
    pub(crate) baseline: String,
    /// Build after the change.
    #[arg(long, value_name = "BUILD")]
    pub(crate) candidate: String,
    /// Run the query on a cluster (URL of its scheduler); needs `traceloom-cluster`.
    #[arg(long, value_name = "URL")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: Comparison,
}

/// Parses `host=web1`.
fn parse_tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.is_empty() && !value.is_empty() => Ok((column.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not a tag; expected something like `host=web1`")),
    }
}
