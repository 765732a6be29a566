//! Finds names, and the next span or event of a name.

use serde::{Deserialize, Serialize};
use traceloom_analysis::lod::Lane;

use super::{
    Answer, Refusal, Routes,
    place::{EVENT, Found},
    wire::row,
};
use crate::{app::App, scene::Scene};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("search", |app, ask| search(app, ask.query()?));
    routes.get("next", |app, ask| next(app, ask.query()?));
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SearchQuery {
    q: String,
}

/// The names that contain a text, and the number of their spans and events.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SearchAnswer {
    spans: u64,
    events: u64,
    names: usize,
    rows: Vec<SearchRow>,
}

row! {
    /// A name with its spans and events.
    pub(crate) struct SearchRow { id: u32, name: String, spans: u64, total_ns: i64, events: u64 }
}

/// Max number of names; more than a list can show.
const MAX_NAMES: usize = 200;

/// Names that contain a text, most time first.
fn search(app: App, query: SearchQuery) -> Answer<SearchAnswer> {
    let scene = app.scene()?;
    let found =
        scene.names.search(&query.q).map(|(id, name)| (id, name, scene.names.total(id), scene.names.events(id)));
    let mut found: Vec<_> = found.filter(|(_, _, (spans, _), events)| spans + events > 0).collect();
    let spans = found.iter().map(|(_, _, (spans, _), _)| spans).sum();
    let events = found.iter().map(|(.., events)| events).sum();
    let names = found.len();
    found.sort_by_key(|(_, _, (spans, total_ns), events)| std::cmp::Reverse((*total_ns, spans + events)));
    found.truncate(MAX_NAMES);
    let row = |(id, name, (spans, total_ns), events): (u32, &str, (u64, i64), u64)| SearchRow {
        id,
        name: name.to_owned(),
        spans,
        total_ns,
        events,
    };
    let rows = found.into_iter().map(row).collect();
    Ok(SearchAnswer { spans, events, names, rows })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct NextQuery {
    /// Number of a name.
    name: Option<u32>,
    /// A text that names contain, instead of a number.
    q: Option<String>,
    /// Spans and events that start after this time, or before it.
    ts: i64,
    back: Option<bool>,
}

/// The next or the previous span or event of a name, on any track; null if there is none.
fn next(app: App, query: NextQuery) -> Answer<Option<Found>> {
    let scene = app.scene()?;
    let wanted = wanted(&scene, &query)?;
    let is_wanted = |name: u32| wanted.get(name as usize).copied().unwrap_or(false);
    let back = query.back.unwrap_or(false);
    let mut best: Option<Found> = None;
    let mut offer = |found: Found| {
        let is_nearer = |best: &Found| if back { found.ts_ns > best.ts_ns } else { found.ts_ns < best.ts_ns };
        if best.as_ref().is_none_or(is_nearer) {
            best = Some(found);
        }
    };
    for (key, lane) in scene.lanes.iter() {
        let ts_ns = query.ts.saturating_sub(scene.track_offset_ns(key.thread_id as u32));
        if let Some(index) = nearest(lane, ts_ns, back, is_wanted) {
            offer(Found::span(&scene, key, lane, index));
        }
    }
    for (number, track) in scene.tracks.iter().enumerate() {
        let offset = scene.offset_ns(track.trace);
        let points = track.points().into_iter();
        for point in points.filter_map(|points| points.nearest(query.ts.saturating_sub(offset), back, is_wanted)) {
            let (index, name, ts_ns) = (point.id, point.name, point.ts_ns.saturating_add(offset));
            offer(Found { track: number as u32, kind: EVENT, depth: 0, index, name, ts_ns, dur_ns: None });
        }
    }
    Ok(best)
}

/// For each name, whether it is requested.
fn wanted(scene: &Scene, query: &NextQuery) -> Answer<Vec<bool>> {
    let mut wanted = vec![false; scene.names.len()];
    match (&query.name, &query.q) {
        (Some(name), _) => {
            let asked = wanted.get_mut(*name as usize).ok_or_else(|| Refusal::absent("unknown name"))?;
            *asked = true;
        }
        (None, Some(text)) => scene.names.search(text).for_each(|(number, _)| wanted[number as usize] = true),
        (None, None) => return Err(Refusal::bad("enter a name or text to search for")),
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
