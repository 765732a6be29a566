//! Freed memory.

use crate::{Int, Maybe, Unsigned, define::table};

table! {
    /// Frees of memory.
    Frees frees: Free {
        /// Time of the free.
        ts_ns: Int,
        /// Address.
        address: Unsigned,
        /// The allocation that was freed; NULL if there was none: freed twice, or allocated before the trace.
        allocation_id: Maybe<Int> => Allocations,
    }
}
