//! Log entries.

use crate::{Int, Maybe, Name, Text, Word, define::table};

table! {
    /// Log entries.
    Logs logs: Log {
        /// Time of the entry; NULL if the file has no times.
        ts_ns: Maybe<Int>,
        /// The thread, if there is one.
        thread_id: Maybe<Int> => Threads,
        /// Level, as the format numbers it; -1 if the site is unknown.
        level: Int,
        /// Name of the level.
        level_name: Name,
        /// Source file.
        file: Maybe<Name>,
        /// Source line.
        line: Maybe<Word>,
        /// The format string; NULL if the dictionary does not have it.
        format: Maybe<Name>,
        /// The text, with the arguments filled in.
        message: Text,
        /// The log site.
        definition_id: Maybe<Int> => Definitions,
    }
}
