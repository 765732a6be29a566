//! Correlates values with the durations of their enclosing spans.

use super::report::{Complexity, Fit, Pair, Relation};
use crate::threads::Threads;

/// Gathers values of one name and spans of another.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    values: Vec<(u32, i64, f64)>,
    spans: Vec<(u32, i64, i64)>,
    left_out: u64,
}

/// Max number of values and of spans that are kept.
const MAX_ROWS: usize = 4 << 20;
/// Max number of points to plot.
const MAX_POINTS: usize = 2_000;

/// A subset of points at regular intervals.
#[derive(Debug)]
struct Spread {
    points: Vec<Pair>,
    step: usize,
    seen: usize,
}

impl Spread {
    fn push(&mut self, pair: Pair) {
        if self.seen.is_multiple_of(self.step) {
            self.points.push(pair);
        }
        self.seen += 1;
        if self.points.len() > MAX_POINTS {
            self.step *= 2;
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }
}

impl Pairs {
    pub(super) fn value(&mut self, thread: u32, ts_ns: i64, value: f64) {
        if self.values.len() < MAX_ROWS {
            self.values.push((thread, ts_ns, value));
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn span(&mut self, thread: u32, ts_ns: i64, dur_ns: i64) {
        if self.spans.len() < MAX_ROWS {
            self.spans.push((thread, ts_ns, dur_ns));
        } else {
            self.left_out += 1;
        }
    }

    /// Pairs each value with its innermost enclosing span.
    pub(super) fn finish(mut self, threads: &Threads) -> Relation {
        self.values.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.cmp(&other.1)));
        // If spans start together, the longest is the outer one.
        self.spans.sort_unstable_by_key(|(thread, ts_ns, dur_ns)| (*thread, *ts_ns, std::cmp::Reverse(*dur_ns)));
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        let trace_of = |thread: u32| threads.list.get(thread as usize).map_or(0, |thread| thread.trace);
        let mut spread = Spread { points: Vec::new(), step: 1, seen: 0 };
        let mut spans = self.spans.iter().peekable();
        let mut open: Vec<(u32, i64, i64)> = Vec::new();
        for (thread, ts_ns, value) in &self.values {
            while let Some(span) = spans.next_if(|span| (span.0, span.1) <= (*thread, *ts_ns)) {
                open.push(*span);
            }
            let is_over = |span: &(u32, i64, i64)| span.0 != *thread || span.1.saturating_add(span.2) < *ts_ns;
            while open.last().is_some_and(is_over) {
                open.pop();
            }
            let Some((_, begin_ns, dur_ns)) = open.last() else { continue };
            pairs.push((*value, *dur_ns as f64));
            spread.push(Pair { trace: trace_of(*thread), ts_ns: *begin_ns, dur_ns: *dur_ns, value: *value });
        }
        Relation { pairs: pairs.len() as u64, left_out: self.left_out, fit: fit(&pairs), points: spread.points }
    }
}

/// Minimum number of pairs to fit a law.
const ENOUGH: usize = 3;

fn fit(pairs: &[(f64, f64)]) -> Option<Fit> {
    let line = regression(pairs, |value| value)?;
    let laws = LAWS.iter().filter_map(|(complexity, law)| Some((*complexity, regression(pairs, law)?)));
    let rising = laws.filter(|(_, line)| line.slope > 0.0);
    let best = rising.max_by(|(_, one), (_, other)| one.r2.total_cmp(&other.r2));
    // A law that explains less than a third of the variance is not used.
    let best = best.filter(|(_, line)| line.r2 >= 1.0 / 3.0);
    let (complexity, r2) = best.map_or((Complexity::Constant, None), |(complexity, line)| (complexity, Some(line.r2)));
    let correlation = line.r2.sqrt().copysign(line.slope);
    Some(Fit { correlation, slope_ns: line.slope, intercept_ns: line.intercept, complexity, r2 })
}

type Law = fn(f64) -> f64;

/// The simplest law last: of two equal fits, the last one wins.
static LAWS: &[(Complexity, Law)] = &[
    (Complexity::Exponential, f64::exp2),
    (Complexity::Cubic, |n| n * n * n),
    (Complexity::Quadratic, |n| n * n),
    (Complexity::LinearLogarithmic, |n| n * n.log2()),
    (Complexity::Logarithmic, f64::log2),
    (Complexity::Linear, |n| n),
];

struct Line {
    slope: f64,
    intercept: f64,
    r2: f64,
}

/// Least-squares line; `None` if there are too few pairs or the law is undefined for a value.
fn regression(pairs: &[(f64, f64)], law: impl Fn(f64) -> f64) -> Option<Line> {
    if pairs.len() < ENOUGH {
        return None;
    }
    let count = pairs.len() as f64;
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(value, dur)| of(law(*value), *dur)).sum::<f64>();
    let (mean_x, mean_y) = (sum(&|x, _| x) / count, sum(&|_, y| y) / count);
    let xx = sum(&|x, _| (x - mean_x).powi(2));
    let yy = sum(&|_, y| (y - mean_y).powi(2));
    let xy = sum(&|x, y| (x - mean_x) * (y - mean_y));
    let slope = xy / xx;
    let r2 = xy * xy / (xx * yy);
    (slope.is_finite() && r2.is_finite()).then_some(Line { slope, intercept: mean_y - slope * mean_x, r2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_the_innermost_span_around_it() {
        let mut pairs = Pairs::default();
        for (thread, ts_ns, dur_ns) in [(0, 0, 100), (0, 10, 20), (1, 0, 50), (0, 200, 10)] {
            pairs.span(thread, ts_ns, dur_ns);
        }
        for (thread, ts_ns) in [(0, 5), (0, 15), (0, 60), (0, 150), (1, 15), (2, 15), (0, 205)] {
            pairs.value(thread, ts_ns, ts_ns as f64);
        }
        let relation = pairs.finish(&Threads::default());
        assert_eq!(relation.pairs, 5);
        let inner = relation.points.iter().find(|pair| pair.value == 15.0).expect("it lies in a span");
        assert_eq!((inner.ts_ns, inner.dur_ns), (10, 20));
    }

    #[test]
    fn points_are_spread_evenly() {
        let mut spread = Spread { points: Vec::new(), step: 1, seen: 0 };
        (0..100_000).for_each(|ts_ns| spread.push(Pair { trace: 0, ts_ns, dur_ns: 1, value: 0.0 }));
        assert!((MAX_POINTS / 2..=MAX_POINTS).contains(&spread.points.len()), "{}", spread.points.len());
        let distances = spread.points.windows(2).map(|pair| pair[1].ts_ns - pair[0].ts_ns);
        assert!(distances.clone().all(|distance| distance == spread.step as i64), "{:?}", distances.max());
    }

    #[test]
    fn laws_are_recognized() {
        let fitted = |law: Law| {
            let pairs: Vec<_> = (1..40).map(|n| (f64::from(n), 500.0 + 7.0 * law(f64::from(n)))).collect();
            fit(&pairs).expect("there are enough pairs").complexity
        };
        for (complexity, law) in LAWS {
            assert_eq!(fitted(*law), *complexity);
        }
        let noise: Vec<_> = (1..40).map(|n| (f64::from(n), f64::from(n * 7919 % 13))).collect();
        assert_eq!(fit(&noise).expect("there are enough pairs").complexity, Complexity::Constant);
        assert!(fit(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]).is_none(), "one value alone shows no law");
    }
}
