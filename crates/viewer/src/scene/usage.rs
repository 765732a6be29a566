//! Memory in use over time, from what was taken and given back.

use super::Series;

/// Changes that are kept before they are put together.
const MOST_CHANGES: usize = 2 << 20;

/// What happened to the memory in a stretch of time.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// Its place in the file: times may be equal.
    event: i64,
    ts_ns: i64,
    sum: i64,
    /// The least and the most that the sum was on the way, from the state before.
    low: i64,
    high: i64,
}

/// Changes in any order; neighbours are put together when there are too many, and their extremes are kept.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    changes: Vec<Change>,
}

impl Usage {
    /// An event took so many bytes, or gave them back.
    pub(crate) fn push(&mut self, event: i64, ts_ns: i64, bytes: i64) {
        if self.changes.len() >= MOST_CHANGES {
            self.compact();
        }
        self.changes.push(Change { event, ts_ns, sum: bytes, low: bytes.min(0), high: bytes.max(0) });
    }

    /// The memory in use over time; none where none was ever taken.
    pub(crate) fn finish(mut self) -> Option<Series> {
        self.sort();
        let mut series = Series::default();
        let mut used = 0_i64;
        for change in &self.changes {
            let is_one = change.low == change.sum.min(0) && change.high == change.sum.max(0);
            if !is_one {
                series.push(change.ts_ns, used.saturating_add(change.low) as f64);
                series.push(change.ts_ns, used.saturating_add(change.high) as f64);
            }
            used = used.saturating_add(change.sum);
            series.push(change.ts_ns, used as f64);
        }
        series.close();
        (series.len() > 0).then_some(series)
    }

    /// An event that is given an address anew gives it back first.
    fn sort(&mut self) {
        self.changes.sort_unstable_by_key(|change| (change.event, change.sum));
    }

    fn compact(&mut self) {
        self.sort();
        let pairs = self.changes.chunks(2).map(|pair| match pair {
            [one, other] => one.then(other),
            _ => pair[0],
        });
        self.changes = pairs.collect();
    }
}

impl Change {
    fn then(&self, other: &Self) -> Self {
        Self {
            event: self.event,
            ts_ns: self.ts_ns,
            sum: self.sum.saturating_add(other.sum),
            low: self.low.min(self.sum.saturating_add(other.low)),
            high: self.high.max(self.sum.saturating_add(other.high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_survives_any_number_of_changes() {
        let mut usage = Usage::default();
        for number in 0..3_000_000_i64 {
            let bytes = if number == 1_234_567 { 5_000 } else { 10 };
            usage.push(number * 2, number * 10, bytes);
            usage.push(number * 2 + 1, number * 10 + 5, -bytes);
        }
        let series = usage.finish().expect("memory was used");
        assert_eq!(series.range(), Some((0.0, 5_000.0)));
        assert!(series.len() <= 3 * MOST_CHANGES);
    }

    #[test]
    fn events_of_one_time_keep_their_order() {
        let mut usage = Usage::default();
        for (event, bytes) in [(0, 8), (1, 16), (1, -8), (2, 4), (3, -4)] {
            usage.push(event, 7, bytes);
        }
        assert_eq!(usage.finish().and_then(|series| series.range()), Some((0.0, 20.0)));
        assert!(Usage::default().finish().is_none());
    }
}
