//! Memory: how much was in use, who took it, what never came back.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Extension, Json, Router, extract::State, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::memory::{Lifetimes, Moment, Options, Report, Site, Totals, memory as analyse};
use traceloom_model::Filter;

use super::{Answer, Refusal, part::Asked, work};
use crate::server::App;

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new().route("/memory", get(memory)).layer(Extension(known))
}

/// Reports by trace, time and points; times are those of the trace.
type Known = work::Kept<(u32, Option<i64>, usize), Report>;

#[derive(Deserialize)]
pub(crate) struct MemoryQuery {
    trace: u32,
    /// A time on the axis of which to say what was alive.
    at: Option<i64>,
    /// Points of the curve.
    #[serde(default = "some_points")]
    points: usize,
}

fn some_points() -> usize {
    Options::default().points
}

/// Wider than any screen.
const MOST_POINTS: usize = 4_096;
/// Sites of each list; the sums are of all.
const MOST_SITES: usize = 300;
/// Frames of a stack; what is further out is counted.
const MOST_FRAMES: usize = 200;

/// The report on one trace, with its times on the axis.
async fn memory(
    State(app): State<App>,
    Extension(known): Extension<Arc<Known>>,
    Asked(query): Asked<MemoryQuery>,
) -> Answer {
    let trace = work::ready(&app, query.trace)?;
    let offset_ns = {
        let scene = app.scene.read().map_err(|_| Refusal::broken())?;
        scene.traces.get(query.trace as usize).map_or(0, |trace| trace.offset_ns)
    };
    let at_ns = query.at.map(|at| at.saturating_sub(offset_ns));
    let points = query.points.clamp(1, MOST_POINTS);
    work::run(move || {
        let options = Options { at_ns, points, ..Options::default() };
        let report = known.or((query.trace, at_ns, points), || Ok(analyse(&*trace, &Filter::default(), &options)?))?;
        if report.totals.allocations == 0 && report.totals.frees == 0 {
            return Err(Refusal::absent("there are no allocations in this trace"));
        }
        Ok(Json(shown(&report, offset_ns)))
    })
    .await
}

fn shown(report: &Report, offset_ns: i64) -> Value {
    let leaks = leaks(report);
    let mut listed: BTreeSet<usize> = leaks.iter().copied().chain(0..report.sites.len().min(MOST_SITES)).collect();
    for moment in [Some(&report.peak), report.at.as_ref()].into_iter().flatten() {
        listed.extend(moment.sites.iter().take(MOST_SITES).map(|(site, ..)| *site));
    }
    let often = most_often(report);
    listed.extend(&often);
    json!({
        "totals": totals(&report.totals, offset_ns),
        "curve": report.curve.iter()
            .map(|point| json!([point.ts_ns.saturating_add(offset_ns), point.used_bytes, point.most_bytes]))
            .collect::<Vec<_>>(),
        "peak": moment(&report.peak, offset_ns),
        "at": report.at.as_ref().map(|at| moment(at, offset_ns)),
        "leaks": leaks,
        "hot": (0..report.sites.len().min(MOST_SITES)).collect::<Vec<_>>(),
        "often": often,
        "sites": listed.iter().map(|number| site(*number, &report.sites[*number], offset_ns)).collect::<Vec<_>>(),
        "all_sites": report.sites.len(),
        "all_leaks": report.sites.iter().filter(|site| site.live > 0).count(),
        "lifetimes": report.lifetimes.iter().map(lifetimes).collect::<Vec<_>>(),
        "is_growth_only": report.is_growth_only,
        "is_coarse": report.is_coarse,
    })
}

/// Sites with memory that was never freed, the most bytes first.
fn leaks(report: &Report) -> Vec<usize> {
    let mut leaks: Vec<usize> = (0..report.sites.len()).filter(|site| report.sites[*site].live > 0).collect();
    leaks.sort_by_key(|site| std::cmp::Reverse(report.sites[*site].live_bytes));
    leaks.truncate(MOST_SITES);
    leaks
}

/// Sites by their number of allocations.
fn most_often(report: &Report) -> Vec<usize> {
    let mut sites: Vec<usize> = (0..report.sites.len()).collect();
    sites.sort_by_key(|site| std::cmp::Reverse(report.sites[*site].count));
    sites.truncate(MOST_SITES);
    sites
}

fn totals(totals: &Totals, offset_ns: i64) -> Value {
    json!({
        "allocations": totals.allocations,
        "allocated_bytes": totals.allocated_bytes,
        "frees": totals.frees,
        "freed_bytes": totals.freed_bytes,
        "live": totals.live,
        "live_bytes": totals.live_bytes,
        "reused": totals.reused,
        "double_frees": totals.double_frees,
        "unknown_frees": totals.unknown_frees,
        "temporary": totals.temporary,
        "collections": totals.collections,
        "first_ns": totals.first_ns.saturating_add(offset_ns),
        "last_ns": totals.last_ns.saturating_add(offset_ns),
        "churn_bytes_per_second": totals.churn_bytes_per_second(),
    })
}

fn moment(moment: &Moment, offset_ns: i64) -> Value {
    json!({
        "ts_ns": moment.ts_ns.saturating_add(offset_ns),
        "bytes": moment.bytes,
        "count": moment.count,
        "sites": moment.sites.iter().take(MOST_SITES).collect::<Vec<_>>(),
        "all_sites": moment.sites.len(),
    })
}

fn site(number: usize, site: &Site, offset_ns: i64) -> Value {
    let frames = site.stack.iter().take(MOST_FRAMES).map(|frame| json!([frame.function, frame.file, frame.line]));
    json!({
        "number": number,
        "stack": frames.collect::<Vec<_>>(),
        "deeper": site.stack.len().saturating_sub(MOST_FRAMES),
        "count": site.count,
        "bytes": site.bytes,
        "live": site.live,
        "live_bytes": site.live_bytes,
        "oldest_live_ns": site.oldest_live_ns.map(|ts_ns| ts_ns.saturating_add(offset_ns)),
        "freed": site.freed,
        "lifetime_ns": site.lifetime_ns,
        "temporary": site.temporary,
        "quarters": site.quarters,
    })
}

fn lifetimes(row: &Lifetimes) -> Value {
    json!([(row.below_ns != u64::MAX).then_some(row.below_ns), row.count, row.bytes])
}
