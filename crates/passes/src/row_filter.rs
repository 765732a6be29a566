//! A filter that is applied to each row; the filter of a source is only a hint.

use hashbrown::HashSet;
use traceloom_core::TimeRange;
use traceloom_model::Filter;

/// Selects rows by time range and thread.
#[derive(Clone, Debug, Default)]
pub struct RowFilter {
    range: TimeRange,
    threads: Option<HashSet<i64>>,
}

impl RowFilter {
    /// Selects the rows that match the filter and are in a range.
    pub fn new(filter: &Filter, range: TimeRange) -> Self {
        let threads = filter.threads.as_ref().map(|threads| threads.iter().copied().collect());
        Self { range: filter.range.and(range), threads }
    }

    /// Whether it selects every row.
    pub fn is_everything(&self) -> bool {
        self.range.is_all() && self.threads.is_none()
    }

    /// Whether it selects a time range.
    pub fn has_range(&self) -> bool {
        !self.range.is_all()
    }

    /// Whether it selects some threads only.
    pub fn has_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// Whether it selects a row.
    #[inline]
    pub fn takes(&self, ts_ns: i64, thread_id: Option<i64>) -> bool {
        self.range.contains(ts_ns) && self.takes_thread(thread_id)
    }

    /// Whether it selects rows of a thread; a row without a thread does not match any selected thread.
    #[inline]
    pub fn takes_thread(&self, thread_id: Option<i64>) -> bool {
        self.threads.as_ref().is_none_or(|threads| thread_id.is_some_and(|id| threads.contains(&id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_by_time_and_thread() {
        let all = RowFilter::default();
        assert!(all.is_everything() && !all.has_range() && !all.has_threads() && all.takes(i64::MIN, None));
        let filter = Filter { range: TimeRange::between(10, 30), threads: Some(vec![3]) };
        let some = RowFilter::new(&filter, TimeRange::new(None, Some(21)));
        assert!(!some.is_everything() && some.takes(10, Some(3)) && some.takes(20, Some(3)));
        assert!(!some.takes(21, Some(3)) && !some.takes(15, Some(4)) && !some.takes(15, None));
    }
}
