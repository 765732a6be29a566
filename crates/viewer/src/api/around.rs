//! The context of a span: callers, callees, flows, and other spans of its name.

use std::{cmp::Reverse, collections::HashMap};

use serde::Serialize;
use traceloom_analysis::lod::{Lane, LaneKey};

use super::{Answer, Refusal, Routes, details::SpanQuery, place::Found, wire::row};
use crate::{
    app::App,
    scene::{Link, NESTED, Scene},
};

/// Max number of rows; more than a panel shows.
const MAX_CHILDREN: usize = 30;
const MAX_FLOWS: usize = 20;

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("around", |app, ask| around(app, ask.query()?));
}

/// The context of a span.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Around {
    /// The enclosing spans, outermost first.
    ancestors: Vec<Found>,
    /// Callees by name, most time first.
    children: Vec<ChildRow>,
    /// Number of names that are not listed.
    more_children: usize,
    /// Spans with a flow to this span.
    flows_in: Vec<Found>,
    /// Spans with a flow from this span.
    flows_out: Vec<Found>,
    /// Number of flows that are not listed.
    more_flows: usize,
    same: SameName,
}

row! {
    /// Spans of one name directly inside a span, and the position of the longest.
    pub(crate) struct ChildRow { name: u32, count: u64, total_ns: i64, longest: Found }
}

/// Durations of all spans of a name.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SameName {
    count: u64,
    min_ns: i64,
    p50_ns: i64,
    p95_ns: i64,
    max_ns: i64,
    /// Number of longer spans.
    longer: u64,
}

fn around(app: App, query: SpanQuery) -> Answer<Around> {
    let scene = app.scene()?;
    let (key, index) = query.place();
    let lane = scene.lanes.get(key).filter(|lane| (index as usize) < lane.len());
    let lane = lane.ok_or_else(|| Refusal::absent("unknown span"))?;
    let span = SpanPlace { scene: &scene, key, lane, index };
    let (children, more_children) = span.children();
    let [flows_in, flows_out] = span.flows();
    let more_flows = flows_in.len().saturating_sub(MAX_FLOWS) + flows_out.len().saturating_sub(MAX_FLOWS);
    let first = |flows: Vec<Found>| flows.into_iter().take(MAX_FLOWS).collect();
    Ok(Around {
        ancestors: span.ancestors(),
        children,
        more_children,
        flows_in: first(flows_in),
        flows_out: first(flows_out),
        more_flows,
        same: span.same_name(),
    })
}

/// A span of the scene.
pub(super) struct SpanPlace<'s> {
    pub(super) scene: &'s Scene,
    pub(super) key: LaneKey,
    pub(super) lane: &'s Lane,
    pub(super) index: u32,
}

impl SpanPlace<'_> {
    fn ancestors(&self) -> Vec<Found> {
        let (begin_ns, end_ns) = (self.lane.begin_ns(self.index), self.lane.end_ns(self.index).unwrap_or(i64::MAX));
        let levels = if self.key.kind == NESTED { 0..self.key.depth } else { 0..0 };
        let around = levels.filter_map(|depth| {
            let key = LaneKey { depth, ..self.key };
            let lane = self.scene.lanes.get(key)?;
            let index = lane.first_where(|begin| begin > begin_ns).checked_sub(1)?;
            let is_around = lane.end_ns(index).is_none_or(|end| end >= end_ns);
            is_around.then(|| Found::span(self.scene, key, lane, index))
        });
        around.collect()
    }

    /// Spans directly inside, by name; for a frame, the outermost spans of its track.
    pub(super) fn children(&self) -> (Vec<ChildRow>, usize) {
        let depth = if self.key.kind == NESTED { self.key.depth + 1 } else { 0 };
        let key = LaneKey { kind: NESTED, depth, ..self.key };
        let (begin_ns, end_ns) = (self.lane.begin_ns(self.index), self.lane.end_ns(self.index).unwrap_or(i64::MAX));
        let Some(lane) = self.scene.lanes.get(key) else { return (Vec::new(), 0) };
        let mut names: HashMap<u32, (u64, i64, u32)> = HashMap::new();
        let is_inside =
            |child: &u32| lane.begin_ns(*child) >= begin_ns && lane.end_ns(*child).is_none_or(|end| end <= end_ns);
        for child in lane.between(begin_ns, end_ns).filter(is_inside) {
            let (count, total_ns, longest) = names.entry(lane.name(child)).or_insert((0, 0, child));
            *count += 1;
            *total_ns = total_ns.saturating_add(lane.dur_ns(child));
            if lane.dur_ns(child) > lane.dur_ns(*longest) {
                *longest = child;
            }
        }
        let row = |(name, (count, total_ns, longest)): (u32, (u64, i64, u32))| ChildRow {
            name,
            count,
            total_ns,
            longest: Found::span(self.scene, key, lane, longest),
        };
        let mut rows: Vec<ChildRow> = names.into_iter().map(row).collect();
        rows.sort_by_key(|row| (Reverse(row.total_ns), row.longest.ts_ns));
        let more = rows.len().saturating_sub(MAX_CHILDREN);
        rows.truncate(MAX_CHILDREN);
        (rows, more)
    }

    /// The other ends of its links: origins and targets.
    fn flows(&self) -> [Vec<Found>; 2] {
        let Some(trace) = self.scene.tracks.get(self.key.thread_id as usize).map(|track| track.trace) else {
            return Default::default();
        };
        let id = Some(i64::from(self.lane.id(self.index)));
        let links = || self.scene.links.iter().filter(|link| link.trace == trace);
        let before: Vec<&Link> = links().filter(|link| link.to_span == id && link.from_span != id).collect();
        let after: Vec<&Link> = links().filter(|link| link.from_span == id && link.to_span != id).collect();
        if before.is_empty() && after.is_empty() {
            return Default::default();
        }
        let mut ends: HashMap<i64, Option<Found>> = HashMap::new();
        ends.extend(before.iter().filter_map(|link| Some((link.from_span?, None))));
        ends.extend(after.iter().filter_map(|link| Some((link.to_span?, None))));
        for (key, lane) in self.scene.lanes.iter().filter(|(key, _)| self.is_of(trace, *key)) {
            for index in 0..lane.len() as u32 {
                if let Some(end) = ends.get_mut(&lane.id(index).into()) {
                    *end = Some(Found::span(self.scene, key, lane, index));
                }
            }
        }
        let mut found = |span: Option<i64>| ends.get_mut(&span?).and_then(Option::take);
        [
            before.iter().filter_map(|link| found(link.from_span)).collect(),
            after.iter().filter_map(|link| found(link.to_span)).collect(),
        ]
    }

    fn is_of(&self, trace: u32, key: LaneKey) -> bool {
        self.scene.tracks.get(key.thread_id as usize).is_some_and(|track| track.trace == trace)
    }

    fn same_name(&self) -> SameName {
        let name = self.lane.name(self.index);
        let lanes = self.scene.lanes.iter().map(|(_, lane)| lane);
        let mut durations: Vec<i64> = lanes
            .flat_map(|lane| {
                let named = lane.names().iter().zip(0..).filter(|(other, _)| **other == name);
                named.map(|(_, index)| lane.dur_ns(index))
            })
            .collect();
        durations.sort_unstable();
        let own = self.lane.dur_ns(self.index);
        let at = |part: usize| durations.get((durations.len().saturating_sub(1)) * part / 100).copied().unwrap_or(0);
        SameName {
            count: durations.len() as u64,
            min_ns: at(0),
            p50_ns: at(50),
            p95_ns: at(95),
            max_ns: at(100),
            longer: (durations.len() - durations.partition_point(|duration| *duration <= own)) as u64,
        }
    }
}
