//! Compares two sets of runs.

use hashbrown::{HashMap, HashSet};
use traceloom_passes::{Interner, NO_NUMBER};

use super::{
    Metric, Options,
    collect::{Figures, Key},
    report::{Kind, Noise, Report, Row, Side, Verdict},
    student::{adjust, moments, welch},
};

/// The runs of both sets.
pub(super) type Sets = [Vec<HashMap<Key, Figures>>; 2];

pub(super) fn compare(sets: &Sets, names: &Interner, options: &Options) -> Report {
    let keys: HashSet<Key> = sets.iter().flatten().flat_map(|run| run.keys().copied()).collect();
    let wholes = Wholes::of(sets);
    let mut rows: Vec<Row> = keys.into_iter().filter_map(|key| row(sets, key, names, options, &wholes)).collect();
    let mut ps: Vec<&mut f64> = rows.iter_mut().filter_map(|row| row.p.as_mut()).collect();
    adjust(&mut ps);
    for row in &mut rows {
        row.verdict = verdict(row, options);
    }
    rows.retain(|row| row.share >= options.min_share);
    let impact = |row: &Row| row.after.map_or(0.0, |side| side.total) - row.before.map_or(0.0, |side| side.total);
    rows.sort_by(|one, other| {
        (one.kind, one.verdict)
            .cmp(&(other.kind, other.verdict))
            .then_with(|| impact(other).abs().total_cmp(&impact(one).abs()))
            .then_with(|| (&one.name, one.line).cmp(&(&other.name, other.line)))
    });
    Report { runs: [sets[0].len(), sets[1].len()], rows, self_ns: wholes.of_kind(Kind::Name) }
}

/// Self time or bytes of everything of a kind, as the mean of the runs of each set.
struct Wholes(HashMap<Kind, [f64; 2]>);

impl Wholes {
    fn of(sets: &Sets) -> Self {
        // Sums of integers do not depend on the order, which differs each time in a map.
        let mut sums: HashMap<Kind, [u128; 2]> = HashMap::new();
        for (set, runs) in sets.iter().enumerate() {
            for (key, figures) in runs.iter().flatten() {
                sums.entry(key.kind).or_default()[set] += u128::from(figures.own);
            }
        }
        let mean = |set: usize, sum: u128| sum as f64 / sets[set].len().max(1) as f64;
        Self(sums.into_iter().map(|(kind, [one, other])| (kind, [mean(0, one), mean(1, other)])).collect())
    }

    fn of_kind(&self, kind: Kind) -> [f64; 2] {
        self.0.get(&kind).copied().unwrap_or_default()
    }
}

fn row(sets: &Sets, key: Key, names: &Interner, options: &Options, wholes: &Wholes) -> Option<Row> {
    let of_key = |runs: &[HashMap<Key, Figures>]| -> Vec<Figures> {
        runs.iter().filter_map(|run| run.get(&key).copied()).collect()
    };
    let (first, second) = (of_key(&sets[0]), of_key(&sets[1]));
    let values = |runs: &[Figures]| -> Vec<f64> { runs.iter().filter_map(|run| measure(key, run, options)).collect() };
    let (before, after) = (values(&first), values(&second));
    let sides = [side(&first, &before), side(&second, &after)];
    let change = sides[0].zip(sides[1]).map(|(before, after)| (after.value - before.value) / before.value);
    let change = change.filter(|change| change.is_finite());
    let share = |set: usize, runs: &[Figures]| {
        let own = runs.iter().map(|run| run.own as f64).sum::<f64>() / sets[set].len() as f64;
        let whole = wholes.of_kind(key.kind)[set];
        if whole > 0.0 { own / whole } else { 0.0 }
    };
    let mut row = Row {
        kind: key.kind,
        unit: if options.metric == Metric::Calls { "calls" } else { key.kind.unit() },
        name: names.get(key.name).unwrap_or("(other)").to_owned(),
        line: (key.line != NO_NUMBER).then_some(key.line),
        verdict: Verdict::Same,
        before: sides[0],
        after: sides[1],
        change,
        noise: Noise::Unknown,
        effect: None,
        p: None,
        share: share(0, &first).max(share(1, &second)),
    };
    if let Some(test) = welch(&before, &after) {
        row.noise = Noise::BetweenRuns(test.margin / moments(&before).0.abs());
        row.effect = test.effect;
        row.p = Some(test.p);
    } else if let Some((margin, effect)) = hint(&first, &second, key, options) {
        row.noise = Noise::WithinRun(margin);
        row.effect = effect;
    }
    (row.before.is_some() || row.after.is_some()).then_some(row)
}

/// The value of one run that is compared.
fn measure(key: Key, run: &Figures, options: &Options) -> Option<f64> {
    let quantile = |index: usize| run.quantiles.map(|quantiles| quantiles[index]);
    match (options.metric, key.kind) {
        (Metric::Calls, _) => Some(run.calls as f64),
        (_, Kind::Memory) | (Metric::Total, _) => Some(run.total as f64),
        (Metric::SelfTime, _) => Some(run.own as f64),
        // Sums have no distribution, so the mean is used instead of percentiles.
        (Metric::P50, _) if run.quantiles.is_some() => quantile(0),
        (Metric::P95, _) if run.quantiles.is_some() => quantile(1),
        (Metric::P99, _) if run.quantiles.is_some() => quantile(2),
        _ => (run.calls > 0).then(|| run.total as f64 / run.calls as f64),
    }
}

fn side(runs: &[Figures], values: &[f64]) -> Option<Side> {
    if values.is_empty() {
        return None;
    }
    let mean = |of: &dyn Fn(&Figures) -> u64| runs.iter().map(|run| of(run) as f64).sum::<f64>() / runs.len() as f64;
    let value = values.iter().sum::<f64>() / values.len() as f64;
    Some(Side { value, calls: mean(&|run| run.calls), total: mean(&|run| run.total) })
}

/// The margin of the change and the effect size, estimated from the durations within single runs.
fn hint(first: &[Figures], second: &[Figures], key: Key, options: &Options) -> Option<(f64, Option<f64>)> {
    let is_of_durations = key.kind == Kind::Name && matches!(options.metric, Metric::Mean | Metric::Total);
    let (before, after) = (first.first()?, second.first()?);
    let (sd_a, sd_b) = (before.deviation?, after.deviation?);
    let (count_a, count_b) = (before.calls as f64, after.calls as f64);
    let (mean_a, mean_b) = (before.total as f64 / count_a, after.total as f64 / count_b);
    let error = (sd_a.powi(2) / count_a + sd_b.powi(2) / count_b).sqrt();
    let pooled = ((sd_a.powi(2) + sd_b.powi(2)) / 2.0).sqrt();
    let effect = Some((mean_b - mean_a) / pooled).filter(|effect| effect.is_finite());
    let margin = 1.96 * error / mean_a;
    (is_of_durations && margin.is_finite()).then_some((margin, effect))
}

fn verdict(row: &Row, options: &Options) -> Verdict {
    let change = match (row.before, row.after, row.change) {
        (None, _, _) => return Verdict::New,
        (_, None, _) => return Verdict::Gone,
        (Some(before), Some(after), None) if after.value > before.value => f64::INFINITY,
        (_, _, change) => change.unwrap_or(0.0),
    };
    let stands_out = match (row.p, row.noise) {
        (Some(p), _) => p < options.alpha,
        (None, Noise::WithinRun(margin)) => change.abs() > margin,
        (None, _) => true,
    };
    let stands_out = stands_out && change.abs() >= options.min_change;
    if stands_out && change > 0.0 {
        Verdict::Worse
    } else if stands_out && change < 0.0 {
        Verdict::Better
    } else {
        Verdict::Same
    }
}
