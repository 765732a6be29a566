//! Who called whom, with the string evals of one place added together.

use super::calls::Call;
use crate::{Int, Maybe, Name, TextList, Unsigned, Word, define::table};

table! {
    /// Who called whom from where, as the profiler's reports add it up: string evals of one place are one, and so are the
    /// callers of one place. The columns are those of `calls`, except that `caller` is a list.
    CallsMerged calls_merged: MergedCall {
        /// The callers, sorted; empty where nothing is around the call.
        caller: TextList,
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

/// A call that there is nothing to add to.
impl<'a, 'c: 'a> From<&'a Call<'c>> for MergedCall<'a> {
    fn from(call: &'a Call<'c>) -> Self {
        let Call { id, ref caller, callee, file, line, count, incl_ns, excl_ns, recursive_ns, max_depth } = *call;
        Self { id, caller: caller.as_slice(), callee, file, line, count, incl_ns, excl_ns, recursive_ns, max_depth }
    }
}
