//! The sort keys of rows.

use arrow_array::{Array, Int64Array, RecordBatch, UInt64Array, cast::AsArray};
use traceloom_core::{Error, Result};

/// The sort key of a row: trace, time, id. A table without `ts_ns` has the same time in all rows; NULL sorts before
/// every time.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Key {
    trace_id: u64,
    ts_ns: Option<i64>,
    id: i64,
}

/// The keys of a batch.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    trace_id: UInt64Array,
    ts_ns: Option<Int64Array>,
    id: Int64Array,
}

impl Keys {
    pub(super) fn of(batch: &RecordBatch) -> Result<Self> {
        let missing = || Error::internal("a batch without trace_id and id cannot be sorted");
        let trace_id = batch.column_by_name("trace_id").and_then(|column| column.as_primitive_opt());
        let id = batch.column_by_name("id").and_then(|column| column.as_primitive_opt());
        let ts_ns = batch.column_by_name("ts_ns").and_then(|column| column.as_primitive_opt());
        Ok(Self {
            trace_id: trace_id.cloned().ok_or_else(missing)?,
            ts_ns: ts_ns.cloned(),
            id: id.cloned().ok_or_else(missing)?,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.id.len()
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Key {
        let ts_ns = self.ts_ns.as_ref().and_then(|times| times.is_valid(row).then(|| times.value(row)));
        Key { trace_id: self.trace_id.value(row), ts_ns, id: self.id.value(row) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Key> {
        (0..self.len()).map(|row| self.get(row))
    }
}
