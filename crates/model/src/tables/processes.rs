//! Processes that took part.

use crate::{Int, Maybe, Name, Unsigned, define::table};

table! {
    /// Processes that took part. A file that names none has one row.
    Processes processes: Process {
        /// Number that the system gave it.
        pid: Maybe<Unsigned>,
        /// Number of its parent: a fork, where a row of that `pid` exists.
        ppid: Maybe<Unsigned>,
        /// The program.
        name: Maybe<Name>,
        /// When it began, where known.
        start_ts_ns: Maybe<Int>,
        /// When it ended, where known.
        end_ts_ns: Maybe<Int>,
    }
}
