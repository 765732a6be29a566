//! Options of a recording.

use std::{env, ffi::OsString, path::PathBuf};

use traceloom_core::{Error, Result};
use traceloom_memlyze::raw::Packing;

/// Environment variables of the preloaded library.
pub mod environment {
    /// Output file (default: `PROGRAM.PID.mlyze`). If the file exists, it is kept and the process id is added to the
    /// name.
    pub const OUTPUT: &str = "TRACELOOM_ALLOC_OUTPUT";
    /// Sample one allocation per this many bytes.
    pub const SAMPLE: &str = "TRACELOOM_ALLOC_SAMPLE";
    /// `lz4` compresses the events.
    pub const PACKING: &str = "TRACELOOM_ALLOC_PACKING";
    /// `later` leaves looking up function names to [`crate::finish`]; otherwise they are looked up at exit.
    pub const FINISH: &str = "TRACELOOM_ALLOC_FINISH";
}

/// Options of a recording.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) output: PathBuf,
    pub(crate) sample_bytes: u64,
    pub(crate) packing: Packing,
    pub(crate) is_finished_later: bool,
}

impl Options {
    /// Records every allocation to a file.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self { output: output.into(), sample_bytes: 0, packing: Packing::Plain, is_finished_later: false }
    }

    /// Samples one allocation per this many bytes; larger allocations are nearly always recorded. Sizes in the file are
    /// estimates that include the skipped allocations, so sums are approximately right.
    #[must_use]
    pub fn sample(mut self, bytes: u64) -> Self {
        self.sample_bytes = bytes;
        self
    }

    /// Compresses the events in LZ4 blocks, which only Traceloom can read.
    #[must_use]
    pub fn lz4(mut self) -> Self {
        self.packing = Packing::Blocks;
        self
    }

    /// The options from the environment.
    pub(crate) fn from_environment() -> Result<Self> {
        let text = |name| env::var(name).unwrap_or_default();
        let output = env::var_os(environment::OUTPUT).filter(|path| !path.is_empty());
        let mut options = Self::new(output.unwrap_or_else(default_output));
        let sample = text(environment::SAMPLE);
        if !sample.is_empty() {
            let wrong = |_| Error::usage(format!("{}={sample} is not a number of bytes", environment::SAMPLE));
            options.sample_bytes = sample.parse().map_err(wrong)?;
        }
        options.packing = match text(environment::PACKING).as_str() {
            "" | "plain" => Packing::Plain,
            "lz4" => Packing::Blocks,
            other => return Err(Error::usage(format!("{}={other} is neither lz4 nor plain", environment::PACKING))),
        };
        options.is_finished_later = text(environment::FINISH) == "later";
        Ok(options)
    }
}

fn default_output() -> OsString {
    let program = env::current_exe().ok();
    let mut name = program.as_deref().and_then(|path| path.file_name()).unwrap_or("memory".as_ref()).to_owned();
    name.push(format!(".{}.mlyze", std::process::id()));
    name
}
