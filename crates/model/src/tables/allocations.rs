//! Memory that was taken.

use crate::{Int, Maybe, Name, Unsigned, define::table};

table! {
    /// Memory that was taken, each with its fate.
    ///
    /// The ids of `allocations` and `frees` are the numbers of the events in the file, so that they put rows of equal
    /// times in order. Rows may come when their fate is known.
    Allocations allocations: Allocation {
        /// When.
        ts_ns: Int,
        /// Its thread.
        thread_id: Maybe<Int> => Threads,
        /// Where; 0 where the tracer does not know.
        address: Unsigned,
        /// How much.
        size_bytes: Unsigned,
        /// Who.
        stack_id: Maybe<Int> => Stacks,
        /// `freed`, `reused` (the address was given out again without a free), `live` (at the end), or `unknown` where the
        /// tracer knows no addresses.
        fate: Name,
        /// When it was freed, or given out again.
        freed_ts_ns: Maybe<Int>,
        /// The event that ended it: the `id` of a free, or of the allocation that was given the address.
        end_id: Maybe<Int>,
        /// How long it lived.
        lifetime_ns: Maybe<Int>,
    }
}
