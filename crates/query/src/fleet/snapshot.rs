//! A fleet store as a session sees it.

use std::sync::{Arc, PoisonError, RwLock};

use traceloom_core::Result;

use super::Fleet;

/// The store of a session: all tables of a query have the files of the same commit.
#[derive(Debug)]
pub(crate) struct Snapshot(RwLock<Arc<Fleet>>);

impl Snapshot {
    pub(crate) fn new(fleet: Fleet) -> Self {
        Self(RwLock::new(Arc::new(fleet)))
    }

    /// The store as it was last read.
    pub(crate) fn fleet(&self) -> Arc<Fleet> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the manifest again if there was a commit, and waits for a running one; returns whether the files changed.
    pub(crate) fn refresh(&self) -> Result<bool> {
        let known = self.fleet();
        if known.is_current()? {
            return Ok(false);
        }
        // A store that was removed keeps its files, so that reading them fails with the name of one.
        let Some(fleet) = Fleet::open(known.path())? else { return Ok(false) };
        let has_changed = fleet.manifest() != known.manifest();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fleet);
        Ok(has_changed)
    }
}
