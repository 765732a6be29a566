//! Welch's t-test: whether two sets of runs differ by more than their noise.

/// The result of the test for two sets of measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Welch {
    /// The p-value: the probability of a difference at least this large if there is none.
    pub(crate) p: f64,
    /// Half the 95 % confidence interval of the difference.
    pub(crate) margin: f64,
    /// The difference in standard deviations, corrected for few runs (Hedges' g).
    pub(crate) effect: Option<f64>,
}

/// Compares sets of at least two measurements each.
pub(crate) fn welch(before: &[f64], after: &[f64]) -> Option<Welch> {
    Moments::of(before).welch(Moments::of(after))
}

/// Mean and variance of a sample.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let moments = Moments::of(values);
    (moments.mean, moments.variance())
}

/// The moments of a sample; samples can be merged without their values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
}

impl Moments {
    pub(crate) fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        Self { count, mean, squares: values.iter().map(|value| (value - mean).powi(2)).sum() }
    }

    /// Merges two samples.
    pub(crate) fn and(self, other: Self) -> Self {
        let count = self.count + other.count;
        if self.count == 0.0 || other.count == 0.0 {
            return if self.count == 0.0 { other } else { self };
        }
        let distance = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + distance * other.count / count,
            squares: self.squares + other.squares + distance.powi(2) * self.count * other.count / count,
        }
    }

    fn variance(self) -> f64 {
        if self.count < 2.0 { 0.0 } else { self.squares / (self.count - 1.0) }
    }

    /// Half the 95 % confidence interval of the mean.
    pub(crate) fn margin(self) -> Option<f64> {
        (self.count >= 2.0).then(|| critical(0.05, self.count - 1.0) * (self.variance() / self.count).sqrt())
    }

    /// The p-value of the stricter of two tests: Welch's test is overconfident if a few measurements happen to be
    /// alike, Student's test is not.
    pub(crate) fn chance(self, after: Self) -> Option<f64> {
        let welch = self.welch(after)?.p;
        let freedom = self.count + after.count - 2.0;
        let error = ((self.squares + after.squares) / freedom * (1.0 / self.count + 1.0 / after.count)).sqrt();
        Some(if error == 0.0 { welch } else { welch.max(two_sided((after.mean - self.mean) / error, freedom)) })
    }

    /// Compares two samples of at least two measurements each.
    pub(crate) fn welch(self, after: Self) -> Option<Welch> {
        if self.count < 2.0 || after.count < 2.0 {
            return None;
        }
        let (var_a, var_b, count_a, count_b) = (self.variance(), after.variance(), self.count, after.count);
        let (part_a, part_b) = (var_a / count_a, var_b / count_b);
        let error = (part_a + part_b).sqrt();
        let difference = after.mean - self.mean;
        if error == 0.0 {
            let p = if difference == 0.0 { 1.0 } else { 0.0 };
            return Some(Welch { p, margin: 0.0, effect: None });
        }
        let freedom = (part_a + part_b).powi(2) / (part_a.powi(2) / (count_a - 1.0) + part_b.powi(2) / (count_b - 1.0));
        let p = two_sided(difference / error, freedom);
        let pooled = (((count_a - 1.0) * var_a + (count_b - 1.0) * var_b) / (count_a + count_b - 2.0)).sqrt();
        let correction = 1.0 - 3.0 / (4.0 * (count_a + count_b) - 9.0);
        let effect = Some(difference / pooled * correction).filter(|effect| effect.is_finite());
        Some(Welch { p, margin: critical(0.05, freedom) * error, effect })
    }
}

/// Two-sided probability of Student's t.
fn two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The t that is exceeded with this two-sided probability.
fn critical(p: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e3);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if two_sided(middle, freedom) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The regularized incomplete beta function.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges quickly on one side; the other side follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    (front.exp() / a * fraction(x, a, b)).clamp(0.0, 1.0)
}

/// The continued fraction of the incomplete beta function, from the front.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut denominator = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let (mut numerator, mut value) = (1.0, denominator);
    for m in (1..500).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for step in [even, odd] {
            denominator = 1.0 / keep(1.0 + step * denominator);
            numerator = keep(1.0 + step / numerator);
            value *= denominator * numerator;
        }
        if (value / before - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// Logarithm of the gamma function by Stirling's series; small arguments are shifted to where it is accurate.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

/// Controls the false discovery rate over many names (Benjamini and Hochberg).
pub(crate) fn adjust(ps: &mut [&mut f64]) {
    ps.sort_by(|one, other| one.total_cmp(other));
    let count = ps.len() as f64;
    let mut least = 1.0_f64;
    for (rank, p) in ps.iter_mut().enumerate().rev() {
        least = least.min(**p * count / (rank + 1) as f64);
        **p = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
    }

    #[test]
    fn values_of_the_t_distribution_are_those_of_the_tables() {
        near(critical(0.05, 1.0), 12.7062);
        near(critical(0.05, 4.0), 2.7764);
        near(critical(0.05, 30.0), 2.0423);
        near(critical(0.01, 10.0), 3.1693);
        near(two_sided(0.0, 7.0), 1.0);
    }

    #[test]
    fn sets_that_differ_by_more_than_their_scatter_are_told_apart() {
        let (before, after) = ([10.0, 10.2, 9.9, 10.1, 9.8], [11.0, 11.2, 10.9, 11.1, 10.8]);
        let welch = welch(&before, &after).expect("enough runs");
        assert!(welch.p < 0.0001, "{welch:?}");
        near(welch.margin, 2.306 * 0.1);
        near(welch.effect.expect("they scatter"), 1.0 / 0.025_f64.sqrt() * (1.0 - 3.0 / 31.0));
        let same = super::welch(&before, &before).expect("enough runs");
        assert_eq!((same.p, same.effect), (1.0, Some(0.0)));
        assert_eq!(super::welch(&before, &[1.0]), None);
    }

    #[test]
    fn many_comparisons_raise_the_bar() {
        let mut ps = [0.01, 0.04, 0.03, 0.9];
        let [a, b, c, d] = &mut ps;
        adjust(&mut [a, b, c, d]);
        [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.9].iter().zip(ps).for_each(|(expected, found)| near(found, *expected));
    }
}
