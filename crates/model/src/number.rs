//! Columns of numbers under construction.

use std::sync::Arc;

use arrow_array::{ArrayRef, PrimitiveArray, types::ArrowPrimitiveType};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

use crate::{kind::Column, trackers::Strings};

/// Builds a column of numbers: the values, and a bitmap of NULLs from the first NULL on.
#[derive(Debug)]
pub struct NumberColumn<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    valid: Option<BooleanBufferBuilder>,
}

impl<T: ArrowPrimitiveType> Default for NumberColumn<T> {
    fn default() -> Self {
        Self { values: Vec::new(), valid: None }
    }
}

impl<T: ArrowPrimitiveType> NumberColumn<T> {
    #[inline]
    pub(crate) fn append_value(&mut self, value: T::Native) {
        if let Some(valid) = &mut self.valid {
            valid.append(true);
        }
        self.values.push(value);
    }

    #[inline]
    pub(crate) fn append_null(&mut self) {
        let before = self.values.len();
        self.valid.get_or_insert_with(|| all_valid(before)).append(false);
        self.values.push(T::Native::default());
    }

    /// Appends the same value several times.
    pub(crate) fn append_run(&mut self, value: T::Native, run: usize) {
        if let Some(valid) = &mut self.valid {
            valid.append_n(run, true);
        }
        self.values.extend(std::iter::repeat_n(value, run));
    }

    /// Returns the array and starts a new one.
    pub(crate) fn take(&mut self) -> PrimitiveArray<T> {
        // The next batch is probably as long, so reserve its memory now.
        let room = Vec::with_capacity(self.values.len());
        let values = std::mem::replace(&mut self.values, room);
        let nulls = self.valid.take().map(|mut valid| NullBuffer::new(valid.finish()));
        PrimitiveArray::new(values.into(), nulls)
    }
}

#[cold]
fn all_valid(rows: usize) -> BooleanBufferBuilder {
    let mut valid = BooleanBufferBuilder::new(rows.max(1024));
    valid.append_n(rows, true);
    valid
}

impl<T: ArrowPrimitiveType> Column for NumberColumn<T> {
    fn finish(&mut self, _strings: &Strings) -> ArrayRef {
        Arc::new(self.take())
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, types::Int64Type};

    use super::*;
    use crate::kind::Append;

    #[test]
    fn nulls_are_told_apart_wherever_they_come() {
        let cells = [Some(1_i64), None, Some(3), None, None, Some(6)];
        let mut column = NumberColumn::<Int64Type>::default();
        for _ in 0..2 {
            for cell in cells {
                column.append(cell);
            }
            assert_eq!(column.take().iter().collect::<Vec<_>>(), cells);
        }
    }

    #[test]
    fn a_batch_without_nulls_has_no_bitmap() {
        let mut column = NumberColumn::<Int64Type>::default();
        column.append(None::<i64>);
        assert_eq!(column.take().null_count(), 1);
        column.append(7_i64);
        assert!(column.take().nulls().is_none());
    }
}
