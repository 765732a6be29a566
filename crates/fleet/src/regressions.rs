//! Finds names that got slower from one build to another.

use std::collections::BTreeMap;

use traceloom_analysis::diff::{self, NameFigures, Report};
use traceloom_core::{Error, Result};
use traceloom_query::Ask;

use crate::answers::{each_row, number, quoted, text};

/// Compares the traces of two builds of a fleet, each trace as a run.
pub fn regressions(fleet: &dyn Ask, builds: [&str; 2], options: &diff::Options) -> Result<Report> {
    let [before, after] = [of_build(fleet, builds[0])?, of_build(fleet, builds[1])?];
    Ok(diff::of_figures([before, after], options))
}

/// The names of each trace of a build.
fn of_build(fleet: &dyn Ask, build: &str) -> Result<Vec<Vec<NameFigures>>> {
    let mut runs: BTreeMap<String, Vec<NameFigures>> = BTreeMap::new();
    let build_is = format!("build = {}", quoted(build));
    each_row(fleet, &format!("select trace_id from ingested where {build_is}"), |row| {
        runs.insert(text(&row, 0), Vec::new());
    })?;
    if runs.is_empty() {
        return Err(unknown_build(fleet, build)?);
    }
    let columns = "trace_id, name, calls, total_ns, self_ns, p50_ns, p95_ns, p99_ns, deviation_ns";
    each_row(fleet, &format!("select {columns} from sums where {build_is}"), |row| {
        let quantiles = [number(&row, 5), number(&row, 6), number(&row, 7)];
        let figures = NameFigures {
            name: text(&row, 1),
            calls: number(&row, 2).unwrap_or(0),
            total_ns: number(&row, 3).unwrap_or(0),
            self_ns: number(&row, 4).unwrap_or(0),
            quantiles_ns: quantiles.iter().all(Option::is_some).then(|| quantiles.map(Option::unwrap_or_default)),
            deviation_ns: number(&row, 8),
            ..NameFigures::default()
        };
        runs.entry(text(&row, 0)).or_default().push(figures);
    })?;
    Ok(runs.into_values().collect())
}

/// Max number of builds to list in a message.
const NAMED: usize = 10;

fn unknown_build(fleet: &dyn Ask, build: &str) -> Result<Error> {
    let mut builds = Vec::new();
    let sql = "select build, max(day) from ingested group by build order by 2 desc, 1";
    each_row(fleet, sql, |row| builds.push(text(&row, 0)))?;
    let rest = if builds.len() > NAMED { ", …" } else { "" };
    builds.truncate(NAMED);
    Ok(Error::usage(format!("no traces of build {build}; the store has {}{rest}", builds.join(", "))))
}
