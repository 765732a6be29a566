//! Traces as sorted Parquet files, which any engine can read.
//!
//! A store is a folder with `manifest.json` and one folder per table, which contains one file for each time traces were
//! added. A file that the manifest does not list is not part of the store. Files never change, so a reader sees a
//! consistent store even while traces are being added.

mod columns;
mod encoder;
mod gather;
mod intake;
mod keys;
mod manifest;
mod merge;
mod pour;
mod runs;
mod shared;
mod shelf;
mod sort;
pub(crate) mod staging;
mod write;

use std::path::{Path, PathBuf};

use arrow_schema::{ArrowError, Schema};
use parquet::errors::ParquetError;
use traceloom_core::{Error, Result};

pub use self::{
    columns::write_table,
    intake::Intake,
    manifest::StoredTrace,
    merge::merge_files,
    runs::BoxedBatches,
    shared::share,
    shelf::Shelf,
    write::{Options, Report, Skipped, Step, write},
};
use self::{manifest::Manifest, staging::MANIFEST};
use crate::location;

/// An existing store.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    manifest: Manifest,
}

impl Store {
    /// The store in this folder; `None` if there is none.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        if !location::is_file(&path.join(MANIFEST))? {
            return Ok(None);
        }
        let manifest = Manifest::read(&path.join(MANIFEST))?;
        let store = Self { folder: path.to_owned(), manifest };
        store.check_sizes()?;
        Ok(Some(store))
    }

    /// The files of a table, oldest first. Each is sorted as [`sorted_by`] says.
    pub fn files(&self, table: impl Into<Shelf>) -> Vec<PathBuf> {
        let shelf = table.into();
        self.manifest.files(shelf).iter().map(|file| self.folder.join(file.path(shelf))).collect()
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: impl Into<Shelf>) -> u64 {
        self.manifest.files(table.into()).iter().map(|file| file.rows).fold(0, u64::saturating_add)
    }

    /// The traces in the store, oldest first.
    pub fn traces(&self) -> &[StoredTrace] {
        &self.manifest.traces
    }

    /// Path of the store.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Reports a truncated or replaced file before its rows are read.
    fn check_sizes(&self) -> Result<()> {
        for shelf in Shelf::all() {
            for (file, path) in self.manifest.files(shelf).iter().zip(self.files(shelf)) {
                let bytes = location::length(&path)?;
                if bytes != file.bytes {
                    let message =
                        format!("the file has {bytes} bytes, but the manifest of the store says {}", file.bytes);
                    return Err(Error::unrecognized(message).in_file(&path));
                }
            }
        }
        Ok(())
    }
}

/// The columns that each file of a table is sorted by, NULL first.
pub fn sorted_by(table: &Schema) -> &'static [&'static str] {
    if table.index_of("ts_ns").is_ok() { &["trace_id", "ts_ns", "id"] } else { &["trace_id", "id"] }
}

/// Wraps a library error during writing or spilling of a file.
fn failed(path: &Path, error: impl Into<Failure>) -> Error {
    let error = match error.into() {
        Failure::Arrow(ArrowError::IoError(_, error)) => error,
        Failure::Arrow(error) => std::io::Error::other(error),
        Failure::Parquet(ParquetError::External(error)) => match error.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(error) => std::io::Error::other(error),
        },
        Failure::Parquet(error) => std::io::Error::other(error),
    };
    Error::from(error).in_file(path)
}

/// Errors of the libraries.
enum Failure {
    Arrow(ArrowError),
    Parquet(ParquetError),
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error)
    }
}
