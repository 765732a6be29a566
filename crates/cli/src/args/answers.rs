//! Arguments of the verbs that show and query.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};

use super::{Answer, Reading, Runs, Shifts, figures::parse_part};
use traceloom_core::{TimeRange, parse_duration};

#[derive(Args, Debug)]
pub(crate) struct View {
    /// Traces, shown on one time axis; or a store, whose traces are listed.
    #[arg(required_unless_present = "live", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Open the traces of a store from files below this folder; may be repeated.
    ///
    /// A store can refer to files anywhere on this machine. Traceloom opens only those below these folders, and only if
    /// their content has not changed.
    #[arg(long, value_name = "DIR", conflicts_with = "live")]
    pub(crate) sources: Vec<PathBuf>,
    /// Show a trace while it is being written: its file, or the address of the program that serves it (HOST:PORT or the
    /// path of a socket).
    #[arg(long, value_name = "FILE|ADDRESS")]
    pub(crate) live: Option<String>,
    /// Save everything that the program sends to this file (default: live.wtf-trace, or live.prof with EasyProfiler).
    ///
    /// If the program is restarted, a new file such as `live-2.wtf-trace` is written.
    #[arg(short, long, value_name = "FILE", requires = "live")]
    pub(crate) output: Option<PathBuf>,
    /// File that contains the program's token; `-` is standard input (default: $TRACELOOM_TOKEN, or the file that the
    /// program wrote).
    #[arg(long, value_name = "FILE", requires = "live")]
    pub(crate) token_file: Option<PathBuf>,
    /// Keep this much recent time in memory.
    #[arg(long = "keep", value_name = "TIME", value_parser = parse_duration, default_value = "10m", requires = "live")]
    pub(crate) keep_ns: i64,
    /// Keep at most about this much data in memory.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GB", requires = "live")]
    pub(crate) keep_bytes: u64,
    /// Print the address without opening the browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Port to listen on (0: any free one).
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Mcp {
    /// Traces and folders of traces that the assistant may read.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Folder that the assistant may read from and write to.
    #[arg(long = "allow", value_name = "DIR")]
    pub(crate) allowed: Vec<PathBuf>,
    /// Serve over HTTP on this machine instead of standard input and output.
    #[arg(long)]
    pub(crate) http: bool,
    /// Port for --http (0: any free one).
    #[arg(long, default_value_t = 0, value_name = "PORT", requires = "http")]
    pub(crate) port: u16,
}

#[derive(Args, Debug)]
pub(crate) struct Flame {
    /// Traces, added together.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: FlameFormat,
    /// What the width of a frame measures.
    #[arg(long, value_enum, default_value_t, value_name = "WEIGHT")]
    pub(crate) by: FlameWeight,
    /// Invert the graph: start at the leaves and show their callers.
    #[arg(long)]
    pub(crate) reversed: bool,
    /// Draw outermost frames at the top.
    #[arg(long)]
    pub(crate) icicle: bool,
    /// Group by thread.
    #[arg(long)]
    pub(crate) by_thread: bool,
    /// Only spans that start in this time range, such as `1.5s..1.7s`.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    #[command(flatten)]
    pub(crate) shifts: Shifts,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Tree {
    /// Traces, added together.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Invert the tree: start at the functions with the most weight and show their callers.
    #[arg(long)]
    pub(crate) bottom_up: bool,
    /// Show only the calls made by this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) focus: Vec<String>,
    /// Add everything that this name calls to its self weight; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) collapse: Vec<String>,
    /// Add the self weight of this name to its callers; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) merge: Vec<String>,
    /// Leave out stacks with this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) drop: Vec<String>,
    /// Leave out rows with a smaller share.
    #[arg(long, default_value = "0.5%", value_name = "PERCENT", value_parser = super::figures::parse_part)]
    pub(crate) min_share: f64,
    /// Levels to show (default: all).
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// What the weight measures.
    #[arg(long, value_enum, default_value_t, value_name = "WEIGHT")]
    pub(crate) by: FlameWeight,
    /// Group by thread.
    #[arg(long)]
    pub(crate) by_thread: bool,
    /// Only spans that start in this time range, such as `1.5s..1.7s`.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) range: Option<TimeRange>,
    #[command(flatten)]
    pub(crate) shifts: Shifts,
    #[command(flatten)]
    pub(crate) answer: Answer,
}

/// How a flame graph is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum FlameFormat {
    /// An interactive image.
    #[default]
    Svg,
    /// One line per stack: `outer;inner weight`.
    Folded,
}

/// What the width of a frame measures.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum FlameWeight {
    /// Total time.
    #[default]
    Time,
    /// Self time as stored in the trace.
    #[value(name = "self")]
    SelfTime,
    /// Calls, or allocations.
    Count,
    /// Bytes allocated.
    Bytes,
    /// Bytes in use at the memory peak.
    Peak,
    /// Bytes never freed.
    Leaked,
    /// Bytes freed by the next event.
    Temporary,
}

#[derive(Args, Debug)]
pub(crate) struct Report {
    /// Traces; exactly two are compared.
    #[arg(required_unless_present = "baseline", conflicts_with_all = ["baseline", "candidate"], value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) runs: Runs,
    /// Exit with 1 if anything got worse by more than this, such as `5%`.
    #[arg(long, value_name = "PERCENT", value_parser = parse_part)]
    pub(crate) fail_over: Option<f64>,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Add the source of a line profile, with the costs, callers and callees of each line.
    #[arg(long)]
    pub(crate) source: bool,
    /// Folder with the source, if the profile does not contain it.
    #[arg(long, value_name = "DIR", requires = "source")]
    pub(crate) source_dir: Option<PathBuf>,
    /// Write Markdown, for a comment on a pull request.
    #[arg(long, conflicts_with = "source")]
    markdown: bool,
    /// One JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Write the viewer with the traces as one HTML file that needs no server.
    #[arg(long, conflicts_with_all = ["markdown", "json", "baseline", "candidate", "fail_over"])]
    pub(crate) interactive: bool,
    /// Size limit of the interactive file; a trace that does not fit is cut, with a warning.
    #[arg(long, value_name = "SIZE", default_value = "50MB", value_parser = parse_size, requires = "interactive")]
    pub(crate) max_size: u64,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How a report is written.
pub(crate) enum ReportFormat {
    Html,
    Json,
    Markdown,
}

impl Report {
    /// How it is written.
    pub(crate) fn format(&self) -> ReportFormat {
        match (self.markdown, self.json) {
            (true, _) => ReportFormat::Markdown,
            (_, true) => ReportFormat::Json,
            _ => ReportFormat::Html,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Lines {
    /// A profile from NYTProf or Pynytprof.
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// List the source files whose names contain this text (default: the slowest one).
    #[arg(long, value_name = "NAME")]
    pub(crate) file: Option<String>,
    /// List all files.
    #[arg(long, conflicts_with = "file")]
    pub(crate) all: bool,
    /// Add up statements by line, block or sub; blocks and subs only if the profiler recorded them.
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub(crate) level: LineLevel,
    /// Folder with the source, if the profile does not contain it.
    #[arg(long, value_name = "DIR")]
    pub(crate) source_dir: Option<PathBuf>,
    /// List identical string evals of a line separately.
    #[arg(long)]
    pub(crate) separate_evals: bool,
    /// List the subs: calls, time, recursion, source.
    #[arg(long, group = "shape")]
    pub(crate) subs: bool,
    /// List the packages.
    #[arg(long, group = "shape")]
    pub(crate) packages: bool,
    /// Write the call graph for Graphviz.
    #[arg(long, group = "shape", conflicts_with = "json")]
    pub(crate) dot: bool,
    /// Write the output of nytprofcsv: one file per source file, in the folder given with `-o`.
    #[arg(long, group = "shape", conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Write the output of nytprofcg, for KCachegrind.
    #[arg(long, group = "shape", conflicts_with = "json")]
    pub(crate) callgrind: bool,
    /// Maximum rows per list.
    #[arg(long, default_value_t = 15, value_name = "N")]
    pub(crate) limit: usize,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) answer: Answer,
}

/// How statements are added up.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum LineLevel {
    /// By line.
    #[default]
    Line,
    /// By the first line of the block.
    Block,
    /// By the first line of the sub.
    Sub,
}

#[derive(Args, Debug)]
pub(crate) struct Memory {
    /// Traces with allocations.
    #[arg(required_unless_present = "program", conflicts_with = "program", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Program to run and its arguments; its allocations are recorded.
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
    /// File for the program's allocations (default: `PROGRAM.PID.mlyze`).
    #[arg(short, long, value_name = "FILE", requires = "program")]
    pub(crate) output: Option<PathBuf>,
    /// Sample one allocation per this many bytes, such as `512kB`; sizes are then estimates.
    #[arg(long, value_name = "SIZE", requires = "program", value_parser = parse_size)]
    pub(crate) sample: Option<u64>,
    /// Compress the recorded file with LZ4; only Traceloom can read it.
    #[arg(long, requires = "program")]
    pub(crate) lz4: bool,
    /// Also list the memory in use at this time, such as `1.5s`.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(crate) at: Option<i64>,
    /// Maximum rows per list.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) limit: usize,
    /// Number of points in the usage curve.
    #[arg(long, default_value_t = 60, value_name = "N")]
    pub(crate) points: usize,
    #[command(flatten)]
    pub(crate) answer: Answer,
}

#[derive(Args, Debug)]
#[cfg_attr(not(feature = "sql"), allow(dead_code))]
pub(crate) struct Query {
    /// Traces, folders of traces, quoted patterns such as `'*.prof'`, or stores; then the query.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) words: Vec<OsString>,
    /// Read the query from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: QueryFormat,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Print the query plan instead of the result.
    #[arg(long, conflicts_with = "cluster")]
    pub(crate) explain: bool,
    /// Run the query on a cluster (URL of its scheduler); needs `traceloom-cluster`.
    #[arg(long, value_name = "URL")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) shifts: Shifts,
    /// Do not align the times of traces that share a clock.
    #[arg(long)]
    pub(crate) no_align: bool,
    /// Memory limit, such as `512MB`; above it, queries use temporary files.
    #[arg(long, value_name = "SIZE", default_value = "1GB", value_parser = parse_size)]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How the rows of a result are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum QueryFormat {
    /// Aligned text.
    #[default]
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per row; NaN and infinities are strings.
    Json,
    /// A Parquet file.
    Parquet,
    /// An Arrow file.
    Arrow,
}

/// Parses `512MB`, `2GB` or a number of bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size; expected something like `512MB` or `2GB`");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let shift = match unit {
        "" | "B" => 0,
        "kB" | "KB" | "k" => 10,
        "MB" | "M" => 20,
        "GB" | "G" => 30,
        _ => return Err(wrong()),
    };
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("512MB"), Ok(512 << 20));
        assert!(parse_size("MB").is_err() && parse_size("1TB").is_err() && parse_size("99999999999GB").is_err());
    }
}
