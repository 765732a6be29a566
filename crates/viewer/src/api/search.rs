//! Finds names, and the next span or event of a name.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use traceloom_analysis::lod::Lane;

use super::{Answer, Refusal, part::Asked};
use crate::{scene::Scene, server::App};

#[derive(Deserialize)]
pub(crate) struct SearchQuery {
    q: String,
}

/// More than a list can show.
const MOST_NAMES: usize = 200;

/// Names that hold a text, those with the most time first, and how many spans and events they have together.
pub(crate) async fn search(State(app): State<App>, Asked(query): Asked<SearchQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let found = scene.names.search(&query.q);
    let found = found.map(|(number, name)| (number, name, scene.names.total(number), scene.names.events(number)));
    let mut found: Vec<_> = found.filter(|(_, _, (count, _), events)| count + events > 0).collect();
    let spans: u64 = found.iter().map(|(_, _, (count, _), _)| count).sum();
    let events: u64 = found.iter().map(|(.., events)| events).sum();
    let names = found.len();
    found.sort_by_key(|(_, _, (count, total_ns), events)| std::cmp::Reverse((*total_ns, count + events)));
    found.truncate(MOST_NAMES);
    let row = |(id, name, (count, total_ns), events): &(u32, &str, (u64, i64), u64)| {
        json!([id, name, count, total_ns, events])
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    Ok(Json(json!({ "spans": spans, "events": events, "names": names, "rows": rows })))
}

#[derive(Deserialize)]
pub(crate) struct NextQuery {
    /// Number of a name.
    name: Option<u32>,
    /// A text that names hold, instead of a number.
    q: Option<String>,
    /// What begins after this, or before it.
    ts: i64,
    #[serde(default)]
    back: bool,
}

/// Where a span or an event is.
#[derive(Serialize)]
pub(crate) struct Found {
    track: u32,
    /// As in pictures; [`EVENT`] for an event, whose `index` is its id.
    kind: u8,
    depth: u32,
    index: i64,
    name: u32,
    ts_ns: i64,
    dur_ns: Option<i64>,
}

const EVENT: u8 = 4;

/// The next or the previous span or event of a name, on any track; null where there is none.
pub(crate) async fn next(State(app): State<App>, Asked(query): Asked<NextQuery>) -> Answer<Json<Option<Found>>> {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let wanted = wanted(&scene, &query)?;
    let is_wanted = |name: u32| wanted.get(name as usize).copied().unwrap_or(false);
    let mut best: Option<Found> = None;
    let mut offer = |found: Found| {
        let is_nearer = |best: &Found| {
            if query.back { found.ts_ns > best.ts_ns } else { found.ts_ns < best.ts_ns }
        };
        if best.as_ref().is_none_or(is_nearer) {
            best = Some(found);
        }
    };
    for (key, lane) in scene.lanes.iter() {
        let track = key.thread_id as u32;
        let offset = scene.track_offset_ns(track);
        let Some(index) = nearest(lane, query.ts.saturating_sub(offset), query.back, is_wanted) else { continue };
        let begin_ns = lane.begin_ns(index);
        offer(Found {
            track,
            kind: key.kind,
            depth: key.depth,
            index: index.into(),
            name: lane.name(index),
            ts_ns: begin_ns.saturating_add(offset),
            dur_ns: lane.end_ns(index).map(|end| end.saturating_sub(begin_ns)),
        });
    }
    for (number, track) in scene.tracks.iter().enumerate() {
        let offset = scene.offset_ns(track.trace);
        let Some(point) = track.events.nearest(query.ts.saturating_sub(offset), query.back, is_wanted) else {
            continue;
        };
        let (index, name, ts_ns) = (point.id, point.name, point.ts_ns.saturating_add(offset));
        offer(Found { track: number as u32, kind: EVENT, depth: 0, index, name, ts_ns, dur_ns: None });
    }
    Ok(Json(best))
}

/// For each name whether it is asked for.
fn wanted(scene: &Scene, query: &NextQuery) -> Answer<Vec<bool>> {
    let mut wanted = vec![false; scene.names.len()];
    match (&query.name, &query.q) {
        (Some(name), _) => {
            let asked = wanted.get_mut(*name as usize).ok_or_else(|| Refusal::absent("there is no such name"))?;
            *asked = true;
        }
        (None, Some(text)) => scene.names.search(text).for_each(|(number, _)| wanted[number as usize] = true),
        (None, None) => return Err(Refusal::bad("name a name, or a text to search for")),
    }
    Ok(wanted)
}

fn nearest(lane: &Lane, ts_ns: i64, back: bool, is_wanted: impl Fn(u32) -> bool) -> Option<u32> {
    let names = lane.names();
    if back {
        let end = lane.first_where(|begin| begin >= ts_ns) as usize;
        return names[..end].iter().rposition(|name| is_wanted(*name)).map(|index| index as u32);
    }
    let start = lane.first_where(|begin| begin > ts_ns) as usize;
    names[start..].iter().position(|name| is_wanted(*name)).map(|index| (start + index) as u32)
}
