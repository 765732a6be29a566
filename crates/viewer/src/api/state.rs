//! The state: traces, tracks and names.

use serde::{Deserialize, Serialize};
use traceloom_model::Table;

use super::{Answer, Done, Refusal, Routes, wire::row};
use crate::{
    app::App,
    scene::{LoadState, Scene, Values},
};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("state", |app, ask| state(app, ask.query()?));
    routes.get("names", |app, ask| names(app, ask.query()?));
    routes.post("offset", |app, ask| offset(app, ask.query()?));
    routes.post("close", |app, ask| close(app, ask.query()?));
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct StateQuery {
    /// The revision that the page already has.
    since: Option<u64>,
}

/// Progress of loading.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Progress {
    revision: u64,
    read_bytes: u64,
    total_bytes: u64,
}

/// The whole state.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct State {
    #[serde(flatten)]
    progress: Progress,
    /// The first and last time of the axis; `None` if no trace has times.
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    traces: Vec<TraceInfo>,
    tracks: Vec<TrackInfo>,
    counters: Vec<CounterInfo>,
    names: usize,
    logs: usize,
    links: usize,
    /// Whether SQL queries are supported.
    sql: bool,
}

/// The whole state, or only the progress of loading if the page knows the rest.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub(crate) enum StateAnswer {
    Same(Progress),
    Changed(State),
}

/// One trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TraceInfo {
    path: String,
    format: String,
    version: String,
    /// As text, because it does not fit into a JavaScript number.
    trace_id: String,
    bytes: u64,
    clock: String,
    /// As text as well.
    unix_origin_ns: Option<String>,
    /// Without the offset.
    from_ns: i64,
    to_ns: i64,
    /// Added to every time of the trace on the axis.
    offset_ns: i64,
    findings: u64,
    /// Number of log lines with a time.
    logs: usize,
    /// Peak bytes in use; `None` if the trace has no allocations.
    memory: Option<f64>,
    /// Whether the trace has sums of calls.
    has_calls: bool,
    /// Whether the trace has line timings.
    has_lines: bool,
    /// Whether rows refer to source files.
    has_source: bool,
    state: TraceState,
    error: Option<String>,
    /// Only for a live trace.
    live: Option<LiveInfo>,
}

/// A live trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LiveInfo {
    /// Number of dropped records.
    dropped: u64,
    /// The reason why no more data arrives.
    end: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum TraceState {
    Closed,
    Failed,
    Live,
    Loading,
    Ready,
}

/// A thread or a zone.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TrackInfo {
    trace: u32,
    thread_id: i64,
    /// Number of threads that share the track; usually 1.
    threads: usize,
    tid: Option<u64>,
    process: String,
    name: String,
    kind: String,
    spans: u64,
    /// Start of its first span, without the offset of the trace.
    first_ns: Option<i64>,
    /// Time inside its outermost spans.
    busy_ns: i64,
    events: u64,
    /// Number of events that are drawn as such.
    instants: usize,
    /// Number of bookmarks.
    bookmarks: usize,
    switches: usize,
    depth: u32,
    frame_depth: u32,
    range_depth: u32,
}

/// Values of one name on one track.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CounterInfo {
    trace: u32,
    track: Option<u32>,
    name: u32,
    value_id: Option<String>,
    /// Number of series that share the counter; usually 1.
    series: usize,
    samples: usize,
    is_text: bool,
    min: Option<f64>,
    max: Option<f64>,
}

/// The whole state, or only the progress of loading if the page knows the rest.
fn state(app: App, query: StateQuery) -> Answer<StateAnswer> {
    let scene = app.scene()?;
    let (read_bytes, total_bytes) = app.loader.progress();
    let progress = Progress { revision: scene.revision, read_bytes, total_bytes };
    if query.since == Some(scene.revision) {
        return Ok(StateAnswer::Same(progress));
    }
    let extent = scene.extent();
    Ok(StateAnswer::Changed(State {
        progress,
        from_ns: extent.map(|(from, _)| from),
        to_ns: extent.map(|(_, to)| to),
        traces: traces(&scene),
        tracks: tracks(&scene),
        counters: counters(&scene),
        names: scene.names.len(),
        logs: scene.logs.len(),
        links: scene.links.len(),
        sql: cfg!(feature = "sql"),
    }))
}

fn traces(scene: &Scene) -> Vec<TraceInfo> {
    let shown = scene.traces.iter().enumerate().map(|(number, trace)| {
        let (state, error) = match &trace.state {
            LoadState::Closed => (TraceState::Closed, None),
            LoadState::Failed(error) => (TraceState::Failed, Some(error.clone())),
            LoadState::Live => (TraceState::Live, None),
            LoadState::Loading => (TraceState::Loading, None),
            LoadState::Ready => (TraceState::Ready, None),
        };
        // A trace without times has no extent.
        let reach = if trace.first_ns <= trace.last_ns { (trace.first_ns, trace.last_ns) } else { (0, 0) };
        TraceInfo {
            path: trace.path.to_string_lossy().into_owned(),
            format: trace.format.to_owned(),
            version: trace.version.clone(),
            trace_id: trace.trace_id.to_string(),
            bytes: trace.bytes,
            clock: trace.clock.clone(),
            unix_origin_ns: trace.unix_origin_ns.map(|ns| ns.to_string()),
            from_ns: reach.0,
            to_ns: reach.1,
            offset_ns: trace.offset_ns,
            findings: trace.findings,
            logs: scene.logs.timed(number as u32),
            memory: trace.memory.as_ref().and_then(|series| series.range()).map(|(_, peak)| peak),
            has_calls: trace.contents.has(Table::Calls),
            has_lines: trace.contents.has(Table::LineTimes),
            has_source: trace.contents.has_source,
            state,
            error,
            live: trace
                .live
                .as_ref()
                .filter(|live| !live.is_past)
                .map(|live| LiveInfo { dropped: live.dropped, end: live.end.clone() }),
        }
    });
    shown.collect()
}

fn tracks(scene: &Scene) -> Vec<TrackInfo> {
    let mut depths = vec![[0_u32; 3]; scene.tracks.len()];
    for (key, _) in scene.lanes.iter() {
        if let Some(depth) = depths.get_mut(key.thread_id as usize).and_then(|depths| depths.get_mut(key.kind as usize))
        {
            *depth = (*depth).max(key.depth + 1);
        }
    }
    let shown = scene.tracks.iter().zip(depths).map(|(track, [depth, frame_depth, range_depth])| TrackInfo {
        trace: track.trace,
        thread_id: track.thread_id,
        threads: 1 + track.more_threads.len(),
        tid: track.tid,
        process: track.process.clone(),
        name: track.name.clone(),
        kind: track.kind.clone(),
        spans: track.spans,
        first_ns: track.first_ns,
        busy_ns: track.busy_ns,
        events: (track.events.len() + track.bookmarks.len()) as u64 + track.unseen_events,
        instants: track.events.len(),
        bookmarks: track.bookmarks.len(),
        switches: track.switches.len(),
        depth,
        frame_depth,
        range_depth,
    });
    shown.collect()
}

fn counters(scene: &Scene) -> Vec<CounterInfo> {
    let shown = scene.counters.iter().map(|counter| {
        let range = counter.values.range();
        CounterInfo {
            trace: counter.trace,
            track: counter.track,
            name: counter.name,
            value_id: counter.value_id.map(|id| id.to_string()),
            series: counter.series,
            samples: counter.values.len(),
            is_text: matches!(counter.values, Values::Texts(_)),
            min: range.map(|(min, _)| min),
            max: range.map(|(_, max)| max),
        }
    });
    shown.collect()
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct NamesQuery {
    /// The first name that the page does not know yet.
    from: Option<u32>,
}

row! {
    /// A name, and the color set by its producer, as 0xAARRGGBB.
    pub(crate) struct NameRow { name: String, color: Option<u32> }
}

/// Max number of names per answer; the page requests the rest.
const MAX_NAMES: u32 = 50_000;

/// Names from a number on, with colors.
fn names(app: App, query: NamesQuery) -> Answer<Vec<NameRow>> {
    let scene = app.scene()?;
    let from = query.from.unwrap_or(0);
    let numbers = from..(scene.names.len() as u32).min(from.saturating_add(MAX_NAMES));
    let name = |number| NameRow { name: scene.names.get(number).to_owned(), color: scene.names.color(number) };
    Ok(numbers.map(name).collect())
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OffsetQuery {
    trace: usize,
    offset_ns: i64,
}

/// Moves a trace on the axis.
fn offset(app: App, query: OffsetQuery) -> Answer<Done> {
    let mut scene = app.scene.write().map_err(|_| Refusal::broken())?;
    let trace = scene.traces.get_mut(query.trace).ok_or_else(|| Refusal::absent("unknown trace"))?;
    trace.facts.user_offset_ns = Some(query.offset_ns);
    scene.align();
    scene.revision += 1;
    Ok(Done {})
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CloseQuery {
    trace: u32,
}

/// Closes a trace and frees its memory.
fn close(app: App, query: CloseQuery) -> Answer<Done> {
    if !app.loader.close(query.trace) {
        return Err(Refusal::absent("unknown trace"));
    }
    Ok(Done {})
}
