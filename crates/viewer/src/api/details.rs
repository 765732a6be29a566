//! Everything about one span.

use arrow_array::RecordBatch;
use axum::{
    Json,
    extract::{Query, State},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use traceloom_analysis::lod::LaneKey;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, args, spans};

use super::{Answer, Refusal};
use crate::server::App;

#[derive(Deserialize)]
pub(crate) struct SpanQuery {
    track: u32,
    kind: u8,
    depth: u32,
    index: u32,
}

/// What the scene knows of a span.
struct Known {
    trace: u32,
    thread_id: i64,
    id: i64,
    begin_ns: i64,
    answer: Map<String, Value>,
}

/// A span with its row, its arguments, and how it compares with others of its name.
pub(crate) async fn span(State(app): State<App>, Query(query): Query<SpanQuery>) -> Answer {
    let mut known = known(&app, &query)?;
    let trace = app.loader.traces().into_iter().find(|(number, _)| *number == known.trace);
    if let Some((_, trace)) = trace {
        let filter = Filter { from_ns: known.begin_ns, to_ns: known.begin_ns, threads: Some(vec![known.thread_id]) };
        let id = known.id;
        let found = tokio::task::spawn_blocking(move || {
            let mut row = OneSpan { id, row: Map::new(), args: Vec::new() };
            trace.pour(&filter, &mut row).map(|()| row)
        });
        let row = found.await.map_err(|_| Refusal::broken())??;
        known.answer.extend(row.row);
        known.answer.insert("args".into(), Value::Array(row.args));
    }
    Ok(Json(Value::Object(known.answer)))
}

fn known(app: &App, query: &SpanQuery) -> Answer<Known> {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let key = LaneKey { thread_id: query.track.into(), kind: query.kind, depth: query.depth };
    let lane = scene.lanes.get(key).filter(|lane| (query.index as usize) < lane.len());
    let lane = lane.ok_or_else(|| Refusal::absent("there is no such span"))?;
    let track = &scene.tracks[query.track as usize];
    let offset = scene.traces.get(track.trace as usize).map_or(0, |trace| trace.offset_ns);
    let (begin_ns, name) = (lane.begin_ns(query.index), lane.name(query.index));
    let (count, total_ns) = scene.names.total(name);
    let answer = json!({
        "name": scene.names.get(name),
        "name_id": name,
        "id": lane.id(query.index),
        "track": query.track,
        "depth": query.depth,
        "ts_ns": begin_ns.saturating_add(offset),
        "dur_ns": lane.end_ns(query.index).map(|end| end - begin_ns),
        "name_count": count,
        "name_total_ns": total_ns,
    });
    let Value::Object(answer) = answer else { return Err(Refusal::broken()) };
    Ok(Known { trace: track.trace, thread_id: track.thread_id, id: lane.id(query.index).into(), begin_ns, answer })
}

/// Finds the row of a span and its arguments.
struct OneSpan {
    id: i64,
    row: Map<String, Value>,
    args: Vec<Value>,
}

impl TableSink for OneSpan {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Args => Columns::ALL,
            Table::Spans => Columns::named(table, &["id", "self_ns", "category", "file", "line"]),
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Flow {
        match table {
            Table::Args => self.take_args(&args::View::of(&batch)),
            _ => self.take_row(&spans::View::of(&batch)),
        }
        Flow::Continue
    }
}

impl OneSpan {
    fn take_row(&mut self, view: &spans::View<'_>) {
        let Some(row) = view.id.values().iter().position(|id| *id == self.id) else { return };
        self.row.insert("self_ns".into(), json!(view.self_ns.get(row)));
        self.row.insert("category".into(), json!(view.category.get(row)));
        self.row.insert("file".into(), json!(view.file.get(row)));
        self.row.insert("line".into(), json!(view.line.get(row)));
    }

    fn take_args(&mut self, view: &args::View<'_>) {
        for row in 0..view.rows {
            if view.owner_id.get(row) != self.id || view.owner_table.get(row) != "spans" {
                continue;
            }
            let number = view.int_value.get(row).map(|value| value.to_string());
            let number = number.or_else(|| view.uint_value.get(row).map(|value| value.to_string()));
            let number = number.or_else(|| view.float_value.get(row).map(|value| value.to_string()));
            let text = number.or_else(|| view.text_value.get(row).map(str::to_owned));
            self.args.push(json!([view.key.get(row), view.idx.get(row), view.r#type.get(row), text]));
        }
    }
}
