//! Bounds on everything that a file may ask for.

use crate::{Error, Result};

/// How much of the machine one file may use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes read at once.
    pub window_bytes: usize,
    /// Longest single record; the window grows to it when it has to.
    pub record_bytes: usize,
    /// Most bytes that a pipe or a compressed file may put into the temporary file.
    pub spool_bytes: u64,
    /// Most decompressed bytes per compressed byte over all layers, beyond [`Limits::RATIO_FREE_BYTES`].
    pub ratio: u64,
    /// Entries that a reader keeps for the whole file: descriptors, strings, threads.
    pub entries: usize,
    /// Bytes that a call tree may hold in memory before it goes to a temporary file.
    pub tree_bytes: u64,
    /// Findings kept per code; further ones are only counted.
    pub findings: usize,
}

impl Limits {
    /// A small file may expand at any ratio: the absolute cost is nothing.
    pub const RATIO_FREE_BYTES: u64 = 64 << 20;

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

    /// The same with some of them changed.
    #[must_use]
    pub fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Fails when `wanted` is above the number of entries that may be kept.
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
        }
    }
}

/// Makes room for `additional` more items, or says that memory is short.
pub fn reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<()> {
    vec.try_reserve(additional).map_err(|_| {
        let wanted = (vec.len() as u64).saturating_add(additional as u64);
        Error::limit("memory for entries", wanted, vec.capacity() as u64)
    })
}
