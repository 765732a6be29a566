//! Converts microseconds since the start to the time of the tables.

use traceloom_model::trackers::{Clock, Extent};

/// The times of the events. The origin is the start of the recording, from which the file counts.
#[derive(Debug)]
pub(super) struct Times {
    /// Used only for times that do not fit.
    clock: Clock,
    extent: Extent,
}

impl Times {
    pub(super) fn new() -> Self {
        Self { clock: Clock::new(0), extent: Extent::default() }
    }

    /// The time of the event being read.
    #[inline]
    pub(super) fn pass(&mut self, time_us: u64) -> i64 {
        let ts_ns = match checked_ns(time_us) {
            Some(ns) => ns,
            None => self.clock.ts_ns(i128::from(time_us) * 1000),
        };
        self.extent.add(ts_ns);
        ts_ns
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }
}

/// The nanoseconds of a time that was converted before, or of a duration.
#[inline]
pub(super) fn ns(us: u64) -> i64 {
    checked_ns(us).unwrap_or(i64::MAX)
}

#[inline]
fn checked_ns(us: u64) -> Option<i64> {
    i64::try_from(us).ok()?.checked_mul(1000)
}
