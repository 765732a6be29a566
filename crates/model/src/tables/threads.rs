//! Threads, zones, and other lines of execution.

use crate::{Int, Maybe, Name, Text, Unsigned, define::table};

table! {
    /// Threads; the zones of WTF are threads too. A file that names none has one row.
    Threads threads: Thread {
        /// Number that the system or the producer gave it.
        tid: Maybe<Unsigned>,
        /// Its process.
        process_id: Int => Processes,
        /// Its name, where it has one.
        name: Maybe<Name>,
        /// What it is, in the words of the format (the type of a WTF zone).
        kind: Maybe<Name>,
        /// Where it runs (the location of a WTF zone).
        location: Maybe<Text>,
    }
}
