//! Files and lines that occur in the rows of a trace.

use serde::Serialize;
use traceloom_analysis::places::{PlaceKind, PlacedLine, Report};

use crate::api::wire::row;

/// Max number of files, and of lines of one file, that are sent.
const MAX_FILES: usize = 5_000;
const MAX_LINES: usize = 10_000;

/// Files with the places that occur in rows.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlacesOfTrace {
    trace: u32,
    all_files: usize,
    files: Vec<PlacesFileRow>,
    time_ns: i64,
    /// Number of rows without a place.
    others: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlacesFileRow {
    id: i64,
    name: String,
    count: u64,
    time_ns: i64,
    bytes: u64,
}

/// The lines of a file that occur in rows.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlacesFile {
    name: String,
    count: u64,
    time_ns: i64,
    bytes: u64,
    all_lines: usize,
    lines: Vec<PlaceRow>,
}

row! {
    /// The rows of one kind and name from one line.
    pub(crate) struct PlaceRow {
        line: Option<u32>,
        kind: RowKind,
        name: String,
        count: u64,
        total_ns: i64,
        self_ns: i64,
        bytes: u64,
    }
}

#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowKind {
    Allocation,
    Log,
    Span,
}

pub(super) fn files(report: &Report, trace: u32) -> PlacesOfTrace {
    let files = (0..).zip(report.files.iter().take(MAX_FILES)).map(|(id, file)| PlacesFileRow {
        id,
        name: file.name.clone(),
        count: file.total.count,
        time_ns: file.total.self_ns,
        bytes: file.total.bytes,
    });
    PlacesOfTrace {
        trace,
        all_files: report.files.len(),
        files: files.collect(),
        time_ns: report.files.iter().fold(0, |sum, file| file.total.self_ns.saturating_add(sum)),
        others: report.others,
    }
}

pub(super) fn file(report: &Report, id: i64) -> Option<PlacesFile> {
    let file = report.files.get(usize::try_from(id).ok()?)?;
    Some(PlacesFile {
        name: file.name.clone(),
        count: file.total.count,
        time_ns: file.total.self_ns,
        bytes: file.total.bytes,
        all_lines: file.lines.len(),
        lines: file.lines.iter().take(MAX_LINES).map(row).collect(),
    })
}

fn row(line: &PlacedLine) -> PlaceRow {
    let kind = match line.kind {
        PlaceKind::Allocation => RowKind::Allocation,
        PlaceKind::Log => RowKind::Log,
        PlaceKind::Span => RowKind::Span,
    };
    PlaceRow {
        line: line.line,
        kind,
        name: line.name.clone(),
        count: line.sums.count,
        total_ns: line.sums.total_ns,
        self_ns: line.sums.self_ns,
        bytes: line.sums.bytes,
    }
}
