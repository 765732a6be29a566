//! `trend`: how a metric changes over a history, and where it changed permanently.
//!
//! A point is all runs of one day and build. A history is split where Welch's test distinguishes the two sides best,
//! and then each side again, until no split is significant. The p-values are corrected for all splits of a history and
//! for all histories. A few runs far from all others would hide a change, so the test sees them closer than they are;
//! the reported means are those of all runs as they are.

use crate::diff::student::{Moments, adjust};

/// Thresholds for a change.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Ignore smaller changes, such as 0.05 for 5 %.
    pub min_change: f64,
    /// Significance level.
    pub alpha: f64,
    /// Minimum number of runs on each side of a change.
    pub min_runs: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { min_change: 0.05, alpha: 0.01, min_runs: 3 }
    }
}

/// A lasting change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first point after the change.
    pub at: usize,
    /// Mean of the runs since the previous change, or since the start.
    pub before: f64,
    /// Mean of the runs until the next change, or until the end.
    pub after: f64,
    /// Relative difference.
    pub change: f64,
    /// Half the 95 % confidence interval of the change.
    pub margin: f64,
    /// p-value, corrected for the number of points.
    pub p: f64,
}

/// Mean of some runs, and half its 95 % confidence interval; `None` with a single run.
pub fn band(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let moments = Moments::of(values);
    (!values.is_empty()).then(|| (moments.mean, moments.margin()))
}

/// The changes of each history, which is a list of points with the values of their runs.
pub fn changes(histories: &[Vec<Vec<f64>>], options: &Options) -> Vec<Vec<Change>> {
    let limited: Vec<Vec<Moments>> = histories.iter().map(|points| limited(points)).collect();
    let mut firsts: Vec<Option<f64>> =
        limited.iter().map(|points| best_cut(points, options).map(|cut| cut.p)).collect();
    adjust(&mut firsts.iter_mut().flatten().collect::<Vec<_>>());
    let stands_out = |p: &Option<f64>| p.is_some_and(|p| p < options.alpha);
    let found = histories.iter().zip(&limited).zip(&firsts);
    found
        .map(|((points, limited), p)| if stands_out(p) { of_history(points, limited, options) } else { Vec::new() })
        .collect()
}

/// The points with all values within Tukey's outer fences: three interquartile ranges beyond the quartiles of the
/// history. Nothing is limited if the quartiles are equal.
fn limited(points: &[Vec<f64>]) -> Vec<Moments> {
    let mut values = points.concat();
    values.sort_by(f64::total_cmp);
    let quartile = |number: usize| values.get(values.len() * number / 4).copied().unwrap_or_default();
    let (low, high) = (quartile(1), quartile(3));
    let reach = 3.0 * (high - low);
    let limit = |value: &f64| if reach > 0.0 { value.clamp(low - reach, high + reach) } else { *value };
    points.iter().map(|runs| Moments::of(&runs.iter().map(limit).collect::<Vec<_>>())).collect()
}

fn of_history(points: &[Vec<f64>], limited: &[Moments], options: &Options) -> Vec<Change> {
    let points: Vec<Moments> = points.iter().map(|runs| Moments::of(runs)).collect();
    let mut cuts = Vec::new();
    cut(limited, 0, options, &mut cuts);
    cuts.sort_by_key(|cut| cut.at);
    let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().map(|cut| cut.at)).chain([points.len()]).collect();
    let side = |number: usize| sum(points.get(edges[number]..edges[number + 1]).unwrap_or_default());
    let change = |(number, cut): (usize, &Cut)| {
        let (before, after) = (side(number), side(number + 1));
        let test = before.welch(after)?;
        let change = (after.mean - before.mean) / before.mean;
        let is_large = change.is_finite() && change.abs() >= options.min_change;
        let margin = test.margin / before.mean.abs();
        is_large.then_some(Change { at: cut.at, before: before.mean, after: after.mean, change, margin, p: cut.p })
    };
    cuts.iter().enumerate().filter_map(change).collect()
}

/// A split of a history.
#[derive(Clone, Copy, Debug)]
struct Cut {
    at: usize,
    p: f64,
}

fn cut(points: &[Moments], offset: usize, options: &Options, cuts: &mut Vec<Cut>) {
    let Some(best) = best_cut(points, options).filter(|best| best.p < options.alpha) else { return };
    let (before, after) = points.split_at(best.at);
    cuts.push(Cut { at: offset + best.at, p: best.p });
    cut(before, offset, options, cuts);
    cut(after, offset + best.at, options, cuts);
}

/// The most significant cut, with a p-value corrected for all cuts that were tried.
fn best_cut(points: &[Moments], options: &Options) -> Option<Cut> {
    let mut after: Vec<Moments> = points.iter().rev().scan(Moments::default(), running).collect();
    after.reverse();
    let before: Vec<Moments> = points.iter().scan(Moments::default(), running).collect();
    let runs = options.min_runs.max(2) as f64;
    let sides = before.iter().zip(after.iter().skip(1)).enumerate();
    let sides = sides.filter(|(_, (before, after))| before.count >= runs && after.count >= runs);
    let chance = |(last, (before, after)): (usize, (&Moments, &Moments))| {
        Some((Cut { at: last + 1, p: before.chance(*after)? }, (after.mean - before.mean).abs()))
    };
    let cuts: Vec<(Cut, f64)> = sides.filter_map(chance).collect();
    let best = cuts.iter().min_by(|(one, near), (other, far)| one.p.total_cmp(&other.p).then(far.total_cmp(near)));
    best.map(|(best, _)| Cut { p: (best.p * cuts.len() as f64).min(1.0), ..*best })
}

fn running(sum: &mut Moments, point: &Moments) -> Option<Moments> {
    *sum = sum.and(*point);
    Some(*sum)
}

fn sum(points: &[Moments]) -> Moments {
    points.iter().fold(Moments::default(), |sum, point| sum.and(*point))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of points around these means, with a scatter of some percent that is the same each time.
    fn history(means: &[f64], runs: usize, scatter: f64, mut seed: u64) -> Vec<Vec<f64>> {
        let mut noise = || {
            let mut next = || {
                seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((mixed ^ (mixed >> 31)) >> 33) as f64 / f64::from(1_u32 << 31) - 0.5
            };
            (next() + next() + next()) * 2.0
        };
        means.iter().map(|mean| (0..runs).map(|_| mean * (1.0 + scatter * noise())).collect()).collect()
    }

    #[test]
    fn planted_changes_are_found_where_they_are() {
        let means: Vec<f64> = [100.0; 10].into_iter().chain([120.0; 6]).chain([90.0; 8]).collect();
        let found = changes(&[history(&means, 5, 0.03, 1)], &Options::default());
        let [found] = found.as_slice() else { panic!("one history") };
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [10, 16]);
        assert!((found[0].change - 0.2).abs() < 0.03 && (found[1].change + 0.25).abs() < 0.03, "{found:?}");
        assert!(found.iter().all(|change| change.p < 1e-6 && change.margin < 0.03), "{found:?}");
    }

    #[test]
    fn a_few_outlying_runs_do_not_hide_a_change() {
        let means: Vec<f64> = [100.0; 5].into_iter().chain([130.0; 5]).collect();
        let mut history = history(&means, 4, 0.03, 7);
        history[9].extend([330.0, 560.0]);
        let found = changes(&[history], &Options::default());
        let [found] = found[0].as_slice() else { panic!("one change, not {found:?}") };
        assert_eq!(found.at, 5);
        assert!((found.after - 158.6).abs() < 3.0, "the mean of all runs, not {}", found.after);
    }

    #[test]
    fn a_change_of_the_last_point_is_found() {
        let means: Vec<f64> = [100.0; 19].into_iter().chain([200.0]).collect();
        let found = changes(&[history(&means, 4, 0.01, 5)], &Options::default());
        let [found] = found[0].as_slice() else { panic!("one change, not {found:?}") };
        assert!(found.at == 19 && (found.change - 1.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn a_clean_history_raises_no_alarm() {
        let histories: Vec<_> = (0..400).map(|seed| history(&[100.0; 30], 4, 0.1, seed << 20)).collect();
        let alarms: usize = changes(&histories, &Options::default()).iter().map(Vec::len).sum();
        assert_eq!(alarms, 0);
    }

    #[test]
    fn a_sure_but_small_change_does_not_count() {
        let means: Vec<f64> = [100.0; 10].into_iter().chain([102.0; 10]).collect();
        let histories = [history(&means, 20, 0.005, 3)];
        assert_eq!(changes(&histories, &Options::default()), [[]]);
        let strict = Options { min_change: 0.01, ..Options::default() };
        assert_eq!(changes(&histories, &strict)[0].len(), 1);
    }

    #[test]
    fn few_runs_and_equal_values_are_no_trouble() {
        let options = Options::default();
        assert_eq!(changes(&[vec![], vec![vec![1.0]], vec![vec![1.0], vec![2.0]]], &options), [[], [], []]);
        assert_eq!(changes(&[vec![vec![5.0; 3]; 4]], &options), [[]]);
        let step = [vec![vec![5.0]; 5], vec![vec![7.0]; 5]].concat();
        assert_eq!(changes(&[step], &options)[0].iter().map(|change| change.at).collect::<Vec<_>>(), [5]);
        assert_eq!(band(&[4.0]), Some((4.0, None)));
        assert_eq!(band(&[]), None);
    }

    #[test]
    fn samples_can_be_added_without_their_values() {
        let (one, other) = ([1.0, 4.0, 9.0], [16.0, 25.0]);
        let both = Moments::of(&one).and(Moments::of(&other));
        let whole = Moments::of(&[1.0, 4.0, 9.0, 16.0, 25.0]);
        assert!(
            (both.mean - whole.mean).abs() < 1e-9 && (both.margin().unwrap() - whole.margin().unwrap()).abs() < 1e-9
        );
    }
}
