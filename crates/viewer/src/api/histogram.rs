//! How long the spans of one name take, which take longest, and what their length depends on.

use std::{cmp::Reverse, collections::BinaryHeap};

use axum::{Json, Router, extract::State, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::stats::{Durations, Histogram, Measured, Options, Pairing, Relation, Stats};

use super::{
    Answer, Refusal,
    part::{self, Asked, LanePart, PartQuery},
    work,
};
use crate::{scene::Scene, server::App};

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/histogram", get(histogram)).route("/longest", get(longest)).route("/relation", get(relation))
}

#[derive(Deserialize)]
struct NameQuery {
    /// Number of a name.
    name: u32,
    bins: Option<usize>,
}

/// A bin for each few pixels of a wide screen.
const MOST_BINS: usize = 400;
/// So many durations fill more bins than a terminal shows.
const MANY: u64 = 300;
/// Kinds of lanes: nested spans, frames, ranges.
const KINDS: usize = 3;

/// Figures of the durations of a name, and how they are distributed.
async fn histogram(State(app): State<App>, Asked(part): Asked<PartQuery>, Asked(query): Asked<NameQuery>) -> Answer {
    let is_loading = part::is_loading(&app)?;
    work::run(move || {
        let scene = app.scene.read().map_err(|_| Refusal::broken())?;
        let name = known_name(&scene, query.name)?;
        let bins = query.bins.unwrap_or(Histogram::BINS).clamp(1, MOST_BINS);
        let (kind, unclosed, measured) = measure(&part.lanes(&scene)?, query.name, bins);
        let mut answer = figures(&measured);
        answer["name"] = name.into();
        answer["kind"] = kind.into();
        answer["unclosed"] = unclosed.into();
        answer["loading"] = is_loading.into();
        Ok(Json(answer))
    })
    .await
}

fn known_name(scene: &Scene, number: u32) -> Answer<&str> {
    match (number as usize) < scene.names.len() {
        true => Ok(scene.names.get(number)),
        false => Err(Refusal::absent("there is no such name")),
    }
}

/// Spans, frames and ranges of one name are different things: what there is most of counts.
fn measure(lanes: &[LanePart<'_>], name: u32, bins: usize) -> (u8, u64, Measured) {
    let mut kinds: [(u64, Durations); KINDS] = Default::default();
    for part in lanes {
        let Some((unclosed, durations)) = kinds.get_mut(part.kind as usize) else { continue };
        for index in spans_of(part, name) {
            match part.lane.end_ns(index) {
                Some(_) => durations.push(part.lane.dur_ns(index).max(0) as u64),
                None => *unclosed += 1,
            }
        }
    }
    let finish = |durations: &Durations| match durations.finish(bins) {
        measured if measured.calls < MANY && bins > Histogram::BINS => durations.finish(Histogram::BINS),
        measured => measured,
    };
    let measured = kinds.iter().enumerate();
    let measured = measured.map(|(kind, (unclosed, durations))| (kind as u8, *unclosed, finish(durations)));
    measured.max_by_key(|(kind, _, measured)| (measured.calls, Reverse(*kind))).unwrap_or_default()
}

fn spans_of<'p>(part: &'p LanePart<'_>, name: u32) -> impl Iterator<Item = u32> + 'p {
    let names = part.lane.names();
    part.spans.clone().filter(move |index| names[*index as usize] == name)
}

fn figures(measured: &Measured) -> Value {
    let [p50, p95, p99] = measured.quantiles_ns.map_or([None; 3], |quantiles| quantiles.map(Some));
    let bins = measured.histogram.bins.iter().map(|bin| json!([bin.from_ns, bin.to_ns, bin.count]));
    json!({
        "calls": measured.calls,
        "total_ns": measured.total_ns,
        "min_ns": measured.min_ns,
        "mean_ns": measured.mean_ns,
        "p50_ns": p50,
        "p95_ns": p95,
        "p99_ns": p99,
        "max_ns": measured.max_ns,
        "exact": measured.is_exact,
        "logarithmic": measured.histogram.is_logarithmic,
        "bins": bins.collect::<Vec<_>>(),
    })
}

#[derive(Deserialize)]
struct LongestQuery {
    /// Number of a name.
    name: u32,
    /// Only spans of this kind of lanes.
    kind: Option<u8>,
    /// Only spans that take so long or longer.
    least: Option<f64>,
    /// Only spans that take less.
    below: Option<f64>,
    /// How many.
    #[serde(default = "some_places")]
    take: usize,
}

fn some_places() -> usize {
    200
}

/// More than anybody looks through.
const MOST_PLACES: usize = 1_000;

/// The longest spans of a name, the longest first, and how many there are.
async fn longest(State(app): State<App>, Asked(part): Asked<PartQuery>, Asked(query): Asked<LongestQuery>) -> Answer {
    work::run(move || {
        let scene = app.scene.read().map_err(|_| Refusal::broken())?;
        known_name(&scene, query.name)?;
        let (least, below) = (query.least.unwrap_or(0.0), query.below.unwrap_or(f64::INFINITY));
        if least.is_nan() || below.is_nan() || below < least {
            return Err(Refusal::bad("the longest duration has to be longer than the shortest"));
        }
        let lanes = part.lanes(&scene)?;
        let take = query.take.min(MOST_PLACES);
        let (mut all, mut kept) = (0_u64, BinaryHeap::new());
        for (number, part) in lanes.iter().enumerate() {
            if query.kind.is_some_and(|kind| kind != part.kind) {
                continue;
            }
            for index in spans_of(part, query.name).filter(|index| part.lane.end_ns(*index).is_some()) {
                let dur_ns = part.lane.dur_ns(index);
                if !(least..below).contains(&(dur_ns as f64)) {
                    continue;
                }
                all += 1;
                kept.push(Reverse((dur_ns, Reverse((part.lane.begin_ns(index), number, index)))));
                if kept.len() > take {
                    kept.pop();
                }
            }
        }
        let places = kept.into_sorted_vec().into_iter();
        let places =
            places.filter_map(|Reverse((_, Reverse((_, number, index))))| Some(place(lanes.get(number)?, index)));
        Ok(Json(json!({ "all": all, "places": places.collect::<Vec<_>>() })))
    })
    .await
}

fn place(part: &LanePart<'_>, index: u32) -> Value {
    json!({
        "track": part.track,
        "kind": part.kind,
        "depth": part.depth,
        "index": index,
        "ts_ns": part.lane.begin_ns(index).saturating_add(part.offset_ns),
        "dur_ns": part.lane.dur_ns(index),
    })
}

#[derive(Deserialize)]
struct RelationQuery {
    /// Number of the name of the spans.
    name: u32,
    /// Number of the name of the values.
    value: u32,
}

/// What the durations of a name have to do with a value that was told inside of its spans.
async fn relation(State(app): State<App>, Asked(part): Asked<PartQuery>, Asked(query): Asked<RelationQuery>) -> Answer {
    let pieces = part.pieces(&app)?;
    let (span, value) = {
        let scene = app.scene.read().map_err(|_| Refusal::broken())?;
        (known_name(&scene, query.name)?.to_owned(), known_name(&scene, query.value)?.to_owned())
    };
    let waiting = work::Waiting::default();
    let over = waiting.over();
    work::run(move || {
        let names = vec![span.clone(), value.clone()];
        let mut stats = Stats::new(Options { names, relation: Some(Pairing { value, span }), ..Options::default() });
        for piece in &pieces {
            stats.begin_within(&piece.filter);
            part::pour(piece, &mut stats, &over)?;
        }
        let relation = stats.finish().relation;
        let offset = |trace: u32| pieces.get(trace as usize).map_or(0, |piece| piece.offset_ns);
        Ok(Json(relation.map_or(Value::Null, |relation| related(&relation, offset))))
    })
    .await
}

fn related(relation: &Relation, offset: impl Fn(u32) -> i64) -> Value {
    // An infinite value has no place in a picture, nor in JSON.
    let points = relation.points.iter().filter(|pair| pair.value.is_finite());
    let points = points.map(|pair| json!([pair.value, pair.dur_ns, pair.ts_ns.saturating_add(offset(pair.trace))]));
    json!({
        "pairs": relation.pairs,
        "left_out": relation.left_out,
        "points": points.collect::<Vec<_>>(),
        "fit": relation.fit.as_ref().map(|fit| json!({
            "correlation": fit.correlation,
            "slope_ns": fit.slope_ns,
            "intercept_ns": fit.intercept_ns,
            "complexity": fit.complexity.as_str(),
            "r2": fit.r2,
        })),
    })
}
