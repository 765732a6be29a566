//! The most important facts about each trace, for the panel that opens first.

use std::sync::Arc;

use serde::Serialize;
use traceloom_analysis::{
    advise,
    memory::SiteFrame,
    summary::{self, Summary},
};

use super::{
    Answer, Routes,
    findings::{Advice, shown},
    wire::row,
    work::{self, Kept, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptSummaries>::default());
    routes.get("overview", |app, known, _| overview(app, known));
}

/// Summaries by the number of the trace; a trace that is ready does not change.
type KeptSummaries = Kept<u32, Summary>;

/// The summaries of all loaded traces.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Overview {
    traces: Vec<TraceOverview>,
}

/// The summary of one trace, with times on the axis.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TraceOverview {
    trace: u32,
    /// `fine`, `damaged` or `data missing`.
    badge: &'static str,
    problems: Vec<ProblemRow>,
    /// The main finding in one sentence.
    verdict: String,
    findings: Vec<Advice>,
    names: Vec<TopName>,
    all_names: usize,
    slow: Vec<SlowRow>,
    leaks: Vec<LeakRow>,
    levels: Vec<LevelUse>,
    errors: Vec<ErrorRow>,
}

row! {
    /// Problems of one kind in the file, and the message of the first.
    pub(crate) struct ProblemRow { severity: String, message: String, count: u64 }
}

row! {
    /// A name with its self time.
    pub(crate) struct TopName { name: String, calls: u64, self_ns: u64, share: f64 }
}

row! {
    /// A slow span with its cause, or one of the longest frames.
    pub(crate) struct SlowRow { name: String, ts_ns: i64, dur_ns: u64, median_ns: f64, is_slow: bool, cause: String }
}

row! {
    /// Memory of one site that was never freed.
    pub(crate) struct LeakRow { place: String, count: u64, bytes: u64 }
}

row! {
    /// Log lines of one level.
    pub(crate) struct LevelUse { level: String, lines: u64 }
}

row! {
    /// One of the first errors of a log.
    pub(crate) struct ErrorRow { ts_ns: Option<i64>, level: String, message: String }
}

/// Max rows per list; the panels have the rest.
const ROWS: usize = 6;

fn overview(app: App, known: Arc<KeptSummaries>) -> Answer<Reply<Overview>> {
    let traces: Vec<_> = {
        let scene = app.scene()?;
        app.loader.traces().into_iter().map(|(number, trace)| (number, trace, scene.offset_ns(number))).collect()
    };
    work::later(move |over| {
        let mut all = Vec::new();
        for (number, trace, offset_ns) in traces {
            over.check()?;
            let summary = known.or(number, || Ok(summary::of_trace(&*trace, &advise::Options::default())?))?;
            all.push(TraceOverview { trace: number, ..first_of(&summary, offset_ns) });
        }
        Ok(Overview { traces: all })
    })
}

fn first_of(summary: &Summary, offset_ns: i64) -> TraceOverview {
    let moved = |ts_ns: i64| ts_ns.saturating_add(offset_ns);
    let problems = summary.health.problems.iter().take(ROWS).map(|problem| ProblemRow {
        severity: problem.severity.clone(),
        message: problem.message.clone(),
        count: problem.count,
    });
    let names = summary.names.iter().take(ROWS).map(|row| TopName {
        name: row.name.clone(),
        calls: row.calls,
        self_ns: row.self_ns,
        share: row.share,
    });
    let slow = summary.slow.iter().take(ROWS).map(|span| SlowRow {
        name: span.name.clone(),
        ts_ns: moved(span.ts_ns),
        dur_ns: span.dur_ns,
        median_ns: span.median_ns,
        is_slow: span.is_slow,
        cause: span.cause.clone(),
    });
    let leaks = summary.memory.iter().flat_map(|memory| memory.leaks.iter().take(ROWS));
    let levels = summary.logs.iter().flat_map(|logs| &logs.levels);
    let errors = summary.logs.iter().flat_map(|logs| logs.first_errors.iter().take(ROWS)).map(|line| ErrorRow {
        ts_ns: line.ts_ns.map(moved),
        level: line.level.clone(),
        message: line.message.clone(),
    });
    TraceOverview {
        trace: 0,
        badge: summary.health.badge.as_str(),
        problems: problems.collect(),
        verdict: summary.verdict.clone(),
        findings: summary.findings.iter().take(ROWS).map(|advice| shown(advice, offset_ns)).collect(),
        names: names.collect(),
        all_names: summary.all_names,
        slow: slow.collect(),
        leaks: leaks.map(|site| LeakRow { place: place(&site.stack), count: site.count, bytes: site.bytes }).collect(),
        levels: levels.map(|row| LevelUse { level: row.level.clone(), lines: row.lines }).collect(),
        errors: errors.collect(),
    }
}

/// The innermost frame.
fn place(stack: &[SiteFrame]) -> String {
    let Some(SiteFrame { function, file, line, .. }) = stack.first() else { return "(unknown)".to_owned() };
    match (file, line) {
        (Some(file), Some(line)) => format!("{function} {file}:{line}"),
        (Some(file), None) => format!("{function} {file}"),
        _ => function.clone(),
    }
}
