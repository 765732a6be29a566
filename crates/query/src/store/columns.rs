//! The encoding of table columns in a Parquet file.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding, ZstdLevel},
    file::{
        metadata::SortingColumn,
        properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder},
    },
    schema::types::ColumnPath,
};
use traceloom_core::{Error, Result};
use traceloom_model::{BATCH_BYTES, BATCH_ROWS};

use super::{failed, sorted_by, write::Options};

/// A Parquet file under construction: `create write* finish`.
#[derive(Debug)]
pub struct TableWriter {
    path: PathBuf,
    schema: SchemaRef,
    writer: ArrowWriter<File>,
    /// Small batches, which are written together: each batch costs as much per column as some hundred rows.
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    rows: u64,
}

impl TableWriter {
    /// Creates a file for a table with these columns.
    pub fn create(path: PathBuf, schema: SchemaRef, options: &Options) -> Result<Self> {
        let file = File::create_new(&path).map_err(|error| Error::from(error).in_file(&path))?;
        let properties = properties(&schema, options);
        let writer = ArrowWriter::try_new(file, SchemaRef::clone(&schema), Some(properties));
        let writer = writer.map_err(|error| failed(&path, error))?;
        Ok(Self { path, schema, writer, waiting: Vec::new(), waiting_rows: 0, waiting_bytes: 0, rows: 0 })
    }

    /// Adds rows, which must be sorted.
    pub fn write(&mut self, batch: RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.waiting_rows += batch.num_rows();
        self.waiting_bytes += batch.get_array_memory_size();
        self.waiting.push(batch);
        if self.waiting_rows >= BATCH_ROWS || self.waiting_bytes >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        let batches = std::mem::take(&mut self.waiting);
        let written = match batches.as_slice() {
            [] => return Ok(()),
            [batch] => self.writer.write(batch),
            several => {
                let batch = concat_batches(&self.schema, several).map_err(|error| failed(&self.path, error))?;
                self.writer.write(&batch)
            }
        };
        written.map_err(|error| failed(&self.path, error))
    }

    /// Finishes and syncs the file; returns its rows and bytes.
    pub fn finish(mut self) -> Result<(u64, u64)> {
        self.flush()?;
        self.writer.finish().map_err(|error| failed(&self.path, error))?;
        let in_file = |error: std::io::Error| Error::from(error).in_file(&self.path);
        let file = self.writer.inner();
        file.sync_all().map_err(in_file)?;
        Ok((self.rows, file.metadata().map_err(in_file)?.len()))
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

/// Writes all rows of a table to a file.
pub(super) fn write_table(
    path: &Path,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    options: &Options,
) -> Result<(u64, u64)> {
    let mut writer = TableWriter::create(path.to_owned(), schema, options)?;
    for batch in batches {
        writer.write(batch?)?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{DictionaryArray, StringArray, UInt64Array, cast::AsArray, types::Int32Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

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
        let path = folder.path().join("spans.parquet");
        let names = ["Render", "Update", "Load", "Sort"];
        let mut writer =
            TableWriter::create(path.clone(), batch(0, &names).schema(), &Options::default()).expect("a file");
        for trace in 0..3000 {
            let first = trace as usize % names.len();
            writer.write(batch(trace, &[names[first], names[3 - first], names[first]])).expect("rows");
        }
        assert!(writer.waiting.len() > 100, "{} batches wait", writer.waiting.len());
        assert_eq!(writer.finish().expect("a file").0, 9000);
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("a file")).expect("Parquet");
        let mut rows = Vec::new();
        for batch in reader.build().expect("Parquet") {
            let batch = batch.expect("rows");
            let traces = batch.column(0).as_primitive::<arrow_array::types::UInt64Type>().values().to_vec();
            let names = batch.column(1).as_dictionary::<Int32Type>().downcast_dict::<StringArray>().expect("names");
            rows.extend(traces.into_iter().zip(names.into_iter().map(|name| name.expect("a name").to_owned())));
        }
        let expected = (0..3000_u64).flat_map(|trace| {
            let first = trace as usize % names.len();
            [first, 3 - first, first].map(|number| (trace, names[number].to_owned()))
        });
        assert!(rows.into_iter().eq(expected));
    }
}
