//! Memory that was given back.

use crate::{Int, Maybe, Unsigned, define::table};

table! {
    /// Memory that was given back.
    Frees frees: Free {
        /// When.
        ts_ns: Int,
        /// Where.
        address: Unsigned,
        /// What it gave back; NULL where nothing was there: freed twice, or taken before the trace.
        allocation_id: Maybe<Int> => Allocations,
    }
}
