//! Arguments of the verbs that talk to running programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use traceloom_core::parse_duration;

use super::figures;

#[derive(Args, Debug)]
pub(crate) struct Capture {
    /// Host and port of the program.
    #[arg(value_name = "HOST[:PORT]", default_value = "127.0.0.1:28077")]
    pub(crate) program: String,
    /// Output file.
    #[arg(short, long, value_name = "FILE", default_value = "capture.prof")]
    pub(crate) output: PathBuf,
    /// Stop after this time, such as `10s` (default: at Ctrl-C or Enter).
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration_ns: Option<i64>,
    /// Wait until the program is running.
    #[arg(long)]
    pub(crate) wait: bool,
    /// List the blocks of the program and their status instead of capturing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Turn blocks on or off before the capture, by name or number; may be repeated.
    ///
    /// STATUS is off, on, force-on, off-recursive, on-without-children or force-on-without-children.
    #[arg(long = "set", value_name = "BLOCK=STATUS")]
    pub(crate) statuses: Vec<String>,
    /// Turn the recording of context switches on or off.
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub(crate) event_tracing: Option<Switch>,
    /// Use low priority for recording context switches (Windows).
    #[arg(long, value_enum, value_name = "SWITCH")]
    pub(crate) low_priority: Option<Switch>,
}

/// Default number of rows of `top`.
pub(crate) const TOP_ROWS: usize = 20;

#[derive(Args, Debug)]
#[command(mut_arg("files", |files| files
    .value_name("HOST:PORT|SOCKET|FILE")
    .help("Address of a running program (HOST:PORT or the path of a socket), or traces, added together")))]
pub(crate) struct Top {
    /// Show this much recent time, and redraw at this interval.
    #[arg(long = "every", value_name = "TIME", value_parser = parse_duration, default_value = "2s")]
    pub(crate) every_ns: i64,
    /// Stop after this many redraws (default: at Ctrl-C; after one if standard output is not a terminal).
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u64>,
    #[command(flatten)]
    pub(crate) stats: figures::Stats,
}

/// On or off.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}
