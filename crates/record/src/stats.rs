//! Counts of recorded, dropped and lost records.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::sync::Padded;

/// Counts of this process; see [`Stats`].
pub(crate) struct Counters {
    pub(crate) records: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) late: AtomicU64,
    pub(crate) cut: AtomicU64,
    pub(crate) waits: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) clock_steps: AtomicU64,
    pub(crate) unseen: AtomicU64,
}

pub(crate) static COUNTERS: Padded<Counters> = Padded(Counters {
    records: AtomicU64::new(0),
    dropped: AtomicU64::new(0),
    late: AtomicU64::new(0),
    cut: AtomicU64::new(0),
    waits: AtomicU64::new(0),
    lost: AtomicU64::new(0),
    errors: AtomicU64::new(0),
    bytes: AtomicU64::new(0),
    clock_steps: AtomicU64::new(0),
    unseen: AtomicU64::new(0),
});

/// Counts of recorded, dropped and lost records since the start.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Records that reached the writer.
    pub records: u64,
    /// Records that were dropped because their ring was full, or that a flight recorder overwrote.
    pub dropped: u64,
    /// Calls after the recorder was stopped (the first 65 536 of them), or in a thread that has ended.
    pub late: u64,
    /// Texts and arrays that were cut to the size of a record.
    pub cut: u64,
    /// How often a thread had to wait for space.
    pub waits: u64,
    /// Records that were lost while a file could not be written.
    pub lost: u64,
    /// Errors while writing files.
    pub errors: u64,
    /// Bytes written to the kernel.
    pub bytes: u64,
    /// How often the time of day jumped.
    pub clock_steps: u64,
    /// Records that a viewer missed because it was too slow.
    pub unseen: u64,
    /// Rings of running threads.
    pub rings: u64,
    /// Rings that are free for new threads.
    pub spare_rings: u64,
}

impl Counters {
    fn all(&self) -> [&AtomicU64; 10] {
        let Self { records, dropped, late, cut, waits, lost, errors, bytes, clock_steps, unseen } = self;
        [records, dropped, late, cut, waits, lost, errors, bytes, clock_steps, unseen]
    }

    pub(crate) fn reset(&self) {
        self.all().into_iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
    }

    pub(crate) fn stats(&self, (rings, spare_rings): (usize, usize)) -> Stats {
        let [records, dropped, late, cut, waits, lost, errors, bytes, clock_steps, unseen] =
            self.all().map(|counter| counter.load(Ordering::Relaxed));
        let (rings, spare_rings) = (rings as u64, spare_rings as u64);
        Stats { records, dropped, late, cut, waits, lost, errors, bytes, clock_steps, unseen, rings, spare_rings }
    }
}
