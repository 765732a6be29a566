//! Encodes the columns of a Parquet file on several threads.

use std::{
    fs::File,
    mem,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use arrow_array::{RecordBatch, new_empty_array};
use arrow_schema::{FieldRef, SchemaRef};
use parquet::{
    arrow::{
        ArrowWriter,
        arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves},
    },
    file::{properties::WriterProperties, writer::SerializedFileWriter},
};
use traceloom_core::{Error, Result};
use traceloom_model::BATCH_ROWS;

use super::{failed, shared::share};

type Encoded<T> = std::result::Result<T, parquet::errors::ParquetError>;

/// The row groups of a file: `create write* finish`. The bytes do not depend on the number of threads.
pub(super) struct Encoder {
    file: SerializedFileWriter<File>,
    factory: ArrowRowGroupWriterFactory,
    /// The columns, with the number of primitive columns that Parquet stores for each.
    columns: Vec<(FieldRef, usize)>,
    /// The current row group, one entry per column; empty between two row groups.
    group: Vec<Mutex<Column>>,
    rows: usize,
    max_rows: usize,
    max_bytes: usize,
    threads: usize,
}

/// A column of the current row group.
#[derive(Default)]
struct Column {
    writers: Vec<ArrowColumnWriter>,
    chunks: Vec<ArrowColumnChunk>,
}

impl Encoder {
    pub(super) fn create(path: &Path, schema: SchemaRef, properties: WriterProperties, threads: usize) -> Result<Self> {
        let file = File::create_new(path).map_err(|error| Error::from(error).in_file(path))?;
        let max_rows = properties.max_row_group_row_count().unwrap_or(usize::MAX);
        let max_bytes = properties.max_row_group_bytes().unwrap_or(usize::MAX);
        let create = || -> Encoded<Self> {
            let leaves = |field: &FieldRef| -> Encoded<usize> {
                Ok(compute_leaves(field, &new_empty_array(field.data_type()))?.len())
            };
            let columns = schema.fields().iter().map(|field| Ok((FieldRef::clone(field), leaves(field)?)));
            let columns = columns.collect::<Encoded<_>>()?;
            let writer = ArrowWriter::try_new(file, schema, Some(properties))?;
            let (file, factory) = writer.into_serialized_writer()?;
            Ok(Self { file, factory, columns, group: Vec::new(), rows: 0, max_rows, max_bytes, threads })
        };
        create().map_err(|error| failed(path, error))
    }

    /// Adds rows.
    pub(super) fn write(&mut self, batches: &[RecordBatch]) -> Encoded<()> {
        let mut waiting: Vec<RecordBatch> = batches.iter().rev().cloned().collect();
        while !waiting.is_empty() {
            self.begin()?;
            let mut next = Vec::new();
            while let Some(batch) = waiting.pop() {
                let room = self.max_rows - self.rows;
                if room == 0 {
                    waiting.push(batch);
                    break;
                }
                let rows = room.min(batch.num_rows());
                self.rows += rows;
                next.push(batch.slice(0, rows));
                if rows < batch.num_rows() {
                    waiting.push(batch.slice(rows, batch.num_rows() - rows));
                }
            }
            self.encode(&next)?;
            if self.rows == self.max_rows || self.bytes() >= self.max_bytes {
                self.end()?;
            }
        }
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(&mut self) -> Encoded<()> {
        self.end()?;
        self.file.finish().map(drop)
    }

    /// The file that is written.
    pub(super) fn file(&self) -> &File {
        self.file.inner()
    }

    /// Begins a row group, if there is none.
    fn begin(&mut self) -> Encoded<()> {
        if self.group.is_empty() {
            let mut writers = self.factory.create_column_writers(self.file.flushed_row_groups().len())?.into_iter();
            let column = |(_, leaves): &(FieldRef, usize)| {
                Mutex::new(Column { writers: writers.by_ref().take(*leaves).collect(), chunks: Vec::new() })
            };
            self.group = self.columns.iter().map(column).collect();
            self.rows = 0;
        }
        Ok(())
    }

    fn encode(&self, batches: &[RecordBatch]) -> Encoded<()> {
        self.each_column(|number, column| {
            let (field, _) = &self.columns[number];
            for batch in batches {
                let leaves = compute_leaves(field, batch.column(number))?;
                column.writers.iter_mut().zip(&leaves).try_for_each(|(writer, leaf)| writer.write(leaf))?;
            }
            Ok(())
        })
    }

    /// Ends the row group, if there is one.
    fn end(&mut self) -> Encoded<()> {
        if self.group.is_empty() {
            return Ok(());
        }
        self.each_column(|_, column| {
            column.chunks =
                mem::take(&mut column.writers).into_iter().map(ArrowColumnWriter::close).collect::<Encoded<_>>()?;
            Ok(())
        })?;
        let mut row_group = self.file.next_row_group()?;
        for column in mem::take(&mut self.group) {
            let column = column.into_inner().unwrap_or_else(PoisonError::into_inner);
            column.chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut row_group))?;
        }
        row_group.close().map(drop)
    }

    /// Works on all columns, each on any thread.
    fn each_column(&self, work: impl Fn(usize, &mut Column) -> Encoded<()> + Sync) -> Encoded<()> {
        let next = AtomicUsize::new(0);
        // Starting threads costs as much as encoding some hundred rows.
        let threads = if self.rows < BATCH_ROWS { 1 } else { self.threads.min(self.group.len()) };
        share(threads, || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(column) = self.group.get(number) else { return Ok(()) };
                work(number, &mut column.lock().unwrap_or_else(PoisonError::into_inner))?;
            }
        })
    }

    /// Estimated bytes of the current row group.
    fn bytes(&self) -> usize {
        let of = |column: &Mutex<Column>| {
            let column = column.lock().unwrap_or_else(PoisonError::into_inner);
            column.writers.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum::<usize>()
        };
        self.group.iter().map(of).sum()
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("rows", &self.rows).finish_non_exhaustive()
    }
}
