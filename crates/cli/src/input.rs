//! Opens what the user named.

use std::path::{Path, PathBuf};

use traceloom_core::{Error, Options, Result, Source};
use traceloom_mapping::{Trace, TraceSet};
use traceloom_open::{Opened, open};

use crate::{args::Reading, output::warn_once, progress};

/// Opens a trace for reading.
pub(crate) fn open_quietly(path: &Path, reading: &Reading, options: &Options) -> Result<Opened> {
    open(Source::open(path, &options.limits)?, path, reading.from.as_deref(), options)
}

/// Opens a trace for reading, with a progress bar where that takes long.
pub(crate) fn open_trace(path: &Path, reading: &Reading, options: &Options) -> Result<Opened> {
    let mut opened = open_quietly(path, reading, options)?;
    opened.source = progress::watch(opened.source, path)?;
    Ok(opened)
}

/// Opens traces whose tables are wanted, with a progress bar where that takes long.
pub(crate) fn open_tables(paths: &[PathBuf], reading: &Reading) -> Result<TraceSet> {
    TraceSet::new(open_traces(paths, reading)?)
}

/// The same, with all that were named, even twice.
pub(crate) fn open_traces(paths: &[PathBuf], reading: &Reading) -> Result<Vec<Trace>> {
    let options = traceloom_mapping::Options { told: Some(warn_once), ..Default::default() };
    let open = |path: &PathBuf| {
        let source = Source::open(path, &options.read.limits)?;
        let mut trace = Trace::new(path, source, reading.from.as_deref(), &options)?;
        trace.opened.source = progress::watch(trace.opened.source, path)?;
        Ok(trace)
    };
    paths.iter().map(open).collect()
}

/// Names the input that an error is about, where there is only one.
pub(crate) fn about(paths: &[PathBuf], error: Error) -> Error {
    match paths {
        [path] => error.in_file(path),
        _ => error,
    }
}

/// The name to print for a path.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
