//! `span`: one span with its ancestors, its children and arguments, and the log lines and events inside it.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::tables::{Filter, Table, TableSource};
use traceloom_core::{Error, Result, TimeRange};
use traceloom_model::{Columns, Flow, TableSink, select, sink};

use super::{
    super::{
        Answer, Call, Kind,
        first::{First, lists},
        max_rows,
    },
    EventRows, LogRows, SpanRows, ThreadNames, ThreadRows, event_row, log_row, present, span_row,
};
use crate::inert::kept_row;

pub(super) const TOOL: Kind = Kind::new::<Span>(
    "span",
    "One span by its id: its ancestors, children and arguments, and the log lines and events inside it. Times are \
     in nanoseconds.",
    "span:{id:int, name:str, ts_ns:int}, ancestors:[id:int, name:str, ts_ns:int], children:[id:int, name:str, ts_ns:int], \
     arguments:[key:str, type:str], logs:[message:str], events:[name:str, ts_ns:int]",
    span,
);

select! {
    struct ArgRows of args {
        id, owner_table, owner_id, key, idx, r#type, int_value, uint_value, float_value, text_value
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
    let Around { ancestors, children, arguments, logs, events, .. } = around;
    let found = [("children", children), ("logs", logs), ("events", events)];
    let [children, logs, events] = found.map(|(name, rows)| (name, rows.finish()));
    let ancestors = ("ancestors", ancestors.finish());
    let mut answer = lists([ancestors, children, ("arguments", arguments.finish()), logs, events], limit);
    answer.found["span"] = span;
    Ok(answer)
}

/// The position of a span.
#[derive(Clone, Copy)]
struct SpanPosition {
    parent_id: Option<i64>,
    thread_id: i64,
    depth: u32,
    from_ns: i64,
    /// `None` if the span was never closed.
    to_ns: Option<i64>,
}

select! { struct PlaceRows of spans { id, parent_id, thread_id, depth, ts_ns, dur_ns } }

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
        let (parent_id, thread_id, depth) = (view.parent_id.get(row), view.thread_id.get(row), view.depth.get(row));
        self.found = Some(SpanPosition { parent_id, thread_id, depth, from_ns, to_ns });
        Ok(Flow::Stop)
    }
}

/// The nearest ancestors of a span, nearest first.
///
/// A table has the ancestors of a span either all before it, outermost first, or all after it, outermost last. In both cases
/// it is enough to keep the last span of each depth, so deep and unclosed spans take no memory.
struct Ancestors {
    limit: usize,
    total: u32,
    next_id: Option<i64>,
    /// Spans that may be ancestors, by depth.
    open: HashMap<u32, Json>,
    found: Vec<Json>,
}

impl Ancestors {
    fn new(place: SpanPosition, limit: usize) -> Self {
        Self { limit, total: place.depth, next_id: place.parent_id, open: HashMap::new(), found: Vec::new() }
    }

    /// The depth of the next ancestor; a span has as many ancestors as its depth.
    fn next_depth(&self) -> Option<u32> {
        self.total.checked_sub(self.found.len() as u32 + 1)
    }

    /// Whether a span of this depth is near enough to be listed.
    fn is_near(&self, depth: u32) -> bool {
        let is_listed = (self.total as usize).saturating_sub(depth as usize) <= self.limit;
        is_listed && self.next_depth().is_some_and(|next| depth <= next)
    }

    fn add(&mut self, depth: u32, row: Json) {
        self.open.insert(depth, kept_row(row));
        while let Some(row) = self.take_next() {
            self.next_id = row["parent_id"].as_i64();
            self.found.push(row);
        }
    }

    fn take_next(&mut self) -> Option<Json> {
        let depth = self.next_depth()?;
        let is_next = self.open.get(&depth)?["id"].as_i64() == self.next_id;
        if is_next { self.open.remove(&depth) } else { None }
    }

    /// The ancestors, and the number of all.
    fn finish(self) -> (Vec<Json>, u64) {
        (self.found, self.total.into())
    }
}

/// The context and contents of a span.
struct Around {
    id: i64,
    place: SpanPosition,
    span: Option<Json>,
    threads: ThreadNames,
    ancestors: Ancestors,
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
            ancestors: Ancestors::new(place, max_rows(limit)),
            children: First::new(limit),
            arguments: First::new(limit),
            logs: First::new(limit),
            events: First::new(limit),
        }
    }

    fn spans(&mut self, view: &SpanRows<'_>) {
        let SpanPosition { thread_id, from_ns, .. } = self.place;
        for row in 0..view.rows {
            let (id, ts_ns, depth) = (view.id.get(row), view.ts_ns.get(row), view.depth.get(row));
            if id == self.id {
                self.span = Some(kept_row(span_row(view, row)));
            }
            if view.parent_id.get(row) == Some(self.id) {
                self.children.offer((ts_ns, id), || span_row(view, row));
            }
            let is_before = ts_ns <= from_ns && self.ancestors.is_near(depth);
            let reaches = |dur_ns: i64| ts_ns.saturating_add(dur_ns) >= from_ns;
            if is_before && view.thread_id.get(row) == thread_id && view.dur_ns.get(row).is_none_or(reaches) {
                self.ancestors.add(depth, span_row(view, row));
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
