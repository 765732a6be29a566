//! Finds names, and the next span of a name.

use axum::{
    Json,
    extract::{Query, State},
};
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Refusal};
use crate::server::App;

#[derive(Deserialize)]
pub(crate) struct SearchQuery {
    q: String,
}

/// More than a list can show.
const MOST_NAMES: usize = 200;

/// Names that hold a text, those with the most time first, and how many spans they have together.
pub(crate) async fn search(State(app): State<App>, Query(query): Query<SearchQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let found = scene.names.search(&query.q).map(|(number, name)| (number, name, scene.names.total(number)));
    let mut found: Vec<_> = found.filter(|(_, _, (count, _))| *count > 0).collect();
    let spans: u64 = found.iter().map(|(_, _, (count, _))| count).sum();
    let names = found.len();
    found.sort_by_key(|(_, _, (_, total_ns))| std::cmp::Reverse(*total_ns));
    found.truncate(MOST_NAMES);
    let rows: Vec<_> = found.iter().map(|(id, name, (count, total_ns))| json!([id, name, count, total_ns])).collect();
    Ok(Json(json!({ "spans": spans, "names": names, "rows": rows })))
}

#[derive(Deserialize)]
pub(crate) struct NextQuery {
    /// Number of a name.
    name: u32,
    /// Spans that begin after this, or before it.
    ts: i64,
    #[serde(default)]
    back: bool,
}

/// The next or the previous span of a name, on any track.
pub(crate) async fn next(State(app): State<App>, Query(query): Query<NextQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let mut best: Option<(i64, serde_json::Value)> = None;
    for (key, lane) in scene.lanes.iter() {
        let track = &scene.tracks[key.thread_id as usize];
        let offset = scene.traces.get(track.trace as usize).map_or(0, |trace| trace.offset_ns);
        let ts = query.ts.saturating_sub(offset);
        let Some(index) = nearest(lane, query.name, ts, query.back) else { continue };
        let begin_ns = lane.begin_ns(index).saturating_add(offset);
        let is_nearer =
            best.as_ref().is_none_or(|(known, _)| if query.back { begin_ns > *known } else { begin_ns < *known });
        if is_nearer {
            let dur_ns = lane.end_ns(index).map(|end| end - lane.begin_ns(index));
            let place = json!({ "track": key.thread_id, "kind": key.kind, "depth": key.depth, "index": index,
                "ts_ns": begin_ns, "dur_ns": dur_ns });
            best = Some((begin_ns, place));
        }
    }
    Ok(Json(best.map_or(serde_json::Value::Null, |(_, place)| place)))
}

fn nearest(lane: &traceloom_analysis::lod::Lane, name: u32, ts: i64, back: bool) -> Option<u32> {
    let names = lane.names();
    let position = |is_past: &dyn Fn(i64) -> bool| {
        let (mut low, mut high) = (0, names.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_past(lane.begin_ns(middle)) { high = middle } else { low = middle + 1 }
        }
        low as usize
    };
    if back {
        let end = position(&|begin| begin >= ts);
        return names[..end].iter().rposition(|one| *one == name).map(|index| index as u32);
    }
    let start = position(&|begin| begin > ts);
    names[start..].iter().position(|one| *one == name).map(|index| (start + index) as u32)
}
