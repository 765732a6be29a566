//! Times of an output that has no negative times.

use crate::Roster;

/// Converts times on the axis that all traces of a source share to times of the output, which are never negative.
#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    start_ns: i64,
    unix_origin_ns: Option<i64>,
}

impl Timeline {
    /// The output starts with the earliest trace, and has a time of day if all traces do.
    pub fn new(roster: &Roster) -> Self {
        let start_ns = (0..roster.traces.len()).map(|trace| roster.earliest(trace)).min().unwrap_or(0);
        let mut days = roster.traces.iter().map(|trace| trace.unix_origin_ns);
        let first = days.next().flatten().filter(|_| days.all(|day| day.is_some()));
        Self { start_ns, unix_origin_ns: first.map(|zero_ns| zero_ns.saturating_add(start_ns)) }
    }

    /// The time in the output.
    #[inline]
    pub fn at(&self, ts_ns: i64) -> u64 {
        ts_ns.saturating_sub(self.start_ns).max(0).unsigned_abs()
    }

    /// Whether an interval exceeds the times that the output can represent, so that it is cut there.
    #[inline]
    pub fn is_far(&self, begin_ns: i64, end_ns: i64) -> bool {
        begin_ns.checked_sub(self.start_ns).is_none_or(|begin| begin < 0) || end_ns.checked_sub(self.start_ns).is_none()
    }

    /// The time of day at 0 in the output, if the traces know it.
    pub fn unix_origin_ns(&self) -> Option<i64> {
        self.unix_origin_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;

    fn roster(traces: &[(Option<i64>, i64)]) -> Roster {
        let mut roster = Roster::default();
        let trace = |(unix_origin_ns, first): &(Option<i64>, i64)| Trace {
            unix_origin_ns: *unix_origin_ns,
            first_ts_ns: Some(*first),
            ..Trace::default()
        };
        roster.traces = traces.iter().map(trace).collect();
        roster
    }

    #[test]
    fn the_earliest_trace_is_the_start_and_no_time_is_negative() {
        let timeline = Timeline::new(&roster(&[(Some(1000), -10), (Some(1000), 503)]));
        assert_eq!((timeline.at(-10), timeline.at(0), timeline.at(503)), (0, 10, 513));
        assert_eq!(timeline.unix_origin_ns(), Some(990));
    }

    #[test]
    fn a_trace_without_a_time_of_day_leaves_it_open() {
        let timeline = Timeline::new(&roster(&[(Some(1000), 0), (None, 3)]));
        assert_eq!((timeline.at(7), timeline.at(7), timeline.unix_origin_ns()), (7, 7, None));
        let timeline = Timeline::new(&roster(&[(None, i64::MIN)]));
        assert_eq!((timeline.at(i64::MIN), timeline.at(i64::MAX)), (0, i64::MAX.unsigned_abs()));
        assert!(timeline.is_far(0, 1) && !timeline.is_far(-7, -7));
    }
}
