//! Images: the strip, the flame graph, curves and small histograms.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};
use traceloom_analysis::{flame::ShownFrame, memory::Curve, units};

use crate::{Detail, strip::Picture, text::shown};

/// Width of all large images, in user units.
const WIDTH: f64 = 1000.0;
const LANE: usize = 12;
const LABEL: usize = 13;
/// Colors for names; the style sheet has as many.
const COLORS: usize = 8;

/// The color of a name, the same in every image and report.
fn color(name: &str) -> usize {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash >> 32) as usize % COLORS
}

/// Rectangles as one path, which is far shorter than one element per rectangle.
#[derive(Default)]
struct Boxes(String);

impl Boxes {
    fn add(&mut self, x: f64, y: f64, width: f64, height: f64) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z");
    }

    fn markup(&self, class: &str) -> Markup {
        html! { @if !self.0.is_empty() { path class=(class) d=(self.0) {} } }
    }
}

/// The whole trace.
pub(crate) fn strip(picture: &Picture, memory: &[Curve], detail: &Detail) -> Markup {
    let step = WIDTH / picture.cells.max(1) as f64;
    let mut y = 0;
    let mut parts: Vec<Markup> = Vec::new();
    for thread in picture.threads.iter().take(detail.threads) {
        y += LABEL;
        parts.push(label(y, &shown(&thread.label, 60)));
        for lane in &thread.lanes {
            if lane.iter().all(|(_, name)| name.is_none()) {
                continue;
            }
            let mut boxes: [Boxes; COLORS] = Default::default();
            for (number, (share, name)) in lane.iter().enumerate() {
                if let Some(name) = name {
                    let height = (LANE as f64 - 1.0) * share.max(0.15);
                    let top = y as f64 + 3.0 + (LANE as f64 - 1.0 - height);
                    boxes[color(name)].add(number as f64 * step, top, step, height);
                }
            }
            parts.extend(boxes.iter().enumerate().map(|(number, boxes)| boxes.markup(&format!("c{number}"))));
            y += LANE;
        }
        y += 4;
    }
    if picture.frames.iter().any(|frame| *frame > 0) {
        y += LABEL;
        let most = picture.frames.iter().copied().max().unwrap_or(1).max(1);
        parts.push(label(y, &format!("longest frame, up to {}", units::time(most as f64))));
        let heights = picture.frames.iter().map(|frame| *frame as f64 / most as f64);
        parts.push(bars(heights, y + 3, step).markup("c1"));
        y += BARS + 6;
    }
    if picture.logs.iter().any(|counts| counts.iter().sum::<u64>() > 0) {
        for (number, (word, class)) in
            [("other log lines", "c0"), ("warnings", "warn"), ("errors", "bad")].iter().enumerate()
        {
            let most = picture.logs.iter().map(|counts| counts[number]).max().unwrap_or(0);
            if most > 0 {
                y += LABEL;
                let total: u64 = picture.logs.iter().map(|counts| counts[number]).sum();
                parts.push(label(y, &format!("{word}: {total}")));
                let heights = picture.logs.iter().map(|counts| counts[number] as f64 / most as f64);
                parts.push(bars(heights, y + 3, step).markup(class));
                y += BARS + 6;
            }
        }
    }
    if !memory.is_empty() {
        y += LABEL;
        parts.push(label(y, "memory in use"));
        parts.push(area(memory, y + 3));
        y += AREA + 6;
    }
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", y + 2)) role="img" aria-label="The whole trace: threads, frames, log levels, memory" {
            @for part in &parts { (part) }
        }
    }
}

const BARS: usize = 24;
const AREA: usize = 60;

fn label(y: usize, text: &str) -> Markup {
    html! { text class="label" x="0" y=(y) { (text) } }
}

fn bars(heights: impl Iterator<Item = f64>, top: usize, step: f64) -> Boxes {
    let mut boxes = Boxes::default();
    for (number, height) in heights.enumerate().filter(|(_, height)| *height > 0.0) {
        let height = (height * BARS as f64).max(1.0);
        boxes.add(number as f64 * step, top as f64 + BARS as f64 - height, step, height);
    }
    boxes
}

/// Memory in use over time.
fn area(curve: &[Curve], top: usize) -> Markup {
    let most = curve.iter().map(|point| point.max_bytes).max().unwrap_or(1).max(1) as f64;
    let step = WIDTH / curve.len().max(1) as f64;
    let mut path = format!("M0 {}", top + AREA);
    for (number, point) in curve.iter().enumerate() {
        let y = top as f64 + AREA as f64 * (1.0 - point.max_bytes as f64 / most);
        let _ = write!(path, "L{:.1} {y:.1}H{:.1}", number as f64 * step, (number + 1) as f64 * step);
    }
    let _ = write!(path, "V{}z", top + AREA);
    html! { path class="c4" d=(path) {} }
}

/// Memory in use as a separate image.
pub(crate) fn memory(curve: &[Curve]) -> Markup {
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", AREA + 4)) role="img" aria-label="Memory in use over time" { (area(curve, 2)) }
    }
}

/// Durations of one name.
pub(crate) fn histogram(bins: &[u64]) -> Markup {
    let most = bins.iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut boxes = Boxes::default();
    for (number, count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (*count as f64 / most * 16.0).max(1.0);
        boxes.add(number as f64 * 6.0, 16.0 - height, 5.0, height);
    }
    html! {
        @if !bins.is_empty() {
            svg.small viewBox=(format!("0 0 {} 16", bins.len() * 6)) role="img" aria-label="durations from the shortest to the longest" { (boxes.markup("c0")) }
        }
    }
}

/// A flame graph, the outermost frames at the top.
pub(crate) struct Flame<'a> {
    pub(crate) frames: &'a [ShownFrame<'a>],
    /// Formats the weight.
    pub(crate) amount: fn(f64) -> String,
    /// The change of each frame as a share of the total, in a comparison.
    pub(crate) changes: Option<Vec<f64>>,
}

const ROW: f64 = 17.0;

impl Flame<'_> {
    pub(crate) fn markup(&self, detail: &Detail) -> Markup {
        let Some(root) = self.frames.first().filter(|root| root.total > 0) else { return html! {} };
        let scale = WIDTH / root.total as f64;
        // Position of the next child of each frame, and its row.
        let mut next = vec![(0.0, 0_usize); self.frames.len()];
        let mut drawn = Vec::new();
        let mut rows = 1;
        for (number, frame) in self.frames.iter().enumerate() {
            let (x, row) = if number == 0 { (0.0, 0) } else { next[frame.parent as usize] };
            let width = frame.total as f64 * scale;
            next[number] = (x, row + 1);
            if number > 0 {
                next[frame.parent as usize].0 += width;
            }
            if width >= 1.0 && row < MAX_ROWS && drawn.len() < detail.frames && x < WIDTH {
                rows = rows.max(row + 1);
                drawn.push(self.frame(number, (x, row, width.min(WIDTH - x)), detail));
            }
        }
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {}", rows as f64 * ROW + 2.0)) role="img" aria-label="Flame graph, the outermost frames at the top" {
                @for frame in &drawn { (frame) }
            }
        }
    }

    fn frame(&self, number: usize, (x, row, width): (f64, usize, f64), detail: &Detail) -> Markup {
        let frame = &self.frames[number];
        let whole = self.frames[0].total.max(1) as f64;
        let name = match (number, frame.name) {
            (0, _) => "all".to_owned(),
            (_, Some(name)) => shown(name, detail.name),
            (_, None) => format!("{} small frames", frame.folded),
        };
        let share = units::percent(frame.total as f64 / whole);
        let change = self.changes.as_ref().and_then(|changes| changes.get(number)).copied();
        let class = match change {
            _ if frame.name.is_none() => "rest",
            Some(change) => change_class(change),
            None => ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"][color(frame.name.unwrap_or_default())],
        };
        let moved = change.map_or_else(String::new, |change| format!(", {:+.1} points", change * 100.0));
        let letters = (width / 6.6) as usize;
        let y = row as f64 * ROW;
        html! {
            g {
                title { (name) ": " ((self.amount)(frame.total as f64)) ", " (share) (moved) }
                rect class=(class) x=(PreEscaped(format!("{x:.1}"))) y=(PreEscaped(format!("{y:.0}"))) width=(PreEscaped(format!("{:.1}", (width - 0.5).max(0.5)))) height="16" {}
                @if letters >= 4 {
                    text x=(PreEscaped(format!("{:.1}", x + 3.0))) y=(PreEscaped(format!("{:.0}", y + 12.0))) { (cut(&name, letters)) }
                }
            }
        }
    }
}

/// Max number of rows of a flame graph; deeper frames are not drawn.
const MAX_ROWS: usize = 60;

fn cut(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

fn change_class(change: f64) -> &'static str {
    match change {
        _ if change >= 0.05 => "worse2",
        _ if change >= 0.005 => "worse1",
        _ if change <= -0.05 => "better2",
        _ if change <= -0.005 => "better1",
        _ => "same",
    }
}
