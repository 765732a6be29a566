//! Pictures of a window: bars as bytes, everything else as JSON.

use axum::{
    Json,
    extract::{Query, State},
    http::header,
    response::IntoResponse,
};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::lod::{Lane, Window};

use super::{Answer, Refusal};
use crate::{scene::Scene, server::App};

/// A window of the axis.
#[derive(Deserialize)]
pub(crate) struct WindowQuery {
    from: i64,
    to: i64,
    px: u32,
    /// Numbers of tracks, with commas.
    #[serde(default)]
    tracks: String,
}

/// Wider than any screen.
const MOST_PIXELS: u32 = 16_384;

impl WindowQuery {
    fn tracks(&self) -> Result<Vec<u32>, Refusal> {
        let numbers = self.tracks.split(',').filter(|number| !number.is_empty());
        numbers.map(|number| number.parse().map_err(|_| Refusal::bad("a track is a number"))).collect()
    }

    /// The window in the time of a trace.
    fn window(&self, offset_ns: i64) -> Window {
        let (from, to) = (self.from.saturating_sub(offset_ns), self.to.saturating_sub(offset_ns));
        Window::new(from, to.max(from), self.px.clamp(1, MOST_PIXELS))
    }
}

fn offset_of(scene: &Scene, trace: u32) -> i64 {
    scene.traces.get(trace as usize).map_or(0, |trace| trace.offset_ns)
}

/// Kinds of lanes beyond those of spans.
const SWITCHES: u32 = 3;

/// The bars of some tracks.
///
/// Little endian. A lane is `track, kind, depth, bars` as u32, then for each bar `x0, x1` as f32 in pixels of the window
/// and `name, index, count` as u32.
pub(crate) async fn picture(State(app): State<App>, Query(query): Query<WindowQuery>) -> Answer<impl IntoResponse> {
    let tracks = query.tracks()?;
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let mut bytes = Vec::new();
    for (key, lane) in scene.lanes.iter() {
        let Some(track) = u32::try_from(key.thread_id).ok().filter(|track| tracks.contains(track)) else { continue };
        let offset = offset_of(&scene, scene.tracks[track as usize].trace);
        put_lane(&mut bytes, [track, key.kind.into(), key.depth], lane, &query.window(offset));
    }
    for number in tracks {
        let Some(track) = scene.tracks.get(number as usize).filter(|track| !track.switches.is_empty()) else {
            continue;
        };
        let window = query.window(offset_of(&scene, track.trace));
        put_lane(&mut bytes, [number, SWITCHES, 0], &track.switches, &window);
    }
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes))
}

fn put_lane(bytes: &mut Vec<u8>, key: [u32; 3], lane: &Lane, window: &Window) {
    key.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    let count_at = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    let mut bars = 0_u32;
    let (left, right) = (-1.0, ((window.to_ns - window.from_ns) / window.pixel_ns) as f32 + 2.0);
    let x = |ns: i64| ((ns.saturating_sub(window.from_ns)) as f64 / window.pixel_ns as f64) as f32;
    lane.draw(window, &mut |bar| {
        bars += 1;
        let (x0, x1) = (x(bar.begin_ns).clamp(left, right), x(bar.end_ns).clamp(left, right));
        bytes.extend_from_slice(&x0.to_le_bytes());
        bytes.extend_from_slice(&x1.to_le_bytes());
        for number in [lane.name(bar.index), bar.index, bar.count] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    });
    bytes[count_at..count_at + 4].copy_from_slice(&bars.to_le_bytes());
}

/// Events, values, memory, log ticks and arrows of a window.
pub(crate) async fn extras(State(app): State<App>, Query(query): Query<WindowQuery>) -> Answer {
    let tracks = query.tracks()?;
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    Ok(Json(json!({
        "events": events(&scene, &query, &tracks),
        "counters": counters(&scene, &query),
        "memory": memory(&scene, &query),
        "logs": logs(&scene, &query),
        "links": links(&scene, &query, &tracks),
    })))
}

fn events(scene: &Scene, query: &WindowQuery, tracks: &[u32]) -> Vec<Value> {
    let mut shown = Vec::new();
    for number in tracks {
        let Some(track) = scene.tracks.get(*number as usize) else { continue };
        let offset = offset_of(scene, track.trace);
        track.events.draw(&query.window(offset), &mut |point, shared| {
            let ts_ns = point.ts_ns.saturating_add(offset);
            shown.push(json!([number, ts_ns, point.name, point.category, shared, point.id]));
        });
    }
    shown
}

fn counters(scene: &Scene, query: &WindowQuery) -> Vec<Value> {
    let series = scene.counters.iter().map(|counter| {
        let offset = offset_of(scene, counter.trace);
        samples(&counter.series, &query.window(offset), offset)
    });
    series.collect()
}

fn memory(scene: &Scene, query: &WindowQuery) -> Vec<Value> {
    let of_trace = |trace: &crate::scene::TraceInfo| {
        trace
            .memory
            .as_ref()
            .map_or(Value::Null, |series| samples(series, &query.window(trace.offset_ns), trace.offset_ns))
    };
    scene.traces.iter().map(of_trace).collect()
}

fn samples(series: &crate::scene::Series, window: &Window, offset: i64) -> Value {
    let drawn = series.draw(window);
    json!(drawn.iter().map(|s| json!([s.ts_ns.saturating_add(offset), s.min, s.max, s.last])).collect::<Vec<_>>())
}

/// The worst level of each pixel that has log lines, and the first of them.
fn logs(scene: &Scene, query: &WindowQuery) -> Vec<Value> {
    let mut shown: Vec<(i64, usize, i64, u32)> = Vec::new();
    for (number, log) in scene.logs.iter().enumerate() {
        let Some(ts_ns) = log.ts_ns else { continue };
        let window = query.window(offset_of(scene, log.trace));
        if ts_ns < window.from_ns || ts_ns > window.to_ns {
            continue;
        }
        let pixel = (ts_ns - window.from_ns) / window.pixel_ns;
        match shown.last_mut() {
            Some((last, _, _, count)) if *last == pixel => *count += 1,
            _ => shown.push((pixel, number, ts_ns.saturating_add(offset_of(scene, log.trace)), 1)),
        }
    }
    let rows =
        shown.iter().map(|(_, number, ts_ns, count)| json!([ts_ns, scene.logs[*number].level_name, count, number]));
    rows.collect()
}

/// More arrows than these are a carpet, not a picture.
const MOST_LINKS: usize = 2_000;

fn links(scene: &Scene, query: &WindowQuery, tracks: &[u32]) -> Vec<Value> {
    let mut shown = Vec::new();
    for link in &scene.links {
        let place = |span: Option<i64>| span.and_then(|span| scene.linked.get(&(link.trace, span)));
        let (Some(from), Some(to)) = (place(link.from_span), place(link.to_span)) else { continue };
        let offset = offset_of(scene, link.trace);
        let (begin, end) = (from.end_ns.unwrap_or(from.begin_ns).min(link.ts_ns), link.ts_ns);
        let is_seen = begin.saturating_add(offset) <= query.to && end.saturating_add(offset) >= query.from;
        if !is_seen || !(tracks.contains(&from.track) || tracks.contains(&to.track)) {
            continue;
        }
        if shown.len() == MOST_LINKS {
            break;
        }
        let (begin, end) = (begin.saturating_add(offset), end.saturating_add(offset));
        shown.push(json!([from.track, from.depth, begin, to.track, to.depth, end]));
    }
    shown
}

#[derive(Deserialize)]
pub(crate) struct MinimapQuery {
    px: u32,
}

/// How much of each pixel of the whole axis is busy, all outermost spans together.
pub(crate) async fn minimap(State(app): State<App>, Query(query): Query<MinimapQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let pixels = query.px.clamp(1, MOST_PIXELS);
    let Some((from, to)) = scene.extent() else { return Ok(Json(json!([]))) };
    let mut busy = vec![0_f64; pixels as usize + 1];
    for (key, lane) in scene.lanes.iter().filter(|(key, _)| key.depth == 0 && key.kind == 0) {
        let offset = offset_of(&scene, scene.tracks[key.thread_id as usize].trace);
        let window = Window::new(from.saturating_sub(offset), to.saturating_sub(offset), pixels);
        lane.draw(&window, &mut |bar| spread(&mut busy, bar.begin_ns, bar.end_ns, bar.busy_ns, &window));
    }
    Ok(Json(json!(busy)))
}

fn spread(busy: &mut [f64], begin_ns: i64, end_ns: i64, busy_ns: i64, window: &Window) {
    let pixel = |ns: i64| ((ns.clamp(window.from_ns, window.to_ns) - window.from_ns) / window.pixel_ns) as usize;
    let (first, last) = (pixel(begin_ns).min(busy.len() - 1), pixel(end_ns).min(busy.len() - 1));
    let share = busy_ns as f64 / window.pixel_ns as f64 / (last - first + 1) as f64;
    busy[first..=last].iter_mut().for_each(|pixel| *pixel += share.min(1.0));
}
