//! Finds the corresponding span or event in other traces, so that traces can be aligned at it.

use serde::{Deserialize, Serialize};

use super::{Answer, Refusal, Routes};
use crate::{
    app::App,
    scene::{LoadState, Scene},
};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("counterparts", |app, ask| counterparts(app, &ask.query()?));
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CounterpartsQuery {
    track: u32,
    /// Number of the name.
    name: u32,
    /// Start on the axis.
    ts: i64,
    /// Whether it is an event.
    is_event: bool,
}

/// The ordinal of a span or event among those of its name and thread, and the corresponding one in every other trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Counterparts {
    /// Counted from 1.
    number: usize,
    traces: Vec<Counterpart>,
}

/// The span or event with the same ordinal in another trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Counterpart {
    trace: u32,
    /// Start in the time of its trace; `None` if there are fewer.
    ts_ns: Option<i64>,
    /// Number of all of them.
    count: usize,
}

fn counterparts(app: App, query: &CounterpartsQuery) -> Answer<Counterparts> {
    let scene = app.scene()?;
    let track = scene.tracks.get(query.track as usize).ok_or_else(|| Refusal::absent("unknown track"))?;
    let ts_ns = query.ts.saturating_sub(scene.offset_ns(track.trace));
    let before = starts(&scene, query, track.trace, Some(&track.name)).into_iter().filter(|start| *start < ts_ns);
    let before = before.count();
    let others = scene.traces.iter().zip(0..).filter(|(trace, number)| {
        *number != track.trace && !matches!(trace.state, LoadState::Closed | LoadState::Failed(_))
    });
    let traces = others.map(|(_, trace)| {
        let mut found = starts(&scene, query, trace, Some(&track.name));
        if found.is_empty() {
            found = starts(&scene, query, trace, None);
        }
        let count = found.len();
        let ts_ns = (before < count).then(|| *found.select_nth_unstable(before).1);
        Counterpart { trace, ts_ns, count }
    });
    Ok(Counterparts { number: before + 1, traces: traces.collect() })
}

/// The starts of spans or events of the name, in the time of the trace: on threads of a name, or on all threads.
fn starts(scene: &Scene, query: &CounterpartsQuery, trace: u32, thread: Option<&str>) -> Vec<i64> {
    let tracks = scene.tracks.iter().zip(0_i64..);
    let own = tracks.filter(|(track, _)| track.trace == trace && thread.is_none_or(|name| name == track.name));
    if query.is_event {
        let points = own.flat_map(|(track, _)| track.points()).flat_map(|points| points.iter());
        return points.filter(|point| point.name == query.name).map(|point| point.ts_ns).collect();
    }
    let is_own: std::collections::HashSet<i64> = own.map(|(_, number)| number).collect();
    let lanes = scene.lanes.iter().filter(|(key, _)| is_own.contains(&key.thread_id));
    let named = lanes.flat_map(|(_, lane)| {
        let named = lane.names().iter().zip(0..).filter(|(name, _)| **name == query.name);
        named.map(|(_, index)| lane.begin_ns(index))
    });
    named.collect()
}
