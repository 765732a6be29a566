//! Source files that the trace names by number.

use crate::{Int, Maybe, Name, Unsigned, Word, define::table};

table! {
    /// Source files, and the strings that `eval` compiled, which know where.
    Files files: File {
        /// Path or name.
        name: Name,
        /// For an `eval`: the file that it was called from.
        parent_file_id: Maybe<Int> => Files,
        /// And the line.
        parent_line: Maybe<Word>,
        /// Flags, as a number of the format.
        flags: Maybe<Unsigned>,
    }
}
