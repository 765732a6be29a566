//! Totals of a range of the traces.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use arrow_array::RecordBatch;
use serde::Serialize;
use traceloom_analysis::stats::{Options, Report, Stats};
use traceloom_core::TimeRange;
use traceloom_model::{Columns, Flow, Table, TableSink, select};

use super::{
    Answer, Routes,
    range::{self, RangeQuery, ScopeKey, TraceScope},
    wire::row,
    work::{self, Over, Reply},
};
use crate::{app::App, scene::Scene};

/// Max number of rows; more than a panel shows.
const MAX_NAMES: usize = 12;
const MAX_TEXT: usize = 200;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptTotals>::default());
    routes.get("totals", |app, known, ask| totals(app, known, ask.query()?));
}

type KeptTotals = work::Kept<ScopeKey, Totals>;

/// The sums of `traceloom stats` for a range and some tracks.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Totals {
    /// Number of closed spans.
    spans: u64,
    /// Number of spans that were never closed.
    unclosed: u64,
    /// The total time of all spans.
    total_ns: u64,
    /// Time inside spans; each moment of a thread counts once.
    busy_ns: u64,
    names: usize,
    events: u64,
    threads: usize,
    /// Number of context switches, and their total time.
    switches: u64,
    off_cpu_ns: u64,
    /// Events by name, most frequent first.
    event_names: Vec<EventCount>,
    values: Vec<ValueSums>,
    memory: Option<MemorySums>,
    /// Log lines of all traces by level; lines do not belong to a track.
    logs: Vec<LevelLines>,
}

row! {
    /// Events of one name.
    pub(crate) struct EventCount { name: String, count: u64 }
}

row! {
    /// Values of one name.
    pub(crate) struct ValueSums { name: String, count: u64, min: Option<f64>, mean: Option<f64>, max: Option<f64> }
}

row! {
    /// Log lines of one level, and the number and text of the first.
    pub(crate) struct LevelLines { level: String, count: usize, first: u32, text: String }
}

/// Allocations and frees.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct MemorySums {
    allocations: u64,
    allocated_bytes: u64,
    frees: u64,
    freed_bytes: u64,
}

fn totals(app: App, known: Arc<KeptTotals>, asked: RangeQuery) -> Answer<Reply<Totals>> {
    let scopes = asked.scopes(&app)?;
    let range = asked.range()?;
    let logs = app.scene().map(|scene| logs(&scene, range))?;
    work::later(move |over| {
        let totals = known.or(range::key(&scopes), || add_up(&scopes, over))?;
        Ok(Totals { logs, ..(*totals).clone() })
    })
}

fn logs(scene: &Scene, range: TimeRange) -> Vec<LevelLines> {
    let mut levels: Vec<LevelLines> = Vec::new();
    for (name, lines) in scene.logs.between(|trace| range.shifted(scene.offset_ns(trace).saturating_neg())) {
        let Some(first) = lines.first() else { continue };
        let level = scene.names.get(name);
        if let Some(known) = levels.iter_mut().find(|known| known.level == level) {
            known.count += lines.len();
            continue;
        }
        let text = scene.logs.texts().get(*first as usize).chars().take(MAX_TEXT).collect();
        levels.push(LevelLines { level: level.to_owned(), count: lines.len(), first: *first, text });
    }
    levels
}

/// Adds up allocations and frees in a range, regardless of earlier allocations.
struct MemorySink<'s> {
    scope: &'s TraceScope,
    sums: Option<MemorySums>,
}

select! {
    struct Allocations of allocations { ts_ns, size_bytes, freed_ts_ns }
}

impl TableSink for MemorySink<'_> {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Allocations { Allocations::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let view = Allocations::of(&batch)?;
        let range = self.scope.filter.range;
        let sums = self.sums.get_or_insert_default();
        for row in 0..view.rows {
            let bytes = view.size_bytes.get(row);
            if range.contains(view.ts_ns.get(row)) {
                sums.allocations += 1;
                sums.allocated_bytes = sums.allocated_bytes.saturating_add(bytes);
            }
            if view.freed_ts_ns.get(row).is_some_and(|ts_ns| range.contains(ts_ns)) {
                sums.frees += 1;
                sums.freed_bytes = sums.freed_bytes.saturating_add(bytes);
            }
        }
        Ok(Flow::Continue)
    }
}

fn memory(scopes: &[TraceScope], over: &Over) -> Answer<Option<MemorySums>> {
    let mut all: Option<MemorySums> = None;
    for scope in scopes {
        let mut sink = MemorySink { scope, sums: all };
        scope.any_time().pour(&mut sink, over)?;
        all = sink.sums;
    }
    Ok(all)
}

fn add_up(scopes: &[TraceScope], over: &Over) -> Answer<Totals> {
    // Percentiles are not requested, so no samples are kept.
    let mut stats = Stats::new(Options { sample_bytes: 0, rows: 0, ..Options::default() });
    for scope in scopes {
        stats.begin_within(&scope.filter);
        scope.pour(&mut stats, over)?;
    }
    let spans = stats.sums();
    let report = stats.finish();
    let mut totals = Totals {
        spans: spans.closed,
        unclosed: spans.unclosed,
        total_ns: spans.total_ns,
        names: spans.names,
        events: report.events.iter().map(|row| row.count).sum(),
        event_names: event_names(&report),
        values: values(&report),
        memory: memory(scopes, over)?,
        ..Totals::default()
    };
    for thread in report.threads.iter().filter(|thread| thread.is_active()) {
        totals.threads += thread.threads as usize;
        totals.busy_ns = totals.busy_ns.saturating_add(thread.busy_ns);
        totals.switches += thread.switches.unwrap_or(0);
        totals.off_cpu_ns = totals.off_cpu_ns.saturating_add(thread.off_cpu_ns.unwrap_or(0));
    }
    Ok(totals)
}

fn event_names(report: &Report) -> Vec<EventCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &report.events {
        *counts.entry(&row.name).or_default() += row.count;
    }
    let mut rows: Vec<_> =
        counts.into_iter().map(|(name, count)| EventCount { name: name.to_owned(), count }).collect();
    rows.sort_by_key(|row| Reverse(row.count));
    rows.truncate(MAX_NAMES);
    rows
}

fn values(report: &Report) -> Vec<ValueSums> {
    let rows = report.values.iter().take(MAX_NAMES).map(|row| ValueSums {
        name: row.name.clone(),
        count: row.count,
        min: row.min,
        mean: row.mean,
        max: row.max,
    });
    rows.collect()
}
