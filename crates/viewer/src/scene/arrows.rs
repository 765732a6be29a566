//! Arrows between spans, found by time.

use std::collections::HashMap;

use super::Scene;

/// An arrow from one span to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrow {
    pub(crate) trace: u32,
    pub(crate) from: End,
    pub(crate) to: End,
}

/// One end of an arrow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) track: u32,
    pub(crate) depth: u32,
    pub(crate) ts_ns: i64,
}

/// Arrows sorted by start, with the latest end so far, which never decreases and can be searched.
#[derive(Debug, Default)]
pub(crate) struct Arrows {
    arrows: Vec<Arrow>,
    latest: Vec<i64>,
}

/// The position of a span.
#[derive(Clone, Copy)]
struct SpanPosition {
    track: u32,
    depth: u32,
    begin_ns: i64,
    end_ns: Option<i64>,
}

impl Arrows {
    /// Finds the ends of all links; call after lanes and links are complete.
    pub(crate) fn of(scene: &Scene) -> Self {
        let places = places(scene);
        let place = |trace: u32, span: Option<i64>| span.and_then(|span| places.get(&(trace, span)).copied().flatten());
        let mut arrows = Vec::new();
        for link in &scene.links {
            let ends = place(link.trace, link.from_span).zip(place(link.trace, link.to_span));
            let Some((from, to)) = ends else { continue };
            let begin_ns = from.end_ns.unwrap_or(from.begin_ns).min(link.ts_ns);
            arrows.push(Arrow {
                trace: link.trace,
                from: End { track: from.track, depth: from.depth, ts_ns: begin_ns },
                to: End { track: to.track, depth: to.depth, ts_ns: link.ts_ns },
            });
        }
        arrows.sort_by_key(|arrow| arrow.from.ts_ns);
        let latest = arrows.iter().scan(i64::MIN, |latest, arrow| {
            *latest = arrow.to.ts_ns.max(*latest);
            Some(*latest)
        });
        let latest = latest.collect();
        Self { arrows, latest }
    }

    /// The arrows of all traces that may touch a time range.
    pub(crate) fn between(&self, from_ns: i64, to_ns: i64) -> &[Arrow] {
        let first = self.latest.partition_point(|latest| *latest < from_ns);
        let last = self.arrows.partition_point(|arrow| arrow.from.ts_ns <= to_ns);
        self.arrows.get(first..last).unwrap_or_default()
    }
}

/// The positions of the spans of links.
fn places(scene: &Scene) -> HashMap<(u32, i64), Option<SpanPosition>> {
    let mut wanted: HashMap<(u32, i64), Option<SpanPosition>> = HashMap::new();
    for link in &scene.links {
        wanted.extend([link.from_span, link.to_span].into_iter().flatten().map(|span| ((link.trace, span), None)));
    }
    if wanted.is_empty() {
        return wanted;
    }
    for (key, lane) in scene.lanes.iter() {
        let Ok(track) = u32::try_from(key.thread_id) else { continue };
        let trace = scene.tracks[track as usize].trace;
        for index in 0..lane.len() as u32 {
            if let Some(place) = wanted.get_mut(&(trace, i64::from(lane.id(index)))) {
                let (begin_ns, end_ns) = (lane.begin_ns(index), lane.end_ns(index));
                *place = Some(SpanPosition { track, depth: key.depth, begin_ns, end_ns });
            }
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_are_found_by_any_part_of_them() {
        let end = |ts_ns| End { track: 0, depth: 0, ts_ns };
        let arrow = |from, to| Arrow { trace: 0, from: end(from), to: end(to) };
        let arrows = Arrows { arrows: vec![arrow(0, 100), arrow(10, 20), arrow(50, 60)], latest: vec![100, 100, 100] };
        assert_eq!(arrows.between(70, 80).len(), 3);
        assert_eq!(arrows.between(0, 9).len(), 1);
        assert_eq!(arrows.between(101, 200).len(), 0);
        assert_eq!(arrows.between(200, 101).len(), 0);
    }
}
