//! Arguments of the verbs for many traces.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{
    Reading,
    figures::{Comparison, parse_part},
};

#[derive(Args, Debug)]
pub(crate) struct Ingest {
    /// Traces and folders of traces, then the store; created if needed.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Take partition values from paths, such as `{host}/{build}/{day}/*.prof`; other files are left out.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,
    /// Set a partition value for all files; may be repeated.
    #[arg(long = "tag", value_name = "COLUMN=VALUE", value_parser = parse_tag)]
    pub(crate) tags: Vec<(String, String)>,
    /// Merge the small files of each table and partition.
    #[arg(long)]
    pub(crate) compact: bool,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Trend {
    /// The store of `traceloom ingest`.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// Name of the spans (default: the names that changed).
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Find changes in this figure of each trace.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(crate) metric: TrendMetric,
    /// Changes below this do not count.
    #[arg(long, default_value = "5%", value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) least_change: f64,
    /// Rows of the list of names.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Let a cluster answer, whose scheduler is at this URL; needs `traceloom-cluster`.
    #[arg(long, value_name = "URL")]
    pub(crate) cluster: Option<String>,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A figure of one name in one trace.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum TrendMetric {
    /// Mean time per call.
    Mean,
    /// The median.
    #[default]
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
}

#[derive(Args, Debug)]
pub(crate) struct Regressions {
    /// The store of `traceloom ingest`.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
    /// The build before.
    #[arg(long, value_name = "BUILD")]
    pub(crate) baseline: String,
    /// The build after.
    #[arg(long, value_name = "BUILD")]
    pub(crate) candidate: String,
    /// Let a cluster answer, whose scheduler is at this URL; needs `traceloom-cluster`.
    #[arg(long, value_name = "URL")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: Comparison,
}

/// Reads `host=web1`.
fn parse_tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.is_empty() && !value.is_empty() => Ok((column.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not a tag; expected something like `host=web1`")),
    }
}
