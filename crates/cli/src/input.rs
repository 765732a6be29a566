//! Opens the given traces.

use std::path::{Path, PathBuf};

use traceloom::{OpenOptions, Trace, Traces};
use traceloom_core::{Error, Result};
use traceloom_mapping::TraceSet;

use crate::{
    args::{Reading, Shifts},
    output::{clean, note, warn_once},
    progress::Progress,
    skip_after,
};

impl Reading {
    /// Options for opening traces; problems found while reading tables are reported on standard error.
    pub(crate) fn options(&self) -> OpenOptions {
        self.silent().on_findings(warn_once)
    }

    /// The same for a verb that reports all problems itself.
    pub(crate) fn silent(&self) -> OpenOptions {
        let options = OpenOptions::new();
        match &self.from {
            Some(format) => options.format(format),
            None => options,
        }
    }

    /// The options, with a progress bar if reading takes long.
    pub(crate) fn watched(&self) -> OpenOptions {
        watched(self.options())
    }

    /// Opens a trace, with a progress bar if reading takes long.
    pub(crate) fn open(&self, path: &Path) -> Result<Trace> {
        self.watched().open(path)
    }

    /// Opens several traces, each with a progress bar if reading takes long. A trace that cannot be opened is reported
    /// and left out, unless there is no other.
    pub(crate) fn open_all<P: AsRef<Path>>(&self, paths: &[P]) -> Result<Traces> {
        let options = self.watched();
        let (mut traces, mut failed) = (Vec::new(), None);
        for path in paths {
            match options.open(path) {
                Ok(trace) => traces.push(trace),
                Err(error) => failed.replace(error).map_or(Ok(()), skip_after)?,
            }
        }
        match failed {
            Some(error) if traces.is_empty() => return Err(error),
            failed => failed.map_or(Ok(()), skip_after)?,
        }
        Ok(traces.into_iter().collect())
    }

    /// The same for an answer that would be wrong without one of the traces.
    pub(crate) fn open_every<P: AsRef<Path>>(&self, paths: &[P]) -> Result<Traces> {
        let options = self.watched();
        paths.iter().map(|path| options.open(path)).collect()
    }

    /// Opens traces for their tables, on one time axis.
    pub(crate) fn open_set(&self, paths: &[PathBuf], shifts: &Shifts) -> Result<TraceSet> {
        placed(&shifts.apply(self.open_all(paths)?))
    }

    /// The same for an answer that would be wrong without one of the traces.
    pub(crate) fn open_every_set(&self, paths: &[PathBuf]) -> Result<TraceSet> {
        placed(&self.open_every(paths)?)
    }
}

impl Shifts {
    /// Sets the user's offsets.
    pub(crate) fn apply(&self, traces: Traces) -> Traces {
        self.offsets.iter().fold(traces, |traces, offset| traces.offset(&offset.path, offset.offset_ns))
    }
}

fn placed(traces: &Traces) -> Result<TraceSet> {
    note_copies(traces);
    traces.set()
}

/// Shows a progress bar if reading takes long.
pub(crate) fn watched(options: OpenOptions) -> OpenOptions {
    let progress = Progress::new();
    options.on_progress(move |path, offset, bytes| progress.seen(path, offset, bytes))
}

/// Reports traces that were given twice and are counted once.
pub(crate) fn note_copies(traces: &Traces) {
    for (number, copy) in traces.iter().enumerate() {
        if let Some(first) = traces.iter().take(number).find(|first| first.id() == copy.id()) {
            let (copy, first) = (display_name(copy.path()), display_name(first.path()));
            note(&format!("{copy} is the same trace as {first} and is counted once"));
        }
    }
}

/// Adds the path to an error if there is only one input.
pub(crate) fn about(paths: &[PathBuf], error: Error) -> Error {
    match paths {
        [path] => error.in_file(path),
        _ => error,
    }
}

/// The name of a path in a message.
pub(crate) fn shown_name(path: &Path) -> String {
    clean(&display_name(path))
}

/// The name to print for a path.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
