//! Batches cell by cell, for targets that write tables as they are.

use arrow_array::{
    Array, BinaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
    cast::AsArray,
    types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type},
};
use traceloom_core::{Result, Slice};
use traceloom_model::Table;

use traceloom_passes::{Datum, Roster, span_is_taken};

/// A column of any kind.
#[derive(Clone, Copy, Debug)]
pub enum AnyColumn<'b> {
    /// Bytes.
    Bytes(&'b BinaryArray),
    /// Floating-point numbers.
    Floats(&'b Float64Array),
    /// Signed numbers.
    Ints(&'b Int64Array),
    /// Texts that recur.
    Names(&'b Int32Array, &'b StringArray),
    /// Nothing that a table of ours holds.
    None,
    /// Texts.
    Texts(&'b StringArray),
    /// Unsigned numbers.
    Unsigned(&'b UInt64Array),
    /// Unsigned numbers of 32 bits.
    Words(&'b UInt32Array),
}

impl<'b> AnyColumn<'b> {
    /// Finds out the kind of a column.
    pub fn of(array: &'b dyn Array) -> Self {
        if let Some(array) = array.as_primitive_opt::<Int64Type>() {
            return Self::Ints(array);
        }
        if let Some(array) = array.as_primitive_opt::<UInt64Type>() {
            return Self::Unsigned(array);
        }
        if let Some(array) = array.as_primitive_opt::<UInt32Type>() {
            return Self::Words(array);
        }
        if let Some(array) = array.as_primitive_opt::<Float64Type>() {
            return Self::Floats(array);
        }
        if let Some(array) = array.as_string_opt::<i32>() {
            return Self::Texts(array);
        }
        if let Some(array) = array.as_binary_opt::<i32>() {
            return Self::Bytes(array);
        }
        let names = array.as_dictionary_opt::<Int32Type>();
        match names.and_then(|array| Some((array.keys(), array.values().as_string_opt()?))) {
            Some((keys, values)) => Self::Names(keys, values),
            None => Self::None,
        }
    }

    /// All columns of a batch.
    pub fn all(batch: &'b RecordBatch) -> Vec<Self> {
        batch.columns().iter().map(|array| Self::of(array)).collect()
    }

    /// One cell.
    #[inline]
    pub fn get(&self, row: usize) -> Datum<'b> {
        match *self {
            Self::Bytes(array) if array.is_valid(row) => Datum::Bytes(array.value(row)),
            Self::Floats(array) if array.is_valid(row) => Datum::Float(array.value(row)),
            Self::Ints(array) if array.is_valid(row) => Datum::Int(array.value(row)),
            Self::Names(keys, values) if keys.is_valid(row) => Datum::Text(values.value(keys.value(row) as usize)),
            Self::Texts(array) if array.is_valid(row) => Datum::Text(array.value(row)),
            Self::Unsigned(array) if array.is_valid(row) => Datum::Unsigned(array.value(row)),
            Self::Words(array) if array.is_valid(row) => Datum::Unsigned(array.value(row).into()),
            _ => Datum::Null,
        }
    }
}

/// Says which rows of a batch a slice takes, by whatever time and thread they have.
#[derive(Debug)]
pub struct Taken<'b> {
    slice: &'b Slice,
    trace_id: AnyColumn<'b>,
    ts_ns: AnyColumn<'b>,
    dur_ns: AnyColumn<'b>,
    thread_id: AnyColumn<'b>,
}

impl<'b> Taken<'b> {
    /// Looks at the columns of a batch.
    pub fn new(batch: &'b RecordBatch, slice: &'b Slice) -> Self {
        let column = |name: &str| batch.column_by_name(name).map_or(AnyColumn::None, |array| AnyColumn::of(array));
        let [trace_id, ts_ns, dur_ns, thread_id] = ["trace_id", "ts_ns", "dur_ns", "thread_id"].map(column);
        Self { slice, trace_id, ts_ns, dur_ns, thread_id }
    }

    /// Whether a row is taken; one without a time is, and so is one without a thread, unless threads are named.
    pub fn takes(&self, row: usize, roster: &mut Roster, table: Table) -> Result<bool> {
        if let Datum::Int(ts_ns) = self.ts_ns.get(row) {
            let is_open = table == Table::Spans && self.dur_ns.get(row) == Datum::Null;
            let dur_ns = match self.dur_ns.get(row) {
                Datum::Int(dur_ns) => Some(dur_ns),
                _ => (!is_open).then_some(0),
            };
            if !span_is_taken(self.slice, ts_ns, dur_ns) {
                return Ok(false);
            }
        }
        if self.slice.threads.is_empty() {
            return Ok(true);
        }
        match (self.trace_id.get(row), self.thread_id.get(row)) {
            (Datum::Unsigned(trace_id), Datum::Int(thread_id)) => {
                let index = roster.index(trace_id, thread_id)?;
                Ok(roster.thread(index).is_taken)
            }
            _ => Ok(matches!(self.thread_id, AnyColumn::None)),
        }
    }
}
