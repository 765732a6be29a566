//! One time for several traces, without negative times.

use traceloom_model::Table;

use crate::{Need, Roster, Trace, order::COLORED_SPAN_COLUMNS};

/// What tools that show traces over time have a place for.
pub const TIMELINE_NEEDS: &[Need] = &[
    Need::of(Table::Traces, &[]),
    Need::of(Table::Processes, &[]),
    Need::of(Table::Threads, &[]),
    Need::by_begin(Table::Spans, COLORED_SPAN_COLUMNS),
    Need::by_begin(Table::Switches, &[]),
    Need::of(Table::Events, &["ts_ns", "thread_id", "name", "category"]),
    Need::of(Table::Counters, &[]),
    Need::of(Table::Logs, &["ts_ns", "thread_id", "level_name", "file", "line", "message"]),
    Need::of(Table::Allocations, &["ts_ns", "thread_id", "size_bytes", "freed_ts_ns"]),
    Need::of(Table::Frees, &["ts_ns", "allocation_id"]),
    Need::of(Table::Links, &[]),
    Need::of(Table::Args, &[]),
];

/// Turns `ts_ns` of a trace into the time of the output.
#[derive(Debug)]
pub struct Timeline {
    shifts: Vec<i64>,
    unix_origin_ns: Option<i64>,
}

impl Timeline {
    /// Traces that all know the time of day are put side by side by it; others begin together.
    pub fn new(roster: &Roster) -> Self {
        let all_know = !roster.traces.is_empty() && roster.traces.iter().all(|trace| trace.unix_origin_ns.is_some());
        let origin = |trace: &Trace| if all_know { trace.unix_origin_ns.unwrap_or(0) } else { 0 };
        let starts = roster.traces.iter().enumerate();
        let starts = starts.map(|(number, trace)| origin(trace).saturating_add(roster.earliest(number)));
        let start = starts.min().unwrap_or(0);
        let shifts = roster.traces.iter().map(|trace| origin(trace).saturating_sub(start)).collect();
        Self { shifts, unix_origin_ns: all_know.then_some(start) }
    }

    /// The time of the output.
    #[inline]
    pub fn at(&self, trace: usize, ts_ns: i64) -> u64 {
        self.shifts.get(trace).map_or(ts_ns, |shift| ts_ns.saturating_add(*shift)).max(0).unsigned_abs()
    }

    /// Whether an interval reaches beyond what the output can count, so that it is cut there.
    #[inline]
    pub fn is_far(&self, trace: usize, begin_ns: i64, end_ns: i64) -> bool {
        let shift = self.shifts.get(trace).copied().unwrap_or(0);
        begin_ns.checked_add(shift).is_none_or(|begin| begin < 0) || end_ns.checked_add(shift).is_none()
    }

    /// The time of day of the output's 0, where the traces know it.
    pub fn unix_origin_ns(&self) -> Option<i64> {
        self.unix_origin_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_time_of_day_sets_traces_apart_and_no_time_is_negative() {
        let timeline = Timeline::new(&roster(&[(Some(1000), -10), (Some(1500), 3)]));
        assert_eq!((timeline.at(0, -10), timeline.at(0, 0), timeline.at(1, 3)), (0, 10, 513));
        assert_eq!(timeline.unix_origin_ns(), Some(990));
    }

    #[test]
    fn traces_without_a_time_of_day_begin_together() {
        let timeline = Timeline::new(&roster(&[(Some(1000), 0), (None, 3)]));
        assert_eq!((timeline.at(0, 7), timeline.at(1, 7), timeline.unix_origin_ns()), (7, 7, None));
        let timeline = Timeline::new(&roster(&[(None, i64::MIN)]));
        assert_eq!((timeline.at(0, i64::MIN), timeline.at(0, i64::MAX)), (0, i64::MAX.unsigned_abs()));
        assert!(timeline.is_far(0, 0, 1) && !timeline.is_far(0, -7, -7));
    }
}
