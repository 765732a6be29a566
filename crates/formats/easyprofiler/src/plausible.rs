//! Which times make sense in a capture: damage leaves zeros and noise.

use crate::Header;

/// The plausible times of a record, in ticks: outside the capture by no more than its length plus a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plausible {
    from: u64,
    to: u64,
}

impl Plausible {
    pub(crate) const ALL: Self = Self { from: 0, to: u64::MAX };

    pub(crate) fn of(header: &Header) -> Self {
        let (begin, end) = (header.begin_time, header.end_time);
        if begin == 0 || end < begin {
            return Self::ALL;
        }
        let second = if header.cpu_frequency > 0 { header.cpu_frequency as u64 } else { 1_000_000_000 };
        let margin = (end - begin).saturating_add(second);
        // A block that was never written has the time 0.
        Self { from: begin.saturating_sub(margin).max(1), to: end.saturating_add(margin) }
    }

    /// Whether so many plausible records are most of a file's: otherwise, the times of the header are wrong instead.
    pub(crate) fn are_most(plausible: u64, records: u64) -> bool {
        2 * plausible > records
    }

    pub(crate) fn takes(&self, begin: u64, end: u64) -> bool {
        (self.from..=self.to).contains(&begin) && (self.from..=self.to).contains(&end)
    }
}
