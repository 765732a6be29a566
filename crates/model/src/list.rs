//! Columns of lists of texts: cells, builder and reader.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, StringArray, cast::AsArray, types::Int32Type};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, FieldRef};

use crate::{
    Kind, Named,
    kind::{Append, Column},
    name::NameColumn,
    trackers::Strings,
};

/// Any number of texts.
#[derive(Debug)]
pub struct TextList;

impl Kind for TextList {
    type Cell<'a> = &'a [Named<'a>];
    type Column = ListColumn;
    type Reader<'b> = TextLists<'b>;
    const LABEL: &'static str = "list of text";

    fn data_type() -> DataType {
        DataType::List(item())
    }

    fn reader(array: Option<&ArrayRef>) -> TextLists<'_> {
        TextLists { array: array.and_then(|array| array.as_list_opt()) }
    }
}

/// The name and type that Arrow gives to the values of a list by default.
fn item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Utf8, true))
}

/// Builds a column of lists.
#[derive(Debug, Default)]
pub struct ListColumn {
    lengths: Vec<usize>,
    texts: NameColumn,
}

impl<'a> Append<&'a [Named<'a>]> for ListColumn {
    fn append(&mut self, cell: &'a [Named<'a>]) -> usize {
        self.lengths.push(cell.len());
        cell.iter().map(|text| self.texts.append(*text)).sum()
    }
}

impl Column for ListColumn {
    fn finish(&mut self, strings: &Strings) -> ArrayRef {
        let texts = self.texts.finish(strings);
        // Functions on lists compare values only with plain strings, so the dictionary is resolved.
        let texts = texts.as_dictionary::<Int32Type>().downcast_dict::<StringArray>();
        let texts: StringArray = texts.into_iter().flatten().collect();
        let offsets = OffsetBuffer::from_lengths(self.lengths.drain(..));
        Arc::new(ListArray::new(item(), offsets, Arc::new(texts), None))
    }
}

/// Reads lists of texts.
#[derive(Clone, Copy, Debug)]
pub struct TextLists<'b> {
    array: Option<&'b ListArray>,
}

impl TextLists<'_> {
    /// The texts of one row; empty if the column was not requested.
    pub fn get(&self, row: usize) -> Vec<String> {
        let texts = self.array.map(|array| array.value(row));
        let texts = texts.as_ref().and_then(|texts| texts.as_string_opt::<i32>());
        texts.into_iter().flatten().flatten().map(str::to_owned).collect()
    }
}
