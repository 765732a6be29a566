//! Statistics of values over time.

use traceloom_model::select;
use traceloom_passes::{Budget, Interner, NO_NUMBER, Samples, Translation, float_key};

use super::report::ValueRow;

select! { pub(super) struct Counters of counters { ts_ns, thread_id, name, value } }

/// The values of all names.
#[derive(Debug, Default)]
pub(super) struct Values {
    column: Translation,
    /// The index of each name in `series`.
    by_name: Vec<u32>,
    series: Vec<(u32, Series)>,
}

#[derive(Debug)]
struct Series {
    count: u64,
    /// Number of values that are text or NaN.
    others: u64,
    sum: f64,
    min: f64,
    max: f64,
    first: (i64, f64),
    last: (i64, f64),
    samples: Samples,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            count: 0,
            others: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            first: (i64::MAX, f64::NAN),
            last: (i64::MIN, f64::NAN),
            samples: Samples::of_floats(),
        }
    }
}

impl Series {
    fn add(&mut self, ts_ns: i64, value: Option<f64>, budget: &mut Budget) {
        let Some(value) = value.filter(|value| !value.is_nan()) else {
            self.others += 1;
            return;
        };
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if ts_ns < self.first.0 {
            self.first = (ts_ns, value);
        }
        if ts_ns >= self.last.0 {
            self.last = (ts_ns, value);
        }
        self.samples.push(float_key(value), budget);
    }
}

impl Values {
    /// Adds the rows of a batch whose name, time and thread `takes` accepts.
    pub(super) fn add(
        &mut self,
        view: &Counters<'_>,
        names: &mut Interner,
        budget: &mut Budget,
        takes: impl Fn(&Interner, u32, i64, Option<i64>) -> bool,
    ) {
        let numbers = self.column.of(view.name.values(), names);
        for row in 0..view.rows {
            let (name, ts_ns) = (numbers[view.name.keys()[row] as usize], view.ts_ns.get(row));
            if !takes(names, name, ts_ns, view.thread_id.get(row)) {
                continue;
            }
            if self.by_name.len() <= name as usize {
                self.by_name.resize(name as usize + 1, NO_NUMBER);
            }
            let place = &mut self.by_name[name as usize];
            if *place == NO_NUMBER {
                *place = self.series.len() as u32;
                self.series.push((name, Series::default()));
            }
            self.series[*place as usize].1.add(ts_ns, view.value.get(row), budget);
        }
    }

    /// One row per name, in alphabetical order.
    pub(super) fn finish(self, names: &Interner) -> Vec<ValueRow> {
        let rows = self.series.into_iter().map(|(name, series)| {
            let quantiles = series.samples.quantiles([0.5, 0.95, 0.99]);
            let some = |value: f64| (series.count > 0).then_some(value);
            ValueRow {
                name: names.get(name).unwrap_or_default().to_owned(),
                count: series.count,
                others: series.others,
                min: some(series.min),
                mean: some(series.sum / series.count as f64),
                p50: quantiles.map(|[p50, ..]| p50),
                p95: quantiles.map(|[_, p95, _]| p95),
                p99: quantiles.map(|[.., p99]| p99),
                max: some(series.max),
                first: some(series.first.1),
                last: some(series.last.1),
                is_exact: series.samples.is_exact(),
            }
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        rows
    }
}
