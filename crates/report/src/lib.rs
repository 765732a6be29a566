//! One HTML file to send: what a trace shows, readable without JavaScript.
//!
//! A report is static, loads nothing, and is the same bytes for the same input. It has at most [`MAX_BYTES`] whatever the
//! trace: lists are bounded, and if names are very long, it is written again with less detail.

#![forbid(unsafe_code)]

mod compare;
mod html;
mod interactive;
mod lines;
mod markdown;
mod strip;
mod svg;
mod text;

use serde_json::{Value, json};
use traceloom_analysis::{
    advise, diff,
    flame::{CallStacks, Flame, Graph, Options as FlameOptions, Weight},
    lines::Lines,
    summary::{Summarizer, Summary},
};
use traceloom_core::Result;
use traceloom_model::{Filter, TableSource};
use traceloom_passes::Together;

use crate::{
    lines::HotLine,
    strip::{Picture, Strip},
};

pub use crate::interactive::{Packable, Packed, WriteRange, write_interactive};

/// A report is never longer.
pub const MAX_BYTES: usize = 1_000_000;

/// What reports are made of: one or more traces, and a comparison if there is one.
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
}

/// What the width of a frame means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FlameUnit {
    Bytes,
    Time,
    /// Time, from sums of calls instead of stacks.
    Estimated,
}

/// How two sets of runs differ.
#[derive(Debug)]
struct Comparison {
    changes: diff::Report,
    /// All runs of each side together.
    flames: [Graph; 2],
}

/// How much of everything is shown.
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
    /// Less and less.
    fn level(level: u32) -> Self {
        Self { name: 160 >> level, rows: 20 >> level, frames: 1200 >> level, threads: 12 >> level, traces: 32 >> level }
    }
}

/// Levels of detail; at the last one nothing that a trace can make long is left.
const LEVELS: u32 = 8;
/// Threads that a strip keeps.
const THREADS: usize = 12;

impl Report {
    /// Adds a trace, in one read unless something in it needs a second look.
    pub fn add(&mut self, trace: &dyn TableSource) -> Result<()> {
        let (mut first, mut strip) = (Summarizer::default(), Strip::default());
        let (mut time, mut calls, mut lines) =
            (Flame::new(FlameOptions::default()), CallStacks::default(), Lines::default());
        let sinks: Vec<&mut dyn traceloom_model::TableSink> =
            vec![&mut first, &mut strip, &mut time, &mut calls, &mut lines];
        trace.pour(&Filter::default(), &mut Together::new(sinks))?;
        let summary = first.finish(trace, &advise::Options::default())?;
        let has_spans = summary.about.counts.iter().any(|count| count.table == "spans");
        let tree = time.finish();
        let (tree, flame_unit) = match () {
            () if has_spans && !tree.is_empty() => (tree, FlameUnit::Time),
            () if tree.is_empty() => (calls.finish(&FlameOptions::default()), FlameUnit::Estimated),
            () => (tree, FlameUnit::Bytes),
        };
        let strip = strip.finish(THREADS);
        self.traces.push(TraceReport {
            summary,
            strip,
            flame: tree.into(),
            flame_unit,
            lines: lines::hottest(&lines.finish()),
        });
        Ok(())
    }

    /// Adds the comparison of two sets of runs; gives the number of rows that got worse by more than `fail_over`.
    pub fn compare<S: TableSource>(&mut self, before: &[S], after: &[S], fail_over: Option<f64>) -> Result<usize> {
        let changes = diff::of_traces(before, after, &diff::Options::default())?;
        let failed = fail_over.map_or(0, |limit| changes.worse_than(limit).count());
        let flames = [flame_of(before)?, flame_of(after)?];
        self.comparison = Some(Comparison { changes, flames });
        Ok(failed)
    }

    /// The report as one HTML file.
    pub fn to_html(&self) -> String {
        let mut page = String::new();
        for level in 0..LEVELS {
            page = html::page(self, &Detail::level(level)).into_string();
            if page.len() <= MAX_BYTES {
                break;
            }
        }
        page
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
        json!({"comparison": comparison, "traces": traces})
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
