//! `summary`: the most important facts about a trace, for the program, reports, the page and assistants.
//!
//! One pass over the tables computes facts, advice, statistics, memory and logs; only suspicious parts are read again.

mod facts;
mod logs;
mod report;

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource};
use traceloom_passes::Together;

pub use self::facts::is_data_missing;
pub use self::report::{
    About, Badge, ErrorLine, Health, LevelCount, LogSiteUse, LogSummary, MemorySiteUse, MemorySummary, NameDurations,
    NameRow, Problem, RowCount, Summary, ThreadUse,
};
use self::{facts::Facts, logs::Logs};
use crate::{
    advise::{self, Advice, Measured, Weight},
    memory::{self, Collected},
    stats::{self, Histogram, Stats},
};

/// Rows per list.
const ROWS: usize = 20;
/// Max number of frames kept per stack.
const FRAMES: usize = 6;

/// Summarizes one trace.
pub fn of_trace(trace: &dyn TableSource, options: &advise::Options) -> Result<Summary> {
    let _kept = trace.keep();
    let mut first = Summarizer::default();
    trace.pour(&Filter::default(), &mut first)?;
    first.finish(trace, options)
}

/// The first pass; other sinks may share it, see [`Together`].
///
/// `batch* finish`, with the tables of one trace.
#[derive(Debug)]
pub struct Summarizer {
    facts: Facts,
    measured: Measured,
    stats: Stats,
    memory: Collected,
    logs: Logs,
}

impl Default for Summarizer {
    fn default() -> Self {
        let options = stats::Options { rows: ROWS, parts_only: true, histograms: ROWS, ..stats::Options::default() };
        let mut stats = Stats::new(options);
        stats.begin();
        Self {
            facts: Facts::default(),
            measured: Measured::default(),
            stats,
            memory: Collected::new(&memory::Options::default()),
            logs: Logs::default(),
        }
    }
}

impl Summarizer {
    /// The summary; the trace is read again only if something in it needs a second pass.
    pub fn finish(self, trace: &dyn TableSource, options: &advise::Options) -> Result<Summary> {
        let (about, health) = self.facts.finish();
        let study = advise::study(trace, self.measured, options, true)?;
        let stats = self.stats.finish();
        let memory = if self.memory.is_empty() {
            None
        } else {
            let options = memory::Options::default();
            Some(memory_summary(&memory::complete(trace, &Filter::default(), self.memory, &options)?))
        };
        let (names, all_names, self_ns) = names(&stats);
        let threads = stats.threads.iter().take(ROWS).map(|thread| ThreadUse {
            name: thread.name.clone(),
            tid: thread.tid,
            spans: thread.spans,
            busy_ns: thread.busy_ns,
            off_cpu_ns: thread.off_cpu_ns.unwrap_or(0),
        });
        Ok(Summary {
            verdict: verdict(&health, &study.advice),
            about,
            health,
            findings: study.advice,
            names,
            all_names,
            self_ns,
            threads: threads.collect(),
            slow: study.slow,
            memory,
            logs: self.logs.finish(trace)?,
        })
    }

    fn sinks(&mut self) -> Together<'_> {
        Together::new(vec![&mut self.facts, &mut self.measured, &mut self.stats, &mut self.memory, &mut self.logs])
    }
}

impl TableSink for Summarizer {
    fn wants(&self, table: Table) -> Columns {
        let Self { facts, measured, stats, memory, logs } = self;
        let sinks: [&dyn TableSink; 5] = [facts, measured, stats, memory, logs];
        let all = sinks.iter().fold(traceloom_model::Wanted::nothing(), |all, sink| all.and(table, sink.wants(table)));
        all.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        self.sinks().batch(table, batch)
    }
}

/// The main finding in one sentence, after a warning if the file is incomplete.
fn verdict(health: &Health, advice: &[Advice]) -> String {
    let file = match health.badge {
        Badge::Fine => "",
        Badge::Damaged => "The file is damaged. ",
        Badge::DataMissing => "Data is missing from the file. ",
    };
    let serious = advice.iter().filter(|advice| advice.weight < Weight::Low).count();
    let program = match (advice.first(), serious) {
        (None, _) => "No problems found".to_owned(),
        (Some(first), 0) => format!("No serious problems; {}", first.message),
        (Some(first), _) => first.message.clone(),
    };
    let more = match serious.saturating_sub(1) {
        0 => String::new(),
        1 => "; 1 more finding is worth a look".to_owned(),
        more => format!("; {more} more findings are worth a look"),
    };
    format!("{file}{program}{more}.")
}

/// The names with the most self time, the number of all names, and their self time.
fn names(stats: &stats::Report) -> (Vec<NameRow>, usize, u64) {
    if stats.spans.is_empty() {
        let all_ns = stats.calls.iter().fold(0_u64, |all, row| all.saturating_add(row.self_ns));
        let rows = stats.calls.iter().take(ROWS).map(|row| NameRow {
            name: row.name.clone(),
            calls: row.calls,
            total_ns: row.total_ns,
            self_ns: row.self_ns,
            share: row.share,
            mean_ns: row.mean_ns,
            durations: None,
        });
        return (rows.collect(), stats.calls.len(), all_ns);
    }
    let rows = stats.spans.iter().map(|row| NameRow {
        name: row.name.clone(),
        calls: row.calls,
        total_ns: row.total_ns,
        self_ns: row.self_ns,
        share: row.share.unwrap_or_default().clamp(0.0, 1.0),
        mean_ns: row.mean_ns,
        durations: durations(row),
    });
    (rows.collect(), stats.all_spans, stats.self_ns)
}

fn durations(row: &stats::SpanRow) -> Option<NameDurations> {
    let bins = |histogram: &Histogram| histogram.bins.iter().map(|bin| bin.count).collect();
    let is_varied = row.min_ns < row.max_ns;
    Some(NameDurations {
        min_ns: row.min_ns,
        p50_ns: row.p50_ns?,
        p95_ns: row.p95_ns?,
        p99_ns: row.p99_ns?,
        max_ns: row.max_ns,
        bins: row.histogram.as_ref().filter(|_| is_varied).map(bins).unwrap_or_default(),
        is_logarithmic: row.histogram.as_ref().is_some_and(|histogram| histogram.is_logarithmic),
    })
}

fn memory_summary(report: &memory::Report) -> MemorySummary {
    let site = |site: &memory::Site, count: u64, bytes: u64| MemorySiteUse {
        stack: site.stack.iter().take(FRAMES).cloned().collect(),
        count,
        bytes,
    };
    let mut leaks: Vec<&memory::Site> = report.sites.iter().filter(|site| site.live > 0).collect();
    leaks.sort_by_key(|site| std::cmp::Reverse(site.live_bytes));
    let at_peak = report
        .peak
        .sites
        .iter()
        .take(ROWS)
        .filter_map(|(number, bytes, count)| report.sites.get(*number).map(|of| site(of, *count, *bytes)));
    MemorySummary {
        allocations: report.totals.allocations,
        allocated_bytes: report.totals.allocated_bytes,
        peak_bytes: report.peak.bytes,
        peak_ns: report.peak.ts_ns,
        live: report.totals.live,
        live_bytes: report.totals.live_bytes,
        double_frees: report.totals.double_frees,
        is_growth_only: report.is_growth_only,
        curve: report.curve.clone(),
        leaks: leaks.iter().take(ROWS).map(|of| site(of, of.live, of.live_bytes)).collect(),
        at_peak: at_peak.collect(),
        hot: report.sites.iter().take(ROWS).map(|of| site(of, of.count, of.bytes)).collect(),
    }
}
