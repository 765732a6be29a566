//! Callers and callees.

use crate::{Int, Maybe, Name, Unsigned, Word, define::table};

table! {
    /// Callers and callees per call site, as summed by the profiler.
    Calls calls: Call {
        /// The caller; NULL if the call has no caller.
        caller: Maybe<Name>,
        /// The called sub.
        callee: Name,
        /// File of the call.
        file: Maybe<Name>,
        /// Line of the call.
        line: Maybe<Word>,
        /// Number of calls.
        count: Unsigned,
        /// Total time in the callee.
        incl_ns: Int,
        /// Self time in the callee.
        excl_ns: Int,
        /// Time that was counted more than once because of recursion.
        recursive_ns: Maybe<Int>,
        /// Maximum recursion depth.
        max_depth: Maybe<Unsigned>,
    }
}
