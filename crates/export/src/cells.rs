//! Batches cell by cell, for targets that write tables unchanged.

use arrow_array::{
    Array, BinaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
    cast::AsArray,
    types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type},
};
use traceloom_passes::Datum;

/// A column of any kind.
#[derive(Clone, Copy, Debug)]
pub enum AnyColumn<'b> {
    /// Bytes.
    Bytes(&'b BinaryArray),
    /// Floating-point numbers.
    Floats(&'b Float64Array),
    /// Signed numbers.
    Ints(&'b Int64Array),
    /// Texts that repeat.
    Names(&'b Int32Array, &'b StringArray),
    /// A type that no table has.
    None,
    /// Texts.
    Texts(&'b StringArray),
    /// Unsigned numbers.
    Unsigned(&'b UInt64Array),
    /// Unsigned numbers of 32 bits.
    Words(&'b UInt32Array),
}

impl<'b> AnyColumn<'b> {
    /// Determines the kind of a column.
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
