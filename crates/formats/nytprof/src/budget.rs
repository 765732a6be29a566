//! Bounds the memory that is used for a file: a small file may expand to a very large one.

use traceloom_core::{Error, Result};

/// Memory for one purpose.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    what: &'static str,
    used_bytes: u64,
    max_bytes: u64,
}

impl Budget {
    /// 96 times the size of the file, plus `free_bytes` for any file: string evals take 70 times their compressed size.
    pub(crate) const fn new(what: &'static str, source_bytes: u64, free_bytes: u64) -> Self {
        Self { what, used_bytes: 0, max_bytes: source_bytes.saturating_mul(96).saturating_add(free_bytes) }
    }

    /// The same, but not above a limit.
    pub(crate) fn at_most(mut self, max_bytes: u64) -> Self {
        self.max_bytes = self.max_bytes.min(max_bytes);
        self
    }

    /// Reserves memory; fails if not enough is left.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<()> {
        self.used_bytes += bytes;
        if self.used_bytes > self.max_bytes {
            return Err(Error::limit(self.what, self.used_bytes, self.max_bytes));
        }
        Ok(())
    }
}
