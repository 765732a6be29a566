//! The first and the last time of a trace.

/// The span of all times seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Extent {
    range: Option<(i64, i64)>,
}

impl Extent {
    /// Takes a time into account.
    #[inline]
    pub fn add(&mut self, ts_ns: i64) {
        let (first, last) = self.range.unwrap_or((ts_ns, ts_ns));
        self.range = Some((first.min(ts_ns), last.max(ts_ns)));
    }

    /// The first time, if there was any.
    pub fn first(&self) -> Option<i64> {
        self.range.map(|(first, _)| first)
    }

    /// The last time, if there was any.
    pub fn last(&self) -> Option<i64> {
        self.range.map(|(_, last)| last)
    }
}
