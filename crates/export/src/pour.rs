//! Pouring into a closure.

use arrow_array::RecordBatch;
use traceloom_bytes::{Result, Slice};
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, Wanted};

/// Pours what is wanted into a closure; its error ends the pouring and comes out here.
pub fn pour(
    source: &dyn TableSource,
    filter: &Filter,
    wanted: Wanted,
    take: impl FnMut(Table, &RecordBatch) -> Result<()>,
) -> Result<()> {
    let mut sink = Sink { wanted, take, failed: None };
    source.pour(filter, &mut sink)?;
    sink.failed.map_or(Ok(()), Err)
}

struct Sink<F> {
    wanted: Wanted,
    take: F,
    failed: Option<traceloom_bytes::Error>,
}

impl<F: FnMut(Table, &RecordBatch) -> Result<()>> TableSink for Sink<F> {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Flow {
        match (self.take)(table, &batch) {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.failed = Some(error);
                Flow::Stop
            }
        }
    }
}

/// Whether an interval reaches into the range of a slice; one without an end reaches to the end of the trace.
#[inline]
pub fn span_is_taken(slice: &Slice, ts_ns: i64, dur_ns: Option<i64>) -> bool {
    let ends_before = |from: i64| dur_ns.is_some_and(|dur| ts_ns.saturating_add(dur) < from);
    slice.to_ns.is_none_or(|to| ts_ns <= to) && !slice.from_ns.is_some_and(ends_before)
}
