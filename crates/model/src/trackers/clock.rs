//! Conversion from the producer's clock to the time of the tables.

/// Converts native times to `ts_ns`, and counts those that do not fit.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: i128,
    saturated: u64,
}

impl Clock {
    /// A clock whose origin is this native time.
    pub fn new(origin_ns: i128) -> Self {
        Self { origin_ns, saturated: 0 }
    }

    /// The origin on the producer's clock, as stored in the column `start_native_ns`.
    pub fn start_native_ns(&self) -> i64 {
        self.origin_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Nanoseconds from the origin; a time out of range is clamped.
    #[inline]
    pub fn ts_ns(&mut self, native_ns: impl Into<i128>) -> i64 {
        let difference = native_ns.into() - self.origin_ns;
        match i64::try_from(difference) {
            Ok(ts_ns) => ts_ns,
            Err(_) => self.saturate(difference),
        }
    }

    #[cold]
    fn saturate(&mut self, difference: i128) -> i64 {
        self.saturated += 1;
        if difference < 0 { i64::MIN } else { i64::MAX }
    }

    /// Number of times that were clamped.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_origin_and_saturate() {
        let mut clock = Clock::new(100);
        assert_eq!((clock.ts_ns(150_u64), clock.ts_ns(50_u64), clock.saturated()), (50, -50, 0));
        assert_eq!(clock.ts_ns(u64::MAX), i64::MAX);
        assert_eq!(clock.saturated(), 1);
    }
}
