//! Arguments of the verbs that answer questions.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Reading;
use crate::units::{Range, parse_range, parse_time};

#[derive(Args, Debug)]
pub(crate) struct View {
    /// Traces, on one time axis.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only print the address.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// The port to listen on; any free one where it is 0.
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Flame {
    /// Traces, added together.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// A picture to open in a browser, or one line a stack for other tools.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: FlameFormat,
    /// What the width of a frame means.
    #[arg(long, value_enum, default_value_t, value_name = "WEIGHT")]
    pub(crate) by: FlameWeight,
    /// Callers above callees turned round: who calls what takes the time?
    #[arg(long)]
    pub(crate) reversed: bool,
    /// Outermost frames at the top.
    #[arg(long)]
    pub(crate) icicle: bool,
    /// A frame for each thread below all others.
    #[arg(long)]
    pub(crate) by_thread: bool,
    /// Only what begins in this stretch, such as `1.5s..1.7s`.
    #[arg(long, value_name = "FROM..TO", value_parser = parse_range, allow_hyphen_values = true)]
    pub(crate) range: Option<Range>,
    /// Where to write; standard output where none is named.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How a flame graph is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum FlameFormat {
    /// An interactive picture.
    #[default]
    Svg,
    /// `outer;inner weight`, one line a stack.
    Folded,
}

/// What the width of a frame means.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum FlameWeight {
    /// Nanoseconds from begin to end.
    #[default]
    Time,
    /// Nanoseconds that no child takes, as the trace has them.
    #[value(name = "self")]
    SelfTime,
    /// Calls, or allocations.
    Count,
    /// Bytes that were allocated.
    Bytes,
}

#[derive(Args, Debug)]
pub(crate) struct Memory {
    /// Traces with allocations.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// What was in use at this time, such as `1.5s`, besides the peak.
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(crate) at: Option<i64>,
    /// Rows of each list.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) limit: usize,
    /// Points of the curve of usage.
    #[arg(long, default_value_t = 60, value_name = "N")]
    pub(crate) points: usize,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
