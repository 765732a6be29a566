//! Drawing data of a window: bars as bytes, everything else as JSON.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use traceloom_analysis::lod::{Bar, Lane, Window};

use super::{Answer, Bytes, Refusal, Routes, wire::row};
use crate::{
    app::App,
    scene::{Label, Labels, NESTED, Point, Scene, Series, Values},
};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("picture", |app, ask| picture(app, ask.query()?));
    routes.get("extras", |app, ask| extras(app, ask.query()?));
}

/// A window of the axis.
#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct WindowQuery {
    from: i64,
    to: i64,
    px: u32,
    /// Numbers of tracks, separated by commas; `7:0-40` means only these depths of track 7.
    tracks: Option<String>,
    /// Numbers of counters, separated by commas.
    counters: Option<String>,
}

/// Max width in pixels; wider than any screen.
pub(super) const MAX_PIXELS: u32 = 16_384;
/// Max number of strips; more than fit on any screen.
const MAX_STRIPS: usize = 2_000;
/// Max number of bytes; a large screen needs a few megabytes.
const MAX_BYTES: usize = 64 << 20;
/// Width of an event in pixels; events that would overlap are merged.
const EVENT_PIXELS: u32 = 3;

/// A track and its visible depths.
struct Seen {
    track: u32,
    depths: RangeInclusive<u32>,
}

impl Seen {
    fn parse(text: &str) -> Option<Self> {
        let Some((track, depths)) = text.split_once(':') else {
            return Some(Self { track: text.parse().ok()?, depths: 0..=u32::MAX });
        };
        let (first, last) = depths.split_once('-')?;
        Some(Self { track: track.parse().ok()?, depths: first.parse().ok()?..=last.parse().ok()? })
    }
}

impl WindowQuery {
    fn tracks(&self) -> Answer<Vec<Seen>> {
        listed(self.tracks.as_deref(), Seen::parse, "invalid tracks; expected numbers such as 1,2 or 3:0-40")
    }

    fn counters(&self) -> Answer<Vec<usize>> {
        listed(self.counters.as_deref(), |number| number.parse().ok(), "invalid counters; expected numbers such as 1,2")
    }

    /// The window in the time of a trace.
    fn window(&self, offset_ns: i64) -> Window {
        self.coarse_window(offset_ns, 1)
    }

    fn coarse_window(&self, offset_ns: i64, pixels: u32) -> Window {
        let (from, to) = (self.from.saturating_sub(offset_ns), self.to.saturating_sub(offset_ns));
        Window::new(from, to.max(from), self.px.clamp(1, MAX_PIXELS).div_ceil(pixels))
    }
}

/// The items of a comma-separated list.
fn listed<T>(text: Option<&str>, parse: impl Fn(&str) -> Option<T>, what: &str) -> Answer<Vec<T>> {
    let items = text.unwrap_or_default().split(',').filter(|item| !item.is_empty());
    let parsed: Option<Vec<T>> = items.map(parse).take(MAX_STRIPS + 1).collect();
    let parsed = parsed.ok_or_else(|| Refusal::bad(what))?;
    if parsed.len() > MAX_STRIPS {
        return Err(Refusal::bad(format!("too many strips; at most {MAX_STRIPS} are allowed")));
    }
    Ok(parsed)
}

/// The kind of lane of context switches; lower numbers are kinds of spans.
const SWITCHES: u32 = 3;

/// The bars of some tracks.
///
/// Little endian. A lane is `track, kind, depth, bars` as u32, then for all bars the left edges, the right edges (both in
/// pixels of the window), the durations of the longest spans in nanoseconds and the busy parts of the bars as f32, and the
/// names, indices and counts as u32.
fn picture(app: App, query: WindowQuery) -> Answer<Bytes> {
    let tracks = query.tracks()?;
    let scene = app.scene()?;
    let mut bytes = Vec::new();
    for seen in &tracks {
        let Some(track) = scene.tracks.get(seen.track as usize) else { continue };
        let window = query.window(scene.offset_ns(track.trace));
        for (key, lane) in scene.lanes.of_thread(seen.track.into()) {
            if key.kind != NESTED || seen.depths.contains(&key.depth) {
                put_lane(&mut bytes, [seen.track, key.kind.into(), key.depth], lane, &window);
            }
            if bytes.len() > MAX_BYTES {
                return Err(Refusal::bad("the window is too large; request fewer tracks or pixels"));
            }
        }
        if !track.switches.is_empty() {
            put_lane(&mut bytes, [seen.track, SWITCHES, 0], &track.switches, &window);
        }
    }
    Ok(Bytes(bytes))
}

fn put_lane(bytes: &mut Vec<u8>, key: [u32; 3], lane: &Lane, window: &Window) {
    let mut columns: [Vec<[u8; 4]>; 7] = Default::default();
    let (left, right) = (-1.0, window.pixels() + 1.0);
    lane.draw(window, &mut |bar| {
        let [x0, x1] = [bar.begin_ns, bar.end_ns].map(|ns| window.x(ns).clamp(left, right) as f32);
        let numbers = [lane.name(bar.index), bar.index, bar.count].map(u32::to_le_bytes);
        let lengths = [x0, x1, lane.dur_ns(bar.index) as f32, busy(&bar)].map(f32::to_le_bytes);
        columns.iter_mut().zip(lengths.into_iter().chain(numbers)).for_each(|(column, value)| column.push(value));
    });
    let header = [key[0], key[1], key[2], columns[0].len() as u32];
    bytes.extend(header.iter().flat_map(|number| number.to_le_bytes()));
    columns.iter().for_each(|column| bytes.extend_from_slice(column.as_flattened()));
}

/// The share of a bar that spans cover; 1 for a single span.
fn busy(bar: &Bar) -> f32 {
    let long_ns = bar.end_ns.saturating_sub(bar.begin_ns).max(1);
    if bar.count == 1 { 1.0 } else { (bar.busy_ns as f64 / long_ns as f64).min(1.0) as f32 }
}

/// Everything in a window except the bars, with times on the axis.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Extras {
    events: Vec<EventMark>,
    /// By the number of a counter.
    counters: Vec<(usize, Vec<Sample>)>,
    /// By the number of a counter of texts.
    texts: Vec<(usize, Vec<TextLabel>)>,
    /// By the number of a trace that has allocations.
    memory: Vec<(usize, Vec<Sample>)>,
    logs: Vec<LogMark>,
    links: Vec<LinkEnds>,
    /// Number of links that are left out.
    more_links: usize,
}

row! {
    /// An event; `shared` events have the same place.
    pub(crate) struct EventMark { track: u32, ts_ns: i64, name: u32, category: u32, shared: usize, id: i64 }
}

row! {
    /// The values of one pixel.
    pub(crate) struct Sample { ts_ns: i64, min: f64, max: f64, last: f64 }
}

row! {
    /// A value that is a text; `shared` texts start at the same place.
    pub(crate) struct TextLabel { ts_ns: i64, text: String, shared: usize, number: u32 }
}

row! {
    /// Log lines of one level in one pixel, and the number of the first.
    pub(crate) struct LogMark { trace: u32, ts_ns: i64, level: u32, count: usize, number: u32 }
}

row! {
    /// Both ends of an arrow.
    pub(crate) struct LinkEnds {
        from_track: u32,
        from_depth: u32,
        from_ns: i64,
        to_track: u32,
        to_depth: u32,
        to_ns: i64,
    }
}

/// Events, values, memory, log ticks and arrows of a window.
fn extras(app: App, query: WindowQuery) -> Answer<Extras> {
    let (tracks, counters) = (query.tracks()?, query.counters()?);
    let scene = app.scene()?;
    let (mut charts, mut texts) = (Vec::new(), Vec::new());
    for (number, counter) in counters.into_iter().filter_map(|number| Some((number, scene.counters.get(number)?))) {
        let offset_ns = scene.offset_ns(counter.trace);
        match &counter.values {
            Values::Numbers(series) => charts.push((number, samples(series, &query, offset_ns))),
            Values::Texts(labels) => texts.push((number, text_labels(labels, &query, offset_ns))),
        }
    }
    let memory = scene.traces.iter().enumerate().filter_map(|(number, trace)| {
        let series = trace.memory.as_ref()?;
        Some((number, samples(series, &query, trace.offset_ns)))
    });
    let (links, more_links) = links(&scene, &query, &tracks);
    Ok(Extras {
        events: events(&scene, &query, &tracks),
        counters: charts,
        texts,
        memory: memory.collect(),
        logs: logs(&scene, &query),
        links,
        more_links,
    })
}

fn events(scene: &Scene, query: &WindowQuery, tracks: &[Seen]) -> Vec<EventMark> {
    let mut shown = Vec::new();
    for seen in tracks {
        let Some(track) = scene.tracks.get(seen.track as usize) else { continue };
        let offset = scene.offset_ns(track.trace);
        for points in track.points() {
            points.draw(&query.coarse_window(offset, EVENT_PIXELS), &mut |point, shared| {
                let Point { ts_ns, name, category, id } = *point;
                let ts_ns = ts_ns.saturating_add(offset);
                shown.push(EventMark { track: seen.track, ts_ns, name, category, shared, id });
            });
        }
    }
    shown
}

fn samples(series: &Series, query: &WindowQuery, offset_ns: i64) -> Vec<Sample> {
    let drawn = series.draw(&query.window(offset_ns)).into_iter();
    let moved = |ts_ns: i64| ts_ns.saturating_add(offset_ns);
    drawn.map(|s| Sample { ts_ns: moved(s.ts_ns), min: s.min, max: s.max, last: s.last }).collect()
}

/// Max length of a text; more than fits on a label.
const MAX_CHARS: usize = 120;

fn text_labels(labels: &Labels, query: &WindowQuery, offset_ns: i64) -> Vec<TextLabel> {
    let shown = |Label { ts_ns, text, shared, number }: Label| TextLabel {
        ts_ns: ts_ns.saturating_add(offset_ns),
        text,
        shared,
        number,
    };
    labels.draw(&query.coarse_window(offset_ns, EVENT_PIXELS), MAX_CHARS).into_iter().map(shown).collect()
}

fn logs(scene: &Scene, query: &WindowQuery) -> Vec<LogMark> {
    let mut shown = Vec::new();
    scene.logs.draw(|trace| query.window(scene.offset_ns(trace)), &mut |tick, shared| {
        let ts_ns = tick.ts_ns.saturating_add(scene.offset_ns(tick.trace));
        shown.push(LogMark { trace: tick.trace, ts_ns, level: tick.level_name, count: shared, number: tick.number });
    });
    shown
}

/// Max number of arrows; more would not be readable.
const MAX_LINKS: usize = 1_000;

/// The arrows that touch the window and a visible track; if there are too many, an even subset.
fn links(scene: &Scene, query: &WindowQuery, tracks: &[Seen]) -> (Vec<LinkEnds>, usize) {
    let is_seen = |track: u32| tracks.iter().any(|seen| seen.track == track);
    let offsets = scene.traces.iter().map(|trace| trace.offset_ns);
    let (least, most) = offsets.fold((0, 0), |(least, most), offset| (offset.min(least), offset.max(most)));
    let near = scene.arrows.between(query.from.saturating_sub(most), query.to.saturating_sub(least));
    let touching = near.iter().filter(|arrow| {
        let offset = scene.offset_ns(arrow.trace);
        let (begin, end) = (arrow.from.ts_ns.saturating_add(offset), arrow.to.ts_ns.saturating_add(offset));
        begin <= query.to && end >= query.from && (is_seen(arrow.from.track) || is_seen(arrow.to.track))
    });
    let all = touching.clone().count();
    let every = all.div_ceil(MAX_LINKS).max(1);
    let shown = touching.step_by(every).map(|arrow| {
        let offset = scene.offset_ns(arrow.trace);
        LinkEnds {
            from_track: arrow.from.track,
            from_depth: arrow.from.depth,
            from_ns: arrow.from.ts_ns.saturating_add(offset),
            to_track: arrow.to.track,
            to_depth: arrow.to.depth,
            to_ns: arrow.to.ts_ns.saturating_add(offset),
        }
    });
    let shown: Vec<_> = shown.collect();
    let more = all - shown.len();
    (shown, more)
}
