//! Time per source line.

use crate::{Int, Maybe, Name, Unsigned, Word, define::table};

table! {
    /// Time per source line, as summed by the profiler.
    ///
    /// Evals are separate files here; `line_times_merged` merges those of one call site.
    LineTimes line_times: LineTime {
        /// The file.
        file_id: Maybe<Int> => Files,
        /// Name of the file.
        file: Name,
        /// The line; for level `block` and `sub`, the first line of the block or sub.
        line: Word,
        /// `line`, `block` or `sub`.
        level: Name,
        /// Number of statements executed.
        calls: Unsigned,
        /// Total time, or the only time that the profiler stores.
        incl_ns: Int,
        /// Self time.
        excl_ns: Maybe<Int>,
    }
}
