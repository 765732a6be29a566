//! A trace on an axis: its rows keep their points in time, but count from zero on the axis.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, UInt64Array,
    cast::AsArray,
    types::{Int64Type, UInt64Type},
};
use traceloom_core::{Error, Result};
use traceloom_model::{
    Columns, Filter, Flow, Kept, SelectColumn, Table, TableSink, TableSource, Wanted,
    traces::column::{clock_hz, start_native_ns, start_ticks, unix_origin_ns},
};

use crate::Placement;

/// A source with all times moved to the position of its trace on the axis.
#[derive(Clone, Copy, Debug)]
pub struct Shifted<S> {
    /// One trace.
    pub source: S,
    /// Position of the trace.
    pub placement: Placement,
}

impl<S: TableSource> TableSource for Shifted<S> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        self.placement.pour(filter, sink, |filter, sink| self.source.pour(filter, sink))
    }

    fn keep(&self) -> Kept {
        self.source.keep()
    }
}

impl Placement {
    /// Sends the tables of a source with the file's times to a sink that gets times on the axis.
    pub fn pour<T>(
        &self,
        filter: &Filter,
        sink: &mut dyn TableSink,
        pour: impl FnOnce(&Filter, &mut dyn TableSink) -> Result<T>,
    ) -> Result<T> {
        if !self.is_moved() {
            return pour(filter, sink);
        }
        let range = filter.range.shifted(self.shift_ns.saturating_neg());
        let filter = Filter { range, threads: filter.threads.clone() };
        pour(&filter, &mut ShiftingSink { sink, placement: *self })
    }
}

/// Moves the times of everything that is sent to a sink.
struct ShiftingSink<'s> {
    sink: &'s mut dyn TableSink,
    placement: Placement,
}

impl ShiftingSink<'_> {
    /// Ticks cannot be moved without their frequency, which the sink may not have requested.
    fn adds_frequency(&self, table: Table) -> bool {
        let wanted = self.sink.wants(table);
        table == Table::Traces && wanted.has(start_ticks::NUMBER) && !wanted.has(clock_hz::NUMBER)
    }
}

impl TableSink for ShiftingSink<'_> {
    fn wants(&self, table: Table) -> Columns {
        let added = if self.adds_frequency(table) { Columns::of(&[clock_hz::NUMBER]) } else { Columns::NONE };
        Wanted::nothing().and(table, self.sink.wants(table)).and(table, added).columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        let mut batch = shift_batch(table, batch, &self.placement)?;
        if self.adds_frequency(table)
            && let Ok(number) = batch.schema_ref().index_of(clock_hz::NAME)
        {
            batch.remove_column(number);
        }
        self.sink.batch(table, batch)
    }
}

/// Moves all times of a batch.
///
/// The columns of `traces` about the origin move the other way, so that `start_native_ns + ts_ns` and `unix_origin_ns +
/// ts_ns` keep their values; `start_ticks` needs `clock_hz` in the batch.
pub fn shift_batch(table: Table, batch: RecordBatch, placement: &Placement) -> Result<RecordBatch> {
    if !placement.is_moved() {
        return Ok(batch);
    }
    let shift_ns = placement.shift_ns;
    let shifted = |(number, column): (usize, &ArrayRef)| {
        let name = batch.schema_ref().field(number).name().as_str();
        match name {
            _ if name.ends_with("ts_ns") => times(column, |ns| ns.saturating_add(shift_ns)),
            _ if table != Table::Traces => Arc::clone(column),
            start_native_ns::NAME => times(column, |ns| ns.saturating_sub(shift_ns)),
            unix_origin_ns::NAME => filled(times(column, |ns| ns.saturating_sub(shift_ns)), placement.unix_origin_ns),
            start_ticks::NAME => ticks(column, batch.column_by_name(clock_hz::NAME), shift_ns),
            _ => Arc::clone(column),
        }
    };
    let columns = batch.columns().iter().enumerate().map(shifted).collect();
    RecordBatch::try_new(batch.schema(), columns).map_err(|error| Error::internal(error.to_string()))
}

fn times(column: &ArrayRef, shifted: impl Fn(i64) -> i64) -> ArrayRef {
    match column.as_primitive_opt::<Int64Type>() {
        Some(times) => Arc::new(times.unary::<_, Int64Type>(shifted)),
        None => Arc::clone(column),
    }
}

/// Replaces a missing time of day with that of another trace.
fn filled(column: ArrayRef, known: Option<i64>) -> ArrayRef {
    match column.as_primitive_opt::<Int64Type>() {
        Some(times) if times.null_count() > 0 => Arc::new(times.iter().map(|ns| ns.or(known)).collect::<Int64Array>()),
        _ => column,
    }
}

/// The origin in ticks; NULL if it would be before the start of the counter.
fn ticks(column: &ArrayRef, hz: Option<&ArrayRef>, shift_ns: i64) -> ArrayRef {
    let hz = hz.and_then(|hz| hz.as_primitive_opt::<UInt64Type>());
    let (Some(ticks), Some(hz)) = (column.as_primitive_opt::<UInt64Type>(), hz) else { return Arc::clone(column) };
    let shifted = |(ticks, hz): (Option<u64>, Option<u64>)| {
        let by = i128::from(shift_ns) * i128::from(hz?) / 1_000_000_000;
        u64::try_from(i128::from(ticks?) - by).ok()
    };
    Arc::new(ticks.iter().zip(hz).map(shifted).collect::<UInt64Array>())
}

#[cfg(test)]
mod tests {
    use traceloom_core::TimeRange;
    use traceloom_model::{Batches, Halt, Tables, frees::Free, select, traces::Trace};

    use super::*;
    use crate::{Reason, fixture::Synthetic};

    select! { struct Origin of traces { clock_hz, start_ticks, start_native_ns, unix_origin_ns, first_ts_ns } }
    select! { struct Start of traces { start_ticks } }
    select! { struct Times of frees { ts_ns, address } }

    fn fill(tables: &mut Tables<'_>) -> Result<(), Halt> {
        for ts_ns in [10, 20, 30] {
            if tables.filter().takes_time(ts_ns) {
                tables.push(Free { id: ts_ns, ts_ns, address: 7, allocation_id: None })?;
            }
        }
        tables.push(Trace {
            path: "a",
            format: "x".into(),
            version: "1",
            clock: "tsc".into(),
            clock_hz: Some(2_000_000_000),
            start_ticks: Some(500),
            start_native_ns: 90,
            first_ts_ns: Some(10),
            last_ts_ns: Some(30),
            ..Trace::default()
        })
    }

    fn poured(placement: Placement, filter: &Filter, wanted: Wanted) -> Batches {
        let mut batches = Batches::of(wanted);
        let shifted = Shifted { source: Synthetic::new(fill), placement };
        shifted.pour(filter, &mut batches).unwrap();
        batches
    }

    const BY_COUNTER: Placement =
        Placement { shift_ns: 100, reason: Reason::Counter { with: 0 }, unix_origin_ns: Some(7_000) };

    #[test]
    fn times_move_and_moments_stay() {
        let wanted = Wanted::nothing().and(Table::Traces, Origin::COLUMNS).and(Table::Frees, Times::COLUMNS);
        let batches = poured(BY_COUNTER, &Filter::default(), wanted);
        let batch = batches.table(Table::Traces).next().unwrap();
        let origin = Origin::of(batch).unwrap();
        assert_eq!((origin.start_ticks.get(0), origin.start_native_ns.get(0)), (Some(300), -10));
        assert_eq!((origin.unix_origin_ns.get(0), origin.first_ts_ns.get(0)), (Some(7_000), Some(110)));
        let times = Times::of(batches.table(Table::Frees).next().unwrap()).unwrap();
        assert_eq!((times.ts_ns.values(), times.address.values()), (&[110, 120, 130][..], &[7, 7, 7][..]));
    }

    #[test]
    fn a_range_is_one_of_the_axis() {
        let wanted = Wanted::nothing().and(Table::Frees, Times::COLUMNS);
        let batches = poured(BY_COUNTER, &Filter::in_range(TimeRange::between(120, 130)), wanted);
        let times = Times::of(batches.table(Table::Frees).next().unwrap()).unwrap();
        assert_eq!(times.ts_ns.values(), [120]);
    }

    #[test]
    fn a_sink_gets_the_columns_that_it_wants_and_no_others() {
        let batches = poured(BY_COUNTER, &Filter::default(), Wanted::nothing().and(Table::Traces, Start::COLUMNS));
        let batch = batches.table(Table::Traces).next().unwrap();
        assert_eq!((batch.num_columns(), Start::of(batch).unwrap().start_ticks.get(0)), (1, Some(300)));
        // An origin before the start of the counter has no ticks.
        let far = Placement { shift_ns: 1_000, ..BY_COUNTER };
        let batches = poured(far, &Filter::default(), Wanted::nothing().and(Table::Traces, Start::COLUMNS));
        assert_eq!(Start::of(batches.table(Table::Traces).next().unwrap()).unwrap().start_ticks.get(0), None);
    }
}
