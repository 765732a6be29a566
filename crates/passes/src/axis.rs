//! The time axis that a set of traces shares: each trace has one position on it, decided once from the columns of
//! `traces`.
//!
//! The axis counts from the origin of the first trace that knows the time of day. A trace is placed by the first of
//! these that it has: an offset from the user, a time of day, a processor counter that it shares with a trace that
//! knows the time of day. Any other trace starts at its origin, and so does a single trace.

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_model::{ClockKind, Filter, Table, TableSource, Wanted, select};

use crate::pour;

select! {
    /// The columns that do not require reading a whole file.
    struct Facts of traces { trace_id, clock, clock_hz, start_ticks, unix_origin_ns }
}

select! {
    /// The columns that may require reading a whole file.
    struct Extents of traces { trace_id, first_ts_ns, last_ts_ns }
}

/// The facts about a trace that decide its position on the axis.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TraceFacts {
    /// `traces.trace_id`.
    pub trace_id: u64,
    /// Offset that the user wants added to all of its times.
    pub user_offset_ns: Option<i64>,
    /// The processor counter behind its timestamps.
    pub counter: Option<Counter>,
    /// The time of day of its origin.
    pub unix_origin_ns: Option<i64>,
    /// Its first and last timestamp; only needed if it may share a counter.
    pub extent_ns: Option<(i64, i64)>,
}

/// The origin of a trace, in ticks of a processor counter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counter {
    /// Ticks per second, as the producer measured them.
    pub hz: u64,
    /// The counter at the origin.
    pub start_ticks: u64,
}

/// Each program measures the frequency of the counter with a small error.
const TOLERANCE: f64 = 0.01;

impl Counter {
    fn is_like(self, other: Self) -> bool {
        let ratio = self.hz as f64 / other.hz as f64;
        (ratio - 1.0).abs() <= TOLERANCE
    }

    /// How much later this origin is than that of `other`.
    fn ns_after(self, other: Self) -> Option<i64> {
        let ticks = i128::from(self.start_ticks) - i128::from(other.start_ticks);
        i64::try_from(ticks * 1_000_000_000 / i128::from(other.hz)).ok()
    }
}

impl TraceFacts {
    /// Reads the facts of all traces of a source, without the extents, which require reading whole files.
    pub fn read(source: &dyn TableSource) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        let wanted = Wanted::nothing().and(Table::Traces, Facts::COLUMNS);
        pour(source, &Filter::default(), wanted, |_, batch| {
            let rows = Facts::of(batch)?;
            all.extend((0..rows.rows).map(|row| Self::at(&rows, row)));
            Ok(())
        })?;
        Ok(all)
    }

    fn at(rows: &Facts<'_>, row: usize) -> Self {
        let is_counter = ClockKind::of(rows.clock.get(row)) == Some(ClockKind::Tsc);
        let ticks = rows.clock_hz.get(row).filter(|hz| *hz > 0).zip(rows.start_ticks.get(row));
        Self {
            trace_id: rows.trace_id.get(row),
            counter: ticks.filter(|_| is_counter).map(|(hz, start_ticks)| Counter { hz, start_ticks }),
            unix_origin_ns: rows.unix_origin_ns.get(row),
            ..Self::default()
        }
    }

    /// Reads the extents of the traces that are in a source.
    pub fn read_extents(facts: &mut [Self], source: &dyn TableSource) -> Result<()> {
        let wanted = Wanted::nothing().and(Table::Traces, Extents::COLUMNS);
        pour(source, &Filter::default(), wanted, |_, batch| Self::take_extents(facts, batch))
    }

    fn take_extents(facts: &mut [Self], batch: &RecordBatch) -> Result<()> {
        let rows = Extents::of(batch)?;
        for row in 0..rows.rows {
            let extent_ns = rows.first_ts_ns.get(row).zip(rows.last_ts_ns.get(row));
            let of_trace = facts.iter_mut().filter(|facts| facts.trace_id == rows.trace_id.get(row));
            of_trace.for_each(|facts| facts.extent_ns = extent_ns);
        }
        Ok(())
    }

    /// The numbers of the traces that may share a counter: only their extents are ever used.
    pub fn may_share_counters(facts: &[Self]) -> Vec<usize> {
        let is_like = |one: &Self, other: &Self| one.counter.zip(other.counter).is_some_and(|(a, b)| a.is_like(b));
        let may_share = |one: &Self, other: &Self| {
            one.unix_origin_ns.is_some() != other.unix_origin_ns.is_some() && is_like(one, other)
        };
        (0..facts.len()).filter(|number| facts.iter().any(|other| may_share(&facts[*number], other))).collect()
    }

    /// How much later the origin of this trace is than that of another trace with the same counter.
    ///
    /// Counters of two machines differ by an arbitrary amount, so only traces that overlap are assumed to share one.
    fn ns_after(&self, other: &Self) -> Option<i64> {
        let (counter, reference) = self.counter.zip(other.counter)?;
        let shift_ns = counter.ns_after(reference).filter(|_| counter.is_like(reference))?;
        let ((first, last), (other_first, other_last)) = self.extent_ns.zip(other.extent_ns)?;
        let overlaps = first.saturating_add(shift_ns) <= other_last && other_first <= last.saturating_add(shift_ns);
        overlaps.then_some(shift_ns)
    }
}

/// Why a trace has its position on the axis.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Reason {
    /// It shares nothing with the others and starts at its origin.
    #[default]
    Alone,
    /// It has the same processor counter as the trace with this number, and is placed relative to it.
    Counter {
        /// The other trace.
        with: usize,
    },
    /// It knows the time of day.
    TimeOfDay,
    /// The user set an offset.
    UserOffset,
}

/// The position of a trace on the axis.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Placement {
    /// Added to its `ts_ns` to get times on the axis.
    pub shift_ns: i64,
    /// Why the trace has this position.
    pub reason: Reason,
    /// The time of day at zero on the axis, according to this trace.
    pub unix_origin_ns: Option<i64>,
}

impl Placement {
    /// Whether its tables differ from those in the file.
    pub fn is_moved(&self) -> bool {
        self.shift_ns != 0 || matches!(self.reason, Reason::Counter { .. })
    }
}

/// The time axis of a set of traces.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    placements: Vec<Placement>,
    reference: Option<usize>,
}

impl Axis {
    /// Places traces; they keep their numbers.
    pub fn new(facts: &[TraceFacts]) -> Self {
        let reference = facts.iter().position(|facts| facts.unix_origin_ns.is_some());
        let zero_ns = reference.and_then(|number| facts[number].unix_origin_ns);
        let mut placements: Vec<Placement> = facts.iter().map(|facts| by_itself(facts, zero_ns)).collect();
        for (number, own) in facts.iter().enumerate() {
            if placements[number].reason == Reason::Alone {
                placements[number] = by_counter(own, facts, &placements).unwrap_or_default();
            }
        }
        Self { placements, reference }
    }

    /// The position of each trace, in order.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// The position of a trace.
    pub fn placement(&self, trace: usize) -> Placement {
        self.placements.get(trace).copied().unwrap_or_default()
    }

    /// The number of the trace whose origin is zero on the axis; `None` if no trace knows the time of day.
    pub fn reference(&self) -> Option<usize> {
        self.reference
    }

    /// The time of day at zero on the axis.
    pub fn unix_origin_ns(&self) -> Option<i64> {
        // The user may have moved a trace away from its time of day.
        let unmoved = self.placements.iter().find(|placement| placement.reason == Reason::TimeOfDay);
        let known = || self.placements.iter().find(|placement| placement.unix_origin_ns.is_some());
        unmoved.or_else(known).and_then(|placement| placement.unix_origin_ns)
    }
}

/// The position of a trace, without regard to other traces' counters.
fn by_itself(facts: &TraceFacts, zero_ns: Option<i64>) -> Placement {
    let (reason, shift_ns) = match (facts.user_offset_ns, facts.unix_origin_ns.zip(zero_ns)) {
        (Some(offset_ns), _) => (Reason::UserOffset, offset_ns),
        (None, Some((unix_ns, zero_ns))) => (Reason::TimeOfDay, unix_ns.saturating_sub(zero_ns)),
        (None, None) => (Reason::Alone, 0),
    };
    let unix_origin_ns = facts.unix_origin_ns.and_then(|unix_ns| unix_ns.checked_sub(shift_ns));
    Placement { shift_ns, reason, unix_origin_ns }
}

/// The position of a trace relative to the first one that knows the time of day and has the same counter.
fn by_counter(own: &TraceFacts, facts: &[TraceFacts], placements: &[Placement]) -> Option<Placement> {
    let mut others = facts.iter().enumerate().filter(|(_, other)| other.unix_origin_ns.is_some());
    let (with, after_ns) = others.find_map(|(with, other)| Some((with, own.ns_after(other)?)))?;
    let Placement { shift_ns, unix_origin_ns, .. } = placements[with];
    Some(Placement { shift_ns: shift_ns.saturating_add(after_ns), reason: Reason::Counter { with }, unix_origin_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace with a 2 GHz counter, 1 µs long.
    fn ticking(start_ticks: u64, unix_origin_ns: Option<i64>) -> TraceFacts {
        let counter = Some(Counter { hz: 2_000_000_000, start_ticks });
        TraceFacts { counter, unix_origin_ns, extent_ns: Some((0, 1_000)), ..TraceFacts::default() }
    }

    fn at_day(unix_origin_ns: i64) -> TraceFacts {
        TraceFacts { unix_origin_ns: Some(unix_origin_ns), ..TraceFacts::default() }
    }

    fn shifts(axis: &Axis) -> Vec<(i64, Reason)> {
        axis.placements().iter().map(|placement| (placement.shift_ns, placement.reason)).collect()
    }

    #[test]
    fn a_counter_leads_to_the_trace_that_knows_the_time_of_day() {
        let axis = Axis::new(&[ticking(5_200, None), ticking(5_000, Some(7_000)), ticking(90_000, None)]);
        let expected = [(100, Reason::Counter { with: 1 }), (0, Reason::TimeOfDay), (0, Reason::Alone)];
        assert_eq!(shifts(&axis), expected);
        assert_eq!(
            axis.placements().iter().map(|p| p.unix_origin_ns).collect::<Vec<_>>(),
            [Some(7_000), Some(7_000), None]
        );
        assert_eq!((axis.unix_origin_ns(), axis.reference()), (Some(7_000), Some(1)));
    }

    #[test]
    fn another_frequency_is_another_machine() {
        let other = TraceFacts { counter: Some(Counter { hz: 2_100_000_000, start_ticks: 5_200 }), ..ticking(0, None) };
        assert_eq!(shifts(&Axis::new(&[other, ticking(5_000, Some(7_000))]))[0], (0, Reason::Alone));
        assert_eq!(TraceFacts::may_share_counters(&[other, ticking(5_000, Some(7_000))]), [0_usize; 0]);
        let close = TraceFacts { counter: Some(Counter { hz: 2_010_000_000, start_ticks: 5_000 }), ..other };
        let facts = [at_day(3), close, ticking(5_000, Some(7_000)), ticking(5_000, None)];
        assert_eq!(TraceFacts::may_share_counters(&facts), [1, 2, 3]);
        // A trace that knows the time of day needs no counter, and one that does not cannot help another.
        assert_eq!(TraceFacts::may_share_counters(&facts[..2]), [0_usize; 0]);
    }

    #[test]
    fn the_time_of_day_sets_traces_apart() {
        let axis = Axis::new(&[TraceFacts::default(), at_day(1_500), at_day(1_000)]);
        assert_eq!(shifts(&axis), [(0, Reason::Alone), (0, Reason::TimeOfDay), (-500, Reason::TimeOfDay)]);
        assert_eq!(axis.unix_origin_ns(), Some(1_500));
        assert_eq!(axis.placements()[2].unix_origin_ns, Some(1_500));
    }

    #[test]
    fn an_offset_moves_its_trace_and_what_shares_its_counter() {
        let moved = TraceFacts { user_offset_ns: Some(50), ..ticking(5_000, Some(7_000)) };
        let axis = Axis::new(&[moved, ticking(5_200, None), at_day(8_000)]);
        let expected = [(50, Reason::UserOffset), (150, Reason::Counter { with: 0 }), (1_000, Reason::TimeOfDay)];
        assert_eq!(shifts(&axis), expected);
        // Every row keeps its time of day: its time plus the time of day at zero, according to its trace.
        let days: Vec<_> = axis.placements().iter().map(|placement| placement.unix_origin_ns).collect();
        assert_eq!(days, [Some(6_950), Some(6_950), Some(7_000)]);
        assert_eq!(Axis::new(&[moved]).unix_origin_ns(), Some(6_950));
    }

    #[test]
    fn one_trace_and_traces_that_share_nothing_stay() {
        for facts in [&[at_day(5)][..], &[ticking(5, None), TraceFacts::default(), at_day(5)]] {
            assert!(Axis::new(facts).placements().iter().all(|placement| !placement.is_moved()));
        }
        let far = Axis::new(&[at_day(i64::MIN), at_day(i64::MAX)]);
        assert_eq!(far.placement(1).shift_ns, i64::MAX);
    }
}
