//! The distribution of the durations of one name.

use traceloom_passes::{Budget, Samples};

use crate::group::mean;

/// A histogram of durations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The bins, shortest first, without gaps.
    pub bins: Vec<Bin>,
    /// Whether bins are logarithmic, because durations differ by more than an order of magnitude.
    pub is_logarithmic: bool,
}

/// A range of durations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bin {
    /// Inclusive lower bound.
    pub from_ns: f64,
    /// Exclusive upper bound.
    pub to_ns: f64,
    /// Number of durations.
    pub count: u64,
}

/// Collects durations one by one and computes their figures.
#[derive(Debug, Default)]
pub struct Durations {
    samples: Samples,
    budget: Budget,
}

/// Figures of durations, the same as in a [`super::SpanRow`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Number of durations.
    pub calls: u64,
    /// Sum.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: f64,
    /// Median, 95th and 99th percentile.
    pub quantiles_ns: Option<[f64; 3]>,
    /// The longest.
    pub max_ns: u64,
    /// Whether the quantiles are exact.
    pub is_exact: bool,
    /// The distribution.
    pub histogram: Histogram,
}

impl Durations {
    /// Adds a duration.
    #[inline]
    pub fn push(&mut self, dur_ns: u64) {
        self.samples.push(dur_ns, &mut self.budget);
    }

    /// The figures, with a histogram of this many bins.
    pub fn finish(&self, bins: usize) -> Measured {
        let (sums, quantiles_ns) = self.samples.summary([0.5, 0.95, 0.99]);
        if sums.count == 0 {
            return Measured::default();
        }
        Measured {
            calls: sums.count,
            total_ns: sums.total,
            min_ns: sums.min,
            mean_ns: mean(sums.total, sums.count),
            quantiles_ns,
            max_ns: sums.max,
            is_exact: self.samples.is_exact(),
            histogram: Histogram::of(&self.samples, sums.min, sums.max, bins),
        }
    }
}

impl Histogram {
    /// Number of bins that fit on a terminal.
    pub const BINS: usize = 20;
    /// Number of bins that fit next to a name.
    pub const SMALL_BINS: usize = 12;

    pub(super) fn of(samples: &Samples, min_ns: u64, max_ns: u64, bins: usize) -> Self {
        let (min, max) = (min_ns as f64, max_ns as f64);
        let is_logarithmic = max > 16.0 * min.max(1.0);
        let edges: Vec<f64> = (0..=bins).map(|edge| edge_at(edge, bins, min, max, is_logarithmic)).collect();
        let mut bins: Vec<Bin> =
            edges.windows(2).map(|edges| Bin { from_ns: edges[0], to_ns: edges[1], count: 0 }).collect();
        bins.retain(|bin| bin.to_ns > bin.from_ns);
        samples.for_each(|sample, count| {
            let bin = bins.partition_point(|bin| bin.from_ns <= sample).saturating_sub(1);
            if let Some(bin) = bins.get_mut(bin) {
                bin.count += count;
            }
        });
        Self { bins, is_logarithmic }
    }
}

/// Edges are whole nanoseconds; the last one is past the longest duration.
fn edge_at(edge: usize, bins: usize, min: f64, max: f64, is_logarithmic: bool) -> f64 {
    let part = edge as f64 / bins as f64;
    let (low, high) = (min, max + 1.0);
    match (edge, is_logarithmic) {
        (0, _) => low,
        (_, true) => (low.max(1.0) * (high / low.max(1.0)).powf(part)).round(),
        (_, false) => (low + (high - low) * part).round(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(durations: &[u64]) -> Histogram {
        let mut budget = Budget::default();
        let mut samples = Samples::default();
        durations.iter().for_each(|dur| samples.push(*dur, &mut budget));
        let (min, max) = (durations.iter().min(), durations.iter().max());
        Histogram::of(&samples, *min.expect("a sample"), *max.expect("a sample"), Histogram::BINS)
    }

    #[test]
    fn every_duration_is_in_one_bin() {
        for durations in
            [vec![5], vec![0, 0, 0], vec![100, 101, 150, 199], vec![0, 10, 1_000, 5_000_000, u64::from(u32::MAX) * 9]]
        {
            let histogram = histogram(&durations);
            assert_eq!(histogram.bins.iter().map(|bin| bin.count).sum::<u64>(), durations.len() as u64);
            assert!(histogram.bins.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns), "{histogram:?}");
            let (first, last) = (histogram.bins[0], histogram.bins[histogram.bins.len() - 1]);
            assert!(first.count > 0 && last.count > 0, "{histogram:?}");
        }
    }

    #[test]
    fn more_bins_hold_the_same_durations() {
        let mut durations = Durations::default();
        (1..=1_000).for_each(|number| durations.push(number * number));
        let measured = durations.finish(60);
        assert_eq!((measured.calls, measured.min_ns, measured.max_ns), (1_000, 1, 1_000_000));
        assert_eq!(measured.histogram.bins.iter().map(|bin| bin.count).sum::<u64>(), 1_000);
        assert!(measured.histogram.bins.len() > Histogram::BINS);
        assert_eq!(Durations::default().finish(60), Measured::default());
    }

    #[test]
    fn wide_ranges_have_bins_that_grow() {
        assert!(histogram(&[10, 1_000_000]).is_logarithmic);
        assert!(!histogram(&[10, 100]).is_logarithmic);
    }
}
