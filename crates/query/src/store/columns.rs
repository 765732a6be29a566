//! The encoding of table columns in a Parquet file.

use std::{
    mem,
    ops::ControlFlow,
    path::Path,
    sync::{Mutex, PoisonError},
};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::{
    basic::{Compression, Encoding, ZstdLevel},
    file::{
        metadata::SortingColumn,
        properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder},
    },
    schema::types::ColumnPath,
};
use traceloom_core::{Error, Result, Turns as Pieces, in_turns};
use traceloom_model::{BATCH_BYTES, BATCH_ROWS};

use super::{encoder::Encoder, failed, sorted_by, write::Options};

/// Rows that are encoded at a time: enough to keep several threads busy with their columns.
const TURN_ROWS: usize = 8 * BATCH_ROWS;
/// The same in bytes.
const TURN_BYTES: usize = 2 * BATCH_BYTES;
/// Turns that are encoded before another thread makes the next ones: it is not worth starting for a small table.
const TURNS_ALONE: usize = 2;

/// Writes all rows of a table, which must be sorted, to a file, and syncs it; returns its rows and bytes.
///
/// With several threads, the columns are encoded side by side, while another thread makes the next batches.
pub fn write_table(
    path: &Path,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>> + Send,
    options: &Options,
    threads: usize,
) -> Result<(u64, u64)> {
    let mut encoder = Encoder::create(path, SchemaRef::clone(&schema), properties(&schema, options), threads)?;
    let mut turns = Turns { path, schema, batches };
    let mut rows = 0;
    let mut encode = |turn: Vec<RecordBatch>| {
        rows += turn.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
        encoder.write(&turn).map_err(|error| failed(path, error))
    };
    let mut alone = 0;
    for turn in turns.by_ref().take(TURNS_ALONE) {
        encode(turn?)?;
        alone += 1;
    }
    if alone == TURNS_ALONE {
        let turns = Mutex::new(turns);
        let walk = |pieces: &mut Pieces<'_, _>| {
            let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(turn) = turns.next().transpose()? {
                if !pieces.give(turn) {
                    break;
                }
            }
            Ok(())
        };
        in_turns(usize::from(threads > 1), &walk, &mut |turn| encode(turn).map(ControlFlow::Continue))?;
    }
    encoder.finish().map_err(|error| failed(path, error))?;
    let in_file = |error: std::io::Error| Error::from(error).in_file(path);
    encoder.file().sync_all().map_err(in_file)?;
    Ok((rows, encoder.file().metadata().map_err(in_file)?.len()))
}

/// The rows of a table, as many at a time as are encoded together.
struct Turns<'p, I> {
    path: &'p Path,
    schema: SchemaRef,
    batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Turns<'_, I> {
    fn turn(&mut self) -> Result<Vec<RecordBatch>> {
        let (mut turn, mut small) = (Waiting::default(), Waiting::default());
        while !turn.is_full(TURN_ROWS, TURN_BYTES) {
            let Some(batch) = self.batches.next().transpose()? else { break };
            small.push(batch);
            if small.is_full(BATCH_ROWS, BATCH_BYTES) {
                turn.push(self.joined(mem::take(&mut small).batches)?);
            }
        }
        if !small.batches.is_empty() {
            turn.push(self.joined(small.batches)?);
        }
        Ok(turn.batches)
    }

    /// Makes one batch of small ones: each batch costs as much per column as some hundred rows.
    fn joined(&self, batches: Vec<RecordBatch>) -> Result<RecordBatch> {
        match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => Ok(batch),
            Err(batches) => concat_batches(&self.schema, &batches).map_err(|error| failed(self.path, error)),
        }
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Turns<'_, I> {
    type Item = Result<Vec<RecordBatch>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.turn().map(|turn| (!turn.is_empty()).then_some(turn)).transpose()
    }
}

/// Batches, and what they hold.
#[derive(Debug, Default)]
struct Waiting {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl Waiting {
    fn push(&mut self, batch: RecordBatch) {
        self.rows += batch.num_rows();
        self.bytes += batch.get_array_memory_size();
        self.batches.push(batch);
    }

    fn is_full(&self, rows: usize, bytes: usize) -> bool {
        self.rows >= rows || self.bytes >= bytes
    }
}

/// The schema is exactly the schema of the tables; the sort order is stored for engines that can use it.
fn properties(schema: &Schema, options: &Options) -> WriterProperties {
    let number = |name: &&str| schema.index_of(name).ok();
    let sorting = sorted_by(schema).iter().filter_map(number);
    let sorting =
        sorting.map(|number| SortingColumn { column_idx: number as i32, descending: false, nulls_first: true });
    let level = ZstdLevel::try_new(1).unwrap_or_default();
    let properties = WriterProperties::builder()
        .set_created_by(concat!("traceloom ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_sorting_columns(Some(sorting.collect()))
        .set_max_row_group_row_count(Some(options.row_group_rows.max(1)))
        .set_max_row_group_bytes(Some(options.row_group_bytes.max(1)));
    schema.fields().iter().fold(properties, |properties, field| encode(properties, field)).build()
}

/// Names and numbers that recur have a dictionary. For numbers that differ in each row, a dictionary would be built in
/// vain, so they are stored as differences, which are short and can be read several times as fast as numbers compressed
/// only with zstd. The same holds for numbers that hardly change from row to row: without a dictionary, no row is hashed.
fn encode(properties: WriterPropertiesBuilder, field: &Field) -> WriterPropertiesBuilder {
    let path = || ColumnPath::from(field.name().as_str());
    let name = field.name().as_str();
    let differs = matches!(name, "address" | "id" | "owner_id" | "parent_id" | "span_id") || name.ends_with("_ns");
    let is_steady = matches!(name, "depth" | "process_id" | "thread_id" | "trace_id");
    match field.data_type() {
        DataType::Int64 | DataType::UInt64 | DataType::UInt32 if differs || is_steady => properties
            .set_column_dictionary_enabled(path(), false)
            .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED),
        DataType::Binary | DataType::Float64 => properties.set_column_dictionary_enabled(path(), false),
        // The smallest and largest text of a row group exclude nothing, and cost two comparisons per row.
        DataType::Dictionary(..) | DataType::Utf8 => {
            properties.set_column_statistics_enabled(path(), EnabledStatistics::None)
        }
        _ => properties,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        sync::Arc,
    };

    use arrow_array::{DictionaryArray, StringArray, UInt64Array, cast::AsArray, types::Int32Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    /// Enough for several turns and a remainder.
    const TRACES: u64 = 70_000;

    /// Rows of one trace, whose names have a separate dictionary.
    fn batch(trace: u64, names: &[&str]) -> RecordBatch {
        let name: DictionaryArray<Int32Type> = names.iter().copied().collect();
        let trace_id = UInt64Array::from(vec![trace; names.len()]);
        RecordBatch::try_from_iter([("trace_id", Arc::new(trace_id) as _), ("name", Arc::new(name) as _)])
            .expect("columns of one length")
    }

    #[test]
    fn small_batches_are_written_together_with_their_names() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("none");
        let names = ["Render", "Update", "Load", "Sort"];
        let batches = (0..TRACES).map(|trace| {
            let first = trace as usize % names.len();
            batch(trace, &[names[first], names[3 - first], names[first]])
        });
        let schema = batch(0, &names).schema();
        for threads in [1, 2] {
            let mut turns = Turns { path: &path, schema: Arc::clone(&schema), batches: batches.clone().map(Ok) };
            let first = turns.next().expect("rows").expect("rows");
            assert!(first.len() < 20 && first.iter().all(|batch| batch.num_rows() > 5000), "{} batches", first.len());
            let path = folder.path().join(format!("{threads}.parquet"));
            let written =
                write_table(&path, Arc::clone(&schema), batches.clone().map(Ok), &Options::default(), threads);
            assert_eq!(written.expect("a file").0, 3 * TRACES);
        }
        let bytes = [1, 2].map(|threads| fs::read(folder.path().join(format!("{threads}.parquet"))).expect("a file"));
        assert!(bytes[0] == bytes[1], "the file depends on the number of threads");
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(File::open(folder.path().join("2.parquet")).expect("a file"))
                .expect("Parquet");
        let mut rows = Vec::new();
        for batch in reader.build().expect("Parquet") {
            let batch = batch.expect("rows");
            let traces = batch.column(0).as_primitive::<arrow_array::types::UInt64Type>().values().to_vec();
            let names = batch.column(1).as_dictionary::<Int32Type>().downcast_dict::<StringArray>().expect("names");
            rows.extend(traces.into_iter().zip(names.into_iter().map(|name| name.expect("a name").to_owned())));
        }
        let expected = (0..TRACES).flat_map(|trace| {
            let first = trace as usize % names.len();
            [first, 3 - first, first].map(|number| (trace, names[number].to_owned()))
        });
        assert!(rows.into_iter().eq(expected));
    }
}
