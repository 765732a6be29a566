//! Arguments of rows of other tables.

use crate::{Blob, Float, Int, Maybe, Name, Text, Unsigned, Word, define::table};

table! {
    /// Arguments of rows of other tables, one row for each; the exact value is in the column that its type needs.
    Args args: Arg {
        /// The table, such as `spans`.
        owner_table: Name,
        /// The `id` there.
        owner_id: Int,
        /// Its name, or its number from 0.
        key: Name,
        /// Which element, where the argument is an array.
        idx: Maybe<Word>,
        /// Its type, in the words of the format.
        r#type: Name,
        /// A signed number, or 0 and 1 for false and true.
        int_value: Maybe<Int>,
        /// An unsigned number.
        uint_value: Maybe<Unsigned>,
        /// A floating-point number.
        float_value: Maybe<Float>,
        /// A text, or JSON where it is structured.
        text_value: Maybe<Text>,
        /// Bytes that are not text.
        bytes_value: Maybe<Blob>,
    }
}
