//! Time of each line.

use crate::{Int, Maybe, Name, Unsigned, Word, define::table};

table! {
    /// What each source line cost, as the profiler added it up.
    ///
    /// Evals are separate files here; `line_times_merged` adds those of one place together.
    LineTimes line_times: LineTime {
        /// The file.
        file_id: Maybe<Int> => Files,
        /// Its name.
        file: Name,
        /// The line; at level `block` and `sub` the first line of that.
        line: Word,
        /// `line`, `block` or `sub`.
        level: Name,
        /// Statements that ran.
        calls: Unsigned,
        /// Time, what it called included; where only one time is known, that.
        incl_ns: Int,
        /// Time without what it called.
        excl_ns: Maybe<Int>,
    }
}
