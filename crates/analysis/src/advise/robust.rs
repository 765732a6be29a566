//! Statistics that are robust against outliers.

use traceloom_passes::{Samples, quantile};

/// The usual size of samples, and the limit for outliers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    pub(super) median: f64,
    pub(super) max: f64,
    pub(super) limit: f64,
}

impl Usual {
    /// The limit is high enough above the median that chance alone does not reach it, on a linear and on a logarithmic
    /// scale; the latter is for durations with a long tail.
    pub(super) fn of(samples: &Samples, min_ratio: f64) -> Option<Self> {
        let (sums, quantiles) = samples.summary([0.16, 0.25, 0.5, 0.75, 0.84]);
        let [low, quarter, median, three_quarters, high] = quantiles?;
        if median <= 0.0 {
            return None;
        }
        let spreads = (2.0 * (sums.count.max(2) as f64).ln()).sqrt() + 1.5;
        let spread = ((median - quarter).max(three_quarters - median) / 0.6745).max(high - median);
        let log_spread = (high / median).ln().max((median / low.max(1.0)).ln() * 0.7);
        let limit = (median + spreads * spread).max(median * (spreads * log_spread).min(700.0).exp());
        Some(Self { median, max: sums.max as f64, limit: limit.max(median * min_ratio) })
    }
}

pub(super) fn median(values: &[f64]) -> f64 {
    quantile(&mut values.to_vec(), 0.5).unwrap_or(0.0)
}

/// The median distance from the median, scaled to the deviation of a normal distribution.
pub(super) fn deviation(values: &[f64]) -> f64 {
    let middle = median(values);
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>()) * 1.4826
}

/// A change in the level of a series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Index of the first value of the new level.
    pub(super) at: usize,
    pub(super) before: f64,
    pub(super) after: f64,
    /// The size of the change, in deviations of the residuals.
    pub(super) strength: f64,
}

/// Finds the split by the cumulative sum of the deviations from the mean, with some values on both sides.
pub(super) fn change(values: &[f64]) -> Option<Change> {
    let margin = (values.len() / 8).max(4);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut sum = 0.0;
    let mut best = (0.0, 0);
    for (index, value) in values.iter().enumerate() {
        if index >= margin && index + margin <= values.len() && f64::abs(sum) > best.0 {
            best = (f64::abs(sum), index);
        }
        sum += value - mean;
    }
    let (_, at) = best;
    if at == 0 {
        return None;
    }
    let (first, second) = values.split_at(at);
    let (before, after) = (median(first), median(second));
    let rest = deviation(first).max(deviation(second)).max(before.abs() * 0.01);
    Some(Change { at, before, after, strength: (after - before).abs() / rest })
}

/// The densest window of counts, by the scan statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Burst {
    pub(super) first: usize,
    /// One past the last cell.
    pub(super) end: usize,
    pub(super) count: u64,
    /// Log-likelihood of a burst compared with an even rate.
    pub(super) likelihood: f64,
}

pub(super) fn burst(counts: &[u64]) -> Option<Burst> {
    let total: u64 = counts.iter().sum();
    let mut best: Option<Burst> = None;
    for first in 0..counts.len() {
        let mut count = 0;
        // A window that covers more than half of the trace is not a burst.
        for end in first + 1..=(first + counts.len() / 2).min(counts.len()) {
            count += counts[end - 1];
            let expected = total as f64 * (end - first) as f64 / counts.len() as f64;
            if (count as f64) <= expected {
                continue;
            }
            let (inside, outside) = (count as f64, (total - count) as f64);
            let likelihood = inside * (inside / expected).ln()
                + if outside > 0.0 { outside * (outside / (total as f64 - expected)).ln() } else { 0.0 };
            if best.is_none_or(|best| likelihood > best.likelihood) {
                best = Some(Burst { first, end, count, likelihood });
            }
        }
    }
    best
}

/// The period of the times, if they are periodic; a few may be missing.
pub(super) fn period(times: &[i64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let gaps: Vec<f64> = sorted.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
    if gaps.len() < 3 {
        return None;
    }
    let step = median(&gaps);
    let is_multiple = |gap: &&f64| {
        let steps = (**gap / step).round();
        steps >= 1.0 && (**gap / step - steps).abs() < 0.15
    };
    let kept = gaps.iter().filter(is_multiple).count();
    (step > 0.0 && kept * 10 >= gaps.len() * 9).then_some(step)
}

/// Whether a series grows from start to end, and by how much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trend {
    pub(super) first: f64,
    pub(super) last: f64,
    /// The share of pairs of windows in which the later one is higher.
    pub(super) steadiness: f64,
}

const WINDOWS: usize = 8;

/// Compares the medians of windows; a series that levels off does not grow.
pub(super) fn growth(values: &[f64]) -> Option<Trend> {
    if values.len() < WINDOWS * 2 {
        return None;
    }
    let edge = |window: usize| values.len() * window / WINDOWS;
    let marks: Vec<f64> = (0..WINDOWS).map(|window| median(&values[edge(window)..edge(window + 1)])).collect();
    let pairs = (0..WINDOWS).flat_map(|one| (one + 1..WINDOWS).map(move |other| (one, other)));
    let rises = pairs.clone().filter(|(one, other)| marks[*other] > marks[*one]).count();
    let steadiness = rises as f64 / pairs.count() as f64;
    let (first, last) = (marks[0], marks[WINDOWS - 1]);
    // The last quarter must grow as well: a full cache has a plateau.
    let lately = last - marks[WINDOWS - 3];
    let is_still_growing = lately > 0.4 * (last - first) * 2.0 / (WINDOWS - 1) as f64;
    (steadiness >= 0.9 && last > first && is_still_growing).then_some(Trend { first, last, steadiness })
}

#[cfg(test)]
mod tests {
    use traceloom_passes::Budget;

    use super::*;

    fn usual(values: impl Iterator<Item = u64>) -> Usual {
        let mut samples = Samples::default();
        values.for_each(|value| samples.push(value, &mut Budget::default()));
        Usual::of(&samples, 1.3).expect("there are samples")
    }

    #[test]
    fn two_levels_that_are_regular_have_no_outliers() {
        assert!(usual((0..200).map(|n| 1000 + n % 2 * 1000)).limit > 2000.0);
        assert!(usual((0..200).map(|n| 1000 + u64::from(n % 4 == 0) * 1000)).limit > 2000.0);
        let spikes = usual((0..200).map(|n| 1000 + n % 7 * 10 + u64::from(n % 40 == 5) * 1000));
        assert!(spikes.limit < 2000.0 && spikes.max >= 2000.0, "{spikes:?}");
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let values: Vec<f64> = (0..60).map(|n| if n < 37 { 10.0 } else { 15.0 } + f64::from(n % 3) * 0.3).collect();
        let change = change(&values).expect("it changes");
        assert_eq!(change.at, 37);
        assert!(change.strength > 6.0 && change.after / change.before > 1.4, "{change:?}");
    }

    #[test]
    fn a_burst_is_the_densest_window() {
        let mut counts = [1; 64];
        counts[20..24].fill(9);
        let burst = burst(&counts).expect("there are counts");
        assert_eq!((burst.first, burst.end, burst.count), (20, 24, 36));
        assert!(burst.likelihood > 10.0);
        assert!(super::burst(&[2; 64]).is_none_or(|even| even.likelihood < 1e-6));
    }

    #[test]
    fn periods_survive_gaps_and_chance_has_none() {
        assert_eq!(period(&[0, 100, 201, 300, 500, 599]), Some(100.0));
        assert_eq!(period(&[0, 70, 300, 310, 520, 1000]), None);
    }

    #[test]
    fn what_comes_back_does_not_grow() {
        let n = || (0..256).map(f64::from);
        let grows = |values: Vec<f64>| growth(&values).is_some();
        assert!(grows(n().collect()));
        assert!(grows(n().map(|n| n + 20.0 * (n / 5.0).sin()).collect()));
        assert!(!grows(n().map(|n| (n / 5.0).sin()).collect()));
        assert!(!grows(n().map(|n| n.min(120.0)).collect()), "a plateau");
        assert!(!grows(n().map(|n| 1.0 - (-n / 40.0).exp()).collect()), "a cache that fills up");
        assert!(!grows(n().map(|n| if n < 200.0 { n } else { 0.0 }).collect()), "given back");
    }
}
