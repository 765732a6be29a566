//! Writes the rows of a result in a machine-readable format, or returns its cells as text.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex},
};

use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, RecordBatch, RecordBatchOptions,
    cast::AsArray,
    types::{Float32Type, Float64Type},
};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema, SchemaRef};
use datafusion::{
    arrow::{
        csv,
        ipc::writer::{FileWriter, StreamWriter},
        json::{
            Encoder as JsonEncoder, EncoderFactory, EncoderOptions, LineDelimitedWriter, WriterBuilder,
            writer::NullableEncoder,
        },
        util::display::{ArrayFormatter, FormatOptions},
    },
    parquet::{
        arrow::ArrowWriter,
        basic::{Compression, ZstdLevel},
        errors::ParquetError,
        file::properties::WriterProperties,
    },
};
use traceloom_core::{Error, Result};

/// A machine-readable format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// An Arrow file.
    Arrow,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object per line, with the fields of [`json_columns`]. JSON has no numbers for NaN and infinities, so they
    /// are the strings `NaN`, `Infinity` and `-Infinity`.
    Json,
    /// A Parquet file.
    Parquet,
    /// An Arrow stream, whose rows can be used as they arrive.
    Stream,
}

/// Writes batches of one schema: `write* finish`.
pub struct Writer<'w> {
    out: &'w mut dyn Write,
    made: Made,
    encoder: Encoder,
}

impl fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

enum Encoder {
    Arrow(Box<FileWriter<Made>>),
    Csv(Box<csv::Writer<Made>>),
    Json(LineDelimitedWriter<Made>),
    Parquet(Box<ArrowWriter<Made>>),
    Stream(Box<StreamWriter<Made>>),
}

impl<'w> Writer<'w> {
    /// Creates a writer to `out`, and writes the header of the format at once.
    pub fn new(format: Format, schema: &SchemaRef, out: &'w mut dyn Write) -> Result<Self> {
        let made = Made::default();
        let encoder = match format {
            Format::Arrow => Encoder::Arrow(Box::new(FileWriter::try_new(made.clone(), schema).map_err(of_arrow)?)),
            Format::Csv => {
                let mut writer = csv::WriterBuilder::new().with_header(true).build(made.clone());
                // Without rows, there would be no header.
                writer.write(&RecordBatch::new_empty(Arc::clone(schema))).map_err(of_arrow)?;
                Encoder::Csv(Box::new(writer))
            }
            Format::Json => {
                let builder = WriterBuilder::new().with_encoder_factory(Arc::new(NonFinite));
                Encoder::Json(builder.build(made.clone()))
            }
            Format::Parquet => {
                let level = ZstdLevel::try_new(3).map_err(of_parquet)?;
                let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
                let writer =
                    ArrowWriter::try_new(made.clone(), Arc::clone(schema), Some(properties)).map_err(of_parquet)?;
                Encoder::Parquet(Box::new(writer))
            }
            Format::Stream => {
                let writer = StreamWriter::try_new(made.clone(), &plain_columns(schema)).map_err(of_arrow)?;
                Encoder::Stream(Box::new(writer))
            }
        };
        let mut writer = Self { out, made, encoder };
        writer.hand_on()?;
        Ok(writer)
    }

    /// Writes rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.encoder {
            Encoder::Arrow(writer) => writer.write(batch).map_err(of_arrow)?,
            Encoder::Csv(writer) => writer.write(batch).map_err(of_arrow)?,
            Encoder::Json(writer) => writer.write(&distinct(batch).map_err(of_arrow)?).map_err(of_arrow)?,
            Encoder::Parquet(writer) => writer.write(batch).map_err(of_parquet)?,
            Encoder::Stream(writer) => writer.write(&plain(batch).map_err(of_arrow)?).map_err(of_arrow)?,
        }
        self.hand_on()?;
        // A reader may be waiting for them.
        if matches!(self.encoder, Encoder::Stream(_)) { Ok(self.out.flush()?) } else { Ok(()) }
    }

    /// Writes the end of the format.
    pub fn finish(mut self) -> Result<()> {
        match &mut self.encoder {
            Encoder::Arrow(writer) => writer.finish().map_err(of_arrow)?,
            Encoder::Csv(_) => {}
            Encoder::Json(writer) => writer.finish().map_err(of_arrow)?,
            Encoder::Parquet(writer) => drop(writer.finish().map_err(of_parquet)?),
            Encoder::Stream(writer) => writer.finish().map_err(of_arrow)?,
        }
        self.hand_on()?;
        Ok(self.out.flush()?)
    }

    fn hand_on(&mut self) -> Result<()> {
        let bytes = self.made.0.lock().map(|mut made| std::mem::take(&mut *made)).unwrap_or_default();
        Ok(self.out.write_all(&bytes)?)
    }
}

/// Writes non-finite floats as strings; otherwise they could not be distinguished from NULL.
#[derive(Debug)]
struct NonFinite;

impl EncoderFactory for NonFinite {
    fn make_default_encoder<'a>(
        &self,
        _: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        Ok(non_finite::<Float64Type>(array).or_else(|| non_finite::<Float32Type>(array)))
    }
}

/// An encoder, if there is a value that needs one.
fn non_finite<T: ArrowPrimitiveType<Native: Into<f64> + fmt::Debug>>(array: &dyn Array) -> Option<NullableEncoder<'_>> {
    let floats = array.as_primitive_opt::<T>()?;
    let is_needed = floats.values().iter().any(|value| !(*value).into().is_finite());
    is_needed.then(|| NullableEncoder::new(Box::new(Floats(floats.values())), floats.nulls().cloned()))
}

struct Floats<'a, T>(&'a [T]);

impl<T: Copy + Default + Into<f64> + fmt::Debug> JsonEncoder for Floats<'_, T> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        let value = self.0.get(row).copied().unwrap_or_default();
        let text = match value.into() {
            f64::INFINITY => "\"Infinity\"".to_owned(),
            f64::NEG_INFINITY => "\"-Infinity\"".to_owned(),
            wide if wide.is_nan() => "\"NaN\"".to_owned(),
            // The shortest number that is the same in this width.
            _ => format!("{value:?}"),
        };
        out.extend_from_slice(text.as_bytes());
    }
}

/// A buffer between an encoder, which must own its output, and a borrowed output.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<Vec<u8>>>);

impl Write for Made {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.lock() {
            Ok(mut made) => made.extend_from_slice(bytes),
            Err(_) => return Err(io::Error::other("another writer failed")),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The columns as fields of JSON objects. Most readers of JSON keep only one of several fields with the same name, so all
/// but the first get a number, as in `name_2`.
pub fn json_columns(schema: &SchemaRef) -> SchemaRef {
    let mut taken: HashSet<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if taken.len() == schema.fields().len() {
        return Arc::clone(schema);
    }
    let mut numbers: HashMap<&str, u64> = HashMap::new();
    let named = schema.fields().iter().map(|field| {
        let number = numbers.entry(field.name()).or_default();
        *number += 1;
        if *number == 1 {
            return Arc::clone(field);
        }
        let mut name = format!("{}_{number}", field.name());
        while !taken.insert(name.clone()) {
            *number += 1;
            name = format!("{}_{number}", field.name());
        }
        Arc::new(field.as_ref().clone().with_name(name))
    });
    Arc::new(Schema::new(named.collect::<Fields>()))
}

/// The same rows with a different name for each column.
fn distinct(batch: &RecordBatch) -> std::result::Result<RecordBatch, ArrowError> {
    of_columns(json_columns(&batch.schema()), batch.columns().to_vec(), batch)
}

/// The same rows without dictionaries, which differ between batches and would have to be sent with each batch.
fn plain(batch: &RecordBatch) -> std::result::Result<RecordBatch, ArrowError> {
    let schema = plain_columns(&batch.schema());
    let columns = schema.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, column)| datafusion::arrow::compute::cast(column, field.data_type()));
    let columns = columns.collect::<std::result::Result<_, _>>()?;
    of_columns(schema, columns, batch)
}

/// A batch of these columns; `batch` has the number of rows, which no column has if there are none.
fn of_columns(
    schema: SchemaRef,
    columns: Vec<ArrayRef>,
    batch: &RecordBatch,
) -> std::result::Result<RecordBatch, ArrowError> {
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema, columns, &rows)
}

fn plain_columns(schema: &Schema) -> SchemaRef {
    let plain = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Dictionary(_, value) => Arc::new(field.as_ref().clone().with_data_type(value.as_ref().clone())),
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new(plain.collect::<Fields>()))
}

pub(crate) fn of_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => io::Error::other(error).into(),
    }
}

fn of_parquet(error: ParquetError) -> Error {
    io::Error::other(error).into()
}

/// The cells of a result as text.
#[derive(Debug)]
pub struct Cells {
    schema: SchemaRef,
}

impl Cells {
    /// Creates cells for results with these columns.
    pub fn new(schema: SchemaRef) -> Self {
        Self { schema }
    }

    /// Names of the columns, and whether each is numeric.
    pub fn heads(&self) -> Vec<(String, bool)> {
        self.schema.fields().iter().map(|field| (field.name().clone(), is_number(field.data_type()))).collect()
    }

    /// The rows of a batch; NULL is an empty string.
    pub fn rows(&self, batch: &RecordBatch) -> Result<Vec<Vec<String>>> {
        let options = FormatOptions::default().with_display_error(true);
        let formatters = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(of_arrow)?;
        Ok((0..batch.num_rows())
            .map(|row| formatters.iter().map(|cells| cells.value(row).to_string()).collect())
            .collect())
    }
}

fn is_number(kind: &DataType) -> bool {
    kind.is_numeric()
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn fields_of_json_have_different_names() {
        let names = ["name", "name", "name_2", "n", "name"];
        let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Int64, false)).collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let columns = (0..5).map(|number| Arc::new(Int64Array::from(vec![number])) as ArrayRef).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let mut json = Vec::new();
        let mut writer = Writer::new(Format::Json, &schema, &mut json).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let expected = "{\"name\":0,\"name_3\":1,\"name_2\":2,\"n\":3,\"name_4\":4}\n";
        assert_eq!(String::from_utf8(json).unwrap(), expected);
        let named: Vec<String> = json_columns(&schema).fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(named, ["name", "name_3", "name_2", "n", "name_4"]);
    }
}
