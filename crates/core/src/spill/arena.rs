//! Memory and a temporary file shared by several stacks.

use std::{
    io::{self, Seek, SeekFrom},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Spill, SpillRow, Temporary, temporary};
use crate::{Result, read::read_exact};

/// Memory and a temporary file shared by all the stacks of a trace.
#[derive(Clone, Debug)]
pub struct Arena(Arc<Mutex<Shared>>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limit_bytes: u64,
    pub(super) resident_bytes: u64,
    file: Option<Temporary>,
    pub(super) file_bytes: u64,
}

impl Arena {
    /// An arena whose stacks hold about `limit_bytes` in memory.
    pub fn new(limit_bytes: u64) -> Self {
        let shared = Shared { limit_bytes, resident_bytes: 0, file: None, file_bytes: 0 };
        Self(Arc::new(Mutex::new(shared)))
    }

    /// An empty stack.
    pub fn stack<T: SpillRow>(&self) -> Spill<T> {
        Spill::new(self.clone())
    }

    /// Bytes currently held in memory.
    pub fn resident_bytes(&self) -> u64 {
        self.lock().resident_bytes
    }

    /// Whether anything was written to the file.
    pub fn has_spilled(&self) -> bool {
        self.lock().file.is_some()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    pub(super) fn write(&mut self, slot: Option<u64>, bytes: &[u8], slot_bytes: u64) -> Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(temporary::create()?),
        };
        let offset = slot.unwrap_or(self.file_bytes);
        file.seek(SeekFrom::Start(offset))?;
        temporary::append(file, bytes)?;
        self.file_bytes = self.file_bytes.max(offset + slot_bytes);
        Ok(offset)
    }

    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound).map_err(io::Error::from)?;
        Ok(read_exact(file, offset, bytes)?)
    }
}
