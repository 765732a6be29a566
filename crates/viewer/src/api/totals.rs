//! Totals of a range of the traces: the sums of `traceloom stats` in a few numbers.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Extension, Json, Router, extract::State, routing::get};
use serde::Serialize;
use traceloom_analysis::stats::{Options, Stats};

use super::{
    Answer, Asked,
    range::{self, RangeQuery, ScopeKey, TraceScope},
    work::{self, Over},
};
use crate::server::App;

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new().route("/totals", get(totals)).layer(Extension(known))
}

type Known = work::Kept<ScopeKey, Totals>;

/// The sums of `traceloom stats` for a range and some tracks.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Totals {
    /// Spans that were closed.
    spans: u64,
    /// Spans that never were.
    unclosed: u64,
    /// The total time of all spans.
    total_ns: u64,
    /// Time inside spans, each moment of a thread once.
    busy_ns: u64,
    names: usize,
    events: u64,
    threads: usize,
    /// Times that a thread was taken off its processor, and for how long.
    switches: u64,
    off_cpu_ns: u64,
}

async fn totals(
    State(app): State<App>,
    Extension(known): Extension<Arc<Known>>,
    Asked(asked): Asked<RangeQuery>,
) -> Answer<Json<Totals>> {
    let scopes = asked.scopes(&app)?;
    work::run_awaited(move |over| {
        let totals = known.or(range::key(&scopes), || add_up(&scopes, over))?;
        Ok(Json((*totals).clone()))
    })
    .await
}

fn add_up(scopes: &[TraceScope], over: &Over) -> Answer<Totals> {
    // Quantiles are not asked for, so no samples are kept.
    let mut stats = Stats::new(Options { sample_bytes: 0, ..Options::default() });
    for scope in scopes {
        stats.begin_within(&scope.filter);
        scope.pour(&mut stats, over)?;
    }
    let report = stats.finish();
    let mut totals = Totals { events: report.events.iter().map(|row| row.count).sum(), ..Totals::default() };
    for row in &report.spans {
        totals.spans += row.calls;
        totals.unclosed += row.unclosed;
        totals.total_ns = totals.total_ns.saturating_add(row.total_ns);
    }
    totals.names = report.spans.iter().map(|row| &row.name).collect::<BTreeSet<_>>().len();
    for thread in &report.threads {
        totals.threads += usize::from(thread.spans + thread.switches > 0);
        totals.busy_ns = totals.busy_ns.saturating_add(thread.busy_ns);
        totals.switches += thread.switches;
        totals.off_cpu_ns = totals.off_cpu_ns.saturating_add(thread.off_cpu_ns);
    }
    Ok(totals)
}
