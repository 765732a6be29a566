//! Source text kept in the trace.

use crate::{Int, Text, Word, define::table};

table! {
    /// Source text, line by line, where the trace keeps it.
    Sources sources: Source {
        /// The file.
        file_id: Int => Files,
        /// Number of the line, from 1.
        line: Word,
        /// The line.
        text: Text,
    }
}
