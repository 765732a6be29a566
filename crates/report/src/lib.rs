//! A report on traces as one HTML file, readable without JavaScript.
//!
//! A report is static, loads nothing, and is reproducible: the same input gives the same bytes. It has at most
//! [`MAX_BYTES`] for any trace: lists are bounded, and if names are very long, it is written again with less detail.

#![forbid(unsafe_code)]

mod compare;
mod html;
mod interactive;
mod lines;
mod markdown;
mod source;
mod strip;
mod svg;
mod text;

use maud::{Markup, PreEscaped};
use serde_json::{Value, json};
use traceloom_analysis::{
    advise, diff,
    flame::{CallStacks, Flame, Graph, Options as FlameOptions, Weight},
    lines::{Lines, Lists, Profile},
    notes::Note,
    summary::{Summarizer, Summary},
};
use traceloom_core::{Error, Result};
use traceloom_model::{Filter, TableSource};
use traceloom_passes::Together;

use crate::{
    lines::HotLine,
    strip::{Picture, Strip},
};

pub use crate::interactive::{Packable, Packed, WriteRange, write_interactive};

/// Max size of a report.
pub const MAX_BYTES: usize = 1_000_000;

/// The contents of a report: one or more traces, and optionally a comparison.
#[derive(Debug, Default)]
pub struct Report {
    traces: Vec<TraceReport>,
    comparison: Option<Comparison>,
}

/// One trace.
#[derive(Debug)]
struct TraceReport {
    summary: Summary,
    strip: Picture,
    flame: Graph,
    flame_unit: FlameUnit,
    lines: Vec<HotLine>,
    /// The lines of all source files, if requested.
    source: Option<Profile>,
    /// Notes on the trace.
    notes: Vec<Note>,
}

/// The meaning of the width of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FlameUnit {
    Bytes,
    Time,
    /// Time, from sums of calls instead of stacks.
    Estimated,
}

/// The differences between two sets of runs.
#[derive(Debug)]
struct Comparison {
    changes: diff::Report,
    /// The sum of all runs of each side.
    flames: [Graph; 2],
}

/// Limits of the contents.
#[derive(Clone, Copy, Debug)]
struct Detail {
    /// Characters of a name.
    name: usize,
    /// Rows of a list.
    rows: usize,
    /// Frames of a flame graph.
    frames: usize,
    /// Threads of a strip.
    threads: usize,
    /// Traces.
    traces: usize,
}

impl Detail {
    /// Ever less detail.
    fn level(level: u32) -> Self {
        Self { name: 160 >> level, rows: 20 >> level, frames: 1200 >> level, threads: 12 >> level, traces: 32 >> level }
    }
}

/// Number of levels of detail; the last one contains nothing whose length depends on the trace.
const LEVELS: u32 = 8;
/// Max number of threads of a strip.
const THREADS: usize = 12;

impl Report {
    /// Adds a trace, in one pass unless something in it needs a second one.
    pub fn add(&mut self, trace: &dyn TableSource) -> Result<()> {
        self.traces.push(TraceReport::of(trace, None)?.0);
        Ok(())
    }

    /// Adds a trace with a known summary.
    pub fn add_summarized(&mut self, trace: &dyn TableSource, summary: Summary) -> Result<()> {
        self.traces.push(TraceReport::of(trace, Some(summary))?.0);
        Ok(())
    }

    /// The summary of the last added trace.
    pub fn summary(&self) -> Option<&Summary> {
        self.traces.last().map(|trace| &trace.summary)
    }

    /// Adds a line profile with its source; `complete` may add texts that the profile lacks.
    pub fn add_with_source(
        &mut self,
        trace: &dyn TableSource,
        complete: impl FnOnce(&mut Profile) -> Result<()>,
    ) -> Result<()> {
        let (report, lines) = TraceReport::of(trace, None)?;
        let missing = || Error::unsupported("the trace has no line timings; omit --source");
        let mut profile = lines.profiles.into_iter().next().ok_or_else(missing)?;
        complete(&mut profile)?;
        self.traces.push(TraceReport { source: Some(profile), ..report });
        Ok(())
    }

    /// Adds notes to the last added trace.
    pub fn annotate(&mut self, notes: Vec<Note>) {
        if let Some(trace) = self.traces.last_mut() {
            trace.notes = notes;
        }
    }

    /// Adds the comparison of two sets of runs; returns the number of rows that got worse by more than `fail_over`.
    pub fn compare<S: TableSource>(&mut self, before: &[S], after: &[S], fail_over: Option<f64>) -> Result<usize> {
        let changes = diff::of_traces(before, after, &diff::Options::default())?;
        let failed = fail_over.map_or(0, |limit| changes.worse_than(limit).count());
        let flames = [flame_of(before)?, flame_of(after)?];
        self.comparison = Some(Comparison { changes, flames });
        Ok(failed)
    }

    /// The report as one HTML file.
    pub fn to_html(&self) -> String {
        let has_source = self.traces.iter().any(|trace| trace.source.is_some());
        let max = if has_source { MAX_BYTES / 4 } else { MAX_BYTES };
        let (mut page, mut detail) = (String::new(), Detail::level(0));
        for level in 0..LEVELS {
            detail = Detail::level(level);
            page = html::page(self, &detail, &[]).into_string();
            if page.len() <= max {
                break;
            }
        }
        if !has_source {
            return page;
        }
        let shown = &self.traces[..self.traces.len().min(detail.traces)];
        let sources = shown.iter().filter(|trace| trace.source.is_some()).count();
        let room = MAX_BYTES.saturating_sub(page.len()) / sources.max(1);
        let fitting = |(number, trace): (usize, &TraceReport)| {
            let section = |level: u32| Some(source::section(trace.source.as_ref()?, number, level, room));
            let section = (0..LEVELS).filter_map(section).find(|section| section.0.len() <= room);
            section.unwrap_or_else(|| PreEscaped(String::new()))
        };
        let sections: Vec<Markup> = shown.iter().enumerate().map(fitting).collect();
        html::page(self, &detail, &sections).into_string()
    }

    /// The report as Markdown, for a comment.
    pub fn to_markdown(&self) -> String {
        markdown::page(self)
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let comparison = self.comparison.as_ref().map(|Comparison { changes, .. }| {
            let shown = changes.rows.iter().filter(|row| row.verdict != diff::Verdict::Same);
            json!({
                "runs": changes.runs,
                "noise_known": changes.knows_noise(),
                "rows": shown.map(diff::Row::to_json).collect::<Vec<_>>(),
            })
        });
        let traces: Vec<&Summary> = self.traces.iter().map(|trace| &trace.summary).collect();
        let mut object = json!({"comparison": comparison, "traces": traces});
        let sources = self.traces.iter().filter_map(|trace| trace.source.as_ref());
        let sources: Vec<Value> = sources.map(|one| one.to_json(Lists::All, &one.files_by_time())).collect();
        if !sources.is_empty() {
            object["sources"] = sources.into();
        }
        if self.traces.iter().any(|trace| !trace.notes.is_empty()) {
            object["notes"] = self.traces.iter().map(|trace| json!(trace.notes)).collect();
        }
        object
    }
}

impl TraceReport {
    /// The report on a trace, and its lines.
    fn of(trace: &dyn TableSource, known: Option<Summary>) -> Result<(Self, traceloom_analysis::lines::Report)> {
        let _kept = trace.keep();
        let (mut first, mut strip) = (Summarizer::default(), Strip::default());
        let (mut time, mut calls, mut lines) =
            (Flame::new(FlameOptions::default()), CallStacks::default(), Lines::default());
        let mut sinks: Vec<&mut dyn traceloom_model::TableSink> = vec![&mut strip, &mut time, &mut calls, &mut lines];
        if known.is_none() {
            sinks.push(&mut first);
        }
        trace.pour(&Filter::default(), &mut Together::new(sinks))?;
        let summary = match known {
            Some(summary) => summary,
            None => first.finish(trace, &advise::Options::default())?,
        };
        let has_spans = summary.about.counts.iter().any(|count| count.table == "spans");
        let tree = time.finish();
        let (tree, flame_unit) = match () {
            () if has_spans && !tree.is_empty() => (tree, FlameUnit::Time),
            () if tree.is_empty() => (calls.finish(&FlameOptions::default()), FlameUnit::Estimated),
            () => (tree, FlameUnit::Bytes),
        };
        let strip = strip.finish(THREADS);
        let found = lines.finish();
        let lines = lines::hottest(&found);
        Ok((Self { summary, strip, flame: tree.into(), flame_unit, lines, source: None, notes: Vec::new() }, found))
    }
}

/// The stacks of several runs, added together.
fn flame_of<S: TableSource>(traces: &[S]) -> Result<Graph> {
    let mut time = Flame::new(FlameOptions { weight: Weight::Time, ..FlameOptions::default() });
    let mut calls = CallStacks::default();
    for trace in traces {
        trace.pour(&Filter::default(), &mut Together::new(vec![&mut time, &mut calls]))?;
    }
    let tree = time.finish();
    Ok(if tree.is_empty() { calls.finish(&FlameOptions::default()) } else { tree }.into())
}
