//! Durations of the spans of one name: distribution, longest spans, and correlation with values.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use serde::{Deserialize, Serialize};
use traceloom_analysis::stats::{self, Durations, Measured, Options, Pairing, Stats};

use super::{
    Answer, Refusal, Routes,
    place::Found,
    range::{self, LaneRange, RangeQuery},
    wire::row,
    work::{self, Reply},
};
use crate::{app::App, scene::Scene};

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("histogram", |app, ask| histogram(app, ask.query()?, ask.query()?));
    routes.get("longest", |app, ask| longest(app, ask.query()?, ask.query()?));
    routes.get("relation", |app, ask| relation(app, ask.query()?, ask.query()?));
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct HistogramQuery {
    /// Number of a name.
    name: u32,
    bins: Option<usize>,
}

/// Figures of the durations of a name, and their distribution.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Histogram {
    calls: u64,
    total_ns: u64,
    min_ns: u64,
    mean_ns: f64,
    p50_ns: Option<f64>,
    p95_ns: Option<f64>,
    p99_ns: Option<f64>,
    max_ns: u64,
    exact: bool,
    logarithmic: bool,
    bins: Vec<Bin>,
    /// The bins per trace, if several traces have the name.
    traces: Vec<TraceBins>,
    name: String,
    /// The kind of the lanes of the spans.
    kind: u8,
    unclosed: u64,
    loading: bool,
}

row! {
    /// A bin: durations from an inclusive to an exclusive bound.
    pub(crate) struct Bin { from_ns: f64, to_ns: f64, count: u64 }
}

/// The number of durations of one trace in each bin.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TraceBins {
    trace: u32,
    calls: u64,
    counts: Vec<u64>,
}

/// Max number of bins, for a wide screen.
const MAX_BINS: usize = 400;
/// Number of durations above which more bins than on a terminal are used.
const MANY: u64 = 300;
/// Kinds of lanes: nested spans, frames, ranges.
const KINDS: usize = 3;

fn histogram(app: App, asked: RangeQuery, query: HistogramQuery) -> Answer<Reply<Histogram>> {
    let is_loading = range::is_loading(&app)?;
    work::later(move |_| {
        let scene = app.scene()?;
        let name = known_name(&scene, query.name)?;
        let bins = query.bins.unwrap_or(stats::Histogram::BINS).clamp(1, MAX_BINS);
        let lanes = asked.lanes(&scene)?;
        let of_kind = measure(&lanes, query.name, bins);
        let traces = of_kind.by_trace(&scene, &lanes, query.name);
        Ok(Histogram { traces, ..of_kind.shown(name, is_loading) })
    })
}

fn known_name(scene: &Scene, number: u32) -> Answer<&str> {
    if (number as usize) < scene.names.len() {
        return Ok(scene.names.get(number));
    }
    Err(Refusal::absent("unknown name"))
}

/// The durations of one kind of lanes.
#[derive(Default)]
struct OfKind {
    kind: u8,
    unclosed: u64,
    measured: Measured,
}

/// Spans, frames and ranges of one name are distinct; the kind with the most spans is used.
fn measure(lanes: &[LaneRange<'_>], name: u32, bins: usize) -> OfKind {
    let mut kinds: [(u64, Durations); KINDS] = Default::default();
    for range in lanes {
        let Some((unclosed, durations)) = kinds.get_mut(range.key.kind as usize) else { continue };
        for index in spans_of(range, name) {
            match range.lane.end_ns(index) {
                Some(_) => durations.push(range.lane.dur_ns(index).max(0) as u64),
                None => *unclosed += 1,
            }
        }
    }
    let finish = |durations: &Durations| match durations.finish(bins) {
        measured if measured.calls < MANY && bins > stats::Histogram::BINS => durations.finish(stats::Histogram::BINS),
        measured => measured,
    };
    let of_kinds = (0..).zip(&kinds).map(|(kind, (unclosed, durations))| OfKind {
        kind,
        unclosed: *unclosed,
        measured: finish(durations),
    });
    of_kinds.max_by_key(|of| (of.measured.calls, Reverse(of.kind))).unwrap_or_default()
}

fn spans_of<'r>(range: &'r LaneRange<'_>, name: u32) -> impl Iterator<Item = u32> + 'r {
    let names = range.lane.names();
    range.spans.clone().filter(move |index| names[*index as usize] == name)
}

impl OfKind {
    /// The bins of each trace; empty if there is only one trace.
    fn by_trace(&self, scene: &Scene, lanes: &[LaneRange<'_>], name: u32) -> Vec<TraceBins> {
        let bins = &self.measured.histogram.bins;
        let mut counts: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for range in lanes.iter().filter(|range| range.key.kind == self.kind) {
            let track = usize::try_from(range.key.thread_id).ok().and_then(|track| scene.tracks.get(track));
            let Some(trace) = track.map(|track| track.trace) else { continue };
            for index in spans_of(range, name).filter(|index| range.lane.end_ns(*index).is_some()) {
                let dur_ns = range.lane.dur_ns(index).max(0) as f64;
                let bin = bins.partition_point(|bin| bin.from_ns <= dur_ns).saturating_sub(1);
                if let Some(count) = counts.entry(trace).or_insert_with(|| vec![0; bins.len()]).get_mut(bin) {
                    *count += 1;
                }
            }
        }
        if counts.len() < 2 {
            return Vec::new();
        }
        let of_trace = |(trace, counts): (u32, Vec<u64>)| TraceBins { trace, calls: counts.iter().sum(), counts };
        counts.into_iter().map(of_trace).collect()
    }

    fn shown(self, name: &str, loading: bool) -> Histogram {
        let Self { kind, unclosed, measured } = self;
        let [p50_ns, p95_ns, p99_ns] = measured.quantiles_ns.map_or([None; 3], |quantiles| quantiles.map(Some));
        let bin = |bin: &stats::Bin| Bin { from_ns: bin.from_ns, to_ns: bin.to_ns, count: bin.count };
        Histogram {
            calls: measured.calls,
            total_ns: measured.total_ns,
            min_ns: measured.min_ns,
            mean_ns: measured.mean_ns,
            p50_ns,
            p95_ns,
            p99_ns,
            max_ns: measured.max_ns,
            exact: measured.is_exact,
            logarithmic: measured.histogram.is_logarithmic,
            bins: measured.histogram.bins.iter().map(bin).collect(),
            traces: Vec::new(),
            name: name.to_owned(),
            kind,
            unclosed,
            loading,
        }
    }
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct LongestQuery {
    /// Number of a name.
    name: u32,
    /// Only spans of this kind of lanes.
    kind: Option<u8>,
    /// Minimum duration, inclusive.
    least: Option<f64>,
    /// Maximum duration, exclusive.
    below: Option<f64>,
    /// Number of spans to return.
    take: Option<usize>,
}

/// The longest spans of a name, longest first, and the number of all spans.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Longest {
    all: u64,
    places: Vec<Found>,
}

/// Default and max number of spans.
const SOME_PLACES: usize = 200;
const MAX_PLACES: usize = 1_000;

fn longest(app: App, asked: RangeQuery, query: LongestQuery) -> Answer<Reply<Longest>> {
    work::later(move |_| {
        let scene = app.scene()?;
        known_name(&scene, query.name)?;
        let (least, below) = (query.least.unwrap_or(0.0), query.below.unwrap_or(f64::INFINITY));
        if least.is_nan() || below.is_nan() || below < least {
            return Err(Refusal::bad("the max duration must exceed the min duration"));
        }
        let lanes = asked.lanes(&scene)?;
        let take = query.take.unwrap_or(SOME_PLACES).min(MAX_PLACES);
        let (mut all, mut kept) = (0_u64, BinaryHeap::new());
        for (number, range) in lanes.iter().enumerate() {
            if query.kind.is_some_and(|kind| kind != range.key.kind) {
                continue;
            }
            for index in spans_of(range, query.name).filter(|index| range.lane.end_ns(*index).is_some()) {
                let dur_ns = range.lane.dur_ns(index);
                if !(least..below).contains(&(dur_ns as f64)) {
                    continue;
                }
                all += 1;
                kept.push(Reverse((dur_ns, Reverse((range.lane.begin_ns(index), number, index)))));
                if kept.len() > take {
                    kept.pop();
                }
            }
        }
        let places = kept.into_sorted_vec().into_iter().filter_map(|Reverse((_, Reverse((_, number, index))))| {
            let range = lanes.get(number)?;
            Some(Found::span(&scene, range.key, range.lane, index))
        });
        Ok(Longest { all, places: places.collect() })
    })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RelationQuery {
    /// Number of the name of the spans.
    name: u32,
    /// Number of the name of the values.
    value: u32,
}

/// The correlation of the durations of a name with a value that was recorded inside its spans.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Relation {
    pairs: u64,
    left_out: u64,
    points: Vec<RelationPoint>,
    fit: Option<Fit>,
}

row! {
    /// A value and its enclosing span.
    pub(crate) struct RelationPoint { value: f64, dur_ns: i64, ts_ns: i64 }
}

/// The fitted line and law.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Fit {
    correlation: f64,
    slope_ns: f64,
    intercept_ns: f64,
    complexity: String,
    r2: Option<f64>,
}

fn relation(app: App, asked: RangeQuery, query: RelationQuery) -> Answer<Reply<Option<Relation>>> {
    let scopes = asked.scopes(&app)?;
    let (span, value) = {
        let scene = app.scene()?;
        (known_name(&scene, query.name)?.to_owned(), known_name(&scene, query.value)?.to_owned())
    };
    work::later(move |over| {
        let names = vec![span.clone(), value.clone()];
        let mut stats = Stats::new(Options { names, relation: Some(Pairing { value, span }), ..Options::default() });
        for scope in &scopes {
            stats.begin_within(&scope.filter);
            scope.pour(&mut stats, over)?;
        }
        let offset = |trace: u32| scopes.get(trace as usize).map_or(0, |scope| scope.offset_ns);
        Ok(stats.finish().relation.map(|relation| related(&relation, offset)))
    })
}

fn related(relation: &stats::Relation, offset: impl Fn(u32) -> i64) -> Relation {
    // An infinite value can neither be drawn nor written as JSON.
    let points = relation.points.iter().filter(|pair| pair.value.is_finite());
    let points = points.map(|pair| RelationPoint {
        value: pair.value,
        dur_ns: pair.dur_ns,
        ts_ns: pair.ts_ns.saturating_add(offset(pair.trace)),
    });
    let fit = |fit: &stats::Fit| Fit {
        correlation: fit.correlation,
        slope_ns: fit.slope_ns,
        intercept_ns: fit.intercept_ns,
        complexity: fit.complexity.as_str().to_owned(),
        r2: fit.r2,
    };
    Relation {
        pairs: relation.pairs,
        left_out: relation.left_out,
        points: points.collect(),
        fit: relation.fit.as_ref().map(fit),
    }
}
