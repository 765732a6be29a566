//! The first and last timestamp of a trace.

/// The range of all timestamps seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Extent {
    /// Greater than `last` if no timestamp was seen, so that each timestamp costs two comparisons and no check for the
    /// first one.
    first: i64,
    last: i64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { first: i64::MAX, last: i64::MIN }
    }
}

impl Extent {
    /// Extends the range to a timestamp.
    #[inline]
    pub fn add(&mut self, ts_ns: i64) {
        self.first = self.first.min(ts_ns);
        self.last = self.last.max(ts_ns);
    }

    /// The first timestamp, if there is one.
    pub fn first(&self) -> Option<i64> {
        (self.first <= self.last).then_some(self.first)
    }

    /// The last timestamp, if there is one.
    pub fn last(&self) -> Option<i64> {
        (self.first <= self.last).then_some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reaches_from_the_first_to_the_last_time() {
        let mut extent = Extent::default();
        assert_eq!((extent.first(), extent.last()), (None, None));
        [5, -3, 4].into_iter().for_each(|ts_ns| extent.add(ts_ns));
        assert_eq!((extent.first(), extent.last()), (Some(-3), Some(5)));
    }
}
