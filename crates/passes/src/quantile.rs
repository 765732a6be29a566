//! Quantiles: exact as long as the samples fit in a budget, and within a thousandth beyond that.

use hashbrown::HashMap;

/// Bytes that all samples of a result may take together.
#[derive(Debug)]
pub struct Budget {
    samples: usize,
    sketches: usize,
}

impl Budget {
    /// Reserves a quarter of the bytes for the sketches that replace samples.
    pub fn new(bytes: usize) -> Self {
        Self { samples: bytes, sketches: bytes / 4 }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(512 << 20)
    }
}

/// How a sample is encoded as a number that preserves the order of the samples.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Scale {
    /// A float, by [`float_key`].
    Float,
    /// The number itself.
    #[default]
    Whole,
}

impl Scale {
    /// The bucket of a sample, at most 1/1024 of its value wide; larger samples have wider buckets.
    #[inline]
    fn bucket(self, key: u64) -> u32 {
        match self {
            Self::Float => (key >> FLOAT_SHIFT) as u32,
            Self::Whole => log_bucket(key),
        }
    }

    /// A number in the middle of a bucket.
    fn middle(self, bucket: u32) -> f64 {
        match self {
            Self::Float => float_of((u64::from(bucket) << FLOAT_SHIFT) | (1 << (FLOAT_SHIFT - 1))),
            Self::Whole => {
                let (low, width) = log_range(bucket);
                (low + (width - 1) / 2) as f64
            }
        }
    }

    fn value(self, key: u64) -> f64 {
        match self {
            Self::Float => float_of(key),
            Self::Whole => key as f64,
        }
    }
}

/// Keeps the sign, the exponent and eleven bits of a float.
const FLOAT_SHIFT: u32 = 41;

/// A number that preserves the order of floats.
pub fn float_key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn float_of(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// Buckets are exact below `2 << BITS`; above that, there are `1 << BITS` buckets per doubling.
const BITS: u32 = 10;

#[inline]
fn log_bucket(value: u64) -> u32 {
    let shift = (63 - BITS).saturating_sub(value.leading_zeros());
    (shift << BITS) + (value >> shift) as u32
}

/// The smallest value of a bucket, and the number of values in it.
fn log_range(bucket: u32) -> (u64, u64) {
    let shift = (bucket >> BITS).saturating_sub(1);
    (u64::from(bucket - (shift << BITS)) << shift, 1 << shift)
}

/// Buckets of [`coarse_middle`] per doubling, as a power of two.
const COARSE_BITS: u32 = 6;

/// A number that represents all numbers within 0.8 % of it, for histograms that are stored; below 128 it is the number
/// itself.
pub fn coarse_middle(value: u64) -> u64 {
    let shift = (63 - COARSE_BITS).saturating_sub(value.leading_zeros());
    let low = value >> shift << shift;
    low + ((1 << shift) - 1) / 2
}

/// The samples of one group.
#[derive(Debug, Default)]
pub struct Samples {
    scale: Scale,
    kept: Kept,
}

/// Count, sum, minimum and maximum of samples; only for whole numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sums {
    /// Number of samples.
    pub count: u64,
    /// Sum of all samples.
    pub total: u64,
    /// The smallest sample.
    pub min: u64,
    /// The largest sample.
    pub max: u64,
}

impl Default for Sums {
    fn default() -> Self {
        Self { count: 0, total: 0, min: u64::MAX, max: 0 }
    }
}

impl Sums {
    fn add(&mut self, sample: u64) {
        self.count += 1;
        self.total = self.total.saturating_add(sample);
        self.min = self.min.min(sample);
        self.max = self.max.max(sample);
    }

    fn of<T: Copy + Into<u64>>(samples: &[T]) -> Self {
        let mut sums = Self::default();
        samples.iter().for_each(|sample| sums.add((*sample).into()));
        sums
    }
}

/// What is rare is boxed: there may be a million groups with few samples.
#[derive(Debug)]
enum Kept {
    /// Too many groups with too many samples: there are no quantiles.
    Lost(Box<Sums>),
    Narrow(Vec<u32>),
    Sketch(Box<Sketch>),
    Wide(Vec<u64>),
}

const _: () = assert!(size_of::<Samples>() <= 40);

/// Samples that are not kept individually.
#[derive(Debug)]
struct Sketch {
    counts: HashMap<u32, u64>,
    sums: Sums,
}

impl Default for Kept {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

/// Size of an entry of a sketch, including the free space of the table.
const SKETCH_ENTRY: usize = 32;
const FIRST_ROOM: usize = 4;

impl Samples {
    /// No samples yet; for floats encoded with [`float_key`].
    pub fn of_floats() -> Self {
        Self { scale: Scale::Float, kept: Kept::Wide(Vec::new()) }
    }

    /// Adds a sample.
    #[inline]
    pub fn push(&mut self, key: u64, budget: &mut Budget) {
        match &mut self.kept {
            Kept::Narrow(samples) if key <= u64::from(u32::MAX) && samples.len() < samples.capacity() => {
                samples.push(key as u32);
            }
            Kept::Wide(samples) if samples.len() < samples.capacity() => samples.push(key),
            _ => self.push_slowly(key, budget),
        }
    }

    #[cold]
    fn push_slowly(&mut self, key: u64, budget: &mut Budget) {
        let scale = self.scale;
        match &mut self.kept {
            Kept::Lost(sums) => sums.add(key),
            Kept::Narrow(samples) => match u32::try_from(key) {
                Ok(narrow) if make_room(samples, budget) => samples.push(narrow),
                Ok(_) => self.sketch(key, budget),
                Err(_) => self.widen(key, budget),
            },
            Kept::Wide(samples) => {
                if make_room(samples, budget) {
                    samples.push(key);
                } else {
                    self.sketch(key, budget);
                }
            }
            Kept::Sketch(sketch) => {
                sketch.sums.add(key);
                if let Some(count) = sketch.counts.get_mut(&scale.bucket(key)) {
                    *count += 1;
                } else if let Some(left) = budget.sketches.checked_sub(SKETCH_ENTRY) {
                    budget.sketches = left;
                    sketch.counts.insert(scale.bucket(key), 1);
                } else {
                    self.kept = Kept::Lost(Box::new(sketch.sums));
                }
            }
        }
    }

    fn widen(&mut self, key: u64, budget: &mut Budget) {
        let Kept::Narrow(samples) = &mut self.kept else { return };
        let narrow = std::mem::take(samples);
        let mut wide = Vec::new();
        let bytes = (narrow.len() * 2).max(FIRST_ROOM) * size_of::<u64>();
        let Some(left) = budget.samples.checked_sub(bytes) else {
            self.kept = Kept::Narrow(narrow);
            return self.sketch(key, budget);
        };
        budget.samples = left + narrow.capacity() * size_of::<u32>();
        wide.reserve_exact(bytes / size_of::<u64>());
        wide.extend(narrow.iter().map(|sample| u64::from(*sample)));
        wide.push(key);
        self.kept = Kept::Wide(wide);
    }

    /// Replaces the samples with counts per bucket.
    fn sketch(&mut self, key: u64, budget: &mut Budget) {
        let scale = self.scale;
        let mut counts: HashMap<u32, u64> = HashMap::new();
        let mut count = |key: u64| *counts.entry(scale.bucket(key)).or_default() += 1;
        count(key);
        let mut sums = self.sums();
        sums.add(key);
        match &self.kept {
            Kept::Narrow(samples) => {
                samples.iter().for_each(|sample| count(u64::from(*sample)));
                budget.samples += samples.capacity() * size_of::<u32>();
            }
            Kept::Wide(samples) => {
                samples.iter().for_each(|sample| count(*sample));
                budget.samples += samples.capacity() * size_of::<u64>();
            }
            Kept::Lost(_) | Kept::Sketch(_) => return,
        }
        self.kept = match budget.sketches.checked_sub(counts.len() * SKETCH_ENTRY) {
            Some(left) => {
                budget.sketches = left;
                Kept::Sketch(Box::new(Sketch { counts, sums }))
            }
            None => Kept::Lost(Box::new(sums)),
        };
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        match &self.kept {
            Kept::Lost(_) | Kept::Sketch(_) => false,
            Kept::Narrow(samples) => samples.is_empty(),
            Kept::Wide(samples) => samples.is_empty(),
        }
    }

    /// The sums of all samples; exact even if the samples are not kept.
    pub fn sums(&self) -> Sums {
        match &self.kept {
            Kept::Lost(sums) => **sums,
            Kept::Sketch(sketch) => sketch.sums,
            Kept::Narrow(samples) => Sums::of(samples),
            Kept::Wide(samples) => Sums::of(samples),
        }
    }

    /// Whether quantiles are exact.
    pub fn is_exact(&self) -> bool {
        matches!(self.kept, Kept::Narrow(_) | Kept::Wide(_))
    }

    /// The quantiles at `shares`, each between 0 and 1; `None` if there are no samples, or too many to keep.
    ///
    /// Values between two samples are interpolated, so the median of an even number of samples is the mean of the
    /// middle two.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> Option<[f64; N]> {
        self.summary(shares).1
    }

    /// Sums and quantiles from one pass over the samples.
    pub fn summary<const N: usize>(&self, shares: [f64; N]) -> (Sums, Option<[f64; N]>) {
        match &self.kept {
            Kept::Lost(sums) => (**sums, None),
            Kept::Narrow(samples) => select(samples, self.scale, shares),
            Kept::Wide(samples) => select(samples, self.scale, shares),
            Kept::Sketch(sketch) => (sketch.sums, Some(from_counts(&sketch.counts, self.scale, shares))),
        }
    }

    /// Calls `each` with every distinct sample and its count, in no particular order.
    pub fn for_each(&self, mut each: impl FnMut(f64, u64)) {
        let scale = self.scale;
        match &self.kept {
            Kept::Lost(_) => {}
            Kept::Narrow(samples) => samples.iter().for_each(|sample| each(scale.value(u64::from(*sample)), 1)),
            Kept::Wide(samples) => samples.iter().for_each(|sample| each(scale.value(*sample), 1)),
            Kept::Sketch(sketch) => {
                sketch.counts.iter().for_each(|(bucket, count)| each(scale.middle(*bucket), *count));
            }
        }
    }
}

fn make_room<T>(samples: &mut Vec<T>, budget: &mut Budget) -> bool {
    if samples.len() < samples.capacity() {
        return true;
    }
    let more = samples.len().max(FIRST_ROOM);
    let Some(left) = budget.samples.checked_sub(more * size_of::<T>()) else { return false };
    budget.samples = left;
    samples.reserve_exact(more);
    true
}

/// The position of a quantile among sorted samples: at a sample, or between it and the next one.
#[derive(Clone, Copy, Debug)]
struct Rank {
    rank: usize,
    /// Fraction of the distance to the next sample.
    part: f64,
}

impl Rank {
    fn of(share: f64, count: usize) -> Self {
        let last = count.saturating_sub(1);
        let exact = share.clamp(0.0, 1.0) * last as f64;
        Self { rank: (exact as usize).min(last), part: exact.fract() }
    }

    /// The interpolated value between two samples.
    fn between(self, low: f64, high: impl FnOnce() -> f64) -> f64 {
        if self.part == 0.0 { low } else { low + (high() - low) * self.part }
    }
}

/// One quantile of samples in memory; reorders them. `None` if there are no samples.
pub fn quantile(samples: &mut [f64], share: f64) -> Option<f64> {
    if samples.is_empty() {
        return None;
    }
    let place = Rank::of(share, samples.len());
    let (_, low, above) = samples.select_nth_unstable_by(place.rank, f64::total_cmp);
    let low = *low;
    Some(place.between(low, || above.iter().copied().min_by(f64::total_cmp).unwrap_or(low)))
}

/// Below this number, selecting in place is faster than counting first.
const FEW: usize = 4096;

fn select<T: Sample, const N: usize>(samples: &[T], scale: Scale, shares: [f64; N]) -> (Sums, Option<[f64; N]>) {
    let Some(last) = samples.len().checked_sub(1) else { return (Sums::default(), None) };
    let places = shares.map(|share| Rank::of(share, samples.len()));
    let (sums, mut ranked) = match samples.len() {
        ..=FEW => (Sums::of(samples), Ranked { members: samples.to_vec(), skipped: Vec::new() }),
        _ => Ranked::of(samples, places.iter().flat_map(|place| [place.rank, (place.rank + 1).min(last)])),
    };
    let quantiles = places.map(|place| {
        let low = scale.value(ranked.at(place.rank));
        place.between(low, || scale.value(ranked.at(place.rank + 1)))
    });
    (sums, Some(quantiles))
}

/// A kept sample.
trait Sample: Copy + Ord + Into<u64> {
    /// The largest possible sample.
    const MAX: Self;
}

impl Sample for u32 {
    const MAX: Self = Self::MAX;
}

impl Sample for u64 {
    const MAX: Self = Self::MAX;
}

/// The samples in the buckets that contain the requested ranks.
///
/// All samples are counted by bucket, which shows the buckets that contain the ranks; buckets are narrow, so few
/// samples are in them, and only those are selected from.
struct Ranked<T> {
    members: Vec<T>,
    /// For each range of ranks, the number of samples left out before it.
    skipped: Vec<(usize, usize)>,
}

impl<T: Sample> Ranked<T> {
    fn of(samples: &[T], ranks: impl Iterator<Item = usize>) -> (Sums, Self) {
        let mut counts = vec![0_u32; log_bucket(<T as Sample>::MAX.into()) as usize + 1];
        let mut sums = Sums::default();
        for sample in samples.iter().map(|sample| (*sample).into()) {
            counts[log_bucket(sample) as usize] += 1;
            sums.add(sample);
        }
        let mut ranks: Vec<usize> = ranks.collect();
        ranks.sort_unstable();
        let mut wanted = vec![false; counts.len()];
        let (mut before, mut members, mut skipped) = (0, 0, Vec::new());
        let mut ranks = ranks.into_iter().peekable();
        for (count, wanted) in counts.iter().zip(&mut wanted) {
            let end = before + *count as usize;
            if ranks.peek().is_some_and(|rank| *rank < end) {
                *wanted = true;
                skipped.push((before, before - members));
                members += *count as usize;
                while ranks.next_if(|rank| *rank < end).is_some() {}
            }
            before = end;
        }
        let mut kept = Vec::with_capacity(members);
        kept.extend(samples.iter().filter(|sample| wanted[log_bucket((**sample).into()) as usize]));
        (sums, Self { members: kept, skipped })
    }

    fn at(&mut self, rank: usize) -> u64 {
        let skipped = self.skipped.iter().rev().find(|(from, _)| *from <= rank).map_or(0, |(_, skipped)| *skipped);
        (*self.members.select_nth_unstable(rank - skipped).1).into()
    }
}

fn from_counts<const N: usize>(counts: &HashMap<u32, u64>, scale: Scale, shares: [f64; N]) -> [f64; N] {
    let mut sorted: Vec<(u32, u64)> = counts.iter().map(|(bucket, count)| (*bucket, *count)).collect();
    sorted.sort_unstable();
    let total: u64 = sorted.iter().map(|(_, count)| count).sum();
    shares.map(|share| {
        let rank = Rank::of(share, total as usize).rank;
        let mut seen = 0;
        let at = sorted.iter().find(|(_, count)| {
            seen += count;
            seen > rank as u64
        });
        at.map_or(0.0, |(bucket, _)| scale.middle(*bucket))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(samples: impl IntoIterator<Item = u64>, budget_bytes: usize) -> Samples {
        let mut budget = Budget::new(budget_bytes);
        let mut all = Samples::default();
        samples.into_iter().for_each(|sample| all.push(sample, &mut budget));
        all
    }

    #[test]
    fn a_coarse_number_is_near_and_stands_for_itself() {
        for value in scattered(10_000).into_iter().chain([0, 127, 128, u64::MAX]) {
            let middle = coarse_middle(value);
            assert!(middle.abs_diff(value) as f64 <= value as f64 * 0.008, "{value} became {middle}");
            assert_eq!(coarse_middle(middle), middle);
        }
        assert_eq!((coarse_middle(127), coarse_middle(128), coarse_middle(129)), (127, 128, 128));
    }

    /// Unordered numbers over many orders of magnitude.
    fn scattered(count: u64) -> Vec<u64> {
        (0..count).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (20 + n % 40)) + n % 7).collect()
    }

    fn truth(samples: &[u64], share: f64) -> f64 {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        let exact = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[exact as usize] as f64, sorted[exact.ceil() as usize] as f64);
        low + (high - low) * exact.fract()
    }

    #[test]
    fn few_and_many_samples_have_exact_quantiles() {
        for count in [1, 2, 3, 10, 4096, 4097, 100_000] {
            let samples = scattered(count);
            let kept = filled(samples.iter().copied(), 1 << 30);
            let shares = [0.0, 0.5, 0.95, 0.99, 1.0];
            assert_eq!(kept.quantiles(shares), Some(shares.map(|share| truth(&samples, share))), "{count}");
            assert!(kept.is_exact());
        }
        assert_eq!(filled([], 0).quantiles([0.5]), None);
    }

    #[test]
    fn one_quantile_alone_is_the_same() {
        for count in [1, 2, 3, 10, 4097] {
            let samples = scattered(count);
            let mut floats: Vec<f64> = samples.iter().map(|sample| *sample as f64).collect();
            for share in [0.0, 0.25, 0.5, 0.95, 0.99, 1.0] {
                assert_eq!(quantile(&mut floats, share), Some(truth(&samples, share)), "{share} of {count}");
            }
        }
        assert_eq!(quantile(&mut [], 0.5), None);
        assert_eq!(quantile(&mut [1.0, f64::INFINITY], 0.0), Some(1.0));
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(filled([4, 1, 3, 2], 1 << 20).quantiles([0.5]), Some([2.5]));
    }

    #[test]
    fn beyond_the_budget_the_error_is_below_a_thousandth() {
        let samples: Vec<u64> = scattered(200_000).iter().map(|sample| 1_000_000 + sample % 3_000_000).collect();
        let kept = filled(samples.iter().copied(), 1 << 19);
        assert!(!kept.is_exact());
        for share in [0.01, 0.5, 0.95, 0.99] {
            let [found] = kept.quantiles([share]).expect("the sketch fits");
            let exact = truth(&samples, share);
            assert!((found - exact).abs() <= exact / 1000.0, "{share}: {found} for {exact}");
        }
    }

    #[test]
    fn sums_are_exact_whatever_is_kept() {
        let samples = scattered(10_000);
        let (count, total) = (samples.len() as u64, samples.iter().sum());
        let (min, max) = (samples.iter().min().copied(), samples.iter().max().copied());
        for budget_bytes in [0, 1 << 10, 1 << 16, 1 << 30] {
            let sums = filled(samples.iter().copied(), budget_bytes).sums();
            assert_eq!((sums.count, sums.total, Some(sums.min), Some(sums.max)), (count, total, min, max));
        }
    }

    #[test]
    fn without_any_room_there_are_no_quantiles() {
        assert_eq!(filled(scattered(100), 0).quantiles([0.5]), None);
    }

    #[test]
    fn floats_keep_their_order() {
        let values = [f64::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-300, 1.0, 1e300];
        assert!(values.map(float_key).is_sorted());
        assert_eq!(values.map(float_key).map(float_of), values);
        let mut budget = Budget::new(1 << 20);
        let mut samples = Samples::of_floats();
        [3.0, -1.0, 2.0].iter().for_each(|value| samples.push(float_key(*value), &mut budget));
        assert_eq!(samples.quantiles([0.0, 0.5, 1.0]), Some([-1.0, 2.0, 3.0]));
    }
}
