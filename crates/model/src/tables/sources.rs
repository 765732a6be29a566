//! Source text stored in the trace.

use crate::{Int, Text, Word, define::table};

table! {
    /// Source text, line by line, if the trace stores it.
    Sources sources: Source {
        /// The file.
        file_id: Int => Files,
        /// Line number, from 1.
        line: Word,
        /// Text of the line.
        text: Text,
    }
}
