//! The compact form of traces that pictures are drawn from.

mod build;
mod names;
mod points;
mod series;

use std::{collections::BTreeMap, path::PathBuf};

use traceloom_analysis::lod::Lanes;

pub(crate) use self::{
    build::Builder,
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
    pub(crate) links: Vec<Link>,
    /// Where each span that a link names is, by trace and id.
    pub(crate) linked: BTreeMap<(u32, i64), Place>,
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
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    /// Added to every time, so that several traces meet on one axis.
    pub(crate) offset_ns: i64,
    pub(crate) findings: u64,
    /// Memory in use over time, where the trace has allocations.
    pub(crate) memory: Option<Series>,
    pub(crate) state: LoadState,
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
    pub(crate) events: Points,
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

/// An arrow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) trace: u32,
    pub(crate) from_span: Option<i64>,
    pub(crate) to_span: Option<i64>,
    pub(crate) ts_ns: i64,
}

/// Where a span is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) track: u32,
    pub(crate) depth: u32,
    pub(crate) begin_ns: i64,
    pub(crate) end_ns: Option<i64>,
}

impl Scene {
    /// The text of a log line.
    pub(crate) fn log_text(&self, number: usize) -> &str {
        let begin = number.checked_sub(1).and_then(|before| self.logs.get(before)).map_or(0, |log| log.text_end);
        self.logs.get(number).and_then(|log| self.log_texts.get(begin..log.text_end)).unwrap_or("")
    }

    /// From the first to the last time, all traces together.
    pub(crate) fn extent(&self) -> Option<(i64, i64)> {
        let shown = self.traces.iter().filter(|trace| trace.first_ns <= trace.last_ns);
        let ends = shown.map(|trace| (trace.first_ns + trace.offset_ns, trace.last_ns + trace.offset_ns));
        ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
}
