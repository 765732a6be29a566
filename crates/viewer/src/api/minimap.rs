//! The minimap of the whole axis.

use serde::{Deserialize, Serialize};
use traceloom_analysis::lod::{Bar, Window};

use super::{Answer, Routes, picture::MAX_PIXELS};
use crate::{
    app::App,
    scene::{NESTED, Scene},
};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("minimap", |app, ask| minimap(app, ask.query()?));
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct MinimapQuery {
    px: u32,
}

/// One value per pixel of the whole axis.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Minimap {
    /// Number of threads inside a span.
    busy: Vec<f64>,
    /// Number of log lines and events.
    points: Vec<f64>,
    /// Number of errors among them.
    errors: Vec<f64>,
    /// Bytes in use by all traces.
    memory: Vec<f64>,
}

/// How busy each pixel of the whole axis is.
fn minimap(app: App, query: MinimapQuery) -> Answer<Minimap> {
    let scene = app.scene()?;
    let pixels = query.px.clamp(1, MAX_PIXELS);
    let Some((from, to)) = scene.extent() else { return Ok(Minimap::default()) };
    let view = View { scene: &scene, from, to, pixels };
    let (points, errors) = view.points();
    Ok(Minimap { busy: view.busy(), points, errors, memory: view.memory() })
}

struct View<'s> {
    scene: &'s Scene,
    from: i64,
    to: i64,
    pixels: u32,
}

impl View<'_> {
    fn window(&self, offset_ns: i64) -> Window {
        Window::new(self.from.saturating_sub(offset_ns), self.to.saturating_sub(offset_ns), self.pixels)
    }

    fn empty(&self) -> Vec<f64> {
        vec![0.0; self.pixels as usize]
    }

    /// Outermost spans; those of one thread do not overlap.
    fn busy(&self) -> Vec<f64> {
        let mut busy = self.empty();
        for (number, track) in self.scene.tracks.iter().enumerate() {
            let window = self.window(self.scene.offset_ns(track.trace));
            let lanes = self.scene.lanes.of_thread(number as i64);
            for (_, lane) in lanes.take_while(|(key, _)| key.kind == NESTED && key.depth == 0) {
                lane.draw(&window, &mut |bar| spread(&mut busy, &bar, &window));
            }
        }
        busy
    }

    fn points(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut points, mut errors) = (self.empty(), self.empty());
        let window = |trace: u32| self.window(self.scene.offset_ns(trace));
        self.scene.logs.draw(window, &mut |tick, shared| {
            let pixel = pixel(tick.ts_ns, &window(tick.trace), points.len());
            points[pixel] += shared as f64;
            errors[pixel] += if is_error(self.scene.names.get(tick.level_name)) { shared as f64 } else { 0.0 };
        });
        for track in &self.scene.tracks {
            let window = self.window(self.scene.offset_ns(track.trace));
            for events in track.points() {
                events.draw(&window, &mut |point, shared| {
                    let pixel = pixel(point.ts_ns, &window, points.len());
                    points[pixel] += shared as f64;
                });
            }
        }
        (points, errors)
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = self.empty();
        for trace in &self.scene.traces {
            let Some(series) = &trace.memory else { continue };
            let window = self.window(trace.offset_ns);
            let samples = series.draw(&window);
            for (at, sample) in samples.iter().enumerate() {
                let first = pixel(sample.ts_ns, &window, memory.len());
                let next = samples.get(at + 1).map_or(memory.len(), |next| pixel(next.ts_ns, &window, memory.len()));
                memory[first..next.max(first)].iter_mut().for_each(|used| *used += sample.last);
                memory[first] += sample.max - sample.last;
            }
        }
        memory
    }
}

/// Levels that count as errors.
fn is_error(level: &str) -> bool {
    let level = level.to_lowercase();
    ["err", "fatal", "crit"].iter().any(|word| level.contains(word))
}

fn pixel(ns: i64, window: &Window, pixels: usize) -> usize {
    (window.x(ns).max(0.0) as usize).min(pixels - 1)
}

fn spread(busy: &mut [f64], bar: &Bar, window: &Window) {
    let (first, last) = (pixel(bar.begin_ns, window, busy.len()), pixel(bar.end_ns, window, busy.len()));
    let share = bar.busy_ns as f64 / window.pixel_ns / (last - first + 1) as f64;
    // A span that never ended has no duration but counts as busy.
    let share = if bar.count == 1 && bar.busy_ns == 0 && last > first { 1.0 } else { share.min(1.0) };
    busy[first..=last].iter_mut().for_each(|pixel| *pixel += share);
}
