//! Sends tables to a closure.

use arrow_array::RecordBatch;
use traceloom_core::{Result, Slice};
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, Wanted};

/// Sends the wanted columns to a closure; an error from the closure ends the walk and is returned.
pub fn pour(
    source: &dyn TableSource,
    filter: &Filter,
    wanted: Wanted,
    take: impl FnMut(Table, &RecordBatch) -> Result<()>,
) -> Result<()> {
    source.pour(filter, &mut Sink { wanted, take })
}

struct Sink<F> {
    wanted: Wanted,
    take: F,
}

impl<F: FnMut(Table, &RecordBatch) -> Result<()>> TableSink for Sink<F> {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        (self.take)(table, &batch)?;
        Ok(Flow::Continue)
    }
}

/// Whether an interval overlaps the range of a slice; an interval without an end extends to the end of the trace.
#[inline]
pub fn span_is_taken(slice: &Slice, ts_ns: i64, dur_ns: Option<i64>) -> bool {
    slice.range.overlaps_span(ts_ns, dur_ns)
}
