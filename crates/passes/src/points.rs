//! Rows that have one time: events, values of counters, log entries.

use traceloom_core::{Loss, Result, Slice};
use traceloom_model::{Table, TableSource, counters, events, logs};

use crate::{Args, Datum, Rest, Roster, ThreadIndex, span_is_taken};

/// Takes points, batch by batch.
pub trait PointSink {
    /// Takes events.
    fn events(&mut self, view: &events::View<'_>) -> Result<()>;
    /// Takes values of counters.
    fn counters(&mut self, view: &counters::View<'_>) -> Result<()>;
    /// Takes log entries.
    fn logs(&mut self, view: &logs::View<'_>) -> Result<()>;
}

impl Rest {
    /// Gives all points, in the order of the file.
    pub fn pour_points(&self, source: &dyn TableSource, sink: &mut impl PointSink) -> Result<()> {
        self.pour(source, &[Table::Events, Table::Counters, Table::Logs], |table, batch| match table {
            Table::Events => sink.events(&events::View::of(batch)),
            Table::Counters => sink.counters(&counters::View::of(batch)),
            _ => sink.logs(&logs::View::of(batch)),
        })
    }
}

impl Roster {
    /// The trace of a point, by its number, and its thread; none where the slice leaves the point out.
    #[inline]
    pub fn point(
        &mut self,
        slice: &Slice,
        trace_id: u64,
        thread_id: Option<i64>,
        ts_ns: Option<i64>,
    ) -> Result<Option<(usize, Option<ThreadIndex>)>> {
        let trace = self.trace_number(trace_id)?;
        if ts_ns.is_some_and(|ts_ns| !span_is_taken(slice, ts_ns, Some(0))) {
            return Ok(None);
        }
        match thread_id {
            Some(thread_id) => {
                let index = self.index(trace_id, thread_id)?;
                Ok(self.thread(index).is_taken.then_some((trace, Some(index))))
            }
            None => Ok(slice.threads.is_empty().then_some((trace, None))),
        }
    }

    /// The time of a log entry, for targets where all have one: that of the begin, where it has none.
    #[inline]
    pub fn log_ts_ns(&mut self, view: &logs::View<'_>, row: usize, loss: &mut Loss) -> Result<i64> {
        if let Some(ts_ns) = view.ts_ns.get(row) {
            return Ok(ts_ns);
        }
        loss.lose("that log entries have no time", || format!("logs {}", view.id.get(row)));
        let trace = self.trace_number(view.trace_id.get(row))?;
        Ok(self.traces[trace].first_ts_ns.unwrap_or(0))
    }
}

impl Args {
    /// Which element the value of a counter is, where it is one of an array. Counts numbers that a double does not
    /// hold.
    #[inline]
    pub fn element(
        &mut self,
        (table, trace, id): (Table, usize, i64),
        value: f64,
        loss: &mut Loss,
    ) -> Result<Option<u32>> {
        let mut idx = None;
        self.visit(table, trace, id, |arg| {
            idx = arg.idx;
            let exact = match arg.value {
                Datum::Int(number) => Some(i128::from(number)),
                Datum::Unsigned(number) => Some(i128::from(number)),
                _ => None,
            };
            if exact.is_some_and(|exact| exact != value as i128) {
                loss.lose("last digits of large values", || format!("{:?} is now {value}", arg.value));
            }
            Ok(())
        })?;
        Ok(idx)
    }
}
