//! The encoding of table columns in a Parquet file.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
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

use super::{failed, sorted_by, write::Options};

/// A Parquet file under construction: `create write* finish`.
#[derive(Debug)]
pub struct TableWriter {
    path: PathBuf,
    writer: ArrowWriter<File>,
    rows: u64,
}

impl TableWriter {
    /// Creates a file for a table with these columns.
    pub fn create(path: PathBuf, schema: SchemaRef, options: &Options) -> Result<Self> {
        let file = File::create_new(&path).map_err(|error| Error::from(error).in_file(&path))?;
        let properties = properties(&schema, options);
        let writer = ArrowWriter::try_new(file, schema, Some(properties));
        let writer = writer.map_err(|error| failed(&path, error))?;
        Ok(Self { path, writer, rows: 0 })
    }

    /// Adds rows, which must be sorted.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.writer.write(batch).map_err(|error| failed(&self.path, error))
    }

    /// Finishes and syncs the file; returns its rows and bytes.
    pub fn finish(mut self) -> Result<(u64, u64)> {
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
/// only with zstd.
fn encode(properties: WriterPropertiesBuilder, field: &Field) -> WriterPropertiesBuilder {
    let path = || ColumnPath::from(field.name().as_str());
    let differs = matches!(field.name().as_str(), "address" | "id" | "owner_id" | "parent_id" | "span_id");
    match field.data_type() {
        DataType::Int64 | DataType::UInt64 if differs || field.name().ends_with("_ns") => properties
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
        writer.write(&batch?)?;
    }
    writer.finish()
}
