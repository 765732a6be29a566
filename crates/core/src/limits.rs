//! Bounds on everything that a file may ask for.

use std::{env, sync::OnceLock, thread};

use crate::{Error, Result};

/// How much of the machine one file may use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes read at once.
    pub window_bytes: usize,
    /// Maximum size of a record; the window grows to this size if needed.
    pub record_bytes: usize,
    /// Maximum number of bytes that a pipe or a compressed file may write to the temporary file.
    pub spool_bytes: u64,
    /// Maximum number of decompressed bytes per stored byte over all layers, also those inside a format, beyond
    /// [`Limits::RATIO_FREE_BYTES`]; see [`crate::Source::max_unpacked`].
    pub ratio: u64,
    /// Entries that a reader keeps for the whole file: descriptors, strings, threads.
    pub entries: usize,
    /// Bytes that a call tree may hold in memory before it moves to a temporary file.
    pub tree_bytes: u64,
    /// Findings kept per code; further ones are only counted.
    pub findings: usize,
    /// Threads that may work on the file at the same time; with 1, everything runs on the caller's thread.
    pub threads: usize,
    /// Bytes of a file that are worth another thread.
    pub bytes_per_thread: u64,
}

/// The default number of threads.
static THREADS: OnceLock<usize> = OnceLock::new();

impl Limits {
    /// A file may expand to this size at any ratio, because the absolute cost is negligible.
    pub const RATIO_FREE_BYTES: u64 = 64 << 20;

    /// Why a reader unpacks no more of a file; see [`crate::Source::max_unpacked`].
    pub const UNPACKS_TOO_MUCH: &str = "it unpacks to far more bytes than are stored";

    /// The defaults, with some of them changed.
    ///
    /// ```
    /// let limits = traceloom_core::Limits::with(|limits| limits.entries = 1000);
    /// assert_eq!(limits.entries, 1000);
    /// ```
    #[must_use]
    pub fn with(change: impl FnOnce(&mut Self)) -> Self {
        Self::default().but(change)
    }

    /// Changes some of the limits.
    #[must_use]
    pub fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Sets the value of [`Limits::threads`] in all limits created from now on. The default is the environment variable
    /// `TRACELOOM_THREADS`, or else the number of processors.
    ///
    /// Works once: later calls, and calls after the first limits were created, have no effect.
    pub fn set_default_threads(threads: usize) {
        THREADS.get_or_init(|| threads.max(1));
    }

    /// Fails if `wanted` exceeds the number of entries that may be kept.
    pub fn check_entries(&self, what: &'static str, wanted: u64) -> Result<()> {
        if wanted > self.entries as u64 {
            return Err(Error::limit(what, wanted, self.entries as u64));
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            window_bytes: 256 << 10,
            record_bytes: 256 << 20,
            spool_bytes: 64 << 30,
            ratio: 1000,
            entries: 16 << 20,
            tree_bytes: 1 << 30,
            findings: 100,
            threads: *THREADS.get_or_init(threads),
            bytes_per_thread: 1 << 20,
        }
    }
}

fn threads() -> usize {
    let given = env::var("TRACELOOM_THREADS").ok().and_then(|threads| threads.parse().ok());
    given.filter(|threads| *threads > 0).unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Makes room for `additional` more items; fails if there is not enough memory.
pub fn reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<()> {
    vec.try_reserve(additional).map_err(|_| {
        let wanted = (vec.len() as u64).saturating_add(additional as u64);
        Error::limit("memory for entries", wanted, vec.capacity() as u64)
    })
}
