//! Allocated memory.

use crate::{Int, Maybe, Name, Unsigned, define::table};

table! {
    /// Memory allocations, each with its fate.
    ///
    /// The ids of `allocations` and `frees` are the numbers of the events in the file, so they order rows with equal
    /// times. A row may be written only once its fate is known.
    Allocations allocations: Allocation {
        /// Time of the allocation.
        ts_ns: Int,
        /// The allocating thread.
        thread_id: Maybe<Int> => Threads,
        /// Address; 0 if the tracer does not know it.
        address: Unsigned,
        /// Size.
        size_bytes: Unsigned,
        /// The call stack of the allocation.
        stack_id: Maybe<Int> => Stacks,
        /// `freed`, `reused` (the address was allocated again without a free), `live` (at the end), or `unknown` if the
        /// tracer knows no addresses.
        fate: Name,
        /// When the memory was freed or its address was allocated again.
        freed_ts_ns: Maybe<Int>,
        /// The event that ended the allocation: the `id` of a free, or of the next allocation at the same address.
        end_id: Maybe<Int>,
        /// Time from allocation to end.
        lifetime_ns: Maybe<Int>,
    }
}
