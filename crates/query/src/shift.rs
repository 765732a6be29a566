//! Moves the origin of a trace: its rows are the same moments, counted from elsewhere.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, RecordBatch,
    cast::AsArray,
    types::{Int64Type, UInt64Type},
};
use datafusion::common::Result;
use traceloom_model::Table;

const NANOS: i128 = 1_000_000_000;

/// Where the origin of a trace is now.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Moved {
    /// What its times are moved by.
    pub(crate) shift_ns: i64,
    /// The time of day of the new origin, known from another trace.
    pub(crate) unix_origin_ns: Option<i64>,
}

impl Moved {
    /// Whether everything is as the file has it.
    pub(crate) fn is_not(self) -> bool {
        self == Self::default()
    }
}

/// The batch with all its times moved.
///
/// What the table of traces says about the origin moves the other way, so that `start_native_ns + ts_ns` and
/// `unix_origin_ns + ts_ns` stay what they were; a batch of it has all its columns.
pub(crate) fn batch(table: Table, batch: RecordBatch, moved: Moved) -> Result<RecordBatch> {
    if moved.is_not() {
        return Ok(batch);
    }
    let Moved { shift_ns, unix_origin_ns } = moved;
    let move_column = |(number, column): (usize, &ArrayRef)| {
        let name = batch.schema_ref().field(number).name().as_str();
        match name {
            _ if name.ends_with("ts_ns") => times(column, |ns| ns.saturating_add(shift_ns)),
            "unix_origin_ns" if table == Table::Traces && unix_origin_ns.is_some() => {
                Arc::new(arrow_array::Int64Array::from(vec![unix_origin_ns; column.len()]))
            }
            "start_native_ns" | "unix_origin_ns" if table == Table::Traces => {
                times(column, |ns| ns.saturating_sub(shift_ns))
            }
            "start_ticks" if table == Table::Traces => ticks(column, batch.column_by_name("clock_hz"), shift_ns),
            _ => Arc::clone(column),
        }
    };
    let columns = batch.columns().iter().enumerate().map(move_column).collect();
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

fn times(column: &ArrayRef, moved: impl Fn(i64) -> i64) -> ArrayRef {
    match column.as_primitive_opt::<Int64Type>() {
        Some(times) => Arc::new(times.unary::<_, Int64Type>(moved)),
        None => Arc::clone(column),
    }
}

/// Ticks of the origin; none where it would be before the counter's beginning.
fn ticks(column: &ArrayRef, hz: Option<&ArrayRef>, shift_ns: i64) -> ArrayRef {
    let hz = hz.and_then(|hz| hz.as_primitive_opt::<UInt64Type>());
    let (Some(ticks), Some(hz)) = (column.as_primitive_opt::<UInt64Type>(), hz) else { return Arc::clone(column) };
    let moved = |row: usize| {
        if ticks.is_null(row) || hz.is_null(row) {
            return None;
        }
        let by = i128::from(shift_ns) * i128::from(hz.value(row)) / NANOS;
        u64::try_from(i128::from(ticks.value(row)) - by).ok()
    };
    Arc::new((0..ticks.len()).map(moved).collect::<arrow_array::UInt64Array>())
}
