//! Memory: how much was in use, who took it, what never came back.

use std::{collections::BTreeSet, sync::Arc};

use axum::{Extension, Json, Router, extract::State, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::memory::{Extract, Options, Report, memory as analyse};
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
    /// A function of which to list the sites that have it in their stack.
    function: Option<String>,
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
        Ok(Json(shown(&report, query.function.as_deref(), offset_ns)))
    })
    .await
}

fn shown(report: &Report, function: Option<&str>, offset_ns: i64) -> Value {
    let leaks = leaks(report);
    let mut listed: BTreeSet<usize> = leaks.iter().copied().chain(0..report.sites.len().min(MOST_SITES)).collect();
    for moment in [Some(&report.peak), report.at.as_ref()].into_iter().flatten() {
        listed.extend(moment.sites.iter().take(MOST_SITES).map(|(site, ..)| *site));
    }
    let often = most_often(report);
    listed.extend(&often);
    let mut of_function = function.map_or_else(Vec::new, |function| sites_of(report, function));
    let all_of = of_function.len();
    of_function.truncate(MOST_SITES);
    listed.extend(&of_function);
    let extract =
        Extract { offset_ns, sites: listed.into_iter().collect(), most_alive: MOST_SITES, most_frames: MOST_FRAMES };
    let mut answer = report.to_json(&extract);
    answer["leaks"] = json!(leaks);
    answer["all_leaks"] = json!(report.sites.iter().filter(|site| site.live > 0).count());
    answer["hot"] = json!((0..report.sites.len().min(MOST_SITES)).collect::<Vec<_>>());
    answer["often"] = json!(often);
    answer["of"] = json!(of_function);
    answer["all_of"] = json!(all_of);
    answer
}

/// Sites with memory that was never freed, the most bytes first.
fn leaks(report: &Report) -> Vec<usize> {
    let mut leaks: Vec<usize> = (0..report.sites.len()).filter(|site| report.sites[*site].live > 0).collect();
    leaks.sort_by_key(|site| std::cmp::Reverse(report.sites[*site].live_bytes));
    leaks.truncate(MOST_SITES);
    leaks
}

/// Sites that have a function in their stack, the most bytes first.
fn sites_of(report: &Report, function: &str) -> Vec<usize> {
    let has_it = |site: &usize| report.sites[*site].stack.iter().any(|frame| frame.function == function);
    (0..report.sites.len()).filter(has_it).collect()
}

/// Sites by their number of allocations.
fn most_often(report: &Report) -> Vec<usize> {
    let mut sites: Vec<usize> = (0..report.sites.len()).collect();
    sites.sort_by_key(|site| std::cmp::Reverse(report.sites[*site].count));
    sites.truncate(MOST_SITES);
    sites
}
