//! `sql`: runs a query, whose rows equal the output of `traceloom query --format json`.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{
    Traces,
    sql::{Format, Options, Writer},
};
use traceloom_core::{Error, Result};
use traceloom_query::json_columns;

use super::{Answer, Call, Kind, max_rows};
use crate::inert::Cut;

/// Memory limit of sorting, grouping and joining; beyond it, temporary files are used.
const MEMORY_BYTES: u64 = 256 << 20;
/// Bytes of rows as JSON after which no more rows are kept.
const MAX_ROWS_BYTES: usize = 4 << 20;

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
    let (mut json, mut total) = (Vec::new(), 0_u64);
    // Rows beyond the limits are only counted.
    while let Some(batch) = answer.next_unless(call.job.stop())? {
        let left = limit.saturating_sub(total as usize).min(batch.num_rows());
        for row in (0..left).map(|row| batch.slice(row, 1)) {
            if json.len() >= MAX_ROWS_BYTES {
                break;
            }
            let mut writer = Writer::new(Format::Json, &schema, &mut json)?;
            writer.write(&row)?;
            writer.finish()?;
        }
        total += batch.num_rows() as u64;
    }
    call.job.check()?;
    let parse = |line: &[u8]| serde_json::from_slice(line).map_err(|error| Error::internal(error.to_string()));
    let lines = json.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows: Vec<Json> = lines.map(parse).collect::<Result<_>>()?;
    let cut = Cut::if_less("rows", rows.len(), total);
    let fields = json_columns(&schema);
    let columns: Vec<Json> = fields
        .fields()
        .iter()
        .map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() }))
        .collect();
    Ok(Answer::new(json!({ "columns": columns, "rows": rows }), Some(limit)).cut([cut]))
}
