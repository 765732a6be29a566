//! Raw ticks, and their conversion to time.
//!
//! A record holds only the tick, which is the cheapest timestamp. The writer reads the tick together with the monotonic
//! clock and the time of day at the start, regularly, and at the end: the frequency is the slope from the first reading
//! to the last, by the monotonic clock, so that setting the time of day cannot distort it.

use std::{
    sync::OnceLock,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

static CLOCK: OnceLock<quanta::Clock> = OnceLock::new();

/// The current tick, from the processor's counter if it is invariant, else from the monotonic clock.
#[inline(always)]
pub fn tick() -> u64 {
    match CLOCK.get() {
        Some(clock) => clock.raw(),
        None => first_tick(),
    }
}

/// Converts ticks to nanoseconds, by the best known frequency of the clock.
pub fn ticks_to_ns(ticks: u64) -> u64 {
    tick();
    CLOCK.get().map_or(ticks, |clock| clock.delta_as_nanos(0, ticks))
}

/// A clock with the same ticks that a caller can keep, which saves the lookup.
pub(crate) fn clock() -> quanta::Clock {
    CLOCK.get_or_init(quanta::Clock::new).clone()
}

#[cold]
fn first_tick() -> u64 {
    clock().raw()
}

/// A tick and the values of the other clocks at the same moment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Reading {
    pub(crate) tick: u64,
    /// Nanoseconds of the monotonic clock, from any origin.
    pub(crate) mono_ns: u64,
    /// Nanoseconds since 1970.
    pub(crate) wall_ns: i64,
}

impl Reading {
    /// Reads all clocks; the tick is the middle of two that are close, so that an interruption does not distort it.
    pub(crate) fn now() -> Self {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        let origin = ORIGIN.get_or_init(Instant::now);
        let read = || {
            let before = tick();
            let mono_ns = origin.elapsed().as_nanos() as u64;
            let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
            let after = tick();
            (after - before, Self { tick: before + (after - before) / 2, mono_ns, wall_ns: wall })
        };
        let tries = [read(), read(), read()];
        tries.into_iter().min_by_key(|(width, _)| *width).map(|(_, reading)| reading).unwrap_or_default()
    }
}

/// Jumps of the time of day against the monotonic clock that are at least this long are reported.
const STEP_NS: i64 = 100_000_000;

/// Converts ticks to times, by the readings so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    pub(crate) first: Reading,
    last: Reading,
    /// Nanoseconds per tick until the readings give a slope.
    guess: f64,
    /// Times after this tick are linear; earlier times are in use already and must not change.
    anchor_tick: u64,
    anchor_ns: f64,
    ns_per_tick: f64,
}

impl Timeline {
    /// Starts now.
    pub(crate) fn start() -> Self {
        tick();
        let nanos = CLOCK.get().map_or(1 << 30, |clock| clock.delta_as_nanos(0, 1 << 30));
        Self::new(Reading::now(), nanos as f64 / f64::from(1 << 30))
    }

    fn new(first: Reading, guess: f64) -> Self {
        Self { first, last: first, guess, anchor_tick: first.tick, anchor_ns: 0.0, ns_per_tick: guess }
    }

    /// Adds a reading; returns how far the time of day has jumped since the previous one.
    pub(crate) fn read(&mut self, reading: Reading) -> Option<i64> {
        let walls = reading.wall_ns.wrapping_sub(self.last.wall_ns);
        let step = walls.wrapping_sub(reading.mono_ns.wrapping_sub(self.last.mono_ns) as i64);
        self.last = reading;
        self.anchor_ns = self.ns(reading.tick);
        self.anchor_tick = reading.tick;
        self.ns_per_tick = self.slope();
        (step.abs() >= STEP_NS).then_some(step)
    }

    /// Nanoseconds from the first reading to this tick; never decreases from one reading to the next.
    pub(crate) fn ns(&self, tick: u64) -> f64 {
        self.anchor_ns + tick.wrapping_sub(self.anchor_tick) as i64 as f64 * self.ns_per_tick
    }

    /// Ticks per second.
    pub(crate) fn frequency(&self) -> u64 {
        (1e9 / self.slope()).round() as u64
    }

    /// Nanoseconds per tick, from the first reading to the last.
    fn slope(&self) -> f64 {
        let (ticks, nanos) = (self.last.tick - self.first.tick, self.last.mono_ns - self.first.mono_ns);
        // The readings are too coarse for a slope over less than a millisecond.
        if nanos < 1_000_000 || ticks == 0 { self.guess } else { nanos as f64 / ticks as f64 }
    }
}

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A counter of 2.5 GHz.
    fn at(seconds: u64, wall_ns: i64) -> Reading {
        Reading { tick: 77 + seconds * 2_500_000_000, mono_ns: 5 + seconds * SECOND, wall_ns }
    }

    #[test]
    fn a_set_clock_is_told_and_bends_nothing() {
        let mut timeline = Timeline::new(at(0, 1000), 0.41);
        assert_eq!(timeline.read(at(10, 1000 + 10 * SECOND as i64)), None);
        assert_eq!(timeline.frequency(), 2_500_000_000);
        // Somebody sets the time back by an hour.
        let hour = 3600 * SECOND as i64;
        assert_eq!(timeline.read(at(20, 1000 + 20 * SECOND as i64 - hour)), Some(-hour));
        assert_eq!(timeline.read(at(30, 1000 + 30 * SECOND as i64 - hour)), None);
        assert_eq!(timeline.frequency(), 2_500_000_000);
        assert_eq!(timeline.first.wall_ns, 1000);
    }

    #[test]
    fn times_do_not_fall_when_the_frequency_is_corrected() {
        let mut timeline = Timeline::new(at(0, 0), 0.5);
        let before = timeline.ns(at(10, 0).tick);
        timeline.read(at(10, 0));
        assert_eq!(timeline.ns(at(10, 0).tick), before);
        assert_eq!(timeline.ns(at(11, 0).tick) - before, 1e9);
    }

    #[test]
    fn ticks_never_fall() {
        let mut last = tick();
        for _ in 0..10_000 {
            let now = tick();
            assert!(now >= last);
            last = now;
        }
    }
}
