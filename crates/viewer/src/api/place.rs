//! Where the span is that a row of a table means.

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::lod::Lane;

use super::{Answer, Refusal, part::Asked};
use crate::server::App;

#[derive(Deserialize)]
pub(crate) struct PlaceQuery {
    /// When it begins, on the axis.
    ts: i64,
    /// As much as the row tells of it.
    trace_id: Option<u64>,
    thread_id: Option<i64>,
    id: Option<i64>,
    name: Option<String>,
    dur: Option<i64>,
}

/// The span that begins at a time and agrees best with what else is known of it; null where none begins there.
pub(crate) async fn place(State(app): State<App>, Asked(query): Asked<PlaceQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let mut best: Option<(u32, Value)> = None;
    for (key, lane) in scene.lanes.iter() {
        let Some(track) = scene.tracks.get(key.thread_id as usize) else { continue };
        let Some(trace) = scene.traces.get(track.trace as usize) else { continue };
        let is_other = |wanted: Option<bool>| wanted == Some(false);
        if is_other(query.trace_id.map(|id| id == trace.trace_id))
            || is_other(query.thread_id.map(|id| id == track.thread_id))
        {
            continue;
        }
        let begin_ns = query.ts.saturating_sub(trace.offset_ns);
        for index in beginning_at(lane, begin_ns) {
            let dur_ns = lane.end_ns(index).map(|end| end.saturating_sub(begin_ns));
            let agrees = [
                query.id.is_some_and(|id| id == i64::from(lane.id(index))),
                query.name.as_ref().is_some_and(|name| name == scene.names.get(lane.name(index))),
                query.dur.is_some_and(|dur| Some(dur) == dur_ns),
            ];
            // An id says more than a name, and a name more than a duration.
            let rank = agrees.iter().fold(0, |rank, agrees| rank * 2 + u32::from(*agrees));
            let asks_for_more = query.id.is_some() || query.name.is_some() || query.dur.is_some();
            if (rank > 0 || !asks_for_more) && best.as_ref().is_none_or(|(known, _)| rank > *known) {
                let found = json!({ "track": key.thread_id, "kind": key.kind, "depth": key.depth, "index": index,
                    "ts_ns": query.ts, "dur_ns": dur_ns });
                best = Some((rank, found));
            }
        }
    }
    Ok(Json(best.map_or(Value::Null, |(_, found)| found)))
}

/// The spans of a lane that begin at a time.
fn beginning_at(lane: &Lane, begin_ns: i64) -> impl Iterator<Item = u32> {
    let (mut low, mut high) = (0, lane.len() as u32);
    while low < high {
        let middle = low + (high - low) / 2;
        if lane.begin_ns(middle) < begin_ns { low = middle + 1 } else { high = middle }
    }
    (low..lane.len() as u32).take_while(move |index| lane.begin_ns(*index) == begin_ns)
}
