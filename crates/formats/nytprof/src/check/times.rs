//! Compares the time of all statements with the time that was profiled.

use crate::raw::DEFAULT_TICKS_PER_SEC;

/// Sums only what the rule needs; the sums of a whole profile would cost memory.
#[derive(Debug)]
pub(super) struct Times {
    /// Ticks of the statements since the rate was set.
    ticks: i64,
    ticks_per_sec: f64,
    /// Seconds of the statements before that.
    seconds: f64,
    last_start: f64,
    last_end: f64,
    /// Seconds from start to end, of all processes.
    duration: f64,
}

impl Default for Times {
    fn default() -> Self {
        let ticks_per_sec = DEFAULT_TICKS_PER_SEC.into();
        Self { ticks: 0, ticks_per_sec, seconds: 0.0, last_start: 0.0, last_end: 0.0, duration: 0.0 }
    }
}

impl Times {
    #[inline]
    pub(super) fn statement(&mut self, ticks: i32) {
        self.ticks = self.ticks.wrapping_add(ticks.into());
    }

    pub(super) fn set_rate(&mut self, ticks_per_sec: u32) {
        self.seconds = self.statement_seconds();
        self.ticks = 0;
        self.ticks_per_sec = if ticks_per_sec > 0 { ticks_per_sec.into() } else { DEFAULT_TICKS_PER_SEC.into() };
    }

    pub(super) fn start(&mut self, time: f64) {
        self.last_start = time;
    }

    pub(super) fn end(&mut self, time: f64) {
        self.last_end = time;
        self.duration += time - self.last_start;
    }

    /// The share of the profiled time that the statements take, if it is so large that Devel::NYTProf doubts its clock.
    pub(super) fn excess_percent(&self) -> Option<f64> {
        let seconds = self.statement_seconds();
        let exceeds = self.last_end != 0.0 && seconds > self.duration * 1.1;
        exceeds.then(|| (seconds / self.duration * 100.0).round())
    }

    fn statement_seconds(&self) -> f64 {
        self.seconds + self.ticks as f64 / self.ticks_per_sec
    }
}
