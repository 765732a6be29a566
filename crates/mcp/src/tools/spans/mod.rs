//! Tools about spans: find spans, show one span in context, and list what ran between two times.
//!
//! Each takes one or two passes over the tables; SQL would need one per list.

mod around;
mod window;

use std::{cmp::Reverse, collections::HashMap};

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{
    Trace,
    tables::{Filter, TableSource},
};
use traceloom_core::{Result, TimeRange};
use traceloom_model::{select, sink};
use traceloom_passes::PerEntry;

use super::{
    Answer, Call, Kind,
    first::{First, lists},
};
use crate::inert::kept;

pub(super) static TOOLS: &[Kind] = &[
    Kind::new::<Spans>(
        "spans",
        "Find spans by name, thread, duration and time; longest first unless sorted by time. Returns the `id` of each for the \
         tool `span`.",
        "spans:[id:int, name:str, category:str, thread?:str, thread_id:int, ts_ns:int, dur_ns?:int, self_ns?:int, depth:int]",
        spans,
    ),
    around::TOOL,
    window::TOOL,
];

select! { struct SpanRows of spans { id, parent_id, thread_id, depth, ts_ns, dur_ns, self_ns, name, category, file, line } }
select! { struct ThreadRows of threads { id, name } }
select! { struct LogRows of logs { id, ts_ns, thread_id, level_name, message, file, line } }
select! { struct EventRows of events { id, ts_ns, span_id, name, category } }

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
        let named = (0..view.rows).filter_map(|row| Some((view.id.get(row), kept(view.name.get(row)?).into_owned())));
        self.0.extend(named);
    }

    /// Adds the name of the thread to a row.
    fn name(&self, row: &mut Json) {
        if let Some(name) = row["thread_id"].as_i64().and_then(|id| self.0.get(&id)) {
            row["thread"] = name.as_str().into();
        }
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
    let mut called = Called { name, ids: Vec::new() };
    trace.pour(&Filter::default(), &mut called)?;
    Ok(called.ids)
}

/// Finds the threads with a name.
struct Called<'a> {
    name: &'a str,
    ids: Vec<i64>,
}

impl Called<'_> {
    fn take(&mut self, view: &ThreadRows<'_>) {
        let found = (0..view.rows).filter(|row| view.name.get(*row) == Some(self.name));
        self.ids.extend(found.map(|row| view.id.get(row)));
    }
}

sink! {
    impl for Called<'_> as called {
        ThreadRows(rows) => called.take(rows),
    }
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
