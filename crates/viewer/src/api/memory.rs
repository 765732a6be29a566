//! Memory: usage over time, allocation sites, and leaks.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use traceloom_analysis::memory::{Extract, MemoryReport, Options, Report, Site, memory as analyze};
use traceloom_model::Filter;

use super::{
    Answer, Refusal, Routes,
    work::{self, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptReports>::default());
    routes.get("memory", |app, known, ask| memory(app, known, ask.query()?));
}

/// Reports by trace, time (of the trace) and number of points.
type KeptReports = work::Kept<(u32, Option<i64>, usize), Report>;

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct MemoryQuery {
    trace: u32,
    /// A time on the axis for which to list the live memory.
    at: Option<i64>,
    /// A function for which to list the sites that have it in their stack.
    function: Option<String>,
    /// Number of points of the curve.
    points: Option<usize>,
}

/// The report on one trace, with times on the axis, and lists of its sites by number.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct MemoryAnswer {
    #[serde(flatten)]
    report: MemoryReport,
    /// Sites with memory that was never freed, most bytes first.
    leaks: Vec<usize>,
    all_leaks: usize,
    /// Sites sorted by bytes.
    hot: Vec<usize>,
    /// Sites sorted by number of allocations.
    often: Vec<usize>,
    /// Sites with the function in their stack, most bytes first.
    of: Vec<usize>,
    all_of: usize,
}

/// Max number of points; wider than any screen.
const MAX_POINTS: usize = 4_096;
/// Max number of sites per list; the sums cover all sites.
const MAX_SITES: usize = 300;
/// Max number of frames per stack; outer frames are only counted.
const MAX_FRAMES: usize = 200;

fn memory(app: App, known: Arc<KeptReports>, query: MemoryQuery) -> Answer<Reply<MemoryAnswer>> {
    let trace = work::ready(&app, query.trace)?;
    let offset_ns = app.scene()?.offset_ns(query.trace);
    let at_ns = query.at.map(|at| at.saturating_sub(offset_ns));
    let points = query.points.unwrap_or(Options::default().points).clamp(1, MAX_POINTS);
    work::later(move |_| {
        let options = Options { at_ns, points, ..Options::default() };
        let report = known.or((query.trace, at_ns, points), || Ok(analyze(&*trace, &Filter::default(), &options)?))?;
        if report.totals.allocations == 0 && report.totals.frees == 0 {
            return Err(Refusal::absent("this trace has no allocations"));
        }
        Ok(shown(&report, query.function.as_deref(), offset_ns))
    })
}

fn shown(report: &Report, function: Option<&str>, offset_ns: i64) -> MemoryAnswer {
    let leaks = sites(report, |site| site.live > 0, |site| site.live_bytes);
    let often = sites(report, |_| true, |site| site.count);
    let has_it = |site: &Site| site.stack.iter().any(|frame| Some(frame.function.as_str()) == function);
    let of = sites(report, has_it, |site| site.bytes);
    let hot = sites(report, |_| true, |site| site.bytes);
    let mut listed: BTreeSet<usize> = [&leaks, &often, &of, &hot].into_iter().flat_map(Listed::first).collect();
    for moment in [Some(&report.peak), report.at.as_ref()].into_iter().flatten() {
        listed.extend(moment.sites.iter().take(MAX_SITES).map(|(site, ..)| *site));
    }
    let extract =
        Extract { offset_ns, sites: listed.into_iter().collect(), most_alive: MAX_SITES, most_frames: MAX_FRAMES };
    MemoryAnswer {
        report: report.extract(&extract),
        all_leaks: leaks.0.len(),
        leaks: leaks.first().collect(),
        hot: hot.first().collect(),
        often: often.first().collect(),
        all_of: of.0.len(),
        of: of.first().collect(),
    }
}

/// Numbers of sites; only some are sent.
struct Listed(Vec<usize>);

impl Listed {
    fn first(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied().take(MAX_SITES)
    }
}

/// Some of the sites, largest first.
fn sites(report: &Report, is_wanted: impl Fn(&Site) -> bool, weight: impl Fn(&Site) -> u64) -> Listed {
    let mut sites: Vec<usize> = (0..report.sites.len()).filter(|site| is_wanted(&report.sites[*site])).collect();
    sites.sort_by_key(|site| Reverse(weight(&report.sites[*site])));
    Listed(sites)
}
