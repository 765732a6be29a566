//! A recording that the program itself starts and ends.

use std::fs;

use traceloom_core::Result;

use crate::{hooks, options::Options};

/// A recording; dropping it ends it.
#[derive(Debug)]
#[must_use = "dropping it ends the recording"]
pub struct Recording(());

/// Starts recording the allocations of all threads; an existing file is replaced.
///
/// A process has one recording at a time: starting another one ends the previous one, whose file is left without names.
pub fn start(options: Options) -> Result<Recording> {
    if options.output.is_file() {
        fs::remove_file(&options.output)?;
    }
    hooks::start(|| Ok(options))?;
    Ok(Recording(()))
}

/// Records a marker with this name.
pub fn marker(name: &str) {
    hooks::marker(name.as_bytes());
}

impl Recording {
    /// Ends the recording, looks up the names of all functions, and completes the file.
    pub fn finish(self) -> Result<()> {
        std::mem::forget(self);
        hooks::stop()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        hooks::end();
    }
}
