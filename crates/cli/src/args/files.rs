//! Arguments of the verbs that read, check and write whole traces.

use std::path::PathBuf;

use clap::Args;
use traceloom_core::TimeRange;

use super::{EachFile, Reading, Shifts};

#[derive(Args, Debug)]
pub(crate) struct Info {
    /// Add the summary: findings, hottest names, slow frames, memory, errors.
    #[arg(long, conflicts_with = "json")]
    pub(crate) more: bool,
    #[command(flatten)]
    pub(crate) each: EachFile,
}

#[derive(Args, Debug)]
pub(crate) struct Dump {
    /// The trace; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// One JSON object per record.
    #[arg(long)]
    pub(crate) json: bool,
    /// Stop after this many records.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// List the embedded resources of a Web Tracing Framework trace instead, and write them to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "limit")]
    pub(crate) resources: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Stop at the first error, as the format's own tool does.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) each: EachFile,
}

#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// Traces to read, then the file to write; `-` is standard input or output. Several traces are merged.
    #[arg(required_unless_present = "list", value_name = "IN|OUT")]
    pub(crate) files: Vec<PathBuf>,
    /// Output format, such as `perfetto` or `easyprofiler:1.3.0` (default: from the extension of OUT).
    #[arg(long, value_name = "ID[:VARIANT]")]
    pub(crate) to: Option<String>,
    /// Write the canonical layout: correct counts, no surplus bytes.
    #[arg(long)]
    pub(crate) canonical: bool,
    /// Keep only this time range, such as `1.5s..1.7s`; spans that overlap it are kept whole.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    #[command(flatten)]
    pub(crate) shifts: Shifts,
    /// Keep only this thread, by number or name; may be repeated.
    #[arg(long = "thread", value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    /// List the output formats and the tables that each can hold.
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Repair {
    /// The damaged trace; `-` is standard input.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Output file; `-` is standard output.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Use the dictionary of this other log of the same program if the log has none.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Slice {
    /// The trace; `-` is standard input.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Output file; `-` is standard output.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Time range, such as `1.5s..1.7s`, `..250ms` or `3s..`.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    /// Thread to keep, by number or name; may be repeated.
    #[arg(long = "thread", value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// Traces of one format, then the file to write; `-` is standard output.
    #[arg(required = true, value_name = "IN|OUT")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
