//! Points in time.

use crate::{Int, Maybe, Name, define::table};

table! {
    /// Points in time: EasyProfiler events and bookmarks, WTF instances and marks, Memlyze collections and markers.
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
