//! The traces of a fleet: a folder of Hive-partitioned Parquet files, which any engine can read.
//!
//! `spans/day=2026-11-16/host=web1/build=42/0001.parquet`: every table of a trace, and three more ([`FleetTable`]),
//! with the same partitions. `fleet.json` lists all files and the partition columns. The folder contains exactly these
//! files, except during a commit; opening the store waits for the commit, or finishes it if its process died.

mod commit;
mod listing;
mod manifest;
mod tables;
mod views;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use traceloom_core::{Error, Result};

use crate::location::{self, Location};

pub use self::{
    commit::Writing,
    listing::register,
    manifest::{FleetFile, Manifest, partition_path},
    tables::FleetTable,
    views::VIEWS,
};

/// The partition columns of every store.
pub const PARTITIONS: [&str; 3] = ["day", "host", "build"];
/// The value of a partition column if unknown.
pub const UNKNOWN: &str = "unknown";

/// An existing fleet store.
#[derive(Debug)]
pub struct Fleet {
    folder: PathBuf,
    manifest: Manifest,
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
        Ok(Some(Self { folder: path.to_owned(), manifest: Manifest::read(&path.join(manifest::FILE))? }))
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
