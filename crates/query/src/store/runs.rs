//! Sorted rows in a temporary file.

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter},
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_ipc::{reader::StreamReader, writer::StreamWriter};
use arrow_schema::Schema;
use traceloom_core::{Error, Result};

use super::{
    failed,
    keys::{Key, Keys},
};

/// Batches, one after the other.
pub type BoxedBatches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// A run under construction; batches must be sorted.
pub(super) struct RunWriter {
    path: PathBuf,
    writer: StreamWriter<BufWriter<File>>,
    last: Option<Key>,
}

impl RunWriter {
    pub(super) fn create(path: PathBuf, schema: &Schema) -> Result<Self> {
        let file = File::create_new(&path).map_err(|error| Error::from(error).in_file(&path))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        let writer = StreamWriter::try_new(file, schema).map_err(|error| failed(&path, error))?;
        Ok(Self { path, writer, last: None })
    }

    /// Whether this row may follow the last one.
    pub(super) fn takes(&self, first: Key) -> bool {
        self.last.is_none_or(|last| last <= first)
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let keys = Keys::of(batch)?;
        if let Some(last) = keys.len().checked_sub(1) {
            self.last = Some(keys.get(last));
        }
        self.writer.write(batch).map_err(|error| failed(&self.path, error))
    }

    pub(super) fn finish(mut self) -> Result<PathBuf> {
        self.writer.finish().map_err(|error| failed(&self.path, error))?;
        Ok(self.path)
    }
}

/// The batches of a run.
pub(super) fn read(path: PathBuf) -> Result<BoxedBatches> {
    let file = File::open(&path).map_err(|error| Error::from(error).in_file(&path))?;
    let reader = StreamReader::try_new(BufReader::with_capacity(1 << 18, file), None);
    let reader = reader.map_err(|error| failed(&path, error))?;
    Ok(Box::new(reader.map(move |batch| batch.map_err(|error| failed(&path, error)))))
}

/// Removes a run that was read.
pub(super) fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::from(error).in_file(path))
}
