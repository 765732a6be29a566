//! Tools about spans: find spans, show one span in context, and list what ran between two times.
//!
//! Each takes one or two passes over the tables; SQL would need one per list.

mod window;

use std::{cmp::Reverse, collections::HashMap};

use arrow_array::RecordBatch;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{
    Trace,
    tables::{Filter, Table, TableSource},
};
use traceloom_core::{Error, Result, TimeRange};
use traceloom_model::{Columns, Flow, TableSink, select, sink};
use traceloom_passes::PerEntry;

use super::{
    Answer, Call, Kind,
    first::{First, lists},
};

pub(super) static TOOLS: &[Kind] = &[
    Kind::new::<Spans>(
        "spans",
        "Find spans by name, thread, duration and time; longest first unless sorted by time. Returns the `id` of each for the \
         tool `span`.",
        "spans:[id:int, name:str, category:str, thread?:str, thread_id:int, ts_ns:int, dur_ns?:int, self_ns?:int, depth:int]",
        spans,
    ),
    Kind::new::<Span>(
        "span",
        "One span by its id: its ancestors, children and arguments, and the log lines and events inside it. Times are \
         in nanoseconds.",
        "span:{id:int, name:str, ts_ns:int}, ancestors:[id:int, name:str, ts_ns:int], children:[id:int, name:str, ts_ns:int], \
         arguments:[key:str, type:str], logs:[message:str], events:[name:str, ts_ns:int]",
        span,
    ),
    window::TOOL,
];

select! { struct SpanRows of spans { id, parent_id, thread_id, depth, ts_ns, dur_ns, self_ns, name, category, file, line } }
select! { struct ThreadRows of threads { id, name } }
select! { struct LogRows of logs { id, ts_ns, thread_id, level_name, message, file, line } }
select! { struct EventRows of events { id, ts_ns, span_id, name, category } }
select! {
    struct ArgRows of args {
        id, owner_table, owner_id, key, idx, r#type, int_value, uint_value, float_value, text_value
    }
}

fn span_row(view: &SpanRows<'_>, row: usize) -> Json {
    present(json!({
        "id": view.id.get(row), "parent_id": view.parent_id.get(row), "name": view.name.get(row),
        "category": view.category.get(row), "thread_id": view.thread_id.get(row), "ts_ns": view.ts_ns.get(row),
        "dur_ns": view.dur_ns.get(row), "self_ns": view.self_ns.get(row), "depth": view.depth.get(row),
        "file": view.file.get(row), "line": view.line.get(row),
    }))
}

fn log_row(view: &LogRows<'_>, row: usize) -> Json {
    present(json!({
        "id": view.id.get(row), "ts_ns": view.ts_ns.get(row), "thread_id": view.thread_id.get(row),
        "level_name": view.level_name.get(row), "message": view.message.get(row), "file": view.file.get(row),
        "line": view.line.get(row),
    }))
}

fn event_row(view: &EventRows<'_>, row: usize) -> Json {
    json!({
        "id": view.id.get(row), "ts_ns": view.ts_ns.get(row), "name": view.name.get(row),
        "category": view.category.get(row),
    })
}

/// A row without NULL fields, as in query results.
fn present(row: Json) -> Json {
    let Json::Object(mut fields) = row else { return row };
    fields.retain(|_, value| !value.is_null());
    fields.into()
}

/// Names of threads by their ids.
#[derive(Default)]
struct ThreadNames(HashMap<i64, String>);

impl ThreadNames {
    fn take(&mut self, view: &ThreadRows<'_>) {
        self.0.extend((0..view.rows).filter_map(|row| Some((view.id.get(row), view.name.get(row)?.to_owned()))));
    }

    /// Adds the name of the thread to a row.
    fn name(&self, row: &mut Json) {
        if let Some(name) = row["thread_id"].as_i64().and_then(|id| self.0.get(&id)) {
            row["thread"] = name.as_str().into();
        }
    }
}

sink! {
    impl for ThreadNames as threads {
        ThreadRows(rows) => threads.take(rows),
    }
}

/// Which spans.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spans {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// The exact name.
    name: Option<String>,
    /// Only names that contain this text.
    name_contains: Option<String>,
    /// The name of the thread.
    thread: Option<String>,
    /// Minimum duration, in nanoseconds.
    min_dur_ns: Option<i64>,
    /// Only spans that start at or after this time, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// Only spans that start before this time, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// Sort by time instead of by duration.
    #[serde(default)]
    by_time: bool,
    /// Max number of spans (default 20, at most 1000).
    limit: Option<usize>,
}

fn spans(call: &Call<'_>) -> Result<Answer> {
    let arguments: Spans = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    let range = TimeRange::new(arguments.from_ns, arguments.to_ns);
    let threads = arguments.thread.as_deref().map(|name| threads_called(&trace, name)).transpose()?;
    let filter = Filter { range, threads };
    let (rows, names) = (First::new(arguments.limit), PerEntry::default());
    let mut finder = Finder { arguments: &arguments, filter: &filter, names, threads: ThreadNames::default(), rows };
    trace.pour(&filter, &mut finder)?;
    let (mut rows, total) = finder.rows.finish();
    rows.iter_mut().for_each(|row| finder.threads.name(row));
    Ok(lists([("spans", (rows, total))], arguments.limit))
}

fn threads_called(trace: &Trace, name: &str) -> Result<Vec<i64>> {
    let mut names = ThreadNames::default();
    trace.pour(&Filter::default(), &mut names)?;
    Ok(names.0.into_iter().filter(|(_, one)| one == name).map(|(id, _)| id).collect())
}

/// Finds spans.
struct Finder<'a> {
    arguments: &'a Spans,
    filter: &'a Filter,
    /// Which names match.
    names: PerEntry<bool>,
    threads: ThreadNames,
    /// Sort key: whether it was closed, duration, start and id.
    rows: First<(bool, Reverse<i64>, i64, i64)>,
}

impl Finder<'_> {
    fn is_wanted(&self, name: &str) -> bool {
        let Spans { name: whole, name_contains: part, .. } = self.arguments;
        whole.as_ref().is_none_or(|whole| whole == name)
            && part.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }

    fn add(&mut self, view: &SpanRows<'_>) {
        if self.names.turn_to(view.name.values(), false) {
            let wanted: Vec<bool> =
                (0..self.names.entries().len()).map(|key| self.is_wanted(self.names.text(key))).collect();
            self.names.entries_mut().copy_from_slice(&wanted);
        }
        let min_ns = self.arguments.min_dur_ns.unwrap_or(i64::MIN);
        for (row, key) in view.name.keys().iter().enumerate() {
            let (ts_ns, dur_ns) = (view.ts_ns.get(row), view.dur_ns.get(row));
            let is_long = dur_ns.map_or(self.arguments.min_dur_ns.is_none(), |ns| ns >= min_ns);
            let is_named = self.names.entries().get(*key as usize) == Some(&true);
            if !is_named
                || !is_long
                || !self.filter.takes_time(ts_ns)
                || !self.filter.takes_thread(view.thread_id.get(row))
            {
                continue;
            }
            let rank = (dur_ns.is_some(), Reverse(dur_ns.unwrap_or(0)));
            let (is_closed, duration) = if self.arguments.by_time { (false, Reverse(0)) } else { rank };
            self.rows.offer((is_closed, duration, ts_ns, view.id.get(row)), || span_row(view, row));
        }
    }
}

sink! {
    impl for Finder<'_> as finder {
        SpanRows(rows) => finder.add(rows),
        ThreadRows(rows) => finder.threads.take(rows),
    }
}

/// Which span.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Span {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// The `id` of the span.
    id: i64,
    /// Max rows per list (default 20, at most 1000).
    limit: Option<usize>,
}

fn span(call: &Call<'_>) -> Result<Answer> {
    let Span { trace, id, limit } = call.arguments()?;
    let trace = call.trace(trace.as_deref())?;
    let unknown = || Error::usage(format!("no span has the id {id}; find spans with `spans`"));
    let mut one = One { id, found: None };
    trace.pour(&Filter::default(), &mut one)?;
    let mut around = Around::new(id, one.found.ok_or_else(unknown)?, limit);
    // Only rows that start before the end of the span can be around it or inside it.
    let range = TimeRange::new(None, around.place.to_ns.map(|to_ns| to_ns.saturating_add(1)));
    trace.pour(&Filter { range, threads: Some(vec![around.place.thread_id]) }, &mut around)?;
    let mut span = around.span.take().ok_or_else(unknown)?;
    around.threads.name(&mut span);
    let mut ancestors = Vec::new();
    let mut parent = span["parent_id"].as_i64();
    while let Some(found) = parent.and_then(|id| around.candidates.remove(&id)) {
        parent = found["parent_id"].as_i64();
        ancestors.push(found);
    }
    let Around { children, arguments, logs, events, .. } = around;
    let found = [("children", children), ("logs", logs), ("events", events)];
    let [children, logs, events] = found.map(|(name, rows)| (name, rows.finish()));
    let mut answer = lists([children, ("arguments", arguments.finish()), logs, events], limit);
    answer.found["span"] = span;
    answer.found["ancestors"] = ancestors.into();
    Ok(answer)
}

/// The position of a span.
#[derive(Clone, Copy)]
struct SpanPosition {
    thread_id: i64,
    depth: u32,
    from_ns: i64,
    /// `None` if the span was never closed.
    to_ns: Option<i64>,
}

select! { struct PlaceRows of spans { id, thread_id, depth, ts_ns, dur_ns } }

/// Finds the span with an id.
struct One {
    id: i64,
    found: Option<SpanPosition>,
}

impl TableSink for One {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Spans { PlaceRows::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> Result<Flow> {
        let view = PlaceRows::of(&batch)?;
        let Some(row) = (0..view.rows).find(|row| view.id.get(*row) == self.id) else { return Ok(Flow::Continue) };
        let from_ns = view.ts_ns.get(row);
        let to_ns = view.dur_ns.get(row).map(|dur_ns| from_ns.saturating_add(dur_ns));
        self.found =
            Some(SpanPosition { thread_id: view.thread_id.get(row), depth: view.depth.get(row), from_ns, to_ns });
        Ok(Flow::Stop)
    }
}

/// The context and contents of a span.
struct Around {
    id: i64,
    place: SpanPosition,
    span: Option<Json>,
    threads: ThreadNames,
    /// Possible ancestors, by id.
    candidates: HashMap<i64, Json>,
    children: First<(i64, i64)>,
    arguments: First<i64>,
    logs: First<(i64, i64)>,
    events: First<(i64, i64)>,
}

impl Around {
    fn new(id: i64, place: SpanPosition, limit: Option<usize>) -> Self {
        Self {
            id,
            place,
            span: None,
            threads: ThreadNames::default(),
            candidates: HashMap::new(),
            children: First::new(limit),
            arguments: First::new(limit),
            logs: First::new(limit),
            events: First::new(limit),
        }
    }

    fn spans(&mut self, view: &SpanRows<'_>) {
        let SpanPosition { thread_id, depth, from_ns, .. } = self.place;
        for row in 0..view.rows {
            let (id, ts_ns) = (view.id.get(row), view.ts_ns.get(row));
            if id == self.id {
                self.span = Some(span_row(view, row));
            }
            if view.parent_id.get(row) == Some(self.id) {
                self.children.offer((ts_ns, id), || span_row(view, row));
            }
            let is_before = ts_ns <= from_ns && view.depth.get(row) < depth;
            let reaches = |dur_ns: i64| ts_ns.saturating_add(dur_ns) >= from_ns;
            if is_before && view.thread_id.get(row) == thread_id && view.dur_ns.get(row).is_none_or(reaches) {
                self.candidates.insert(id, span_row(view, row));
            }
        }
    }

    fn arguments(&mut self, view: &ArgRows<'_>) {
        for row in (0..view.rows).filter(|row| view.owner_id.get(*row) == self.id) {
            if view.owner_table.get(row) != Table::Spans.name() {
                continue;
            }
            self.arguments.offer(view.id.get(row), || {
                present(json!({
                    "key": view.key.get(row), "idx": view.idx.get(row), "type": view.r#type.get(row),
                    "int_value": view.int_value.get(row), "uint_value": view.uint_value.get(row),
                    "float_value": view.float_value.get(row), "text_value": view.text_value.get(row),
                }))
            });
        }
    }

    fn logs(&mut self, view: &LogRows<'_>) {
        let SpanPosition { thread_id, from_ns, to_ns, .. } = self.place;
        for row in 0..view.rows {
            let Some(ts_ns) = view.ts_ns.get(row) else { continue };
            let is_inside = ts_ns >= from_ns && to_ns.is_none_or(|to_ns| ts_ns <= to_ns);
            if is_inside && view.thread_id.get(row).is_none_or(|id| id == thread_id) {
                self.logs.offer((ts_ns, view.id.get(row)), || log_row(view, row));
            }
        }
    }

    fn events(&mut self, view: &EventRows<'_>) {
        for row in (0..view.rows).filter(|row| view.span_id.get(*row) == Some(self.id)) {
            self.events.offer((view.ts_ns.get(row), view.id.get(row)), || event_row(view, row));
        }
    }
}

sink! {
    impl for Around as around {
        SpanRows(rows) => around.spans(rows),
        ArgRows(rows) => around.arguments(rows),
        LogRows(rows) => around.logs(rows),
        EventRows(rows) => around.events(rows),
        ThreadRows(rows) => around.threads.take(rows),
    }
}
