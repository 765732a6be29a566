//! Sorts a table that may be larger than memory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use traceloom_core::{Error, Result};
use traceloom_model::{BATCH_BYTES, BATCH_ROWS};

use super::{
    Shelf,
    gather::Gather,
    keys::{Key, Keys},
    merge::Merge,
    runs::{self, BoxedBatches, RunWriter},
};

/// Max number of runs merged at a time; each needs an open file and a batch in memory.
const FAN_IN: usize = 16;

/// Sorts the rows of one table: `push* finish`, with `spill` whenever memory is short.
///
/// Rows that arrive in order form one run of any length.
pub(super) struct Sorter {
    schema: SchemaRef,
    /// Prefix of the names of temporary files.
    prefix: PathBuf,
    waiting: Vec<RecordBatch>,
    bytes: usize,
    /// The run to which the next rows may be appended.
    open: Option<RunWriter>,
    /// Finished runs; runs of one level have about the same size.
    levels: Vec<Vec<PathBuf>>,
    files_made: usize,
}

impl Sorter {
    /// An empty table; temporary files go into `folder`, which is created for the first one.
    pub(super) fn new(shelf: Shelf, folder: &Path) -> Self {
        Self {
            schema: shelf.table().schema(),
            prefix: folder.join(shelf.name()),
            waiting: Vec::new(),
            bytes: 0,
            open: None,
            levels: Vec::new(),
            files_made: 0,
        }
    }

    /// Adds rows; returns the increase in bytes.
    pub(super) fn push(&mut self, batch: RecordBatch) -> usize {
        // Sorting also needs a key per row, which may be larger than the row.
        let bytes = batch.get_array_memory_size() + batch.num_rows() * size_of::<Ordered>();
        self.waiting.push(batch);
        self.bytes += bytes;
        bytes
    }

    /// Bytes held in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there are temporary files.
    pub(super) fn is_spilled(&self) -> bool {
        self.files_made > 0
    }

    /// Writes the rows in memory to a temporary file.
    pub(super) fn spill(&mut self) -> Result<()> {
        let mut batches = self.take_sorted()?.peekable();
        let first = match batches.peek() {
            Some(Ok(batch)) if batch.num_rows() > 0 => Keys::of(batch)?.get(0),
            Some(Ok(_)) | None => return Ok(()),
            Some(Err(_)) => return batches.try_for_each(|batch| batch.map(drop)),
        };
        let mut run = match self.open.take() {
            Some(run) if run.takes(first) => run,
            before => {
                self.close(before)?;
                self.new_run()?
            }
        };
        batches.try_for_each(|batch| run.write(&batch?))?;
        self.open = Some(run);
        Ok(())
    }

    /// All rows, sorted. The temporary files remain until their folder is removed.
    pub(super) fn finish(mut self) -> Result<BoxedBatches> {
        let in_memory = self.take_sorted()?;
        if let Some(run) = self.open.take() {
            self.add(0, run.finish()?);
        }
        let mut streams = self.levels.into_iter().flatten().map(runs::read).collect::<Result<Vec<_>>>()?;
        if streams.is_empty() {
            return Ok(in_memory);
        }
        streams.push(in_memory);
        Ok(Box::new(Merge::new(self.schema, streams)?))
    }

    fn take_sorted(&mut self) -> Result<BoxedBatches> {
        let bytes = std::mem::take(&mut self.bytes);
        sorted(&self.schema, std::mem::take(&mut self.waiting), bytes)
    }

    fn new_run(&mut self) -> Result<RunWriter> {
        if let Some(folder) = self.prefix.parent().filter(|_| self.files_made == 0) {
            fs::create_dir_all(folder).map_err(|error| Error::from(error).in_file(folder))?;
        }
        self.files_made += 1;
        RunWriter::create(self.prefix.with_extension(format!("{}.run", self.files_made)), &self.schema)
    }

    /// Ends a run; merges runs if there are too many of its size.
    fn close(&mut self, run: Option<RunWriter>) -> Result<()> {
        let Some(run) = run else { return Ok(()) };
        self.add(0, run.finish()?);
        let mut level = 0;
        while self.levels.get(level).is_some_and(|runs| runs.len() >= FAN_IN) {
            let inputs = std::mem::take(&mut self.levels[level]);
            let streams = inputs.iter().cloned().map(runs::read).collect::<Result<Vec<_>>>()?;
            let mut merged = self.new_run()?;
            Merge::new(SchemaRef::clone(&self.schema), streams)?.try_for_each(|batch| merged.write(&batch?))?;
            inputs.iter().try_for_each(|input| runs::remove(input))?;
            level += 1;
            self.add(level, merged.finish()?);
        }
        Ok(())
    }

    fn add(&mut self, level: usize, run: PathBuf) {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        self.levels[level].push(run);
    }
}

/// A key with its slot and row.
type Ordered = (Key, u32, u32);

/// These batches, sorted; unchanged if they are already sorted.
fn sorted(schema: &SchemaRef, batches: Vec<RecordBatch>, bytes: usize) -> Result<BoxedBatches> {
    let keys = batches.iter().map(Keys::of).collect::<Result<Vec<_>>>()?;
    if keys.iter().flat_map(Keys::iter).is_sorted() {
        return Ok(Box::new(batches.into_iter().map(Ok)));
    }
    let mut order: Vec<Ordered> = Vec::with_capacity(keys.iter().map(Keys::len).sum());
    for (slot, keys) in keys.iter().enumerate() {
        order.extend(keys.iter().enumerate().map(|(row, key)| (key, slot as u32, row as u32)));
    }
    order.sort_unstable();
    drop(keys);
    // Long texts mean few rows per batch, because a stream that is merged later holds one batch in memory.
    let rows = (BATCH_BYTES.saturating_mul(order.len()) / bytes.max(1)).clamp(1, BATCH_ROWS);
    let mut gather = Gather::new(SchemaRef::clone(schema), batches);
    let mut begin = 0;
    Ok(Box::new(std::iter::from_fn(move || {
        let end = order.len().min(begin + rows);
        let places: Vec<_> = order[begin..end].iter().map(|(_, slot, row)| (*slot as usize, *row as usize)).collect();
        begin = end;
        let batch = || gather.rows(&places).map_err(|error| std::io::Error::other(error).into());
        (!places.is_empty()).then(batch)
    })))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, StringArray, UInt64Array};
    use traceloom_model::Table;

    use super::*;

    /// Rows of `attributes` with these traces and ids.
    fn batch(rows: &[(u64, i64)]) -> RecordBatch {
        let key: arrow_array::DictionaryArray<arrow_array::types::Int32Type> =
            rows.iter().map(|(_, id)| if id % 3 == 0 { "third" } else { "other" }).collect();
        let schema = Table::Attributes.schema();
        RecordBatch::try_new(
            schema,
            vec![
                Arc::new(rows.iter().map(|(trace, _)| *trace).collect::<UInt64Array>()),
                Arc::new(rows.iter().map(|(_, id)| *id).collect::<Int64Array>()),
                Arc::new(key),
                Arc::new(rows.iter().map(|(_, id)| Some(id.to_string())).collect::<StringArray>()),
            ],
        )
        .expect("columns of the schema")
    }

    /// Pushes batches and spills after each; returns the sorted rows and the largest number of files.
    fn sort(batches: Vec<Vec<(u64, i64)>>) -> (Vec<(u64, i64)>, usize) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut sorter = Sorter::new(Table::Attributes.into(), folder.path());
        let mut most_files = 0;
        for rows in batches {
            sorter.push(batch(&rows));
            sorter.spill().expect("a spill");
            most_files = most_files.max(folder.path().read_dir().expect("the folder").count());
        }
        let rows = sorter.finish().expect("a merge").flat_map(|batch| {
            let batch = batch.expect("a batch");
            let view = traceloom_model::attributes::View::of(&batch).expect("all columns");
            let row = |row: usize| {
                let id = view.id.get(row);
                assert_eq!(view.value.get(row), Some(id.to_string().as_str()));
                assert_eq!(view.key.get(row), if id % 3 == 0 { "third" } else { "other" });
                (view.trace_id.get(row), id)
            };
            (0..view.rows).map(row).collect::<Vec<_>>()
        });
        (rows.collect(), most_files)
    }

    #[test]
    fn runs_in_any_order_are_merged_in_steps() {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        };
        let batches: Vec<Vec<_>> =
            (0..300).map(|_| (0..20).map(|_| (next() % 3, next() as i64 - (1 << 30))).collect()).collect();
        let mut expected: Vec<_> = batches.iter().flatten().copied().collect();
        expected.sort_unstable();
        let (rows, most_files) = sort(batches);
        assert_eq!(rows, expected);
        assert!(most_files <= 3 * FAN_IN, "{most_files} files at once");
    }

    #[test]
    fn rows_in_order_make_one_run() {
        let batches: Vec<Vec<_>> = (0..100).map(|batch| (0..20).map(|row| (7, batch * 20 + row)).collect()).collect();
        let (rows, most_files) = sort(batches);
        assert!(rows.is_sorted() && rows.len() == 2000);
        assert_eq!(most_files, 1);
    }
}
