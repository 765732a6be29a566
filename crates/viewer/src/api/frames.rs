//! Frames: their durations, the slowest ones, and what took the time in them.

use std::{cmp::Reverse, collections::HashMap};

use serde::{Deserialize, Serialize};
use traceloom_analysis::lod::{Lane, LaneKey};

use super::{
    Answer, Routes,
    around::{ChildRow, SpanPlace},
    place::Found,
    wire::row,
};
use crate::{
    app::App,
    scene::{FRAME, NESTED, Scene},
};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("frames", |app, ask| frames(app, ask.query()?));
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct FramesQuery {
    /// The series, by its number in the previous answer (default: the first one).
    series: Option<usize>,
}

/// The frames of one series.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Frames {
    /// Spans that may be frames, most likely first.
    series: Vec<FrameSeries>,
    /// The selected series.
    chosen: usize,
    mean_ns: f64,
    p50_ns: i64,
    p95_ns: i64,
    p99_ns: i64,
    max_ns: i64,
    /// Frames sorted by start; the longest of each group if there are too many.
    frames: Vec<FrameBar>,
    /// Max number of frames per bar.
    group: usize,
    /// The slowest frames, longest first.
    worst: Vec<WorstFrame>,
}

row! {
    /// Spans of one name on one track.
    pub(crate) struct FrameSeries { track: u32, name: u32, count: usize }
}

row! {
    /// One frame: its number, and its position on the axis.
    pub(crate) struct FrameBar { number: u32, ts_ns: i64, dur_ns: i64 }
}

row! {
    /// A slow frame, and the name that took the most time in it.
    pub(crate) struct WorstFrame { number: u32, place: Found, most: Option<ChildRow> }
}

/// Max number of bars; more than a screen has pixels.
const MAX_BARS: usize = 4_000;
const MAX_WORST: usize = 50;
const MAX_SERIES: usize = 20;
/// Minimum number of spans of a series.
const FEW: usize = 10;

/// Spans of one name in one lane.
struct Series {
    key: LaneKey,
    name: u32,
    count: usize,
    total_ns: i64,
}

fn frames(app: App, query: FramesQuery) -> Answer<Frames> {
    let scene = app.scene()?;
    let series = series(&scene);
    let chosen = query.series.unwrap_or(0).min(series.len().saturating_sub(1));
    let Some(one) = series.get(chosen) else { return Ok(Frames::default()) };
    let Some(lane) = scene.lanes.get(one.key) else { return Ok(Frames::default()) };
    let listed =
        series.iter().map(|one| FrameSeries { track: one.key.thread_id as u32, name: one.name, count: one.count });
    Ok(Frames { series: listed.collect(), chosen, ..measured(&scene, one, lane) })
}

/// Spans that the producer marks as frames, or else frequent outermost spans, with those named frame first.
fn series(scene: &Scene) -> Vec<Series> {
    let mut all = Vec::new();
    let outermost = |key: &LaneKey| key.kind == FRAME || key.kind == NESTED && key.depth == 0;
    for (key, lane) in scene.lanes.iter().filter(|(key, _)| outermost(key)) {
        let mut names: HashMap<u32, (usize, i64)> = HashMap::new();
        for (name, index) in lane.names().iter().zip(0..) {
            let (count, total_ns) = names.entry(*name).or_default();
            *count += 1;
            *total_ns = total_ns.saturating_add(lane.dur_ns(index));
        }
        let often = names.into_iter().filter(|(_, (count, _))| *count >= FEW);
        all.extend(often.map(|(name, (count, total_ns))| Series { key, name, count, total_ns }));
    }
    let is_called_frame = |one: &Series| scene.names.get(one.name).to_lowercase().contains("frame");
    all.sort_by_key(|one| {
        (Reverse(one.key.kind == FRAME), Reverse(is_called_frame(one)), Reverse(one.total_ns), one.name)
    });
    all.truncate(MAX_SERIES);
    all
}

fn measured(scene: &Scene, series: &Series, lane: &Lane) -> Frames {
    let named = lane.names().iter().zip(0..).filter(|(name, _)| **name == series.name);
    let indexes: Vec<u32> = named.map(|(_, index)| index).filter(|index| lane.end_ns(*index).is_some()).collect();
    let mut sorted: Vec<i64> = indexes.iter().map(|index| lane.dur_ns(*index)).collect();
    sorted.sort_unstable();
    let at = |part: usize| sorted.get(sorted.len().saturating_sub(1) * part / 100).copied().unwrap_or(0);
    let group = indexes.len().div_ceil(MAX_BARS).max(1);
    let offset_ns = scene.track_offset_ns(series.key.thread_id as u32);
    let bars = indexes.chunks(group).zip(0_usize..).filter_map(|(frames, chunk)| {
        let longest = (0..frames.len()).max_by_key(|at| (lane.dur_ns(frames[*at]), Reverse(*at)))?;
        let index = frames[longest];
        let number = (chunk * group + longest) as u32;
        Some(FrameBar { number, ts_ns: lane.begin_ns(index).saturating_add(offset_ns), dur_ns: lane.dur_ns(index) })
    });
    let mut worst: Vec<(u32, u32)> = indexes.iter().copied().zip(0..).collect();
    worst.sort_by_key(|(index, number)| (Reverse(lane.dur_ns(*index)), *number));
    let worst = worst.into_iter().take(MAX_WORST).map(|(index, number)| {
        let span = SpanPlace { scene, key: series.key, lane, index };
        let most = span.children().0.into_iter().next();
        WorstFrame { number, place: Found::span(scene, series.key, lane, index), most }
    });
    Frames {
        mean_ns: sorted.iter().map(|dur_ns| *dur_ns as f64).sum::<f64>() / sorted.len().max(1) as f64,
        p50_ns: at(50),
        p95_ns: at(95),
        p99_ns: at(99),
        max_ns: at(100),
        frames: bars.collect(),
        group,
        worst: worst.collect(),
        ..Frames::default()
    }
}
