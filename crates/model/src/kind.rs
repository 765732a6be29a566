//! The kinds of columns: the type of a cell, the builder and the reader of each.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, PrimitiveArray, StringArray,
    builder::{BinaryBuilder, StringBuilder},
    cast::AsArray,
    types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt32Type, UInt64Type},
};
use arrow_schema::DataType;

use crate::{
    name::{MaybeNames, NameColumn, Named, Names},
    number::NumberColumn,
    trackers::Strings,
};

/// A kind of column.
pub trait Kind {
    /// The value of a row.
    type Cell<'a>;
    /// The builder of a column.
    type Column: Column + for<'a> Append<Self::Cell<'a>>;
    /// The reader of a column.
    type Reader<'b>;
    /// Whether a cell may be NULL.
    const NULLABLE: bool = false;
    /// Name for people.
    const LABEL: &'static str;

    /// The Arrow type.
    fn data_type() -> DataType;

    /// Reads a column of this kind; a column that is not in the batch reads as empty.
    fn reader(array: Option<&ArrayRef>) -> Self::Reader<'_>;
}

/// A column under construction.
pub trait Column: Default {
    /// Returns the array and starts a new one.
    fn finish(&mut self, strings: &Strings) -> ArrayRef;
}

/// A column that accepts this type of cell.
pub trait Append<C> {
    /// Appends a cell; returns the bytes of text that it adds. Cells of fixed width count as 0, because the number of
    /// rows bounds them.
    fn append(&mut self, cell: C) -> usize;
}

macro_rules! primitive {
    ($($(#[$doc:meta])* $kind:ident $native:ident $arrow:ident $label:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $kind;

        impl Kind for $kind {
            type Cell<'a> = $native;
            type Column = NumberColumn<$arrow>;
            type Reader<'b> = Numbers<'b, $arrow>;
            const LABEL: &'static str = $label;

            fn data_type() -> DataType {
                $arrow::DATA_TYPE
            }

            fn reader(array: Option<&ArrayRef>) -> Numbers<'_, $arrow> {
                Numbers { array: array.and_then(|array| array.as_primitive_opt()) }
            }
        }

        impl Kind for Maybe<$kind> {
            type Cell<'a> = Option<$native>;
            type Column = NumberColumn<$arrow>;
            type Reader<'b> = MaybeNumbers<'b, $arrow>;
            const NULLABLE: bool = true;
            const LABEL: &'static str = $label;

            fn data_type() -> DataType {
                $arrow::DATA_TYPE
            }

            fn reader(array: Option<&ArrayRef>) -> MaybeNumbers<'_, $arrow> {
                MaybeNumbers { array: array.and_then(|array| array.as_primitive_opt()) }
            }
        }

        impl Append<$native> for NumberColumn<$arrow> {
            #[inline]
            fn append(&mut self, cell: $native) -> usize {
                self.append_value(cell);
                0
            }
        }

        impl Append<Option<$native>> for NumberColumn<$arrow> {
            #[inline]
            fn append(&mut self, cell: Option<$native>) -> usize {
                match cell {
                    Some(value) => self.append_value(value),
                    None => self.append_null(),
                }
                0
            }
        }
    )*};
}

primitive! {
    /// A signed number: an id, a time in nanoseconds.
    Int i64 Int64Type "integer";
    /// An unsigned number of 64 bits: an address, a size, a process.
    Unsigned u64 UInt64Type "unsigned";
    /// An unsigned number of 32 bits: a line, a depth, a color.
    Word u32 UInt32Type "unsigned";
    /// A floating-point number.
    Float f64 Float64Type "float";
}

/// A column that may contain NULL.
#[derive(Debug)]
pub struct Maybe<K>(K);

/// Reads numbers.
#[derive(Debug)]
pub struct Numbers<'b, T: ArrowPrimitiveType> {
    array: Option<&'b PrimitiveArray<T>>,
}

impl<'b, T: ArrowPrimitiveType> Numbers<'b, T> {
    /// All values; empty if the column was not requested.
    #[inline]
    pub fn values(&self) -> &'b [T::Native] {
        self.array.map_or(&[], |array| array.values())
    }

    /// The value of one row.
    #[inline]
    pub fn get(&self, row: usize) -> T::Native {
        self.values()[row]
    }
}

/// Reads numbers that may be NULL.
#[derive(Debug)]
pub struct MaybeNumbers<'b, T: ArrowPrimitiveType> {
    array: Option<&'b PrimitiveArray<T>>,
}

impl<'b, T: ArrowPrimitiveType> MaybeNumbers<'b, T> {
    /// All values, if none is NULL.
    pub fn dense(&self) -> Option<&'b [T::Native]> {
        self.array.filter(|array| array.null_count() == 0).map(|array| &**array.values())
    }

    /// The value of one row; NULL if the column was not requested.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T::Native> {
        let array = self.array?;
        array.is_valid(row).then(|| array.values()[row])
    }
}

// `derive` would require the marker type to implement these traits, too.
impl<T: ArrowPrimitiveType> Clone for Numbers<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: ArrowPrimitiveType> Copy for Numbers<'_, T> {}
impl<T: ArrowPrimitiveType> Clone for MaybeNumbers<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: ArrowPrimitiveType> Copy for MaybeNumbers<'_, T> {}

/// Text that differs from row to row.
#[derive(Debug)]
pub struct Text;

/// Bytes.
#[derive(Debug)]
pub struct Blob;

macro_rules! variable {
    ($($kind:ident $native:ty, $builder:ident, $array:ident $reader:ident $maybe:ident $as:ident $label:literal;)*) => {$(
        impl Kind for $kind {
            type Cell<'a> = &'a $native;
            type Column = $builder;
            type Reader<'b> = $reader<'b>;
            const LABEL: &'static str = $label;

            fn data_type() -> DataType {
                $array::DATA_TYPE
            }

            fn reader(array: Option<&ArrayRef>) -> $reader<'_> {
                $reader { array: array.and_then(|array| array.$as()) }
            }
        }

        impl Kind for Maybe<$kind> {
            type Cell<'a> = Option<&'a $native>;
            type Column = $builder;
            type Reader<'b> = $maybe<'b>;
            const NULLABLE: bool = true;
            const LABEL: &'static str = $label;

            fn data_type() -> DataType {
                $array::DATA_TYPE
            }

            fn reader(array: Option<&ArrayRef>) -> $maybe<'_> {
                $maybe { array: array.and_then(|array| array.$as()) }
            }
        }

        impl Column for $builder {
            fn finish(&mut self, _strings: &Strings) -> ArrayRef {
                Arc::new(self.finish())
            }
        }

        impl<'a> Append<&'a $native> for $builder {
            #[inline]
            fn append(&mut self, cell: &'a $native) -> usize {
                self.append_value(cell);
                cell.len()
            }
        }

        impl<'a> Append<Option<&'a $native>> for $builder {
            #[inline]
            fn append(&mut self, cell: Option<&'a $native>) -> usize {
                self.append_option(cell);
                cell.map_or(0, |cell| cell.len())
            }
        }

        /// Reads cells of variable length.
        #[derive(Clone, Copy, Debug)]
        pub struct $reader<'b> {
            array: Option<&'b $array>,
        }

        impl<'b> $reader<'b> {
            /// The value of one row; empty if the column was not requested.
            #[inline]
            pub fn get(&self, row: usize) -> &'b $native {
                self.array.map(|array| array.value(row)).unwrap_or_default()
            }
        }

        /// Reads cells of variable length that may be NULL.
        #[derive(Clone, Copy, Debug)]
        pub struct $maybe<'b> {
            array: Option<&'b $array>,
        }

        impl<'b> $maybe<'b> {
            /// The value of one row; NULL if the column was not requested.
            #[inline]
            pub fn get(&self, row: usize) -> Option<&'b $native> {
                self.array.filter(|array| array.is_valid(row)).map(|array| array.value(row))
            }
        }
    )*};
}

variable! {
    Text str, StringBuilder, StringArray Texts MaybeTexts as_string_opt "text";
    Blob [u8], BinaryBuilder, BinaryArray Blobs MaybeBlobs as_binary_opt "bytes";
}

/// Text that repeats: dictionary-encoded.
#[derive(Debug)]
pub struct Name;

fn name_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

impl Kind for Name {
    type Cell<'a> = Named<'a>;
    type Column = NameColumn;
    type Reader<'b> = Names<'b>;
    const LABEL: &'static str = "name";

    fn data_type() -> DataType {
        name_type()
    }

    fn reader(array: Option<&ArrayRef>) -> Names<'_> {
        Names::new(array)
    }
}

impl Kind for Maybe<Name> {
    type Cell<'a> = Option<Named<'a>>;
    type Column = NameColumn;
    type Reader<'b> = MaybeNames<'b>;
    const NULLABLE: bool = true;
    const LABEL: &'static str = "name";

    fn data_type() -> DataType {
        name_type()
    }

    fn reader(array: Option<&ArrayRef>) -> MaybeNames<'_> {
        MaybeNames::new(array)
    }
}
