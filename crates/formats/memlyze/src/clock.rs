//! Sums deltas by the rule of the dialect, and converts times back to deltas.

use crate::{
    Record,
    encoding::thorough::{Body, Event},
    raw::{Dialect, NO_RUN},
};

/// The time of a file's events.
///
/// In the growth dialect, every event of a snapshot repeats the time since the last one, so a run of equal ALLOC and
/// FREE deltas counts once. GC and MARKER events have separate deltas and end a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clock {
    now_us: u64,
    run_delta: u64,
    dialect: Dialect,
}

impl Clock {
    /// The clock at the start of a file.
    pub const fn new(dialect: Dialect) -> Self {
        Self { now_us: 0, run_delta: NO_RUN, dialect }
    }

    /// A clock in the middle of a file.
    pub(crate) const fn at(dialect: Dialect, now_us: u64, run_delta: u64) -> Self {
        Self { now_us, run_delta, dialect }
    }

    /// Microseconds since the start.
    #[inline]
    pub const fn now_us(&self) -> u64 {
        self.now_us
    }

    /// The dialect whose rule it follows.
    pub(crate) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The delta of the current run, or [`NO_RUN`].
    pub(crate) const fn run_delta(&self) -> u64 {
        self.run_delta
    }

    /// Advances by an ALLOC or FREE; `None` if the sum overflows, in which case it saturates.
    #[inline]
    pub fn pass_memory(&mut self, delta_us: u64) -> Option<u64> {
        if self.dialect == Dialect::Growth {
            if delta_us == self.run_delta {
                return Some(self.now_us);
            }
            self.run_delta = delta_us;
        }
        self.add(delta_us)
    }

    /// Advances by a GC or MARKER; `None` if the sum overflows, in which case it saturates.
    #[inline]
    pub fn pass_other(&mut self, delta_us: u64) -> Option<u64> {
        self.run_delta = NO_RUN;
        self.add(delta_us)
    }

    /// Advances by an ALLOC or FREE; `None` if the sum overflows, in which case it stays unchanged.
    #[inline(always)]
    pub(crate) fn pass_memory_if_it_fits(&mut self, delta_us: u64) -> Option<u64> {
        if self.dialect == Dialect::Growth {
            if delta_us == self.run_delta {
                return Some(self.now_us);
            }
            let sum = self.now_us.checked_add(delta_us)?;
            self.run_delta = delta_us;
            self.now_us = sum;
            return Some(sum);
        }
        self.now_us = self.now_us.checked_add(delta_us)?;
        Some(self.now_us)
    }

    /// Advances by a GC or MARKER; `None` if the sum overflows, in which case it stays unchanged.
    #[inline(always)]
    pub(crate) fn pass_other_if_it_fits(&mut self, delta_us: u64) -> Option<u64> {
        self.now_us = self.now_us.checked_add(delta_us)?;
        self.run_delta = NO_RUN;
        Some(self.now_us)
    }

    /// Advances by a record; a record that is not an event takes no time.
    pub(crate) fn pass_record(&mut self, record: &Record<'_>) -> Option<u64> {
        match record {
            Record::Alloc(alloc) => self.pass_memory(alloc.delta_us),
            Record::Free(free) => self.pass_memory(free.delta_us),
            Record::Gc(gc) => self.pass_other(gc.delta_us),
            Record::Marker(marker) => self.pass_other(marker.delta_us),
            Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => Some(self.now_us),
        }
    }

    /// Advances by an event.
    #[inline]
    pub(crate) fn pass(&mut self, event: &Event) -> Option<u64> {
        match event.body {
            Body::Alloc { .. } | Body::Free { .. } => self.pass_memory(event.delta_us),
            Body::Gc { .. } | Body::Marker { .. } => self.pass_other(event.delta_us),
        }
    }

    #[inline]
    fn add(&mut self, delta_us: u64) -> Option<u64> {
        let sum = self.now_us.checked_add(delta_us);
        self.now_us = sum.unwrap_or(u64::MAX);
        sum
    }

    /// The delta that brings an ALLOC or FREE to `time_us`; also advances the clock.
    ///
    /// A new snapshot with the delta of the last one would read as part of it, so it is moved by one microsecond.
    pub fn memory_delta(&mut self, time_us: u64) -> u64 {
        let step = time_us.saturating_sub(self.now_us);
        let delta = match self.dialect {
            Dialect::Growth if self.run_delta != NO_RUN && step == 0 => self.run_delta,
            Dialect::Growth if self.run_delta == step => step.saturating_add(1),
            Dialect::Growth | Dialect::Document => step,
        };
        self.pass_memory(delta);
        delta
    }

    /// The delta that brings a GC or MARKER to `time_us`; also advances the clock.
    pub fn other_delta(&mut self, time_us: u64) -> u64 {
        let delta = time_us.saturating_sub(self.now_us);
        self.pass_other(delta);
        delta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_equal_deltas_counts_once_in_the_growth_dialect_only() {
        for (dialect, expected) in [(Dialect::Growth, [5, 5, 12, 13, 13]), (Dialect::Document, [5, 10, 17, 18, 19])] {
            let mut clock = Clock::new(dialect);
            let times = [5, 5, 7, 1, 1].map(|delta| clock.pass_memory(delta).unwrap());
            assert_eq!(times, expected);
        }
    }

    #[test]
    fn other_events_end_a_run() {
        let mut clock = Clock::new(Dialect::Growth);
        clock.pass_memory(5);
        clock.pass_other(1);
        assert_eq!(clock.pass_memory(5), Some(11));
    }

    #[test]
    fn deltas_bring_the_times_back() {
        let mut writing = Clock::new(Dialect::Growth);
        let mut reading = writing;
        for time in [0, 0, 9, 9, 9, 20, 31, 31] {
            // From 20 to 31 is as long as from 9 to 20, so the later one has to move.
            let expected = if time == 31 { 32 } else { time };
            let delta = writing.memory_delta(time);
            assert_eq!(reading.pass_memory(delta), Some(expected), "{time}");
        }
    }
}
