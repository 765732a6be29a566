//! The compact form of traces that pictures are drawn from.

mod align;
mod arrows;
mod build;
mod names;
mod points;
mod series;
mod usage;

use std::path::{Path, PathBuf};

use traceloom_analysis::lod::Lanes;

pub(crate) use self::{
    align::Processor,
    arrows::Arrows,
    build::{Builder, NESTED},
    names::NameTable,
    points::{Point, Points},
    series::Series,
};

/// All traces that are shown, on one axis.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    pub(crate) traces: Vec<TraceInfo>,
    pub(crate) tracks: Vec<Track>,
    pub(crate) names: NameTable,
    /// Spans by track: `LaneKey::thread_id` is the number of the track.
    pub(crate) lanes: Lanes,
    pub(crate) counters: Vec<Counter>,
    pub(crate) logs: Vec<LogLine>,
    /// Texts of the log lines, one after the other.
    pub(crate) log_texts: String,
    /// When the log lines are, for each trace and level.
    pub(crate) ticks: Vec<Ticks>,
    pub(crate) links: Vec<Link>,
    /// The links whose ends are known.
    pub(crate) arrows: Arrows,
    /// Grows with every change, so that the page knows when to ask again.
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
    pub(crate) unix_origin_ns: Option<i64>,
    /// Its times in the processor's counter, where they are.
    pub(crate) processor: Option<Processor>,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    /// Added to every time, so that several traces meet on one axis.
    pub(crate) offset_ns: i64,
    pub(crate) findings: u64,
    /// Memory in use over time, where the trace has allocations.
    pub(crate) memory: Option<Series>,
    pub(crate) state: LoadState,
}

impl TraceInfo {
    /// A trace of which nothing is known yet.
    pub(crate) fn loading(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            format: "",
            version: String::new(),
            trace_id: 0,
            bytes: 0,
            clock: String::new(),
            unix_origin_ns: None,
            processor: None,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            offset_ns: 0,
            findings: 0,
            memory: None,
            state: LoadState::Loading,
        }
    }
}

/// How far loading is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum LoadState {
    Failed(String),
    Loading,
    Ready,
}

/// A thread or a zone.
#[derive(Debug)]
pub(crate) struct Track {
    pub(crate) trace: u32,
    pub(crate) thread_id: i64,
    pub(crate) tid: Option<u64>,
    pub(crate) process: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) spans: u64,
    /// Events that are drawn.
    pub(crate) events: Points,
    /// Events that are seen as something else: a frame, a range, an arrow, an argument.
    pub(crate) unseen_events: u64,
    pub(crate) switches: traceloom_analysis::lod::Lane,
    /// What ran instead, by the number of the switch.
    pub(crate) switch_targets: Vec<u64>,
}

/// Values of one name on one track.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) trace: u32,
    pub(crate) track: Option<u32>,
    pub(crate) name: u32,
    pub(crate) value_id: Option<u64>,
    pub(crate) series: Series,
}

/// A log entry; its text is in [`Scene::log_texts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLine {
    pub(crate) trace: u32,
    pub(crate) ts_ns: Option<i64>,
    pub(crate) level_name: u32,
    pub(crate) file: Option<u32>,
    pub(crate) line: Option<u32>,
    pub(crate) text_end: usize,
}

/// Log lines of one trace and level on the axis; the id of a point is the number of the line.
#[derive(Debug)]
pub(crate) struct Ticks {
    pub(crate) trace: u32,
    pub(crate) level_name: u32,
    pub(crate) points: Points,
}

/// From one span to another, by their ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) trace: u32,
    pub(crate) from_span: Option<i64>,
    pub(crate) to_span: Option<i64>,
    pub(crate) ts_ns: i64,
}

impl Scene {
    /// The text of a log line.
    pub(crate) fn log_text(&self, number: usize) -> &str {
        let begin = number.checked_sub(1).and_then(|before| self.logs.get(before)).map_or(0, |log| log.text_end);
        self.logs.get(number).and_then(|log| self.log_texts.get(begin..log.text_end)).unwrap_or("")
    }

    /// How far a trace is moved on the axis.
    pub(crate) fn offset_ns(&self, trace: u32) -> i64 {
        self.traces.get(trace as usize).map_or(0, |trace| trace.offset_ns)
    }

    /// How far the trace of a track is moved on the axis.
    pub(crate) fn track_offset_ns(&self, track: u32) -> i64 {
        self.tracks.get(track as usize).map_or(0, |track| self.offset_ns(track.trace))
    }

    /// From the first to the last time, all traces together.
    pub(crate) fn extent(&self) -> Option<(i64, i64)> {
        let shown = self.traces.iter().filter(|trace| trace.first_ns <= trace.last_ns);
        let moved = |ns: i64, trace: &TraceInfo| ns.saturating_add(trace.offset_ns);
        let ends = shown.map(|trace| (moved(trace.first_ns, trace), moved(trace.last_ns, trace)));
        ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
}
