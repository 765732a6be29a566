//! `trend`: how long names take per day and build.

use std::io::Write;

use traceloom_analysis::trend::{Change, Options as ChangeOptions};
use traceloom_core::Result;
use traceloom_fleet::{Metric, NameTrend, Trend, TrendOptions};

use crate::{
    Outcome,
    args::fleet::{Trend as Arguments, TrendMetric},
    output::{Styles, clean, stdout},
    table::{Rounded, TextTable, rest},
};

impl From<TrendMetric> for Metric {
    fn from(metric: TrendMetric) -> Self {
        match metric {
            TrendMetric::Mean => Self::Mean,
            TrendMetric::P50 => Self::P50,
            TrendMetric::P95 => Self::P95,
            TrendMetric::P99 => Self::P99,
        }
    }
}

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let options = TrendOptions {
        name: arguments.name.clone(),
        metric: arguments.metric.into(),
        changes: ChangeOptions { min_change: arguments.min_change, ..ChangeOptions::default() },
    };
    let fleet = super::fleet(&arguments.store, arguments.cluster.as_deref())?;
    let trend = traceloom_fleet::trend(fleet.as_ref(), &options).map_err(|error| error.in_file(&arguments.store))?;
    let mut out = stdout();
    if arguments.json {
        writeln!(out, "{}", trend.to_json())?;
    } else if arguments.name.is_some() {
        trend.names.iter().try_for_each(|name| history(&mut out, &trend, name))?;
    } else {
        changed(&mut out, &trend, arguments.limit)?;
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// The history of one name.
fn history(out: &mut dyn Write, trend: &Trend, name: &NameTrend) -> Result<()> {
    let style = Styles::NAME;
    writeln!(out, "{style}{}{style:#}: {}", clean(&name.name), summary(name.changes.len()))?;
    let mut table = TextTable::new().text("day").text("build");
    table = table.numbers(&["traces", "calls", "p50", "p95", "p99", "per trace", "noise", "change"]);
    for point in &name.points {
        let [day, build] = trend.points.get(point.at).cloned().unwrap_or_default();
        let quantile =
            |number: usize| point.quantiles_ns.map_or_else(String::new, |all| Rounded(all[number]).to_string());
        let noise = point.noise_ns.map_or_else(|| "?".to_owned(), |noise| format!("± {}", Rounded(noise)));
        let change = name.changes.iter().find(|change| change.at == point.at);
        let (traces, calls) = (point.traces.to_string(), point.calls.to_string());
        let value = Rounded(point.value_ns).to_string();
        let change = change.map_or_else(String::new, percent);
        table.row(vec![day, build, traces, calls, quantile(0), quantile(1), quantile(2), value, noise, change]);
    }
    Ok(table.write(out)?)
}

/// The names that changed.
fn changed(out: &mut dyn Write, trend: &Trend, limit: usize) -> Result<()> {
    let (names, points) = (trend.looked_at, trend.points.len());
    let counted = format!("{names} names, {points} points of day and build");
    writeln!(out, "{counted}: {}", summary(trend.names.iter().map(|name| name.changes.len()).sum()))?;
    let mut table =
        TextTable::new().text("name").text("day").text("build").numbers(&["before", "after", "change", "noise"]);
    let changes: Vec<_> =
        trend.names.iter().flat_map(|name| name.changes.iter().map(move |change| (name, change))).collect();
    for (name, change) in changes.iter().take(limit) {
        let [day, build] = trend.points.get(change.at).cloned().unwrap_or_default();
        let (before, after) = (Rounded(change.before).to_string(), Rounded(change.after).to_string());
        let noise = format!("± {:.1} %", change.margin * 100.0);
        table.row(vec![name.name.clone(), day, build, before, after, percent(change), noise]);
    }
    if !table.is_empty() {
        table.write(out)?;
    }
    Ok(rest(out, changes.len(), limit)?)
}

fn summary(changes: usize) -> String {
    match changes {
        0 => "no lasting change".to_owned(),
        1 => "1 lasting change".to_owned(),
        _ => format!("{changes} lasting changes"),
    }
}

fn percent(change: &Change) -> String {
    format!("{:+.1} %", change.change * 100.0)
}
