//! Arrow: one table as a file of record batches.

use std::{io::Write, sync::Arc};

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray, types::Int32Type};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use traceloom_core::{Error, Loss, Result};
use traceloom_model::Table;

use super::tables::{MAIN_TABLE, choose, pour_taken, table_variants};
use crate::AnyColumn;
use traceloom_passes::{Request, Target, Writer};

pub(super) static TARGET: Target = Target {
    id: "arrow",
    name: "Arrow",
    about: "pandas, polars, DuckDB and other tools that read Arrow files: one table, named after the colon",
    extensions: &["arrow", "feather"],
    variants: &table_variants(MAIN_TABLE),
    writer: Writer::Tables(write),
    ..Target::EMPTY
};

/// Maximum size of the names in a batch. A name may be long and be in every row.
const MAX_NAME_BYTES: usize = 16 << 20;

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
    let table = choose(request)?;
    let schema = plain_schema(table);
    let mut writer = FileWriter::try_new_buffered(out, &schema).map_err(failed)?;
    let loss = pour_taken(
        request,
        |other| other == table,
        |_, batch, _| {
            let mut from = 0;
            while from < batch.num_rows() {
                let part = batch.slice(from, fitting(batch, from));
                from += part.num_rows();
                writer.write(&plain(&part, &schema)?).map_err(failed)?;
            }
            Ok(())
        },
    )?;
    writer.finish().map_err(failed)?;
    Ok(loss)
}

/// The schema with plain texts: in a file, the dictionary of a column cannot be replaced, while ours starts over before
/// it grows long.
fn plain_schema(table: Table) -> SchemaRef {
    let schema = table.schema();
    let plain = |field: &Arc<Field>| match field.data_type() {
        DataType::Dictionary(_, values) => Arc::new(field.as_ref().clone().with_data_type(values.as_ref().clone())),
        _ => Arc::clone(field),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(plain).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The number of rows from this one on whose names together are not too long; at least one.
fn fitting(batch: &RecordBatch, from: usize) -> usize {
    let (mut bytes, rows) = (0, batch.num_rows());
    let columns = AnyColumn::all(batch);
    let names = columns.iter().filter_map(|column| match column {
        AnyColumn::Names(keys, values) => Some((*keys, *values)),
        _ => None,
    });
    let names: Vec<_> = names.collect();
    let is_short = |(_, values): &(_, &arrow_array::StringArray)| {
        let longest = values.offsets().lengths().max().unwrap_or(0);
        longest.saturating_mul(rows) <= MAX_NAME_BYTES / 8
    };
    if names.len() <= 8 && names.iter().all(is_short) {
        return rows - from;
    }
    for row in from..rows {
        let valid = names.iter().filter(|(keys, _)| keys.is_valid(row));
        bytes += valid.map(|(keys, values)| values.value_length(keys.value(row) as usize) as usize).sum::<usize>();
        if bytes > MAX_NAME_BYTES && row > from {
            return row - from;
        }
    }
    rows - from
}

/// The rows, with their names as plain texts.
fn plain(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let plain = |column: &ArrayRef| match column.as_dictionary_opt::<Int32Type>() {
        Some(names) => take(names.values(), names.keys(), None),
        None => Ok(Arc::clone(column)),
    };
    let columns: Vec<ArrayRef> = batch.columns().iter().map(plain).collect::<Result<_, _>>().map_err(failed)?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(failed)
}

pub(super) fn failed(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => std::io::Error::other(error).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Cursor, sync::LazyLock};

    use arrow_array::{StringArray, types::Int64Type};
    use arrow_ipc::reader::FileReader;

    use super::*;
    use traceloom_core::Slice;
    use traceloom_model::trackers::Extent;
    use traceloom_passes::{
        Options,
        fixture::{Synthetic, push_main, push_span, written, written_with},
    };

    fn read(bytes: Vec<u8>) -> Vec<RecordBatch> {
        FileReader::try_new(Cursor::new(bytes), None).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn rows_come_back_with_plain_texts() {
        let trace = Synthetic::spans(&[("a\0\u{2028}", 0, 0, None, -5, Some(9)), ("", 1, 0, None, 7, None)]);
        let (bytes, loss) = written(&TARGET, &trace);
        let batches = read(bytes);
        let names: &StringArray = batches[0]["name"].as_string();
        assert_eq!(names.iter().collect::<Vec<_>>(), [Some("a\0\u{2028}"), Some("")]);
        let durations = batches[0]["dur_ns"].as_primitive::<Int64Type>();
        assert_eq!(durations.iter().collect::<Vec<_>>(), [Some(9), None]);
        assert_eq!(loss.entries().map(|(what, ..)| what).collect::<Vec<_>>(), ["processes", "threads"]);
    }

    #[test]
    fn a_part_can_be_chosen_and_an_empty_table_has_its_columns() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, Some(9)), ("b", 1, 0, None, 20, Some(1))]);
        let rows = |variant: &str, from_ns: Option<i64>| {
            let slice = Slice { range: traceloom_core::TimeRange::new(from_ns, None), ..Slice::default() };
            let options = Options { variant: Some(variant.to_owned()), slice, ..Options::default() };
            let (out, _) = written_with(&TARGET, &trace, &options).unwrap();
            let schema = FileReader::try_new(Cursor::new(out.clone()), None).unwrap().schema();
            (schema.fields().len(), read(out).iter().map(RecordBatch::num_rows).sum::<usize>())
        };
        assert_eq!(rows("spans", Some(10)), (Table::Spans.columns().len(), 1));
        assert_eq!(rows("logs", None), (Table::Logs.columns().len(), 0));
    }

    #[test]
    fn long_names_in_many_rows_go_into_several_batches() {
        const ROWS: i64 = 100;
        static NAME: LazyLock<String> = LazyLock::new(|| "x".repeat(1 << 20));
        let trace = Synthetic::new(|tables| {
            (0..ROWS).try_for_each(|id| push_span(tables, 0, "block", (&NAME, id, 0, None, id, Some(1))))?;
            push_main(tables, Extent::default())
        });
        let batches = read(written(&TARGET, &trace).0);
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), ROWS as usize);
        assert!(batches.len() >= 5, "{}", batches.len());
    }
}
