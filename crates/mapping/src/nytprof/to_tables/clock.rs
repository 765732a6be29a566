//! The virtual clock: the sum of statement times, because the file has no timestamps except those of its processes.

use traceloom_core::{Limits, Result};
use traceloom_nytprof::raw::DEFAULT_TICKS_PER_SEC;

/// Ticks per second, and their conversion to nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    ticks_per_sec: i64,
    /// Set if it is a whole number, as it is for every clock except that of Windows.
    ns_per_tick: Option<i64>,
}

const NS_PER_SEC: i64 = 1_000_000_000;
/// Whole numbers up to this one are exact as a double and as an integer.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Default for Rate {
    fn default() -> Self {
        Self::new(DEFAULT_TICKS_PER_SEC)
    }
}

impl Rate {
    /// A number of ticks per second; 0 means unknown.
    pub(crate) fn new(ticks_per_sec: u32) -> Self {
        let ticks_per_sec = i64::from(if ticks_per_sec == 0 { DEFAULT_TICKS_PER_SEC } else { ticks_per_sec });
        let ns_per_tick = (NS_PER_SEC % ticks_per_sec == 0).then_some(NS_PER_SEC / ticks_per_sec);
        Self { ticks_per_sec, ns_per_tick }
    }

    /// Nanoseconds of whole ticks.
    #[inline]
    pub(crate) fn whole_ns(&self, ticks: i64) -> i64 {
        match self.ns_per_tick {
            Some(factor) => ticks.saturating_mul(factor),
            None => self.uneven_ns(ticks),
        }
    }

    fn uneven_ns(&self, ticks: i64) -> i64 {
        let per_sec = i128::from(self.ticks_per_sec);
        let ns = (i128::from(ticks) * i128::from(NS_PER_SEC) + per_sec / 2).div_euclid(per_sec);
        ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Nanoseconds of ticks stored as a Perl number; NaN counts as 0.
    #[inline]
    pub(super) fn ns(&self, ticks: f64) -> i64 {
        if is_whole(ticks) {
            self.whole_ns(ticks as i64)
        } else {
            (ticks / self.ticks_per_sec as f64 * NS_PER_SEC as f64).round() as i64
        }
    }
}

/// Whether the profiler could have counted this number of ticks.
#[inline]
pub(super) fn is_whole(ticks: f64) -> bool {
    ticks.abs() <= MAX_WHOLE && ticks.trunc() == ticks
}

/// Nanoseconds of seconds, rounded.
pub(super) fn seconds_to_ns(seconds: f64) -> i64 {
    i64::try_from(unix_ns(seconds)).unwrap_or(if seconds < 0.0 { i64::MIN } else { i64::MAX })
}

/// The same for times of day: whole seconds and their fraction are converted separately, because a double does not have
/// enough digits for both.
pub(crate) fn unix_ns(seconds: f64) -> i128 {
    // Far beyond everything that fits in a row, and far from overflow.
    let seconds = seconds.clamp(-1e20, 1e20);
    let fraction = (seconds.fract() * NS_PER_SEC as f64).round();
    seconds.trunc() as i128 * i128::from(NS_PER_SEC) + fraction as i128
}

/// The time in one process, from its start.
///
/// Statements advance it, and so do calls: a call cannot have started before the previous call ended, which is the only
/// information if statements were not recorded.
#[derive(Debug)]
pub(super) struct VirtualClock {
    pub(super) rate: Rate,
    base_ns: i64,
    /// Ticks since `base_ns`.
    ticks: i64,
    /// Ends of calls that are not inside a later one: depth and time, both increasing.
    ends: Vec<(u32, i64)>,
}

impl VirtualClock {
    pub(super) fn new() -> Self {
        Self { rate: Rate::default(), base_ns: 0, ticks: 0, ends: Vec::new() }
    }

    /// Starts another process.
    pub(super) fn restart(&mut self) {
        (self.base_ns, self.ticks) = (0, 0);
        self.ends.clear();
    }

    /// Changes the length of a tick.
    pub(super) fn set_rate(&mut self, ticks_per_sec: u32) {
        (self.base_ns, self.ticks) = (self.now_ns(), 0);
        self.rate = Rate::new(ticks_per_sec);
    }

    /// Advances the clock by a statement.
    #[inline]
    pub(super) fn statement(&mut self, ticks: i32) {
        if ticks >= 0 { self.ticks = self.ticks.saturating_add(ticks.into()) } else { self.wrapped(ticks) }
    }

    /// A negative time of more than a second means that the 32-bit counter wrapped; a shorter one means that the clock
    /// was set back, and is ignored.
    #[cold]
    fn wrapped(&mut self, ticks: i32) {
        if i64::from(ticks) < -self.rate.ticks_per_sec {
            self.ticks = self.ticks.saturating_add((ticks as u32).into());
        }
    }

    pub(super) fn now_ns(&self) -> i64 {
        self.base_ns.saturating_add(self.rate.whole_ns(self.ticks))
    }

    /// Records the end of a call with this duration; returns its time.
    pub(super) fn call(&mut self, depth: u32, dur_ns: i64, limits: &Limits) -> Result<i64> {
        while self.ends.last().is_some_and(|(inner, _)| *inner > depth) {
            self.ends.pop();
        }
        let before = self.ends.last().map_or(0, |(_, end_ns)| *end_ns);
        let now = self.now_ns();
        let late = before.saturating_add(dur_ns).saturating_sub(now).max(0);
        self.base_ns = self.base_ns.saturating_add(late);
        let end_ns = now.saturating_add(late);
        match self.ends.last_mut() {
            Some((same, last_ns)) if *same == depth => *last_ns = end_ns,
            _ => {
                limits.check_entries("nested calls", self.ends.len() as u64 + 1)?;
                self.ends.push((depth, end_ns));
            }
        }
        Ok(end_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds_exactly() {
        assert_eq!(Rate::new(10_000_000).ns(90_071_992_547.0), 9_007_199_254_700);
        assert_eq!(Rate::new(1_000_000).whole_ns(-3), -3000);
        assert_eq!(Rate::new(3_579_545).whole_ns(3_579_545), 1_000_000_000);
        assert_eq!(Rate::new(0).ns(12.5), 1250);
        assert_eq!(Rate::new(10_000_000).ns(f64::NAN), 0);
    }

    #[test]
    fn a_time_of_day_keeps_its_microseconds() {
        assert_eq!(unix_ns(1_794_703_985.25), 1_794_703_985_250_000_000);
        assert_eq!(unix_ns(f64::NAN), 0);
        assert_eq!(seconds_to_ns(-1.5), -1_500_000_000);
        assert_eq!(seconds_to_ns(1e300), i64::MAX);
    }

    #[test]
    fn statements_and_calls_advance_the_clock() {
        let limits = Limits::default();
        let mut clock = VirtualClock::new();
        clock.statement(5);
        assert_eq!(clock.call(2, 300, &limits).expect("there is room"), 500);
        // No statement between two calls: the second starts where the first ended.
        assert_eq!(clock.call(2, 300, &limits).expect("there is room"), 800);
        assert_eq!(clock.call(1, 700, &limits).expect("there is room"), 800);
        clock.statement(-2_133_970_021);
        assert_eq!(clock.now_ns(), 216_099_727_500 + 800);
        clock.statement(-1);
        assert_eq!(clock.now_ns(), 216_099_727_500 + 800);
    }
}
