//! Source files that the trace names by number.

use crate::{Int, Maybe, Name, Unsigned, Word, define::table};

table! {
    /// Source files, and strings compiled by `eval`, which have a parent file.
    Files files: File {
        /// Path or name.
        name: Name,
        /// For an `eval`: the file that called it.
        parent_file_id: Maybe<Int> => Files,
        /// For an `eval`: the line of the call.
        parent_line: Maybe<Word>,
        /// Flags, as the format stores them.
        flags: Maybe<Unsigned>,
    }
}
