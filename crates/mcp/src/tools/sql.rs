//! `sql`: runs a query, whose rows equal the output of `traceloom query --format json`.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, cast::AsArray, new_null_array};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{
    Traces,
    sql::{Format, Options, Writer},
    tables::arrow_schema::DataType,
};
use traceloom_core::{Error, Result};
use traceloom_query::json_columns;

use super::{Answer, Call, Kind, max_rows};
use crate::inert::{Cut, kept, kept_row};

/// Memory limit of sorting, grouping and joining; beyond it, temporary files are used.
const MEMORY_BYTES: u64 = 256 << 20;
/// Bytes of rows as JSON after which no more rows are kept.
const MAX_ROWS_BYTES: usize = 4 << 20;
/// Max bytes of a row whose texts are cut; a larger row is not kept, nor are later ones.
const MAX_ROW_BYTES: usize = 16 << 20;

pub(super) static TOOLS: &[Kind] = &[Kind::new::<Sql>(
    "sql",
    "Run a read-only SQL query (DataFusion, close to PostgreSQL) over the tables of one or more traces. Times are in \
     nanoseconds. `schema` lists the tables; the resource traceloom://docs/sql shows examples. Equals `traceloom query \
     --format json`.",
    "columns:[name:str, type:str], rows:[map]",
    sql,
)];

/// Which query.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sql {
    /// The query: one SELECT statement.
    query: String,
    /// Handles or paths of the traces, which form one set of tables; may be omitted if only one is open.
    #[serde(default)]
    traces: Vec<String>,
    /// Max number of rows (default 20, at most 1000).
    limit: Option<usize>,
}

fn sql(call: &Call<'_>) -> Result<Answer> {
    let Sql { query, traces, limit } = call.arguments()?;
    let traces: Traces = if traces.is_empty() {
        Traces::from_iter([call.trace(None)?])
    } else {
        traces.iter().map(|one| call.trace(Some(one))).collect::<Result<_>>()?
    };
    let session = traces.session(&Options { memory_bytes: MEMORY_BYTES, ..Options::default() })?;
    let limit = max_rows(limit);
    let mut answer = session.ask(&query)?;
    let schema = answer.schema();
    let (mut rows, mut total) = (Rows { limit, ..Rows::default() }, 0);
    // Rows beyond the limits are only counted.
    while let Some(batch) = answer.next_unless(call.job.stop())? {
        rows.add(&batch)?;
        total += batch.num_rows() as u64;
    }
    call.job.check()?;
    let rows = rows.rows;
    let cut = Cut::if_less("rows", rows.len(), total);
    let fields = json_columns(&schema);
    let columns: Vec<Json> = fields
        .fields()
        .iter()
        .map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() }))
        .collect();
    Ok(Answer::new(json!({ "columns": columns, "rows": rows }), Some(limit)).cut([cut]))
}

/// The first rows of an answer.
#[derive(Default)]
struct Rows {
    limit: usize,
    rows: Vec<Json>,
    /// Their bytes as JSON.
    bytes: usize,
    is_full: bool,
}

impl Rows {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for number in 0..batch.num_rows() {
            self.is_full |= self.rows.len() >= self.limit || self.bytes >= MAX_ROWS_BYTES;
            if self.is_full {
                break;
            }
            let row = with_short_texts(&batch.slice(number, 1))?;
            if size_of(&row) > MAX_ROW_BYTES {
                self.is_full = true;
                break;
            }
            self.push(&row)?;
        }
        Ok(())
    }

    fn push(&mut self, row: &RecordBatch) -> Result<()> {
        let mut json = Vec::new();
        let mut writer = Writer::new(Format::Json, &row.schema(), &mut json)?;
        writer.write(row)?;
        writer.finish()?;
        self.bytes += json.len();
        self.rows.push(kept_row(serde_json::from_slice(&json).map_err(internal)?));
        Ok(())
    }
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(error.to_string())
}

/// A row whose texts are cut before they are copied as JSON: columns can share a long text.
fn with_short_texts(row: &RecordBatch) -> Result<RecordBatch> {
    let schema = row.schema();
    let cells = schema.fields().iter().zip(row.columns());
    let cells = cells.map(|(field, cell)| (field.name(), with_short_text(cell), true));
    RecordBatch::try_from_iter_with_nullable(cells).map_err(internal)
}

fn with_short_text(cell: &ArrayRef) -> ArrayRef {
    if cell.is_null(0) {
        return new_null_array(cell.data_type(), 1);
    }
    if let Some(dictionary) = cell.as_any_dictionary_opt() {
        let key = dictionary.normalized_keys().first().copied().unwrap_or_default();
        return with_short_text(&dictionary.values().slice(key, 1));
    }
    let text = match cell.data_type() {
        DataType::LargeUtf8 => cell.as_string::<i64>().value(0),
        DataType::Utf8 => cell.as_string::<i32>().value(0),
        DataType::Utf8View => cell.as_string_view().value(0),
        _ => return Arc::clone(cell),
    };
    Arc::new(StringArray::from_iter_values([kept(text)]))
}

/// Bytes of a row.
fn size_of(row: &RecordBatch) -> usize {
    row.columns().iter().fold(0, |sum: usize, cell| sum.saturating_add(size_of_array(cell)))
}

/// Bytes of an array. Of a list, only its own items count: other rows use the same buffer.
fn size_of_array(array: &ArrayRef) -> usize {
    let items = (array.len() == 1 && array.is_valid(0)).then(|| {
        let list = array.as_list_opt::<i32>().map(|list| list.value(0));
        let list = list.or_else(|| array.as_list_opt::<i64>().map(|list| list.value(0)));
        list.or_else(|| array.as_map_opt().map(|map| Arc::new(map.value(0)) as ArrayRef))
    });
    match items.flatten() {
        Some(items) => size_of_array(&items),
        None => array.to_data().get_slice_memory_size().unwrap_or(usize::MAX),
    }
}
