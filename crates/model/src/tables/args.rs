//! Arguments of rows of other tables.

use crate::{Blob, Float, Int, Maybe, Name, Text, Unsigned, Word, define::table};

table! {
    /// Arguments of rows of other tables, one row per argument; the exact value is in the column for its type.
    Args args: Arg {
        /// The table that the argument belongs to, such as `spans`.
        owner_table: Name,
        /// The `id` of the row in that table.
        owner_id: Int,
        /// The argument's name, or its number from 0.
        key: Name,
        /// The index of the element, if the argument is an array.
        idx: Maybe<Word>,
        /// The argument's type, as the format calls it.
        r#type: Name,
        /// A signed number, or 0 and 1 for false and true.
        int_value: Maybe<Int>,
        /// An unsigned number.
        uint_value: Maybe<Unsigned>,
        /// A floating-point number.
        float_value: Maybe<Float>,
        /// Text, or JSON if the value is structured; `[]` for an array without elements. A null has no value in any
        /// column.
        text_value: Maybe<Text>,
        /// Bytes that are not text.
        bytes_value: Maybe<Blob>,
    }
}
