//! Arguments of `log`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Reading;

#[derive(Args, Debug)]
pub(crate) struct Log {
    /// Logs, in order; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Levels to show, by name; `warn+` is WARN and ERROR. Custom levels have names, or `LEVEL_9`.
    #[arg(long, value_delimiter = ',', value_name = "LEVEL,…")]
    pub(crate) level: Vec<String>,
    /// From this time on: a date and time, or `90s` after the log's start.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Before this time.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only messages that this regular expression matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) grep: Option<String>,
    /// Stop after this many entries.
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "tail")]
    pub(crate) limit: Option<u64>,
    /// Only the last entries.
    #[arg(long, value_name = "N", conflicts_with = "follow")]
    pub(crate) tail: Option<usize>,
    /// Also print this many entries before and after each match.
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, conflicts_with_all = ["sort", "compat"])]
    pub(crate) context: usize,
    /// Format of a line.
    #[arg(long, value_name = "PATTERN", conflicts_with = "json")]
    pub(crate) pattern: Option<String>,
    /// One JSON object per entry: ts_unix_ns, level, file, line, message, args, offset.
    #[arg(long)]
    pub(crate) json: bool,
    /// The text of CNanoLog's decompressor, to the byte, including its mistakes.
    #[arg(long, conflicts_with_all = ["json", "sort", "since", "until", "grep", "follow", "limit", "tail"])]
    pub(crate) compat: bool,
    /// Sort the entries of all files by time.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) sort: bool,
    /// Times in this machine's time zone.
    #[arg(long)]
    pub(crate) local: bool,
    /// Another log of the same program, for one that has no dictionary.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// How levels are numbered, if the guess is wrong.
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub(crate) levels: Option<Levels>,
    /// Wait for more entries until the file is closed; needs `--dictionary`.
    #[arg(short, long, requires = "dictionary")]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How the levels of a log are numbered.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Levels {
    /// 0 DEBUG, 1 INFO, 2 WARN, 3 ERROR.
    Document,
    /// 0 INFO, 1 WARN, 2 ERROR, 3 DEBUG.
    Library,
}
