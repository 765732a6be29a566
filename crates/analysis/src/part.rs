//! The part of a trace that an answer is about.

use hashbrown::HashSet;
use traceloom_core::TimeRange;
use traceloom_model::Filter;

/// A stretch of time and some threads. The filter of a source is a hint only, so rows are looked at again.
#[derive(Debug, Default)]
pub(crate) struct Part(Option<Narrow>);

#[derive(Debug)]
struct Narrow {
    range: TimeRange,
    threads: Option<HashSet<i64>>,
}

impl Part {
    pub(crate) fn of(filter: &Filter) -> Self {
        let is_whole = *filter == Filter::default();
        let threads = filter.threads.as_ref().map(|threads| threads.iter().copied().collect());
        Self((!is_whole).then_some(Narrow { range: filter.range, threads }))
    }

    /// Whether it is everything.
    pub(crate) fn is_whole(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it holds for some threads only.
    pub(crate) fn has_threads(&self) -> bool {
        self.0.as_ref().is_some_and(|narrow| narrow.threads.is_some())
    }

    /// Whether a row is in it; one without a thread is in no part of the threads.
    #[inline]
    pub(crate) fn takes(&self, ts_ns: i64, thread_id: Option<i64>) -> bool {
        let Some(narrow) = &self.0 else { return true };
        let takes_thread = |threads: &HashSet<i64>| thread_id.is_some_and(|id| threads.contains(&id));
        narrow.range.contains(ts_ns) && narrow.threads.as_ref().is_none_or(takes_thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_told_by_time_and_thread() {
        let whole = Part::of(&Filter::default());
        assert!(whole.is_whole() && whole.takes(i64::MIN, None));
        let part = Part::of(&Filter { range: TimeRange::between(10, 21), threads: Some(vec![3]) });
        assert!(part.takes(10, Some(3)) && part.takes(20, Some(3)));
        assert!(!part.takes(21, Some(3)) && !part.takes(15, Some(4)) && !part.takes(15, None));
    }
}
