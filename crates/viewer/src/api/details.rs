//! Everything about one span, one event or one log line.

use std::sync::Arc;
use traceloom_core::TimeRange;

use arrow_array::RecordBatch;
use axum::{Extension, Json, Router, extract::State, routing::get};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use traceloom_analysis::lod::{LaneKey, Lanes};
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, args, spans};

use super::{
    Answer, Refusal,
    part::Asked,
    picture::SWITCHES,
    work::{self, Kept, Over, Waiting},
};
use crate::{
    scene::{NESTED, Scene, Values},
    server::App,
};

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new()
        .route("/span", get(span))
        .route("/event", get(event))
        .route("/line", get(line))
        .route("/text", get(text))
        .layer(Extension(known))
}

/// Rows by table, trace and id.
type Known = Kept<(&'static str, u32, i64), Row>;

#[derive(Deserialize)]
pub(crate) struct SpanQuery {
    track: u32,
    kind: u8,
    depth: u32,
    index: u32,
    /// Whether only what can be told at once is wanted: the pointer is on it, and may be elsewhere soon.
    #[serde(default)]
    brief: bool,
}

/// A file of this length is read again in a blink.
const SHORT_BYTES: u64 = 16 << 20;

/// A row of a trace, and where the trace is on the axis.
struct Wanted {
    table: &'static str,
    trace: u32,
    thread_id: i64,
    id: i64,
    ts_ns: i64,
    is_short: bool,
}

/// What the tables say of a row.
#[derive(Debug, Default)]
struct Row {
    fields: Map<String, Value>,
    args: Vec<Value>,
}

/// A span with its row, its arguments, and how it compares with others of its name.
async fn span(
    State(app): State<App>,
    Extension(known): Extension<Arc<Known>>,
    Asked(query): Asked<SpanQuery>,
) -> Answer {
    if u32::from(query.kind) == SWITCHES {
        return switch(&app, &query);
    }
    let (wanted, mut answer) = of_scene(&app, &query)?;
    if wanted.is_short || !query.brief {
        add_row(&app, known, wanted, &mut answer).await?;
    }
    Ok(Json(Value::Object(answer)))
}

/// A time when a thread did not run, and what ran instead.
fn switch(app: &App, query: &SpanQuery) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let track = scene.tracks.get(query.track as usize).filter(|track| (query.index as usize) < track.switches.len());
    let track = track.ok_or_else(|| Refusal::absent("there is no such switch"))?;
    let begin_ns = track.switches.begin_ns(query.index);
    Ok(Json(json!({
        "name": scene.names.get(track.switches.name(query.index)),
        "name_id": track.switches.name(query.index),
        "ts_ns": begin_ns.saturating_add(scene.offset_ns(track.trace)),
        "dur_ns": track.switches.dur_ns(query.index),
        "target_tid": track.switch_targets.get(track.switches.id(query.index) as usize),
    })))
}

async fn add_row(app: &App, known: Arc<Known>, wanted: Wanted, answer: &mut Map<String, Value>) -> Answer<()> {
    let Some(trace) = app.loader.trace(wanted.trace) else { return Ok(()) };
    let waiting = Waiting::default();
    let over = waiting.over();
    let found = work::run(move || {
        known.or((wanted.table, wanted.trace, wanted.id), || {
            let threads = Some(vec![wanted.thread_id]);
            let filter = Filter { range: TimeRange::including(wanted.ts_ns, wanted.ts_ns), threads };
            let mut sink = OneRow { table: wanted.table, id: wanted.id, row: Row::default(), over: over.clone() };
            trace.pour(&filter, &mut sink)?;
            over.check()?;
            Ok(sink.row)
        })
    });
    let row = found.await?;
    answer.extend(row.fields.clone());
    answer.insert("args".into(), Value::Array(row.args.clone()));
    Ok(())
}

fn of_scene(app: &App, query: &SpanQuery) -> Answer<(Wanted, Map<String, Value>)> {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let key = LaneKey { thread_id: query.track.into(), kind: query.kind, depth: query.depth };
    let lane = scene.lanes.get(key).filter(|lane| (query.index as usize) < lane.len());
    let (lane, track) =
        lane.zip(scene.tracks.get(query.track as usize)).ok_or_else(|| Refusal::absent("there is no such span"))?;
    let (begin_ns, name) = (lane.begin_ns(query.index), lane.name(query.index));
    let (count, total_ns) = scene.names.total(name);
    let answer = json!({
        "name": scene.names.get(name),
        "name_id": name,
        "id": lane.id(query.index),
        "trace": track.trace,
        "track": query.track,
        "depth": query.depth,
        "ts_ns": begin_ns.saturating_add(scene.offset_ns(track.trace)),
        "dur_ns": lane.end_ns(query.index).map(|end| end.saturating_sub(begin_ns)),
        "self_ns": self_ns(&scene.lanes, key, query.index),
        "name_count": count,
        "name_total_ns": total_ns,
    });
    let Value::Object(answer) = answer else { return Err(Refusal::broken()) };
    let id = lane.id(query.index).into();
    Ok((wanted(&scene, query.track, "spans", id, begin_ns), answer))
}

fn wanted(scene: &Scene, track: u32, table: &'static str, id: i64, ts_ns: i64) -> Wanted {
    let (trace, thread_id) = scene.tracks.get(track as usize).map_or((0, 0), |track| (track.trace, track.thread_id));
    let is_short = scene.traces.get(trace as usize).is_some_and(|trace| trace.bytes <= SHORT_BYTES);
    Wanted { table, trace, thread_id, id, ts_ns, is_short }
}

/// What of a span's time is not its children's: those of the next depth that begin and end in it.
fn self_ns(lanes: &Lanes, key: LaneKey, index: u32) -> Option<i64> {
    let lane = lanes.get(key).filter(|_| key.kind == NESTED)?;
    let (begin_ns, end_ns) = (lane.begin_ns(index), lane.end_ns(index)?);
    let Some(children) = lanes.get(LaneKey { depth: key.depth + 1, ..key }) else { return Some(lane.dur_ns(index)) };
    let is_child =
        |child: &u32| children.begin_ns(*child) >= begin_ns && children.end_ns(*child).is_some_and(|end| end <= end_ns);
    let inside = children.between(begin_ns, end_ns).filter(is_child).map(|child| children.dur_ns(child));
    Some(lane.dur_ns(index).saturating_sub(inside.fold(0, i64::saturating_add)))
}

#[derive(Deserialize)]
pub(crate) struct EventQuery {
    track: u32,
    id: i64,
    /// When, on the axis.
    ts: i64,
    #[serde(default)]
    brief: bool,
}

/// An event with its arguments.
async fn event(
    State(app): State<App>,
    Extension(known): Extension<Arc<Known>>,
    Asked(query): Asked<EventQuery>,
) -> Answer {
    let (wanted, mut answer) = event_of_scene(&app, &query)?;
    if wanted.is_short || !query.brief {
        add_row(&app, known, wanted, &mut answer).await?;
    }
    Ok(Json(Value::Object(answer)))
}

fn event_of_scene(app: &App, query: &EventQuery) -> Answer<(Wanted, Map<String, Value>)> {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let ts_ns = query.ts.saturating_sub(scene.track_offset_ns(query.track));
    let track = scene.tracks.get(query.track as usize);
    let point = track.and_then(|track| track.events.at(ts_ns, query.id));
    let point = point.ok_or_else(|| Refusal::absent("there is no such event"))?;
    let answer = json!({
        "name": scene.names.get(point.name),
        "name_id": point.name,
        "id": point.id,
        "category": scene.names.get(point.category),
        "track": query.track,
        "ts_ns": query.ts,
        "name_count": scene.names.events(point.name),
    });
    let Value::Object(answer) = answer else { return Err(Refusal::broken()) };
    Ok((wanted(&scene, query.track, "events", query.id, ts_ns), answer))
}

#[derive(Deserialize)]
pub(crate) struct LineQuery {
    number: usize,
}

/// More of a text than a card can show.
const MOST_TEXT: usize = 2_000;

/// One line of the log.
async fn line(State(app): State<App>, Asked(query): Asked<LineQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let site = scene.logs.site(query.number).ok_or_else(|| Refusal::absent("there is no such line"))?;
    let text: String = scene.logs.texts().get(query.number).chars().take(MOST_TEXT).collect();
    Ok(Json(json!({
        "ts_ns": scene.log_ts_ns(query.number),
        "level": scene.names.get(site.level_name),
        "file": site.file.map(|file| scene.names.get(file)),
        "line": site.line,
        "text": text,
    })))
}

#[derive(Deserialize)]
pub(crate) struct TextQuery {
    counter: usize,
    number: u32,
}

/// One value that is a text.
async fn text(State(app): State<App>, Asked(query): Asked<TextQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let absent = || Refusal::absent("there is no such text");
    let counter = scene.counters.get(query.counter).ok_or_else(absent)?;
    let Values::Texts(labels) = &counter.values else { return Err(absent()) };
    let ts_ns = labels.ts_ns(query.number).ok_or_else(absent)?.saturating_add(scene.offset_ns(counter.trace));
    Ok(Json(json!({ "ts_ns": ts_ns, "text": labels.text(query.number, MOST_TEXT) })))
}

/// Finds a row and its arguments.
struct OneRow {
    table: &'static str,
    id: i64,
    row: Row,
    over: Over,
}

impl TableSink for OneRow {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Args => Columns::ALL,
            Table::Spans if self.table == "spans" => {
                Columns::named(table, &["id", "self_ns", "category", "file", "line"])
            }
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        if self.over.check().is_err() {
            return Ok(Flow::Stop);
        }
        match table {
            Table::Args => take_args(&args::View::of(&batch), self.table, self.id, &mut self.row.args),
            _ => self.take_row(&spans::View::of(&batch)),
        }
        Ok(Flow::Continue)
    }
}

impl OneRow {
    fn take_row(&mut self, view: &spans::View<'_>) {
        let Some(row) = view.id.values().iter().position(|id| *id == self.id) else { return };
        let fields = &mut self.row.fields;
        fields.insert("self_ns".into(), json!(view.self_ns.get(row)));
        fields.insert("category".into(), json!(view.category.get(row)));
        fields.insert("file".into(), json!(view.file.get(row)));
        fields.insert("line".into(), json!(view.line.get(row)));
    }
}

/// Adds the arguments of a row.
fn take_args(view: &args::View<'_>, owner_table: &str, owner_id: i64, args: &mut Vec<Value>) {
    for row in 0..view.rows {
        if view.owner_id.get(row) != owner_id || view.owner_table.get(row) != owner_table {
            continue;
        }
        args.push(argument(view, row));
    }
}

/// An argument: `key, idx, type, value`.
pub(crate) fn argument(view: &args::View<'_>, row: usize) -> Value {
    let number = view.int_value.get(row).map(|value| value.to_string());
    let number = number.or_else(|| view.uint_value.get(row).map(|value| value.to_string()));
    let number = number.or_else(|| view.float_value.get(row).map(|value| value.to_string()));
    let text = number.or_else(|| view.text_value.get(row).map(str::to_owned));
    json!([view.key.get(row), view.idx.get(row), view.r#type.get(row), text])
}
