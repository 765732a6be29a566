//! The traces of a fleet: a folder of Hive-partitioned Parquet files, which any engine can read.
//!
//! `spans/day=2026-11-16/host=web1/build=42/0001.parquet`: every table of a trace, and three more ([`FleetTable`]),
//! with the same partitions. `fleet.json` lists all files and the partition columns. The folder contains exactly these
//! files, except during a commit; opening the store waits for the commit, or finishes it if its process died.
//!
//! Queries read the files that `fleet.json` lists. A commit can remove some of them while a query runs: then the query
//! fails, or is planned again, but never misses rows.

mod commit;
mod manifest;
mod provider;
mod snapshot;
mod tables;
mod views;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use traceloom_core::{Error, Result};

use crate::location::{self, Location};

#[cfg(feature = "codec")]
pub(crate) use self::provider::FleetProvider;
pub use self::{
    commit::Writing,
    manifest::{FleetFile, Manifest, partition_path},
    tables::FleetTable,
    views::VIEWS,
};
pub(crate) use self::{provider::register, snapshot::Snapshot};

/// The partition columns of every store.
pub const PARTITIONS: [&str; 3] = ["day", "host", "build"];
/// The value of a partition column if unknown.
pub const UNKNOWN: &str = "unknown";

/// An existing fleet store.
#[derive(Clone, Debug)]
pub struct Fleet {
    folder: PathBuf,
    manifest: Arc<Manifest>,
    /// When the manifest was written, or read from an object store, and its length.
    stamp: (SystemTime, u64),
}

impl Fleet {
    /// The fleet store in this folder, at a path or a URL; `None` if the folder is not one.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        if !location::is_file(&path.join(manifest::FILE))? {
            return Ok(None);
        }
        // Only a local store can be written; an object store holds copies.
        if let Location::Local(folder) = Location::of(path)? {
            await_commit(&folder)?;
        }
        // The time comes first, so that a change while the manifest is read is noticed.
        let stamp = stamp(path)?.unwrap_or_else(|| (SystemTime::now(), 0));
        let manifest = Arc::new(Manifest::read(&path.join(manifest::FILE))?);
        Ok(Some(Self { folder: path.to_owned(), manifest, stamp }))
    }

    /// The files of a store that another process opened.
    #[cfg(feature = "codec")]
    pub(crate) fn sent(url: &str, manifest: Manifest, changed: SystemTime) -> Self {
        Self { folder: PathBuf::from(url), manifest: Arc::new(manifest), stamp: (changed, 0) }
    }

    /// Whether no commit has happened since it was opened, or is happening; unknown in an object store.
    fn is_current(&self) -> Result<bool> {
        Ok(match Location::of(&self.folder)? {
            Location::Local(folder) => !commit::is_pending(&folder) && stamp(&self.folder)? == Some(self.stamp),
            Location::Remote(_) => false,
        })
    }

    /// When the manifest was written, or read from an object store.
    pub(crate) fn changed(&self) -> SystemTime {
        self.stamp.0
    }

    /// Path of the store.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Manifest of the store.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The files of a table.
    pub fn files(&self, table: FleetTable) -> impl Iterator<Item = PathBuf> {
        self.manifest.files(table).map(|file| self.folder.join(&file.file))
    }
}

/// The time and the length of a local manifest, which a commit replaces.
fn stamp(store: &Path) -> Result<Option<(SystemTime, u64)>> {
    let Location::Local(folder) = Location::of(store)? else { return Ok(None) };
    let path = folder.join(manifest::FILE);
    let facts = fs::metadata(&path).and_then(|facts| Ok((facts.modified()?, facts.len())));
    facts.map(Some).map_err(|error| Error::from(error).in_file(path))
}

/// A commit takes milliseconds; if it takes longer than this, it is stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for a running commit, and finishes one whose process died.
fn await_commit(store: &Path) -> Result<()> {
    let started = Instant::now();
    while commit::is_pending(store) {
        if commit::finish_abandoned(store)? {
            break;
        }
        if started.elapsed() > PATIENCE {
            let busy = std::io::Error::new(std::io::ErrorKind::ResourceBusy, "another process is writing to the store");
            return Err(Error::from(busy).in_file(store));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
