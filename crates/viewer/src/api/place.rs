//! Finds the span that a row of a table refers to.

use serde::{Deserialize, Serialize};
use traceloom_analysis::lod::{Lane, LaneKey};

use super::{Answer, Routes};
use crate::{app::App, scene::Scene};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("place", |app, ask| place(app, ask.query()?));
}

/// The position of a span or event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Found {
    pub(super) track: u32,
    /// Kind of lane, as in `picture`, or [`EVENT`] for an event, whose `index` is its id.
    pub(super) kind: u8,
    pub(super) depth: u32,
    pub(super) index: i64,
    pub(super) name: u32,
    /// Start on the axis.
    pub(super) ts_ns: i64,
    /// `None` for an event and for a span that was never closed.
    pub(super) dur_ns: Option<i64>,
}

/// The kind of a place that is an event.
pub(super) const EVENT: u8 = 4;

impl Found {
    /// A span of a lane; `LaneKey::thread_id` is the number of its track.
    pub(super) fn span(scene: &Scene, key: LaneKey, lane: &Lane, index: u32) -> Self {
        let (track, begin_ns) = (key.thread_id as u32, lane.begin_ns(index));
        Self {
            track,
            kind: key.kind,
            depth: key.depth,
            index: index.into(),
            name: lane.name(index),
            ts_ns: begin_ns.saturating_add(scene.track_offset_ns(track)),
            dur_ns: lane.end_ns(index).map(|end| end.saturating_sub(begin_ns)),
        }
    }
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct PlaceQuery {
    /// Start on the axis.
    ts: i64,
    /// Other known properties from the row.
    #[cfg_attr(test, ts(as = "Option<String>"))]
    trace_id: Option<u64>,
    thread_id: Option<i64>,
    id: Option<i64>,
    name: Option<String>,
    dur: Option<i64>,
}

impl PlaceQuery {
    /// How well a span matches: an id counts more than a name, and a name more than a duration.
    fn rank(&self, scene: &Scene, lane: &Lane, index: u32) -> u32 {
        let dur_ns = lane.end_ns(index).map(|end| end.saturating_sub(lane.begin_ns(index)));
        let agrees = [
            self.id.is_some_and(|id| id == i64::from(lane.id(index))),
            self.name.as_ref().is_some_and(|name| name == scene.names.get(lane.name(index))),
            self.dur.is_some_and(|dur| Some(dur) == dur_ns),
        ];
        agrees.iter().fold(0, |rank, agrees| rank * 2 + u32::from(*agrees))
    }

    /// Whether any span with this start matches.
    fn takes_any(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.dur.is_none()
    }
}

/// The span that starts at a time and best matches the other properties; null if none starts there.
fn place(app: App, query: PlaceQuery) -> Answer<Option<Found>> {
    let scene = app.scene()?;
    let mut best: Option<(u32, Found)> = None;
    for (key, lane) in scene.lanes.iter() {
        let Some(track) = scene.tracks.get(key.thread_id as usize) else { continue };
        let Some(trace) = scene.traces.get(track.trace as usize) else { continue };
        let is_other = |wanted: Option<bool>| wanted == Some(false);
        if is_other(query.trace_id.map(|id| id == trace.trace_id))
            || is_other(query.thread_id.map(|id| track.threads().any(|thread| thread == id)))
        {
            continue;
        }
        for index in starting_at(lane, query.ts.saturating_sub(trace.offset_ns)) {
            let rank = query.rank(&scene, lane, index);
            if (rank > 0 || query.takes_any()) && best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, Found::span(&scene, key, lane, index)));
            }
        }
    }
    Ok(best.map(|(_, found)| found))
}

/// The spans of a lane that start at a time.
fn starting_at(lane: &Lane, begin_ns: i64) -> impl Iterator<Item = u32> {
    let first = lane.first_where(|begin| begin >= begin_ns);
    (first..lane.len() as u32).take_while(move |index| lane.begin_ns(*index) == begin_ns)
}
