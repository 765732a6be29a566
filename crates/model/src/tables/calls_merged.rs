//! Callers and callees, with the string evals of one call site merged.

use super::calls::Call;
use crate::{Int, Maybe, Name, TextList, Unsigned, Word, define::table};

table! {
    /// Callers and callees per call site, as the profiler's reports sum them: string evals of one site are merged, and
    /// so are the callers of one site. The columns are those of `calls`, except that `caller` is a list.
    CallsMerged calls_merged: MergedCall {
        /// The callers, sorted; empty if the call has no caller.
        caller: TextList,
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

/// A call with nothing to merge.
impl<'a, 'c: 'a> From<&'a Call<'c>> for MergedCall<'a> {
    fn from(call: &'a Call<'c>) -> Self {
        let Call { id, ref caller, callee, file, line, count, incl_ns, excl_ns, recursive_ns, max_depth } = *call;
        Self { id, caller: caller.as_slice(), callee, file, line, count, incl_ns, excl_ns, recursive_ns, max_depth }
    }
}
