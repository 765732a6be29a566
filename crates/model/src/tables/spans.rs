//! Intervals on a thread, nested.

use crate::{Int, Maybe, Name, Steady, Word, define::table};

table! {
    /// Intervals on a thread, nested: EasyProfiler blocks, NYTProf calls, WTF scopes, and frames and time ranges.
    ///
    /// Rows of one thread come in the order of the file, which may be the order of the ends.
    Spans spans: Span {
        /// The span around it.
        parent_id: Maybe<Int> => Spans,
        /// Its thread.
        thread_id: Steady<Int> => Threads,
        /// Spans around it.
        depth: Word,
        /// When it began.
        ts_ns: Int,
        /// How long it took; NULL where it was never closed.
        dur_ns: Maybe<Int>,
        /// What its children leave of that; NULL where it was never closed, and for frames and ranges, which lie over other spans.
        self_ns: Maybe<Int>,
        /// Its name.
        name: Name,
        /// `block`, `call`, `scope`, `frame` or `range`.
        category: Steady<Name>,
        /// What declared it.
        definition_id: Maybe<Int> => Definitions,
        /// Source file.
        file: Maybe<Name>,
        /// Source line.
        line: Maybe<Word>,
        /// Color as 0xAARRGGBB.
        color: Maybe<Word>,
    }
}
