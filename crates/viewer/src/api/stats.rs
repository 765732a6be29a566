//! Statistics of a part of the traces: the figures of `traceloom stats`.

use std::sync::Arc;

use axum::{Extension, Json, Router, extract::State, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::stats::{By, CallRow, EventRow, Options, Report, SpanRow, Stats, ThreadRow, ValueRow};

use super::{
    Answer,
    part::{self, Asked, PartKey, PartQuery, Piece},
    work,
};
use crate::server::App;

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new().route("/stats", get(stats)).layer(Extension(known))
}

/// Reports by part and by what tells groups apart.
type Known = work::Kept<(PartKey, Grouping), Report>;

/// What tells groups apart, besides the name.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Grouping {
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
struct StatsQuery {
    #[serde(default)]
    by: Grouping,
}

/// Rows of one list; those with the most time of their own come first.
const MOST_ROWS: usize = 100_000;

async fn stats(
    State(app): State<App>,
    Extension(known): Extension<Arc<Known>>,
    Asked(part): Asked<PartQuery>,
    Asked(query): Asked<StatsQuery>,
) -> Answer {
    let pieces = part.pieces(&app)?;
    let is_loading = part::is_loading(&app)?;
    let waiting = work::Waiting::default();
    let over = waiting.over();
    work::run(move || {
        let question = (part::key(&pieces), query.by);
        let report = known.or(question, || report(&pieces, query.by, &over))?;
        Ok(Json(shown(&report, &pieces, is_loading)))
    })
    .await
}

fn report(pieces: &[Piece], by: Grouping, over: &work::Over) -> Answer<Report> {
    let mut stats = Stats::new(Options { by: by.by(), ..Options::default() });
    for piece in pieces {
        stats.begin_within(&piece.filter);
        part::pour(piece, &mut stats, over)?;
    }
    Ok(stats.finish())
}

fn shown(report: &Report, pieces: &[Piece], is_loading: bool) -> Value {
    let trace_of = |row: &ThreadRow| pieces.get(row.trace as usize).map(|piece| piece.trace);
    let threads = report.threads.iter().filter(|row| row.spans + row.switches > 0);
    json!({
        "loading": is_loading,
        "self_ns": report.self_ns,
        "merged": report.merged,
        "unclosed": report.spans.iter().map(|row| row.unclosed).sum::<u64>(),
        "spans": listed(&report.spans, span),
        "functions": listed(&report.calls, function),
        "values": listed(&report.values, value),
        "events": listed(&report.events, event),
        "threads": threads.take(MOST_ROWS).map(|row| {
            json!([row.name, row.tid, trace_of(row), row.spans, row.busy_ns, row.switches, row.off_cpu_ns])
        }).collect::<Vec<_>>(),
    })
}

/// The first rows, and how many there are.
fn listed<T>(rows: &[T], row: fn(&T) -> Value) -> Value {
    json!({ "all": rows.len(), "rows": rows.iter().take(MOST_ROWS).map(row).collect::<Vec<_>>() })
}

fn span(row: &SpanRow) -> Value {
    json!([
        row.name,
        row.thread,
        row.tid,
        row.file,
        row.category,
        row.calls,
        row.unclosed,
        row.total_ns,
        row.self_ns,
        row.min_ns,
        row.mean_ns,
        row.p50_ns,
        row.p95_ns,
        row.p99_ns,
        row.max_ns,
        row.share,
        row.is_exact,
    ])
}

fn function(row: &CallRow) -> Value {
    json!([row.name, row.calls, row.total_ns, row.self_ns, row.mean_ns, row.share])
}

fn value(row: &ValueRow) -> Value {
    json!([
        row.name,
        row.count + row.others,
        row.min,
        row.mean,
        row.p50,
        row.p95,
        row.p99,
        row.max,
        row.first,
        row.last,
        row.is_exact
    ])
}

fn event(row: &EventRow) -> Value {
    json!([row.name, row.category, row.thread, row.tid, row.count])
}
