//! Log entries.

use crate::{Int, Maybe, Name, Text, Word, define::table};

table! {
    /// Log entries.
    Logs logs: Log {
        /// When; NULL where the file has no times.
        ts_ns: Maybe<Int>,
        /// Its thread, where it has one.
        thread_id: Maybe<Int> => Threads,
        /// Level, as a number of the format; -1 where the site is unknown.
        level: Int,
        /// Level for people.
        level_name: Name,
        /// Source file.
        file: Maybe<Name>,
        /// Source line.
        line: Maybe<Word>,
        /// The format string; NULL where the dictionary does not have it.
        format: Maybe<Name>,
        /// The text, with the arguments filled in.
        message: Text,
        /// Its site.
        definition_id: Maybe<Int> => Definitions,
    }
}
