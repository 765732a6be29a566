//! How the durations of one name are distributed.

use crate::quantile::Samples;

/// Durations counted by length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// The bins, shortest first, without a gap.
    pub bins: Vec<Bin>,
    /// Whether bins grow in proportion, because durations differ by more than an order of magnitude.
    pub is_logarithmic: bool,
}

/// Durations from one length up to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The shortest that is in it.
    pub from_ns: f64,
    /// Where the next one begins.
    pub to_ns: f64,
    /// How many are in it.
    pub count: u64,
}

const BINS: usize = 20;

impl Histogram {
    pub(super) fn of(samples: &Samples, min_ns: u64, max_ns: u64) -> Self {
        let (min, max) = (min_ns as f64, max_ns as f64);
        let is_logarithmic = max > 16.0 * min.max(1.0);
        let edges: Vec<f64> = (0..=BINS).map(|edge| edge_at(edge, min, max, is_logarithmic)).collect();
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

/// Edges are whole nanoseconds; the last is behind the longest.
fn edge_at(edge: usize, min: f64, max: f64, is_logarithmic: bool) -> f64 {
    let part = edge as f64 / BINS as f64;
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
    use crate::quantile::Budget;

    fn histogram(durations: &[u64]) -> Histogram {
        let mut budget = Budget::default();
        let mut samples = Samples::default();
        durations.iter().for_each(|dur| samples.push(*dur, &mut budget));
        let (min, max) = (durations.iter().min(), durations.iter().max());
        Histogram::of(&samples, *min.expect("a sample"), *max.expect("a sample"))
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
    fn wide_ranges_have_bins_that_grow() {
        assert!(histogram(&[10, 1_000_000]).is_logarithmic);
        assert!(!histogram(&[10, 100]).is_logarithmic);
    }
}
