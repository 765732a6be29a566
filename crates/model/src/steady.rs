//! Columns whose cells rarely change from row to row: a run of equal cells is counted, and appended when it ends.

use std::sync::Arc;

use arrow_array::{
    ArrayRef,
    types::{ArrowPrimitiveType, Int64Type},
};
use arrow_schema::DataType;

use crate::{
    kind::{Append, Column, Int, Kind, Name, Numbers},
    name::{NameColumn, Named, Names},
    number::NumberColumn,
    trackers::{Strings, Symbol},
};

/// A column whose cell is usually the same as in the previous row.
#[derive(Debug)]
pub struct Steady<K>(K);

impl Kind for Steady<Int> {
    type Cell<'a> = i64;
    type Column = SteadyNumbers<Int64Type>;
    type Reader<'b> = Numbers<'b, Int64Type>;
    const LABEL: &'static str = Int::LABEL;

    fn data_type() -> DataType {
        Int::data_type()
    }

    fn reader(array: Option<&ArrayRef>) -> Self::Reader<'_> {
        Int::reader(array)
    }
}

impl Kind for Steady<Name> {
    type Cell<'a> = Named<'a>;
    type Column = SteadyNames;
    type Reader<'b> = Names<'b>;
    const LABEL: &'static str = Name::LABEL;

    fn data_type() -> DataType {
        Name::data_type()
    }

    fn reader(array: Option<&ArrayRef>) -> Self::Reader<'_> {
        Name::reader(array)
    }
}

/// Builds a column of numbers.
#[derive(Debug)]
pub struct SteadyNumbers<T: ArrowPrimitiveType> {
    before: NumberColumn<T>,
    current: T::Native,
    run: usize,
}

impl<T: ArrowPrimitiveType> Default for SteadyNumbers<T> {
    fn default() -> Self {
        Self { before: NumberColumn::default(), current: T::Native::default(), run: 0 }
    }
}

impl<T: ArrowPrimitiveType> SteadyNumbers<T> {
    #[cold]
    fn end_run(&mut self) {
        self.before.append_run(self.current, self.run);
        self.run = 0;
    }
}

impl Append<i64> for SteadyNumbers<Int64Type> {
    #[inline(always)]
    fn append(&mut self, cell: i64) -> usize {
        if cell != self.current {
            self.end_run();
            self.current = cell;
        }
        self.run += 1;
        0
    }
}

impl<T: ArrowPrimitiveType> Column for SteadyNumbers<T> {
    fn finish(&mut self, _strings: &Strings) -> ArrayRef {
        self.end_run();
        Arc::new(self.before.take())
    }
}

/// Builds a dictionary-encoded column.
#[derive(Debug, Default)]
pub struct SteadyNames {
    before: NameColumn,
    current: Option<Symbol>,
    run: usize,
}

impl SteadyNames {
    #[cold]
    fn end_run(&mut self) {
        if let Some(symbol) = self.current {
            self.before.append_run(symbol, self.run);
        }
        self.run = 0;
    }

    #[cold]
    fn turn_to(&mut self, cell: Named<'_>) -> usize {
        self.end_run();
        match cell {
            Named::Symbol(symbol) => {
                (self.current, self.run) = (Some(symbol), 1);
                0
            }
            Named::Text(_) | Named::Bytes(_) => {
                self.current = None;
                self.before.append(cell)
            }
        }
    }
}

impl<'a> Append<Named<'a>> for SteadyNames {
    #[inline(always)]
    fn append(&mut self, cell: Named<'a>) -> usize {
        match (cell, self.current) {
            (Named::Symbol(symbol), Some(current)) if symbol == current => {
                self.run += 1;
                0
            }
            _ => self.turn_to(cell),
        }
    }
}

impl Column for SteadyNames {
    fn finish(&mut self, strings: &Strings) -> ArrayRef {
        self.end_run();
        self.before.finish(strings)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{cast::AsArray, types::Int32Type};

    use super::*;

    #[test]
    fn runs_end_where_the_numbers_change_and_at_the_end_of_a_batch() {
        let mut column = SteadyNumbers::<Int64Type>::default();
        for cells in [&[0_i64, 0, 7, 7, 7, 0][..], &[0], &[], &[5, 6, 6]] {
            for cell in cells {
                column.append(*cell);
            }
            let array = column.finish(&Strings::default());
            assert_eq!(&**array.as_primitive::<Int64Type>().values(), cells);
        }
    }

    #[test]
    fn names_may_be_symbols_or_texts() {
        let mut strings = Strings::default();
        let [one, two] = ["one", "two"].map(|text| strings.intern(text));
        let mut column = SteadyNames::default();
        let batches: [&[(Named<'_>, &str)]; 3] = [
            &[(one.into(), "one"), (one.into(), "one"), ("x".into(), "x"), ("x".into(), "x"), (one.into(), "one")],
            &[(one.into(), "one"), (two.into(), "two"), (two.into(), "two")],
            &[("y".into(), "y"), (two.into(), "two")],
        ];
        for batch in batches {
            for (cell, _) in batch {
                column.append(*cell);
            }
            let array = column.finish(&strings);
            let array = array.as_dictionary::<Int32Type>().downcast_dict::<arrow_array::StringArray>().unwrap();
            let texts: Vec<&str> = array.into_iter().flatten().collect();
            assert_eq!(texts, batch.iter().map(|(_, text)| *text).collect::<Vec<_>>());
        }
    }
}
