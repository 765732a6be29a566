//! Times when a thread did not run.

use crate::{Int, Name, Unsigned, define::table};

table! {
    /// Times when a thread did not run: the context switches of EasyProfiler.
    Switches switches: Switch {
        /// When it was taken off the processor.
        ts_ns: Int,
        /// How long it was off.
        dur_ns: Int,
        /// The thread.
        thread_id: Int => Threads,
        /// The thread that ran instead.
        target_tid: Unsigned,
        /// Its process, as the system calls it.
        name: Name,
    }
}
