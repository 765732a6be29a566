//! How the times of names change from day to day and from build to build.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use traceloom_analysis::trend::{self, Change, band};
use traceloom_core::{Error, Result};
use traceloom_query::Ask;

use crate::answers::{each_row, number, quoted, text};

/// Options of a trend.
#[derive(Clone, Debug, Default)]
pub struct TrendOptions {
    /// One name (default: all).
    pub name: Option<String>,
    /// The figure of each trace that is checked for changes.
    pub metric: Metric,
    /// Which changes count.
    pub changes: trend::Options,
}

/// A figure of one name in one trace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Metric {
    /// Mean time per call.
    Mean,
    /// The median.
    #[default]
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
}

impl Metric {
    fn sql(self) -> &'static str {
        match self {
            Self::Mean => "cast(total_ns as double) / nullif(calls, 0)",
            // Sums have no distribution, so the mean is the best available figure.
            Self::P50 => "coalesce(p50_ns, cast(total_ns as double) / nullif(calls, 0))",
            Self::P95 => "coalesce(p95_ns, cast(total_ns as double) / nullif(calls, 0))",
            Self::P99 => "coalesce(p99_ns, cast(total_ns as double) / nullif(calls, 0))",
        }
    }
}

/// The history of a fleet.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Trend {
    /// Points of the history: day and build, in order of their first trace.
    pub points: Vec<[String; 2]>,
    /// The requested name, or the names that changed, largest change first.
    pub names: Vec<NameTrend>,
    /// Number of names that were checked.
    pub looked_at: usize,
}

/// The history of a name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NameTrend {
    /// The name of the spans.
    pub name: String,
    /// Its figures at each point where it was called.
    pub points: Vec<Point>,
    /// Its changes, as indices into [`Trend::points`].
    pub changes: Vec<Change>,
}

/// A name on one day in one build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The index in [`Trend::points`].
    pub at: usize,
    /// Number of traces with this name.
    pub traces: usize,
    /// Calls in all these traces.
    pub calls: u64,
    /// Median, 95th and 99th percentile of all calls, within 0.8 %; none if the traces have only sums.
    pub quantiles_ns: Option<[f64; 3]>,
    /// Mean of the figures of the traces.
    pub value_ns: f64,
    /// Half the width of the 95 % confidence interval of the mean; none with a single trace.
    pub noise_ns: Option<f64>,
}

/// Queries a fleet store for the history of a name, or for the names that changed.
pub fn trend(fleet: &dyn Ask, options: &TrendOptions) -> Result<Trend> {
    let points = points(fleet)?;
    let values = values(fleet, &points, options)?;
    if let (Some(name), true) = (&options.name, values.is_empty()) {
        return Err(Error::usage(format!("no span in the store is named {name}")));
    }
    let histories: Vec<Vec<Vec<f64>>> = values.values().cloned().collect();
    let changes = trend::changes(&histories, &options.changes);
    let looked_at = values.len();
    let mut names = Vec::new();
    for ((name, history), changes) in values.into_iter().zip(changes) {
        if options.name.is_some() || !changes.is_empty() {
            let filled = history.iter().enumerate().filter(|(_, runs)| !runs.is_empty());
            let of_point = |(at, runs): (usize, &Vec<f64>)| {
                let (value_ns, noise_ns) = band(runs).unwrap_or_default();
                Point { at, traces: runs.len(), value_ns, noise_ns, ..Point::default() }
            };
            names.push(NameTrend { points: filled.map(of_point).collect(), name, changes });
        }
    }
    let largest = |name: &NameTrend| name.changes.iter().map(|change| change.change.abs()).fold(0.0, f64::max);
    names.sort_by(|one, other| largest(other).total_cmp(&largest(one)).then_with(|| one.name.cmp(&other.name)));
    add_quantiles(fleet, &points, &mut names)?;
    Ok(Trend { points, names, looked_at })
}

/// Days and builds, in order of their first trace.
fn points(fleet: &dyn Ask) -> Result<Vec<[String; 2]>> {
    let sql = "select day, build, min(unix_origin_ns + coalesce(first_ts_ns, 0)) as start from traces \
               group by day, build order by day, start nulls last, build";
    let mut points = Vec::new();
    each_row(fleet, sql, |row| points.push([text(&row, 0), text(&row, 1)]))?;
    Ok(points)
}

/// The figures of the traces of each name at each point.
fn values(fleet: &dyn Ask, points: &[[String; 2]], options: &TrendOptions) -> Result<BTreeMap<String, Vec<Vec<f64>>>> {
    let wanted = options.name.as_ref().map(|name| format!("where name = {}", quoted(name))).unwrap_or_default();
    let sql = format!("select name, day, build, {} from sums {wanted}", options.metric.sql());
    let numbers = numbers(points);
    let mut values: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    each_row(fleet, &sql, |row| {
        let (point, value) = (numbers.get(&[text(&row, 1), text(&row, 2)]), number::<f64>(&row, 3));
        if let Some((point, value)) = point.zip(value) {
            let history = values.entry(text(&row, 0)).or_insert_with(|| vec![Vec::new(); points.len()]);
            history[*point].push(value);
        }
    })?;
    // The rows come in any order.
    values.values_mut().flatten().for_each(|runs| runs.sort_by(f64::total_cmp));
    Ok(values)
}

fn numbers(points: &[[String; 2]]) -> BTreeMap<[String; 2], usize> {
    points.iter().cloned().zip(0..).collect()
}

/// Names of one query; more would make it too long.
const NAMES_AT_A_TIME: usize = 100;

fn add_quantiles(fleet: &dyn Ask, points: &[[String; 2]], names: &mut [NameTrend]) -> Result<()> {
    let numbers = numbers(points);
    for names in names.chunks_mut(NAMES_AT_A_TIME) {
        let list: Vec<String> = names.iter().map(|name| quoted(&name.name)).collect();
        let sql = format!(
            "select name, day, build, calls, p50_ns, p95_ns, p99_ns from trend where name in ({})",
            list.join(", ")
        );
        each_row(fleet, &sql, |row| {
            let number_of_point = numbers.get(&[text(&row, 1), text(&row, 2)]);
            let name = names.iter_mut().find(|name| name.name == text(&row, 0));
            let point = name.and_then(|name| name.points.iter_mut().find(|point| Some(&point.at) == number_of_point));
            if let Some(point) = point {
                point.calls = number(&row, 3).unwrap_or(0);
                point.quantiles_ns = number(&row, 4).and_then(|p50| Some([p50, number(&row, 5)?, number(&row, 6)?]));
            }
        })?;
    }
    Ok(())
}

impl Trend {
    /// The trend as JSON.
    pub fn to_json(&self) -> Json {
        let point = |at: usize| self.points.get(at).map(|[day, build]| json!({"day": day, "build": build}));
        let of_point = |one: &Point| {
            let [p50, p95, p99] = one.quantiles_ns.map_or([None; 3], |quantiles| quantiles.map(Some));
            let at = self.points.get(one.at);
            json!({
                "day": at.map(|[day, _]| day), "build": at.map(|[_, build]| build), "traces": one.traces, "calls": one.calls,
                "p50_ns": p50, "p95_ns": p95, "p99_ns": p99, "value_ns": one.value_ns, "noise_ns": one.noise_ns,
            })
        };
        let of_change = |one: &Change| {
            json!({
                "at": point(one.at), "before_ns": one.before, "after_ns": one.after, "change": one.change,
                "noise": one.margin, "p": one.p,
            })
        };
        let of_name = |one: &NameTrend| {
            json!({
                "name": one.name,
                "points": one.points.iter().map(of_point).collect::<Vec<_>>(),
                "changes": one.changes.iter().map(of_change).collect::<Vec<_>>(),
            })
        };
        json!({
            "points": (0..self.points.len()).map(point).collect::<Vec<_>>(),
            "looked_at": self.looked_at,
            "names": self.names.iter().map(of_name).collect::<Vec<_>>(),
        })
    }
}
