//! Processes in the trace.

use crate::{Int, Maybe, Name, Unsigned, define::table};

table! {
    /// Processes in the trace. A file that names none has one row.
    Processes processes: Process {
        /// Process id.
        pid: Maybe<Unsigned>,
        /// Process id of the parent: a fork, if a row with that `pid` exists.
        ppid: Maybe<Unsigned>,
        /// Name of the program.
        name: Maybe<Name>,
        /// Start of the process, if known.
        start_ts_ns: Maybe<Int>,
        /// End of the process, if known.
        end_ts_ns: Maybe<Int>,
    }
}
