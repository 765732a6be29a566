//! Names of a fleet from day to day and from build to build.

use std::{collections::HashMap, sync::Arc};

use traceloom_analysis::diff;
use traceloom_core::Result;
use traceloom_fleet::{Metric, TrendOptions, each_row, number, text};
use traceloom_query::Session;

use super::answer::{StoredName, StoredNames, StoredNamesQuery, TrendMetric, TrendQuery};

/// Max number of listed names: those with the most time.
const MAX_NAMES: usize = 100_000;
/// Max rows per answer.
const MAX_ROWS: usize = 500;

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

/// All names: slower ones first, by the size of the change, then faster ones, then the others by time.
#[derive(Debug)]
pub(super) struct Names {
    rows: Vec<StoredName>,
    changed: usize,
}

impl Names {
    pub(super) fn of(session: &Session, metric: TrendMetric) -> Result<Self> {
        let options = TrendOptions { metric: metric.into(), ..TrendOptions::default() };
        let trend = traceloom_fleet::trend(session, &options)?;
        let largest = |name: &traceloom_fleet::NameTrend| {
            let changes = name.changes.iter().map(|change| change.change);
            changes.reduce(|known, change| if change.abs() > known.abs() { change } else { known })
        };
        let mut changes: HashMap<String, Option<f64>> =
            trend.names.iter().map(|name| (name.name.clone(), largest(name))).collect();
        let changed = changes.len();
        let sql = format!(
            "select name, sum(calls), sum(cast(total_ns as double)) as total from sums group by name \
             order by total desc, name limit {MAX_NAMES}"
        );
        let mut rows = Vec::new();
        each_row(session, &sql, |row| {
            let name = text(&row, 0);
            let (calls, total_ns) = (number(&row, 1).unwrap_or(0.0), number(&row, 2).unwrap_or(0.0));
            rows.push(StoredName { change: changes.remove(&name).flatten(), name, calls, total_ns });
        })?;
        let rank = |row: &StoredName| match row.change {
            Some(change) if change > 0.0 => (0, -change),
            Some(change) => (1, change),
            None => (2, 0.0),
        };
        rows.sort_by(|one, other| {
            let ((kind, size), (other_kind, other_size)) = (rank(one), rank(other));
            kind.cmp(&other_kind).then(size.total_cmp(&other_size))
        });
        Ok(Self { rows, changed })
    }

    /// A range of the names.
    pub(super) fn page(&self, query: &StoredNamesQuery) -> StoredNames {
        let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
        let has_words = |row: &&StoredName| {
            let name = row.name.to_lowercase();
            words.iter().all(|word| name.contains(word))
        };
        let found: Vec<&StoredName> = self.rows.iter().filter(has_words).collect();
        let rows = found.iter().skip(query.skip).take(query.take.min(MAX_ROWS));
        StoredNames { total: found.len(), changed: self.changed, rows: rows.map(|row| (*row).clone()).collect() }
    }
}

/// The history of a name, as the verb `trend` writes it.
pub(super) fn history(session: &Session, query: TrendQuery) -> Result<serde_json::Value> {
    let options = TrendOptions { name: Some(query.name), metric: query.metric.into(), ..TrendOptions::default() };
    Ok(traceloom_fleet::trend(session, &options)?.to_json())
}

/// Names that got slower from one build to another.
pub(super) fn regressions(session: &Arc<Session>, builds: [&str; 2]) -> Result<diff::Report> {
    traceloom_fleet::regressions(&**session, builds, &diff::Options::default())
}
