//! Arguments of `log`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Reading;

#[derive(Args, Debug)]
pub(crate) struct Log {
    /// Logs, in order; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Levels to show, by name; `warn+` means WARN and ERROR. A custom level without a name is `LEVEL_` and its number,
    /// such as `LEVEL_9`.
    #[arg(long, value_delimiter = ',', value_name = "LEVEL,…")]
    pub(crate) level: Vec<String>,
    /// Only entries at or after this time: a date and time, or an offset such as `90s` from the start of the log.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only entries before this time.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only entries whose message matches this regular expression.
    #[arg(long, value_name = "REGEX")]
    pub(crate) grep: Option<String>,
    /// Stop after this many entries.
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "tail")]
    pub(crate) limit: Option<u64>,
    /// Print only the last N entries, and with `--follow` the new ones.
    #[arg(long, value_name = "N")]
    pub(crate) tail: Option<usize>,
    /// Also print this many entries before and after each match.
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, conflicts_with_all = ["sort", "compat"])]
    pub(crate) context: usize,
    /// Format of each line.
    #[arg(long, value_name = "PATTERN", conflicts_with = "json")]
    pub(crate) pattern: Option<String>,
    /// One JSON object per entry: ts_unix_ns, level, file, line, message, args, offset.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print exactly what CNanoLog's decompressor prints, including its mistakes.
    #[arg(long, conflicts_with_all = ["json", "sort", "since", "until", "grep", "follow", "limit", "tail"])]
    pub(crate) compat: bool,
    /// Sort the entries of all files by time.
    #[arg(long, conflicts_with = "follow")]
    pub(crate) sort: bool,
    /// Print times in the local time zone.
    #[arg(long)]
    pub(crate) local: bool,
    /// Use the dictionary of this other log of the same program if a log has none.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// How levels are numbered (default: detect).
    #[arg(long, value_enum, value_name = "NUMBERING")]
    pub(crate) levels: Option<Levels>,
    /// Wait for more entries until the file is closed; needs `--dictionary`.
    #[arg(short, long, requires = "dictionary")]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Number of entries that `tail` prints.
pub(crate) const TAIL_ENTRIES: usize = 20;

impl Log {
    /// The arguments of `tail`, whose limit counts from the end.
    pub(crate) fn counted_from_end(self) -> Self {
        let limit = self.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Self { limit: None, tail: limit.or(self.tail).or(Some(TAIL_ENTRIES)), ..self }
    }
}

/// How the levels of a log are numbered.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Levels {
    /// 0 DEBUG, 1 INFO, 2 WARN, 3 ERROR.
    Document,
    /// 0 INFO, 1 WARN, 2 ERROR, 3 DEBUG.
    Library,
}
