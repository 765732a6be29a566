//! What is there: traces, tracks, names.

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Refusal, part::Asked};
use crate::{
    scene::{LoadState, Scene, Values},
    server::App,
};

#[derive(Deserialize)]
pub(crate) struct StateQuery {
    /// What the page knows already.
    since: Option<u64>,
}

/// Everything that is there; only how far loading is where the page knows the rest.
pub(crate) async fn state(State(app): State<App>, Asked(query): Asked<StateQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let (read_bytes, total_bytes) = app.loader.progress();
    if query.since == Some(scene.revision) {
        return Ok(Json(json!({
            "revision": scene.revision, "read_bytes": read_bytes, "total_bytes": total_bytes
        })));
    }
    let extent = scene.extent();
    Ok(Json(json!({
        "revision": scene.revision,
        "read_bytes": read_bytes,
        "total_bytes": total_bytes,
        "from_ns": extent.map(|(from, _)| from),
        "to_ns": extent.map(|(_, to)| to),
        "traces": traces(&scene),
        "tracks": tracks(&scene),
        "counters": counters(&scene),
        "names": scene.names.len(),
        "logs": scene.logs.len(),
        "links": scene.links.len(),
        "sql": cfg!(feature = "sql"),
    })))
}

fn traces(scene: &Scene) -> Vec<Value> {
    let shown = scene.traces.iter().enumerate().map(|(number, trace)| {
        let (state, error) = match &trace.state {
            LoadState::Failed(error) => ("failed", Some(error)),
            LoadState::Loading => ("loading", None),
            LoadState::Ready => ("ready", None),
        };
        // A trace without times reaches nowhere.
        let reach = if trace.first_ns <= trace.last_ns { (trace.first_ns, trace.last_ns) } else { (0, 0) };
        json!({
            "path": trace.path.to_string_lossy(),
            "format": trace.format,
            "version": trace.version,
            // As text: it does not fit into a number of JavaScript.
            "trace_id": trace.trace_id.to_string(),
            "bytes": trace.bytes,
            "clock": trace.clock,
            "unix_origin_ns": trace.unix_origin_ns.map(|ns| ns.to_string()),
            "from_ns": reach.0,
            "to_ns": reach.1,
            "offset_ns": trace.offset_ns,
            "findings": trace.findings,
            "logs": scene.logs.timed(number as u32),
            "memory": trace.memory.as_ref().and_then(|series| series.range()).map(|(_, peak)| peak),
            "state": state,
            "error": error,
        })
    });
    shown.collect()
}

fn tracks(scene: &Scene) -> Vec<Value> {
    let mut depths = vec![[0_u32; 3]; scene.tracks.len()];
    for (key, _) in scene.lanes.iter() {
        if let Some(depth) = depths.get_mut(key.thread_id as usize).and_then(|depths| depths.get_mut(key.kind as usize))
        {
            *depth = (*depth).max(key.depth + 1);
        }
    }
    let shown = scene.tracks.iter().zip(depths).map(|(track, depths)| {
        json!({
            "trace": track.trace,
            "thread_id": track.thread_id,
            "tid": track.tid,
            "process": track.process,
            "name": track.name,
            "kind": track.kind,
            "spans": track.spans,
            "events": track.events.len() as u64 + track.unseen_events,
            "instants": track.events.len(),
            "switches": track.switches.len(),
            "depth": depths[0],
            "frame_depth": depths[1],
            "range_depth": depths[2],
        })
    });
    shown.collect()
}

fn counters(scene: &Scene) -> Vec<Value> {
    let shown = scene.counters.iter().map(|counter| {
        let range = counter.values.range();
        json!({
            "trace": counter.trace,
            "track": counter.track,
            "name": counter.name,
            "value_id": counter.value_id.map(|id| id.to_string()),
            "samples": counter.values.len(),
            "is_text": matches!(counter.values, Values::Texts(_)),
            "min": range.map(|(min, _)| min),
            "max": range.map(|(_, max)| max),
        })
    });
    shown.collect()
}

#[derive(Deserialize)]
pub(crate) struct NamesQuery {
    /// The first one that the page does not know yet.
    #[serde(default)]
    from: u32,
}

/// Names of one answer; the page asks again for the rest.
const MOST_NAMES: u32 = 50_000;

/// Names from a number on, with colours.
pub(crate) async fn names(State(app): State<App>, Asked(query): Asked<NamesQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let numbers = query.from..(scene.names.len() as u32).min(query.from.saturating_add(MOST_NAMES));
    let names: Vec<_> = numbers.map(|number| json!([scene.names.get(number), scene.names.color(number)])).collect();
    Ok(Json(json!(names)))
}

#[derive(Deserialize)]
pub(crate) struct OffsetQuery {
    trace: usize,
    offset_ns: i64,
}

/// Moves a trace on the axis.
pub(crate) async fn offset(State(app): State<App>, Asked(query): Asked<OffsetQuery>) -> Answer {
    let mut scene = app.scene.write().map_err(|_| Refusal::broken())?;
    let trace = scene.traces.get_mut(query.trace).ok_or_else(|| Refusal::absent("there is no such trace"))?;
    trace.offset_ns = query.offset_ns;
    scene.revision += 1;
    Ok(Json(json!({})))
}
