//! Converts ticks to time.

use crate::Header;

const NANOS: u64 = 1_000_000_000;

/// The clock of a file's timestamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    frequency: u64,
    /// Approximate seconds per tick: a first guess that saves a division.
    seconds: f64,
    start_ticks: u64,
    start_sec: i64,
    start_nsec: i32,
}

/// A point in time: seconds since 1970 and additional nanoseconds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Moment {
    /// Seconds since 1970, rounded down.
    pub sec: i64,
    /// Nanoseconds after that second.
    pub nsec: u32,
}

impl Moment {
    /// Nanoseconds since 1970; saturates outside the years 1677 to 2262.
    pub fn unix_ns(self) -> i64 {
        let ns = i128::from(self.sec) * i128::from(NANOS) + i128::from(self.nsec);
        ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

impl Clock {
    /// The clock that a header describes.
    pub fn new(header: &Header) -> Self {
        let (frequency, start_ticks) = (header.timestamp_frequency, header.start_timestamp);
        Self::with(frequency, start_ticks, header.start_time_sec, header.start_time_nsec)
    }

    fn with(frequency: u64, start_ticks: u64, start_sec: i64, start_nsec: i32) -> Self {
        let frequency = if frequency == 0 { NANOS } else { frequency };
        Self { frequency, seconds: 1.0 / frequency as f64, start_ticks, start_sec, start_nsec }
    }

    /// Ticks since the start; negative before it, because the counter is 64 bits wide and the difference wraps.
    #[inline]
    pub fn ticks_since_start(&self, ticks: u64) -> i64 {
        ticks.wrapping_sub(self.start_ticks) as i64
    }

    /// Seconds and nanoseconds since the start, both rounded down; a frequency of 0 means nanoseconds.
    #[inline]
    pub fn since_start(&self, ticks: u64) -> (i64, u32) {
        let diff = self.ticks_since_start(ticks);
        let (whole, nanos, exact) = self.split(diff.unsigned_abs());
        match (diff < 0, nanos, exact) {
            (false, _, _) => (whole as i64, nanos as u32),
            (true, 0, true) => ((whole as i64).wrapping_neg(), 0),
            // Rounding down means one more nanosecond back if the division left a remainder.
            (true, _, true) => ((whole as i64).wrapping_neg() - 1, (NANOS - nanos) as u32),
            (true, _, false) => ((whole as i64).wrapping_neg() - 1, (NANOS - 1 - nanos) as u32),
        }
    }

    /// Nanoseconds since the start, rounded down, saturating.
    #[inline]
    pub fn since_start_ns(&self, ticks: u64) -> i64 {
        let (sec, nsec) = self.since_start(ticks);
        match sec.checked_mul(NANOS as i64).and_then(|ns| ns.checked_add(nsec.into())) {
            Some(ns) => ns,
            None if sec < 0 => i64::MIN,
            None => i64::MAX,
        }
    }

    /// The time of day of a timestamp.
    #[inline]
    pub fn moment(&self, ticks: u64) -> Moment {
        let (sec, nsec) = self.since_start(ticks);
        let nsec = i64::from(nsec) + i64::from(self.start_nsec);
        let sec = self.start_sec.saturating_add(sec).saturating_add(nsec.div_euclid(NANOS as i64));
        Moment { sec, nsec: nsec.rem_euclid(NANOS as i64) as u32 }
    }

    /// The time of day at which the log started.
    pub fn start(&self) -> Moment {
        self.moment(self.start_ticks)
    }

    /// Whole seconds, additional nanoseconds, and whether the result is exact.
    #[inline]
    fn split(&self, ticks: u64) -> (u64, u64, bool) {
        let frequency = self.frequency;
        let whole = self.divide(ticks);
        let rest = ticks - whole * frequency;
        if frequency == NANOS {
            return (whole, rest, true);
        }
        match rest.checked_mul(NANOS) {
            Some(scaled) => {
                let nanos = self.divide(scaled);
                (whole, nanos, nanos * frequency == scaled)
            }
            None => {
                let (scaled, frequency) = (u128::from(rest) * u128::from(NANOS), u128::from(frequency));
                (whole, (scaled / frequency) as u64, scaled % frequency == 0)
            }
        }
    }

    /// `value / frequency`, exactly; uses a division if the guess can be off by more than one.
    #[inline]
    fn divide(&self, value: u64) -> u64 {
        // Beyond these values, the guess may be off by more than one, or the products may overflow.
        if value >= 1 << 62 || self.frequency >= 1 << 62 {
            return value / self.frequency;
        }
        let guess = (value as i64 as f64 * self.seconds) as i64 as u64;
        if guess >= 1 << 50 {
            return value / self.frequency;
        }
        let product = guess.wrapping_mul(self.frequency);
        if product > value { guess - 1 } else { guess + u64::from(value - product >= self.frequency) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(frequency: u64) -> Clock {
        Clock::with(frequency, 1000, 50, 999_999_999)
    }

    #[test]
    fn times_round_down_on_both_sides_of_the_start() {
        let three = clock(3);
        assert_eq!(three.since_start(1001), (0, 333_333_333));
        assert_eq!(three.since_start(999), (-1, 666_666_666));
        assert_eq!(three.since_start(997), (-1, 0));
        assert_eq!(three.since_start_ns(999), -333_333_334);
        assert_eq!(three.start(), Moment { sec: 50, nsec: 999_999_999 });
        assert_eq!(three.moment(1003), Moment { sec: 51, nsec: 999_999_999 });
    }

    #[test]
    fn extreme_clocks_do_not_overflow() {
        for frequency in [0, 1, NANOS, u64::MAX] {
            for start_ticks in [0, 1, u64::MAX / 2, u64::MAX] {
                for start_sec in [i64::MIN, 0, i64::MAX] {
                    let clock = Clock::with(frequency, start_ticks, start_sec, i32::MIN);
                    for ticks in [0, 1, u64::MAX / 2 + 1, u64::MAX] {
                        clock.moment(ticks).unix_ns();
                        clock.since_start_ns(ticks);
                    }
                }
            }
        }
    }

    #[test]
    fn guessed_quotients_are_exact() {
        let mut random = traceloom_core::Random(0x9e37_79b9_7f4a_7c15);
        let mut next = || random.number();
        for _ in 0..200_000 {
            let clock = Clock::with(next() >> (next() % 64), 0, 0, 0);
            let value = next() >> (next() % 64);
            let border = clock.frequency.wrapping_mul(value >> 32).wrapping_sub(next() % 2);
            for value in [value, border] {
                assert_eq!(clock.divide(value), value / clock.frequency, "{value} / {}", clock.frequency);
            }
        }
    }
}
