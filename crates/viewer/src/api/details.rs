//! Everything about one span, one switch, one event, one log line or one text.

use std::{collections::HashMap, sync::Arc};

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};
use traceloom_analysis::lod::{LaneKey, Lanes};
use traceloom_core::TimeRange;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, select};

use super::{
    Answer, Refusal, Routes,
    wire::row,
    work::{Kept, Over, Reply},
};
use crate::{
    app::App,
    scene::{NESTED, Scene, Values},
};

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptRows>::default());
    routes.get("span", |app, known, ask| span(app, known, ask.query()?));
    routes.get("switch", |app, _, ask| switch(app, ask.query()?));
    routes.get("event", |app, known, ask| event(app, known, ask.query()?));
    routes.get("line", |app, _, ask| line(app, ask.query()?));
    routes.get("text", |app, _, ask| text(app, ask.query()?));
}

/// Rows by table, trace and id.
type KeptRows = Kept<(Table, u32, i64), Row>;

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct SpanQuery {
    track: u32,
    kind: u8,
    depth: u32,
    index: u32,
    /// Whether only data that is available at once is requested, because the pointer may move away soon.
    brief: Option<bool>,
}

impl SpanQuery {
    /// Lane, and index in it.
    pub(super) fn place(&self) -> (LaneKey, u32) {
        (LaneKey { thread_id: self.track.into(), kind: self.kind, depth: self.depth }, self.index)
    }
}

/// A span with its row, its arguments, and how it compares with others of its name.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SpanDetails {
    name: String,
    name_id: u32,
    id: u32,
    trace: u32,
    track: u32,
    depth: u32,
    ts_ns: i64,
    dur_ns: Option<i64>,
    self_ns: Option<i64>,
    name_count: u64,
    name_total_ns: i64,
    category: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    /// The line that called it, as `file:line`.
    caller: Option<String>,
    /// `None` in a brief answer.
    args: Option<Vec<Argument>>,
}

row! {
    /// An argument of a row.
    pub(crate) struct Argument { key: String, idx: Option<u32>, kind: String, value: Option<String> }
}

/// Max length of a file that can be read again quickly.
const SHORT_BYTES: u64 = 16 << 20;

/// A row of a table, and where to find it.
struct Wanted {
    table: Table,
    trace: u32,
    /// `None` for a track that threads share.
    thread_id: Option<i64>,
    id: i64,
    ts_ns: i64,
    is_short: bool,
}

/// A row of a table, with its arguments.
#[derive(Clone, Debug, Default)]
struct Row {
    /// Of a span.
    self_ns: Option<i64>,
    category: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    caller: Option<String>,
    args: Vec<Argument>,
}

fn span(app: App, known: Arc<KeptRows>, query: SpanQuery) -> Answer<Reply<SpanDetails>> {
    let (wanted, details) = span_of_scene(&app, &query)?;
    Ok(wanted.row(&app, known, query.brief).map(move |row| {
        let Some(row) = row else { return details };
        let Row { self_ns, category, file, line, caller, args } = row;
        let self_ns = self_ns.or(details.self_ns);
        SpanDetails { self_ns, category, file, line, caller, args: Some(args), ..details }
    }))
}

impl Wanted {
    fn of(scene: &Scene, track: u32, table: Table, id: i64, ts_ns: i64) -> Self {
        let track = scene.tracks.get(track as usize);
        let trace = track.map_or(0, |track| track.trace);
        let thread_id = track.filter(|track| track.more_threads.is_empty()).map(|track| track.thread_id);
        let is_short = scene.traces.get(trace as usize).is_some_and(|trace| trace.bytes <= SHORT_BYTES);
        Self { table, trace, thread_id, id, ts_ns, is_short }
    }

    /// The row, unless finding it takes long and only a brief answer is requested.
    fn row(self, app: &App, known: Arc<KeptRows>, brief: Option<bool>) -> Reply<Option<Row>> {
        if !self.is_short && brief == Some(true) {
            return Reply::Now(None);
        }
        let Some(trace) = app.loader.trace(self.trace) else { return Reply::Now(None) };
        Reply::Later(Box::new(move |over| {
            let found = known.or((self.table, self.trace, self.id), || {
                let range = TimeRange::including(self.ts_ns, self.ts_ns);
                let filter = Filter { range, threads: self.thread_id.map(|thread_id| vec![thread_id]) };
                let mut sink = OneRow {
                    table: self.table,
                    id: self.id,
                    row: Row::default(),
                    files: HashMap::new(),
                    over: over.clone(),
                };
                trace.pour(&filter, &mut sink)?;
                over.check()?;
                Ok(sink.resolved())
            })?;
            Ok(Some((*found).clone()))
        }))
    }
}

fn span_of_scene(app: &App, query: &SpanQuery) -> Answer<(Wanted, SpanDetails)> {
    let scene = app.scene()?;
    let (key, _) = query.place();
    let lane = scene.lanes.get(key).filter(|lane| (query.index as usize) < lane.len());
    let (lane, track) =
        lane.zip(scene.tracks.get(query.track as usize)).ok_or_else(|| Refusal::absent("unknown span"))?;
    let (begin_ns, name) = (lane.begin_ns(query.index), lane.name(query.index));
    let (name_count, name_total_ns) = scene.names.total(name);
    let details = SpanDetails {
        name: scene.names.get(name).to_owned(),
        name_id: name,
        id: lane.id(query.index),
        trace: track.trace,
        track: query.track,
        depth: query.depth,
        ts_ns: begin_ns.saturating_add(scene.offset_ns(track.trace)),
        dur_ns: lane.end_ns(query.index).map(|end| end.saturating_sub(begin_ns)),
        self_ns: self_ns(&scene.lanes, key, query.index),
        name_count,
        name_total_ns,
        category: None,
        file: None,
        line: None,
        caller: None,
        args: None,
    };
    Ok((Wanted::of(&scene, query.track, Table::Spans, lane.id(query.index).into(), begin_ns), details))
}

/// The self time of a span: its duration without the spans of the next depth inside it.
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
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SwitchQuery {
    track: u32,
    index: u32,
}

/// A time range in which a thread did not run, and the thread that ran instead.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SwitchDetails {
    name: String,
    name_id: u32,
    ts_ns: i64,
    dur_ns: i64,
    target_tid: Option<u64>,
}

fn switch(app: App, query: SwitchQuery) -> Answer<SwitchDetails> {
    let scene = app.scene()?;
    let track = scene.tracks.get(query.track as usize).filter(|track| (query.index as usize) < track.switches.len());
    let track = track.ok_or_else(|| Refusal::absent("unknown switch"))?;
    let name = track.switches.name(query.index);
    Ok(SwitchDetails {
        name: scene.names.get(name).to_owned(),
        name_id: name,
        ts_ns: track.switches.begin_ns(query.index).saturating_add(scene.offset_ns(track.trace)),
        dur_ns: track.switches.dur_ns(query.index),
        target_tid: track.switch_targets.get(track.switches.id(query.index) as usize).copied(),
    })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct EventQuery {
    track: u32,
    id: i64,
    /// Time on the axis.
    ts: i64,
    brief: Option<bool>,
}

/// An event with its arguments.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct EventDetails {
    name: String,
    name_id: u32,
    id: i64,
    category: String,
    track: u32,
    ts_ns: i64,
    name_count: u64,
    /// `None` in a brief answer.
    args: Option<Vec<Argument>>,
}

fn event(app: App, known: Arc<KeptRows>, query: EventQuery) -> Answer<Reply<EventDetails>> {
    let (wanted, details) = event_of_scene(&app, &query)?;
    let row = wanted.row(&app, known, query.brief);
    Ok(row.map(move |row| EventDetails { args: row.map(|row| row.args), ..details }))
}

fn event_of_scene(app: &App, query: &EventQuery) -> Answer<(Wanted, EventDetails)> {
    let scene = app.scene()?;
    let ts_ns = query.ts.saturating_sub(scene.track_offset_ns(query.track));
    let track = scene.tracks.get(query.track as usize);
    let point = track.and_then(|track| track.points().into_iter().find_map(|points| points.at(ts_ns, query.id)));
    let point = point.ok_or_else(|| Refusal::absent("unknown event"))?;
    let details = EventDetails {
        name: scene.names.get(point.name).to_owned(),
        name_id: point.name,
        id: point.id,
        category: scene.names.get(point.category).to_owned(),
        track: query.track,
        ts_ns: query.ts,
        name_count: scene.names.events(point.name),
        args: None,
    };
    Ok((Wanted::of(&scene, query.track, Table::Events, query.id, ts_ns), details))
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LineQuery {
    pub(super) number: usize,
}

/// One line of the log.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LogLine {
    ts_ns: Option<i64>,
    level: String,
    file: Option<String>,
    line: Option<u32>,
    text: String,
}

/// Max length of a text; more than a card can show.
const MAX_TEXT: usize = 2_000;

fn line(app: App, query: LineQuery) -> Answer<LogLine> {
    let scene = app.scene()?;
    let site = scene.logs.site(query.number).ok_or_else(|| Refusal::absent("unknown line"))?;
    Ok(LogLine {
        ts_ns: scene.log_ts_ns(query.number),
        level: scene.names.get(site.level_name).to_owned(),
        file: site.file.map(|file| scene.names.get(file).to_owned()),
        line: site.line,
        text: scene.logs.texts().get(query.number).chars().take(MAX_TEXT).collect(),
    })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TextQuery {
    counter: usize,
    number: u32,
}

/// A value that is a text, and when it was set.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TextValue {
    ts_ns: i64,
    text: String,
}

fn text(app: App, query: TextQuery) -> Answer<TextValue> {
    let scene = app.scene()?;
    let absent = || Refusal::absent("unknown text");
    let counter = scene.counters.get(query.counter).ok_or_else(absent)?;
    let Values::Texts(labels) = &counter.values else { return Err(absent()) };
    let ts_ns = labels.ts_ns(query.number).ok_or_else(absent)?.saturating_add(scene.offset_ns(counter.trace));
    Ok(TextValue { ts_ns, text: labels.text(query.number, MAX_TEXT) })
}

/// Finds a row and its arguments.
struct OneRow {
    table: Table,
    id: i64,
    row: Row,
    /// Names of files by id, for arguments that refer to one.
    files: HashMap<String, String>,
    over: Over,
}

select! {
    struct SpanRow of spans { id, self_ns, category, file, line }
}

select! {
    struct FileNames of files { id, name }
}

select! {
    pub(super) struct Arguments of args {
        owner_table, owner_id, key, idx, r#type, int_value, uint_value, float_value, text_value
    }
}

impl TableSink for OneRow {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Args => Arguments::COLUMNS,
            Table::Spans if self.table == Table::Spans => SpanRow::COLUMNS,
            Table::Files if self.table == Table::Spans => FileNames::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        if self.over.check().is_err() {
            return Ok(Flow::Stop);
        }
        match table {
            Table::Args => self.take_args(&Arguments::of(&batch)?),
            Table::Files => {
                let files = FileNames::of(&batch)?;
                let named = (0..files.rows).map(|row| (files.id.get(row).to_string(), files.name.get(row).to_owned()));
                self.files.extend(named);
            }
            _ => self.take_row(&SpanRow::of(&batch)?),
        }
        Ok(Flow::Continue)
    }
}

/// Arguments that identify the caller: the id of a file, and a line in it.
const CALLER: [&str; 2] = ["caller_file_id", "caller_line"];

impl OneRow {
    /// The row, with the caller as text instead of two arguments.
    fn resolved(mut self) -> Row {
        let args = &mut self.row.args;
        let [file, line] = CALLER.map(|key| args.iter().find(|arg| arg.key == key).and_then(|arg| arg.value.clone()));
        if let Some((name, line)) = file.and_then(|file| self.files.get(&file)).zip(line) {
            self.row.caller = Some(format!("{name}:{line}"));
            args.retain(|arg| !CALLER.contains(&arg.key.as_str()));
        }
        self.row
    }

    fn take_row(&mut self, rows: &SpanRow<'_>) {
        let Some(row) = rows.id.values().iter().position(|id| *id == self.id) else { return };
        self.row.self_ns = rows.self_ns.get(row);
        self.row.category = Some(rows.category.get(row).to_owned());
        self.row.file = rows.file.get(row).map(str::to_owned);
        self.row.line = rows.line.get(row);
    }

    fn take_args(&mut self, rows: &Arguments<'_>) {
        let is_own =
            |row: &usize| rows.owner_id.get(*row) == self.id && rows.owner_table.get(*row) == self.table.name();
        self.row.args.extend((0..rows.rows).filter(is_own).map(|row| rows.argument(row)));
    }
}

impl Arguments<'_> {
    /// The argument of a row, with its value as text.
    pub(super) fn argument(&self, row: usize) -> Argument {
        let number = self.int_value.get(row).map(|value| value.to_string());
        let number = number.or_else(|| self.uint_value.get(row).map(|value| value.to_string()));
        let number = number.or_else(|| self.float_value.get(row).map(|value| value.to_string()));
        Argument {
            key: self.key.get(row).to_owned(),
            idx: self.idx.get(row),
            kind: self.r#type.get(row).to_owned(),
            value: number.or_else(|| self.text_value.get(row).map(str::to_owned)),
        }
    }
}
