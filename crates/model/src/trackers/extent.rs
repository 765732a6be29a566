//! The first and the last time of a trace.

/// The span of all times seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Extent {
    /// Above `last` where no time was seen: two comparisons a time, and no question whether it is the first.
    first: i64,
    last: i64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { first: i64::MAX, last: i64::MIN }
    }
}

impl Extent {
    /// Takes a time into account.
    #[inline]
    pub fn add(&mut self, ts_ns: i64) {
        self.first = self.first.min(ts_ns);
        self.last = self.last.max(ts_ns);
    }

    /// The first time, if there was any.
    pub fn first(&self) -> Option<i64> {
        (self.first <= self.last).then_some(self.first)
    }

    /// The last time, if there was any.
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
