//! Threads, zones, and other lines of execution.

use crate::{Int, Maybe, Name, Text, Unsigned, define::table};

table! {
    /// Threads; WTF zones are threads, too. A file that names none has one row.
    Threads threads: Thread {
        /// Thread id from the system or the producer.
        tid: Maybe<Unsigned>,
        /// The process of the thread.
        process_id: Int => Processes,
        /// Name of the thread, if it has one.
        name: Maybe<Name>,
        /// Kind of thread, as the format calls it (the type of a WTF zone).
        kind: Maybe<Name>,
        /// Where the thread runs (the location of a WTF zone).
        location: Maybe<Text>,
    }
}
