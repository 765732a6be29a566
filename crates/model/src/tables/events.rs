//! Points in time.

use crate::{Int, Maybe, Name, define::table};

table! {
    /// Points in time: EasyProfiler events and bookmarks, WTF instances and marks, Memlyze collections and markers.
    /// An EasyProfiler event that lasts is in `spans` too, under the same id, because blocks may lie inside it: self times of
    /// `spans` need it. `span_id` is the span around both. To count each once, leave out the events whose trace and id are in `spans`.
    Events events: Event {
        /// When.
        ts_ns: Int,
        /// Its thread, where it has one.
        thread_id: Maybe<Int> => Threads,
        /// The innermost span around it.
        span_id: Maybe<Int> => Spans,
        /// Its name; for a bookmark its text.
        name: Name,
        /// `event` or `bookmark` (EasyProfiler); `instance`, `mark`, `append`, `flow`, `frame`, `range`, `leave` (WTF); `gc` or `marker` (Memlyze).
        category: Name,
        /// What declared it.
        definition_id: Maybe<Int> => Definitions,
    }
}
