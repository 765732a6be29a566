//! Points in time.

use crate::{Int, Maybe, Name, define::table};

table! {
    /// Points in time: EasyProfiler events and bookmarks, WTF instances and marks, Memlyze collections and markers. An
    /// EasyProfiler event with a duration is also in `spans`, under the same id, because blocks may be inside it and
    /// the self times of `spans` need it. `span_id` is the span around both. To count each once, leave out the events
    /// whose trace and id are in `spans`.
    Events events: Event {
        /// Time of the event.
        ts_ns: Int,
        /// The thread, if there is one.
        thread_id: Maybe<Int> => Threads,
        /// The innermost span around it.
        span_id: Maybe<Int> => Spans,
        /// Name of the event; for a bookmark, its text.
        name: Name,
        /// `event` or `bookmark` (EasyProfiler); `instance`, `mark`, `append`, `flow`, `frame`, `range`, `leave` (WTF); `gc` or `marker` (Memlyze).
        category: Name,
        /// The definition of the event.
        definition_id: Maybe<Int> => Definitions,
    }
}
