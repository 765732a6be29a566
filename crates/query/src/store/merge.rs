//! Merges sorted streams of batches.

use std::{cmp::Reverse, collections::BinaryHeap, fs::File, path::PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use traceloom_core::{Error, Result};
use traceloom_model::BATCH_ROWS;

use super::{
    failed,
    gather::{Gather, RowPosition},
    keys::{Key, Keys},
    runs::BoxedBatches,
};

/// Merges streams; holds one batch of each.
pub(super) struct Merge {
    cursors: Vec<Cursor>,
    gather: Gather,
    /// The next row of each unfinished stream.
    heap: BinaryHeap<Reverse<(Key, usize)>>,
    places: Vec<RowPosition>,
}

/// A stream and its position.
struct Cursor {
    batches: BoxedBatches,
    keys: Keys,
    row: usize,
}

impl Merge {
    /// Starts reading all streams.
    pub(super) fn new(schema: SchemaRef, streams: Vec<BoxedBatches>) -> Result<Self> {
        let (mut cursors, mut slots) = (Vec::new(), Vec::new());
        for mut batches in streams {
            if let Some(batch) = next_filled(&mut batches)? {
                cursors.push(Cursor { batches, keys: Keys::of(&batch)?, row: 0 });
                slots.push(batch);
            }
        }
        let heap = cursors.iter().enumerate().map(|(slot, cursor)| Reverse((cursor.keys.get(0), slot))).collect();
        Ok(Self { cursors, gather: Gather::new(schema, slots), heap, places: Vec::with_capacity(BATCH_ROWS) })
    }

    /// The next batch.
    fn merged(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(Reverse((_, slot))) = self.heap.pop() {
            let limit = self.heap.peek().map(|Reverse((key, _))| *key);
            let cursor = &mut self.cursors[slot];
            // Rows that come before all other streams are taken at once.
            let next = loop {
                let row = cursor.row;
                if row == cursor.keys.len() {
                    break None;
                }
                let key = cursor.keys.get(row);
                if self.places.len() == BATCH_ROWS || limit.is_some_and(|limit| key > limit) {
                    break Some(key);
                }
                self.places.push((slot, row));
                cursor.row += 1;
            };
            match next {
                Some(key) => {
                    self.heap.push(Reverse((key, slot)));
                    if self.places.len() == BATCH_ROWS {
                        return self.flush();
                    }
                }
                // Rows taken from the batch must be copied before it is dropped.
                None => {
                    let batch = self.flush()?;
                    self.refill(slot)?;
                    return Ok(batch);
                }
            }
        }
        Ok(None)
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.gather.rows(&self.places).map_err(std::io::Error::other)?;
        self.places.clear();
        Ok(Some(batch))
    }

    fn refill(&mut self, slot: usize) -> Result<()> {
        let cursor = &mut self.cursors[slot];
        if let Some(batch) = next_filled(&mut cursor.batches)? {
            (cursor.keys, cursor.row) = (Keys::of(&batch)?, 0);
            self.heap.push(Reverse((cursor.keys.get(0), slot)));
            self.gather.replace(slot, batch);
        }
        Ok(())
    }
}

impl Iterator for Merge {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.merged().transpose()
    }
}

fn next_filled(batches: &mut BoxedBatches) -> Result<Option<RecordBatch>> {
    batches.find(|batch| !matches!(batch, Ok(batch) if batch.num_rows() == 0)).transpose()
}

/// The rows of sorted files of one table as one sorted stream.
///
/// The files are opened when the first batch is read, so that streams that wait for their turn hold no files.
pub fn merge_files(schema: SchemaRef, files: Vec<PathBuf>) -> BoxedBatches {
    let open = move || -> Result<Merge> {
        let streams = files.into_iter().map(|path| read_file(&schema, path)).collect::<Result<Vec<_>>>()?;
        Merge::new(schema, streams)
    };
    Box::new(std::iter::once_with(open).flat_map(|merge| match merge {
        Ok(merge) => Box::new(merge) as BoxedBatches,
        Err(error) => Box::new(std::iter::once(Err(error))),
    }))
}

fn read_file(schema: &SchemaRef, path: PathBuf) -> Result<BoxedBatches> {
    let file = File::open(&path).map_err(|error| Error::from(error).in_file(&path))?;
    let options = ArrowReaderOptions::new().with_schema(SchemaRef::clone(schema));
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options);
    let reader = builder.and_then(|builder| builder.with_batch_size(BATCH_ROWS).build());
    let reader = reader.map_err(|error| failed(&path, error))?;
    Ok(Box::new(reader.map(move |batch| batch.map_err(|error| failed(&path, error)))))
}
