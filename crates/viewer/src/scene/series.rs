//! Values over time, with level of detail.

use traceloom_analysis::lod::Window;

/// Number of entries per entry of the next level.
const FAN: usize = 16;

/// The values of a time range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) ts_ns: i64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) last: f64,
}

/// A value over time, with a growing pyramid of its extremes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    samples: Vec<(i64, f64)>,
    levels: Vec<Vec<Sample>>,
    range: Option<(f64, f64)>,
    is_unsorted: bool,
}

impl Series {
    pub(crate) fn push(&mut self, ts_ns: i64, value: f64) {
        self.is_unsorted |= self.samples.last().is_some_and(|(last, _)| ts_ns < *last);
        self.samples.push((ts_ns, value));
        let (min, max) = self.range.unwrap_or((value, value));
        self.range = Some((min.min(value), max.max(value)));
        if self.samples.len().is_multiple_of(FAN) {
            self.summarize(self.samples.len() / FAN);
        }
    }

    /// Sorts the samples; call after the last push.
    pub(crate) fn close(&mut self) {
        if self.is_unsorted {
            self.samples.sort_by_key(|(ts_ns, _)| *ts_ns);
            self.levels.clear();
            (1..=self.samples.len() / FAN).for_each(|groups| self.summarize(groups));
            self.is_unsorted = false;
        }
    }

    /// Drops values before a time.
    pub(crate) fn forget_before(&mut self, before_ns: i64) {
        self.samples.retain(|(ts_ns, _)| *ts_ns >= before_ns);
        self.samples.shrink_to_fit();
        self.levels.clear();
        (1..=self.samples.len() / FAN).for_each(|groups| self.summarize(groups));
    }

    pub(crate) fn resident_bytes(&self) -> usize {
        // All levels together have a fifteenth as many entries, each twice as large.
        self.samples.capacity() * 18
    }

    /// Adds the last of `groups` groups to the lowest level, and to higher levels if a group is complete there.
    fn summarize(&mut self, mut groups: usize) {
        for number in 0.. {
            let entries = (groups - 1) * FAN..groups * FAN;
            let group = match number {
                0 => joined(self.samples[entries].iter().map(one)),
                _ => joined(self.levels[number - 1][entries].iter().copied()),
            };
            let Some(group) = group else { return };
            if self.levels.len() == number {
                self.levels.push(Vec::new());
            }
            self.levels[number].push(group);
            if !groups.is_multiple_of(FAN) {
                return;
            }
            groups /= FAN;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.samples.len()
    }

    /// The smallest and the largest value.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// One sample per nonempty pixel, and the last one before the window.
    pub(crate) fn draw(&self, window: &Window) -> Vec<Sample> {
        let first = self.samples.partition_point(|(ts_ns, _)| *ts_ns < window.from_ns);
        let mut drawn: Vec<Sample> =
            first.checked_sub(1).map(|before| one(&self.samples[before])).into_iter().collect();
        let mut next = first;
        while let Some((ts_ns, _)) = self.samples.get(next).filter(|(ts_ns, _)| *ts_ns <= window.to_ns) {
            let (sample, end) = self.run(next, window.next_pixel(*ts_ns));
            drawn.push(Sample { ts_ns: *ts_ns, ..sample });
            next = end;
        }
        drawn
    }

    /// Merges the samples from `first` on that are before a time; also returns the index of the next one.
    fn run(&self, first: usize, last_ns: i64) -> (Sample, usize) {
        let mut sample = one(&self.samples[first]);
        let mut next = first + 1;
        while next < self.samples.len() && self.samples[next].0 < last_ns {
            let (number, width) = self.widest(next, last_ns);
            let more = match number {
                None => one(&self.samples[next]),
                Some(number) => self.levels[number][next / width],
            };
            sample = Sample { ts_ns: sample.ts_ns, ..join(sample, more) };
            next += width;
        }
        (sample, next)
    }

    /// The highest level with an entry that starts here and ends before a time.
    fn widest(&self, first: usize, last_ns: i64) -> (Option<usize>, usize) {
        let (mut found, mut width) = (None, 1);
        for (number, level) in self.levels.iter().enumerate() {
            let wider = width * FAN;
            let fits = first.is_multiple_of(wider)
                && level.get(first / wider).is_some()
                && self.samples.get(first + wider - 1).is_some_and(|(ts_ns, _)| *ts_ns < last_ns);
            if !fits {
                break;
            }
            (found, width) = (Some(number), wider);
        }
        (found, width)
    }
}

fn one((ts_ns, value): &(i64, f64)) -> Sample {
    Sample { ts_ns: *ts_ns, min: *value, max: *value, last: *value }
}

fn join(sum: Sample, sample: Sample) -> Sample {
    Sample { ts_ns: sum.ts_ns, min: sum.min.min(sample.min), max: sum.max.max(sample.max), last: sample.last }
}

fn joined(samples: impl Iterator<Item = Sample>) -> Option<Sample> {
    samples.reduce(join)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive_at_any_width() {
        let mut series = Series::default();
        for ts_ns in 0..100_000 {
            series.push(ts_ns, if ts_ns == 77_777 { 9.0 } else { (ts_ns % 5) as f64 });
        }
        series.close();
        assert_eq!(series.range(), Some((0.0, 9.0)));
        for pixels in [1, 3, 100, 1280] {
            let drawn = series.draw(&Window::new(0, 100_000, pixels));
            assert!(drawn.len() <= pixels as usize + 1, "{} in {pixels} pixels", drawn.len());
            assert!(drawn.iter().any(|sample| sample.max == 9.0));
            assert!(drawn.iter().all(|sample| sample.min >= 0.0));
            assert_eq!(drawn.last().map(|sample| sample.last), Some(4.0));
        }
    }

    #[test]
    fn samples_out_of_order_are_sorted() {
        let (mut sorted, mut mixed) = (Series::default(), Series::default());
        for ts_ns in 0..1_000 {
            sorted.push(ts_ns, ts_ns as f64);
            mixed.push(999 - ts_ns, (999 - ts_ns) as f64);
        }
        mixed.close();
        let window = Window::new(0, 1_000, 7);
        assert_eq!(mixed.draw(&window), sorted.draw(&window));
    }

    #[test]
    fn a_window_between_samples_knows_the_value_before_it() {
        let mut series = Series::default();
        series.push(0, 1.0);
        series.push(100, 2.0);
        series.close();
        assert_eq!(series.draw(&Window::new(50, 60, 10)), [Sample { ts_ns: 0, min: 1.0, max: 1.0, last: 1.0 }]);
    }
}
