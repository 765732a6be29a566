//! Times when a thread was not running.

use crate::{Int, Name, Unsigned, define::table};

table! {
    /// Times when a thread was not running: the context switches of EasyProfiler.
    Switches switches: Switch {
        /// Time at which the thread was taken off the processor.
        ts_ns: Int,
        /// How long it was not running.
        dur_ns: Int,
        /// The thread.
        thread_id: Int => Threads,
        /// The thread that ran instead.
        target_tid: Unsigned,
        /// Name of that thread's process, according to the system.
        name: Name,
    }
}
