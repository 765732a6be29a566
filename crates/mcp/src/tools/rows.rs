//! Tools that ask the tables in SQL: their rows equal those of `traceloom query --format json`.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{
    Traces,
    sql::{Format, Options, Session, Writer},
};
use traceloom_core::{Error, Result};

use super::{Answer, Call, DEFAULT_ROWS, Kind, MAX_ROWS};
use crate::inert::Cut;

/// What sorting, grouping and joining may hold in memory; beyond that they go to temporary files.
const MEMORY_BYTES: u64 = 256 << 20;
/// Rows of an answer as JSON, before they are cut.
const MAX_ROWS_BYTES: usize = 4 << 20;

pub(super) static TOOLS: &[Kind] = &[
    Kind::new::<Sql>(
        "sql",
        "Run a read-only SQL query (DataFusion, close to PostgreSQL) over the tables of one or more traces. Times are in \
         nanoseconds. `schema` lists the tables, the resource traceloom://docs/sql shows examples. Equals `traceloom query \
         --format json`.",
        "columns:[name:str, type:str], rows:[map]",
        sql,
    ),
    Kind::new::<Spans>(
        "spans",
        "Find spans by name, thread, duration and time; the longest first unless sorted by time. Gives the `id` of each for the \
         tool `span`.",
        "spans:[id:int, name:str, category:str, thread?:str, thread_id:int, ts_ns:int, dur_ns?:int, self_ns?:int, depth:int]",
        spans,
    ),
    Kind::new::<Span>(
        "span",
        "One span by its id: the spans around it, its children, its arguments, and the log lines and events inside it. Times are \
         in nanoseconds.",
        "span:{id:int, name:str, ts_ns:int}, ancestors:[id:int, name:str, ts_ns:int], children:[id:int, name:str, ts_ns:int], \
         arguments:[key:str, type:str], logs:[message:str], events:[name:str, ts_ns:int]",
        span,
    ),
    Kind::new::<Window>(
        "window",
        "What ran between two times: spans added up by thread and name with the time that lies in the window, and the log lines \
         and events in it.",
        "spans:[name:str, category:str, calls:int, in_window_ns:int, first_ts_ns:int], logs:[message:str], events:[name:str, \
         ts_ns:int]",
        window,
    ),
    Kind::new::<Log>(
        "log",
        "Log lines, by level, text and time, in the order of the trace. Times are in nanoseconds from the start of the trace; \
         `unix_ns` is the time of day where the trace has it.",
        "lines:[id:int, level_name:str, message:str]",
        log,
    ),
];

/// What to ask.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sql {
    /// The query: one SELECT statement.
    query: String,
    /// Handles or paths of the traces, which make one set of tables; may be left out if only one is open.
    #[serde(default)]
    traces: Vec<String>,
    /// Most rows (default 20, at most 1000).
    limit: Option<usize>,
}

fn sql(call: &Call<'_>) -> Result<Answer> {
    let arguments: Sql = call.arguments()?;
    let traces: Traces = if arguments.traces.is_empty() {
        Traces::from_iter([call.trace(None)?])
    } else {
        arguments.traces.iter().map(|one| call.trace(Some(one))).collect::<Result<_>>()?
    };
    let rows = Tables::of(call, traces)?.ask(&arguments.query, arguments.limit)?;
    Ok(rows.into_answer("rows"))
}

/// The tables of some traces, for a few queries.
struct Tables<'c> {
    call: &'c Call<'c>,
    session: Session,
}

/// The rows of one query.
struct Rows {
    columns: Json,
    rows: Vec<Json>,
    limit: usize,
    /// All rows, also those that are not kept.
    total: u64,
}

impl<'c> Tables<'c> {
    fn of(call: &'c Call<'c>, traces: Traces) -> Result<Self> {
        let session = traces.session(&Options { memory_bytes: MEMORY_BYTES, ..Options::default() })?;
        Ok(Self { call, session })
    }

    fn of_one(call: &'c Call<'c>, reference: Option<&str>) -> Result<Self> {
        Self::of(call, Traces::from_iter([call.trace(reference)?]))
    }

    /// Asks; rows beyond the limit are counted only.
    fn ask(&self, query: &str, limit: Option<usize>) -> Result<Rows> {
        let limit = limit.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_ROWS);
        let stop = self.call.job.stop();
        let mut answer = self.session.ask(query)?;
        let schema = answer.schema();
        let columns =
            schema.fields().iter().map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() }));
        let (mut json, mut total) = (Vec::new(), 0);
        let mut writer = Writer::new(Format::Json, &schema, &mut json)?;
        let mut bytes = 0;
        while let Some(batch) = answer.next_unless(stop)? {
            let left = limit.saturating_sub(total as usize).min(batch.num_rows());
            if left > 0 && bytes < MAX_ROWS_BYTES {
                bytes += batch.slice(0, left).get_array_memory_size();
                writer.write(&batch.slice(0, left))?;
            }
            total += batch.num_rows() as u64;
        }
        self.call.job.check()?;
        writer.finish()?;
        let parse = |line: &[u8]| serde_json::from_slice(line).map_err(|error| Error::internal(error.to_string()));
        let lines = json.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Ok(Rows { columns: columns.collect(), rows: lines.map(parse).collect::<Result<_>>()?, limit, total })
    }

    /// The first rows of a list, in an order, and how many there are.
    fn list(&self, select: &str, from: &str, order: &str, limit: Option<usize>) -> Result<Rows> {
        let rows = limit.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_ROWS);
        let mut found = self.ask(&format!("select {select} from {from} order by {order} limit {rows}"), limit)?;
        if found.rows.len() == rows {
            let count = self.ask(&format!("select count(*) as n from {from}"), None)?;
            found.total = count.rows.first().and_then(|row| row["n"].as_u64()).unwrap_or(found.total);
        }
        Ok(found)
    }
}

impl Rows {
    fn cut(&self, list: &str) -> Option<Cut> {
        let shown = self.rows.len() as u64;
        (shown < self.total).then(|| Cut::new(list, shown, self.total))
    }

    /// The answer with these rows under a name.
    fn into_answer(self, list: &str) -> Answer {
        let cuts = self.cut(list).into_iter().collect();
        let mut found = json!({ "columns": self.columns });
        found[list] = self.rows.into();
        // Columns are not rows: there may be more of them than rows were asked for.
        let mut answer = Answer::new(found, Some(self.limit));
        answer.cuts = cuts;
        answer
    }
}

/// Some lists in one answer.
fn lists(lists: Vec<(&str, Rows)>, limit: Option<usize>) -> Answer {
    let cuts = lists.iter().filter_map(|(list, rows)| rows.cut(list)).collect();
    let found = lists.into_iter().map(|(list, rows)| (list.to_owned(), Json::from(rows.rows)));
    let mut answer = Answer::new(Json::Object(found.collect()), limit);
    answer.cuts = cuts;
    answer
}

/// A text of SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Conditions that all hold.
#[derive(Default)]
struct Conditions(Vec<String>);

impl Conditions {
    fn add(&mut self, condition: Option<String>) -> &mut Self {
        self.0.extend(condition);
        self
    }

    fn of(&self, table: &str) -> String {
        if self.0.is_empty() { table.to_owned() } else { format!("{table} where {}", self.0.join(" and ")) }
    }
}

/// Which spans.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spans {
    /// Handle or path of the trace; may be left out if only one is open.
    trace: Option<String>,
    /// The exact name.
    name: Option<String>,
    /// A part of the name.
    name_contains: Option<String>,
    /// The name of the thread.
    thread: Option<String>,
    /// At least this long, in nanoseconds.
    min_dur_ns: Option<i64>,
    /// Starts at or after this time, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// Starts before this time, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// By time instead of the longest first.
    #[serde(default)]
    by_time: bool,
    /// Most spans (default 20, at most 1000).
    limit: Option<usize>,
}

const SPAN: &str = "id, parent_id, name, category, thread_id, ts_ns, dur_ns, self_ns, depth, file, line";

fn spans(call: &Call<'_>) -> Result<Answer> {
    let arguments: Spans = call.arguments()?;
    let tables = Tables::of_one(call, arguments.trace.as_deref())?;
    let mut conditions = Conditions::default();
    conditions
        .add(arguments.name.map(|name| format!("name = {}", quoted(&name))))
        .add(arguments.name_contains.map(|part| format!("strpos(name, {}) > 0", quoted(&part))))
        .add(arguments.thread.map(|thread| format!("thread = {}", quoted(&thread))))
        .add(arguments.min_dur_ns.map(|ns| format!("dur_ns >= {ns}")))
        .add(arguments.from_ns.map(|ns| format!("ts_ns >= {ns}")))
        .add(arguments.to_ns.map(|ns| format!("ts_ns < {ns}")));
    let order = if arguments.by_time { "ts_ns, id" } else { "dur_ns desc nulls first, ts_ns, id" };
    let from = conditions.of("spans_named");
    let rows = tables.list(&format!("{SPAN}, thread"), &from, order, arguments.limit)?;
    Ok(lists(vec![("spans", rows)], arguments.limit))
}

/// Which span.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Span {
    /// Handle or path of the trace; may be left out if only one is open.
    trace: Option<String>,
    /// The `id` of the span.
    id: i64,
    /// Most rows of each list (default 20, at most 1000).
    limit: Option<usize>,
}

fn span(call: &Call<'_>) -> Result<Answer> {
    let Span { trace, id, limit } = call.arguments()?;
    let tables = Tables::of_one(call, trace.as_deref())?;
    let found = tables.ask(&format!("select {SPAN}, thread from spans_named where id = {id}"), None)?.rows.pop();
    let span = found.ok_or_else(|| Error::usage(format!("there is no span {id}; `spans` finds spans")))?;
    let (thread, depth) = (span["thread_id"].clone(), span["depth"].clone());
    let from_ns = span["ts_ns"].as_i64().unwrap_or(0);
    let inside = match span["dur_ns"].as_i64() {
        Some(dur_ns) => format!("ts_ns >= {from_ns} and ts_ns <= {}", from_ns.saturating_add(dur_ns)),
        None => format!("ts_ns >= {from_ns}"),
    };
    let around = format!(
        "select {SPAN} from spans where thread_id = {thread} and ts_ns <= {from_ns} and depth < {depth} and (dur_ns is null or \
         ts_ns + dur_ns >= {from_ns}) order by depth desc"
    );
    let candidates = tables.ask(&around, Some(MAX_ROWS))?.rows;
    let mut ancestors = Vec::new();
    let mut parent = span["parent_id"].as_i64();
    while let Some(found) = parent.and_then(|id| candidates.iter().find(|one| one["id"] == id)) {
        ancestors.push(found.clone());
        parent = found["parent_id"].as_i64();
    }
    let children = tables.list(SPAN, &format!("spans where parent_id = {id}"), "ts_ns, id", limit)?;
    let values = "key, idx, type, int_value, uint_value, float_value, text_value";
    let of_span = format!("args where owner_table = 'spans' and owner_id = {id}");
    let arguments = tables.list(values, &of_span, "id", limit)?;
    let of_thread = format!("(thread_id = {thread} or thread_id is null)");
    let logs = tables.list(LOG, &format!("logs where {inside} and {of_thread}"), "ts_ns, id", limit)?;
    let of_span = format!("events where span_id = {id}");
    let events = tables.list("id, ts_ns, name, category", &of_span, "ts_ns, id", limit)?;
    let mut answer =
        lists(vec![("children", children), ("arguments", arguments), ("logs", logs), ("events", events)], limit);
    answer.found["span"] = span;
    answer.found["ancestors"] = ancestors.into();
    Ok(answer)
}

const LOG: &str = "id, ts_ns, thread_id, level_name, message, file, line";

/// Which time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Window {
    /// Handle or path of the trace; may be left out if only one is open.
    trace: Option<String>,
    /// The start, in nanoseconds from the start of the trace.
    from_ns: i64,
    /// The end, which does not belong to the window, in nanoseconds from the start of the trace.
    to_ns: i64,
    /// Most rows of each list (default 20, at most 1000).
    limit: Option<usize>,
}

fn window(call: &Call<'_>) -> Result<Answer> {
    let Window { trace, from_ns, to_ns, limit } = call.arguments()?;
    if from_ns >= to_ns {
        return Err(Error::usage("the window is empty: from_ns has to be before to_ns"));
    }
    let tables = Tables::of_one(call, trace.as_deref())?;
    let overlapping = format!("spans_closed where ts_ns < {to_ns} and ts_ns + dur_ns > {from_ns}");
    let groups = format!(
        "(select thread_id, name, category, count(*) as calls, sum(least(ts_ns + dur_ns, {to_ns}) - greatest(ts_ns, \
         {from_ns})) as in_window_ns, min(ts_ns) as first_ts_ns, min(depth) as depth from {overlapping} group by thread_id, \
         name, category) s"
    );
    let named = format!("threads t right join {groups} on t.id = s.thread_id");
    let select = "s.name, s.category, t.name as thread, s.thread_id, s.calls, s.in_window_ns, s.first_ts_ns, s.depth";
    let spans = tables.list(select, &named, "s.in_window_ns desc, s.depth, s.name", limit)?;
    let inside = format!("ts_ns >= {from_ns} and ts_ns < {to_ns}");
    let logs = tables.list(LOG, &format!("logs where {inside}"), "ts_ns, id", limit)?;
    let events = tables.list("id, ts_ns, name, category", &format!("events where {inside}"), "ts_ns, id", limit)?;
    Ok(lists(vec![("spans", spans), ("logs", logs), ("events", events)], limit))
}

/// Which lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Log {
    /// Handle or path of the trace; may be left out if only one is open.
    trace: Option<String>,
    /// Only these levels, such as `ERROR`.
    #[serde(default)]
    levels: Vec<String>,
    /// A part of the message.
    contains: Option<String>,
    /// At or after this time, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// Before this time, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// The last lines instead of the first.
    #[serde(default)]
    tail: bool,
    /// Most lines (default 20, at most 1000).
    limit: Option<usize>,
}

fn log(call: &Call<'_>) -> Result<Answer> {
    let arguments: Log = call.arguments()?;
    let tables = Tables::of_one(call, arguments.trace.as_deref())?;
    let levels: Vec<String> = arguments.levels.iter().map(|level| quoted(&level.to_uppercase())).collect();
    let mut conditions = Conditions::default();
    conditions
        .add((!levels.is_empty()).then(|| format!("upper(l.level_name) in ({})", levels.join(", "))))
        .add(arguments.contains.map(|part| format!("strpos(l.message, {}) > 0", quoted(&part))))
        .add(arguments.from_ns.map(|ns| format!("l.ts_ns >= {ns}")))
        .add(arguments.to_ns.map(|ns| format!("l.ts_ns < {ns}")));
    let from = conditions.of("traces r join logs l on l.trace_id = r.trace_id");
    let select =
        "l.id, l.ts_ns, r.unix_origin_ns + l.ts_ns as unix_ns, l.thread_id, l.level_name, l.message, l.file, l.line";
    let order = if arguments.tail { "l.id desc" } else { "l.id" };
    let mut rows = tables.list(select, &from, order, arguments.limit)?;
    if arguments.tail {
        rows.rows.reverse();
    }
    Ok(lists(vec![("lines", rows)], arguments.limit))
}
