//! Nested intervals on a thread.

use crate::{Int, Maybe, Name, Steady, Word, define::table};

table! {
    /// Nested intervals on a thread: EasyProfiler blocks, NYTProf calls, WTF scopes, and frames and time ranges.
    ///
    /// Rows of one thread are in file order, which may be the order in which spans end.
    Spans spans: Span {
        /// The span around it.
        parent_id: Maybe<Int> => Spans,
        /// The thread of the span.
        thread_id: Steady<Int> => Threads,
        /// Number of spans around it.
        depth: Word,
        /// Start of the span.
        ts_ns: Int,
        /// Duration (total time); NULL if the span was never closed.
        dur_ns: Maybe<Int>,
        /// Self time: the duration without the children; NULL if the span was never closed, and for frames and ranges,
        /// which overlay other spans.
        self_ns: Maybe<Int>,
        /// Name of the span.
        name: Name,
        /// `block`, `call`, `scope`, `frame` or `range`.
        category: Steady<Name>,
        /// The definition of the span.
        definition_id: Maybe<Int> => Definitions,
        /// Source file.
        file: Maybe<Name>,
        /// Source line.
        line: Maybe<Word>,
        /// Color as 0xAARRGGBB.
        color: Maybe<Word>,
    }
}
