//! Who called whom.

use crate::{Int, Maybe, Name, Unsigned, Word, define::table};

table! {
    /// Who called whom from where, as the profiler added it up.
    Calls calls: Call {
        /// The caller; NULL where nothing is around the call.
        caller: Maybe<Name>,
        /// The sub that was called.
        callee: Name,
        /// File of the call.
        file: Maybe<Name>,
        /// Line of the call.
        line: Maybe<Word>,
        /// Calls.
        count: Unsigned,
        /// Time in the callee and below.
        incl_ns: Int,
        /// Time in the callee itself.
        excl_ns: Int,
        /// Time that recursion counted again.
        recursive_ns: Maybe<Int>,
        /// Deepest recursion.
        max_depth: Maybe<Unsigned>,
    }
}
