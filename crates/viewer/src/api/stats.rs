//! Statistics of a range of the traces, as in `traceloom stats`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use traceloom_analysis::stats::{self as analysis, By, Options, Report};

use super::{
    Answer, Routes,
    range::{self, RangeQuery, ScopeKey, TraceScope},
    wire::row,
    work::{self, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptReports>::default());
    routes.get("stats", |app, known, ask| stats(app, known, ask.query()?, ask.query()?));
}

/// Reports by range and grouping; a report can be large, so only the last ones are kept.
type KeptReports = work::Kept<(ScopeKey, Grouping), Report, 2>;

/// Grouping key in addition to the name.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Grouping {
    Category,
    File,
    #[default]
    Name,
    Thread,
}

impl Grouping {
    fn by(self) -> Vec<By> {
        match self {
            Self::Category => vec![By::Category],
            Self::File => vec![By::File],
            Self::Name => Vec::new(),
            Self::Thread => vec![By::Thread],
        }
    }
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct StatsQuery {
    by: Option<Grouping>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Stats {
    /// Whether traces are still loading, which are not included.
    loading: bool,
    /// Self time of all spans.
    self_ns: u64,
    /// Number of spans that are counted together because there are too many groups.
    merged: u64,
    unclosed: u64,
    spans: Listed<SpanRow>,
    functions: Listed<FunctionRow>,
    values: Listed<ValueRow>,
    events: Listed<EventRow>,
    threads: Vec<ThreadRow>,
}

/// The first rows of a list, and the number of all rows.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Listed<T> {
    all: usize,
    rows: Vec<T>,
}

row! {
    /// Spans of one name, or of one group.
    pub(crate) struct SpanRow {
        name: String,
        thread: Option<String>,
        tid: Option<u64>,
        file: Option<String>,
        category: Option<String>,
        calls: u64,
        unclosed: u64,
        total_ns: u64,
        self_ns: u64,
        min_ns: u64,
        mean_ns: f64,
        p50_ns: Option<f64>,
        p95_ns: Option<f64>,
        p99_ns: Option<f64>,
        max_ns: u64,
        share: Option<f64>,
        is_exact: bool,
    }
}

row! {
    /// A function with the totals of the profiler.
    pub(crate) struct FunctionRow { name: String, calls: u64, total_ns: u64, self_ns: u64, mean_ns: f64, share: f64 }
}

row! {
    /// Values of one name.
    pub(crate) struct ValueRow {
        name: String,
        count: u64,
        min: Option<f64>,
        mean: Option<f64>,
        p50: Option<f64>,
        p95: Option<f64>,
        p99: Option<f64>,
        max: Option<f64>,
        first: Option<f64>,
        last: Option<f64>,
        is_exact: bool,
    }
}

row! {
    /// Events of one name.
    pub(crate) struct EventRow {
        name: String,
        category: String,
        thread: Option<String>,
        tid: Option<u64>,
        count: u64,
    }
}

row! {
    /// A thread and its trace.
    pub(crate) struct ThreadRow {
        name: String,
        tid: Option<u64>,
        trace: Option<u32>,
        spans: u64,
        busy_ns: u64,
        switches: u64,
        off_cpu_ns: u64,
    }
}

/// Max number of rows per list; the rows with the most self time come first.
const MAX_ROWS: usize = 20_000;

fn stats(app: App, known: Arc<KeptReports>, asked: RangeQuery, query: StatsQuery) -> Answer<Reply<Stats>> {
    let scopes = asked.scopes(&app)?;
    let is_loading = range::is_loading(&app)?;
    let by = query.by.unwrap_or_default();
    work::later(move |over| {
        let report = known.or((range::key(&scopes), by), || report(&scopes, by, over))?;
        Ok(shown(&report, &scopes, is_loading))
    })
}

fn report(scopes: &[TraceScope], by: Grouping, over: &work::Over) -> Answer<Report> {
    let mut stats = analysis::Stats::new(Options { by: by.by(), rows: MAX_ROWS, ..Options::default() });
    for scope in scopes {
        stats.begin_within(&scope.filter);
        scope.pour(&mut stats, over)?;
    }
    Ok(stats.finish())
}

fn shown(report: &Report, scopes: &[TraceScope], is_loading: bool) -> Stats {
    let threads = report.threads.iter().filter(|row| row.is_active());
    Stats {
        loading: is_loading,
        self_ns: report.self_ns,
        merged: report.merged,
        unclosed: report.unclosed,
        spans: Listed { all: report.all_spans, ..listed(&report.spans, span) },
        functions: listed(&report.calls, function),
        values: listed(&report.values, value),
        events: listed(&report.events, event),
        threads: threads.take(MAX_ROWS).map(|row| thread(row, scopes)).collect(),
    }
}

fn listed<T, R>(rows: &[T], row: fn(&T) -> R) -> Listed<R> {
    Listed { all: rows.len(), rows: rows.iter().take(MAX_ROWS).map(row).collect() }
}

fn span(row: &analysis::SpanRow) -> SpanRow {
    let analysis::SpanRow { name, thread, tid, file, category, calls, unclosed, total_ns, self_ns, .. } = row.clone();
    let analysis::SpanRow { min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, share, is_exact, .. } = *row;
    SpanRow {
        name,
        thread,
        tid,
        file,
        category,
        calls,
        unclosed,
        total_ns,
        self_ns,
        min_ns,
        mean_ns,
        p50_ns,
        p95_ns,
        p99_ns,
        max_ns,
        share,
        is_exact,
    }
}

fn function(row: &analysis::CallRow) -> FunctionRow {
    let analysis::CallRow { name, calls, total_ns, self_ns, mean_ns, share, .. } = row.clone();
    FunctionRow { name, calls, total_ns, self_ns, mean_ns, share }
}

fn value(row: &analysis::ValueRow) -> ValueRow {
    let analysis::ValueRow { name, count, others, min, mean, p50, p95, p99, max, first, last, is_exact, .. } =
        row.clone();
    ValueRow { name, count: count + others, min, mean, p50, p95, p99, max, first, last, is_exact }
}

fn event(row: &analysis::EventRow) -> EventRow {
    let analysis::EventRow { name, category, thread, tid, count, .. } = row.clone();
    EventRow { name, category, thread, tid, count }
}

fn thread(row: &analysis::ThreadRow, scopes: &[TraceScope]) -> ThreadRow {
    let analysis::ThreadRow { name, tid, trace, spans, busy_ns, switches, off_cpu_ns, .. } = row.clone();
    let trace = scopes.get(trace as usize).map(|scope| scope.trace);
    let (switches, off_cpu_ns) = (switches.unwrap_or(0), off_cpu_ns.unwrap_or(0));
    ThreadRow { name, tid, trace, spans, busy_ns, switches, off_cpu_ns }
}
