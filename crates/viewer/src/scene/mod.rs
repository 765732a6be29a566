//! The compact form of traces for drawing.

mod arrows;
mod build;
mod close;
mod forget;
mod ids;
mod labels;
mod logs;
mod names;
mod points;
mod series;
mod texts;

use std::path::{Path, PathBuf};

use traceloom_analysis::lod::{Lane, Lanes};
use traceloom_model::Table;
use traceloom_passes::{Axis, TraceFacts};

use crate::live::Live;

pub(crate) use self::{
    arrows::Arrows,
    build::{Builder, FRAME, NESTED},
    ids::Ids,
    labels::{Label, Labels},
    logs::Logs,
    names::NameTable,
    points::{Point, Points, each_pixel},
    series::Series,
    texts::TextReader,
};

/// All open traces, on one axis.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    pub(crate) traces: Vec<TraceInfo>,
    pub(crate) tracks: Vec<Track>,
    pub(crate) names: NameTable,
    /// Spans by track: `LaneKey::thread_id` is the number of the track.
    pub(crate) lanes: Lanes,
    pub(crate) counters: Vec<Counter>,
    pub(crate) logs: Logs,
    pub(crate) links: Vec<Link>,
    /// Links whose ends are known.
    pub(crate) arrows: Arrows,
    /// Incremented with every change, so that the page knows when to poll again.
    pub(crate) revision: u64,
}

/// One trace.
#[derive(Clone, Debug)]
pub(crate) struct TraceInfo {
    pub(crate) path: PathBuf,
    pub(crate) format: &'static str,
    pub(crate) version: String,
    pub(crate) trace_id: u64,
    pub(crate) bytes: u64,
    pub(crate) clock: String,
    /// The facts that determine its position on the axis, besides its first and last time.
    pub(crate) facts: TraceFacts,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    /// Offset added to every time, so that several traces are aligned on one axis.
    pub(crate) offset_ns: i64,
    /// The Unix time of its origin, from this trace or from a trace that shares its counter.
    pub(crate) unix_origin_ns: Option<i64>,
    pub(crate) findings: u64,
    pub(crate) contents: Contents,
    /// Whether the ids of its log lines are their numbers, from 0 on.
    pub(crate) has_numbered_logs: bool,
    /// Number of log lines that are only in the file.
    pub(crate) forgotten_logs: usize,
    /// Memory in use over time, if the trace has allocations.
    pub(crate) memory: Option<Series>,
    pub(crate) state: LoadState,
    /// For a trace that is or was live.
    pub(crate) live: Option<Live>,
}

impl TraceInfo {
    /// A trace that is not loaded yet.
    pub(crate) fn loading(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            format: "",
            version: String::new(),
            trace_id: 0,
            bytes: 0,
            clock: String::new(),
            facts: TraceFacts::default(),
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            offset_ns: 0,
            unix_origin_ns: None,
            findings: 0,
            contents: Contents::default(),
            has_numbered_logs: true,
            forgotten_logs: 0,
            memory: None,
            state: LoadState::Loading,
            live: None,
        }
    }
}

impl TraceInfo {
    fn facts(&self) -> TraceFacts {
        let extent_ns = (self.first_ns <= self.last_ns).then_some((self.first_ns, self.last_ns));
        TraceFacts { extent_ns, ..self.facts }
    }
}

/// The contents of a trace, independent of its format.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contents {
    /// The tables that have rows, one bit each.
    tables: u64,
    /// Whether rows refer to source files.
    pub(crate) has_source: bool,
}

impl Contents {
    /// Whether a table has rows.
    pub(crate) fn has(&self, table: Table) -> bool {
        self.tables & (1 << table as u32) != 0
    }

    /// Records that a table has rows.
    pub(crate) fn add(&mut self, table: Table) {
        self.tables |= 1 << table as u32;
    }

    /// The combined contents of two traces.
    #[cfg(feature = "sql")]
    pub(crate) fn and(self, other: Self) -> Self {
        Self { tables: self.tables | other.tables, has_source: self.has_source || other.has_source }
    }
}

/// The state of loading.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum LoadState {
    /// Closed by the user; its number is not reused, so that the other numbers stay the same.
    Closed,
    Failed(String),
    /// Still being written, and shown live.
    Live,
    Loading,
    Ready,
}

impl LoadState {
    /// Whether more data may arrive.
    pub(crate) fn is_unfinished(&self) -> bool {
        matches!(self, Self::Live | Self::Loading)
    }
}

/// A thread or a zone.
#[derive(Debug)]
pub(crate) struct Track {
    pub(crate) trace: u32,
    pub(crate) thread_id: i64,
    /// Other threads that share the track.
    pub(crate) more_threads: Ids,
    pub(crate) tid: Option<u64>,
    pub(crate) process: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) spans: u64,
    /// Start of its first span.
    pub(crate) first_ns: Option<i64>,
    /// Time inside its outermost spans.
    pub(crate) busy_ns: i64,
    /// Events that are drawn.
    pub(crate) events: Points,
    /// Events that a person set, kept separately so that no other event hides them.
    pub(crate) bookmarks: Points,
    /// Events that are shown as something else: a frame, a range, an arrow, an argument.
    pub(crate) unseen_events: u64,
    pub(crate) switches: Lane,
    /// The thread that ran instead, by the number of the switch.
    pub(crate) switch_targets: Vec<u64>,
}

impl Track {
    /// An empty track.
    pub(crate) fn new(trace: u32, thread_id: i64) -> Self {
        Self {
            trace,
            thread_id,
            more_threads: Ids::default(),
            tid: None,
            process: String::new(),
            name: String::new(),
            kind: String::new(),
            spans: 0,
            first_ns: None,
            busy_ns: 0,
            events: Points::default(),
            bookmarks: Points::default(),
            unseen_events: 0,
            switches: Lane::default(),
            switch_targets: Vec::new(),
        }
    }

    /// Adds a thread to the track, which then has no name.
    pub(crate) fn share(&mut self, thread_id: i64) {
        self.more_threads.insert(thread_id);
        self.tid = None;
        self.name.clear();
        self.kind.clear();
    }

    /// The drawn events, and the events that a person set.
    pub(crate) fn points(&self) -> [&Points; 2] {
        [&self.events, &self.bookmarks]
    }

    /// The threads of the track.
    pub(crate) fn threads(&self) -> impl Iterator<Item = i64> + '_ {
        std::iter::once(self.thread_id).chain(self.more_threads.iter())
    }
}

/// Values of one name on one track.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) trace: u32,
    pub(crate) track: Option<u32>,
    pub(crate) name: u32,
    pub(crate) value_id: Option<u64>,
    /// Number of series that share it; usually 1.
    pub(crate) series: usize,
    pub(crate) values: Values,
}

/// Numbers are drawn as a chart, texts as labels.
#[derive(Debug)]
pub(crate) enum Values {
    Numbers(Series),
    Texts(Labels),
}

impl Values {
    pub(crate) fn new(is_text: bool) -> Self {
        if is_text { Self::Texts(Labels::default()) } else { Self::Numbers(Series::default()) }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(series) => series.len(),
            Self::Texts(labels) => labels.len(),
        }
    }

    /// Drops values before a time.
    pub(crate) fn forget_before(&mut self, before_ns: i64) {
        match self {
            Self::Numbers(series) => series.forget_before(before_ns),
            Self::Texts(labels) => labels.forget_before(before_ns),
        }
    }

    pub(crate) fn resident_bytes(&self) -> usize {
        match self {
            Self::Numbers(series) => series.resident_bytes(),
            Self::Texts(labels) => labels.resident_bytes(),
        }
    }

    /// The smallest and the largest number.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Numbers(series) => series.range(),
            Self::Texts(_) => None,
        }
    }
}

/// A link from one span to another, by their ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) trace: u32,
    pub(crate) from_span: Option<i64>,
    pub(crate) to_span: Option<i64>,
    pub(crate) ts_ns: i64,
}

impl Scene {
    /// Computes the position of each trace on the axis; call after a trace is loaded, or moved by the user.
    pub(crate) fn align(&mut self) {
        let facts: Vec<TraceFacts> = self.traces.iter().map(TraceInfo::facts).collect();
        let unmoved: Vec<_> = facts.iter().map(|facts| TraceFacts { user_offset_ns: None, ..*facts }).collect();
        let (axis, by_itself) = (Axis::new(&facts), Axis::new(&unmoved));
        for (number, trace) in self.traces.iter_mut().enumerate() {
            trace.offset_ns = axis.placement(number).shift_ns;
            // The Unix time of an origin does not depend on offsets set by the user.
            let placement = by_itself.placement(number);
            trace.unix_origin_ns = placement.unix_origin_ns.and_then(|zero_ns| zero_ns.checked_add(placement.shift_ns));
        }
    }

    /// The offset of a trace on the axis.
    pub(crate) fn offset_ns(&self, trace: u32) -> i64 {
        self.traces.get(trace as usize).map_or(0, |trace| trace.offset_ns)
    }

    /// The time of a log line on the axis.
    pub(crate) fn log_ts_ns(&self, number: usize) -> Option<i64> {
        let offset_ns = self.logs.site(number).map_or(0, |site| self.offset_ns(site.trace));
        self.logs.ts_ns(number).map(|ts_ns| ts_ns.saturating_add(offset_ns))
    }

    /// The offset of the trace of a track on the axis.
    pub(crate) fn track_offset_ns(&self, track: u32) -> i64 {
        self.tracks.get(track as usize).map_or(0, |track| self.offset_ns(track.trace))
    }

    /// The first and last time of all traces.
    pub(crate) fn extent(&self) -> Option<(i64, i64)> {
        let shown = self.traces.iter().filter(|trace| trace.first_ns <= trace.last_ns);
        let moved = |ns: i64, trace: &TraceInfo| ns.saturating_add(trace.offset_ns);
        let ends = shown.map(|trace| (moved(trace.first_ns, trace), moved(trace.last_ns, trace)));
        ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
}

#[cfg(test)]
mod tests {
    use traceloom_passes::Counter;

    use super::*;

    /// A trace of 1 µs on a counter of 2 GHz.
    fn ticking(start_ticks: u64, unix_origin_ns: Option<i64>) -> TraceInfo {
        let counter = Some(Counter { hz: 2_000_000_000, start_ticks });
        let facts = TraceFacts { counter, unix_origin_ns, ..TraceFacts::default() };
        TraceInfo { facts, first_ns: 0, last_ns: 1_000, ..TraceInfo::loading("trace".as_ref()) }
    }

    fn aligned(scene: &mut Scene) -> Vec<(i64, Option<i64>)> {
        scene.align();
        scene.traces.iter().map(|trace| (trace.offset_ns, trace.unix_origin_ns)).collect()
    }

    #[test]
    fn traces_lie_where_the_axis_puts_them() {
        let traces = vec![ticking(5_200, None), ticking(5_000, Some(7_000)), ticking(90_000, None)];
        let mut scene = Scene { traces, ..Scene::default() };
        assert_eq!(aligned(&mut scene), [(100, Some(7_100)), (0, Some(7_000)), (0, None)]);
        // Computing it again moves nothing.
        assert_eq!(aligned(&mut scene)[0], (100, Some(7_100)));
    }

    #[test]
    fn the_user_moves_a_trace_and_those_that_share_its_counter() {
        let traces = vec![ticking(5_200, None), ticking(5_000, Some(7_000))];
        let mut scene = Scene { traces, ..Scene::default() };
        scene.traces[1].facts.user_offset_ns = Some(-30);
        assert_eq!(aligned(&mut scene), [(70, Some(7_100)), (-30, Some(7_000))]);
        scene.traces[0].facts.user_offset_ns = Some(5);
        assert_eq!(aligned(&mut scene), [(5, Some(7_100)), (-30, Some(7_000))]);
    }

    #[test]
    fn a_trace_without_times_shares_no_counter() {
        let mut empty = ticking(5_200, None);
        (empty.first_ns, empty.last_ns) = (i64::MAX, i64::MIN);
        let mut scene = Scene { traces: vec![empty, ticking(5_000, Some(7_000))], ..Scene::default() };
        assert_eq!(aligned(&mut scene)[0], (0, None));
    }
}
