//! What happens, in the order in which it is written.

use traceloom_core::spill_row;

/// What an item is.
pub(super) const ALLOC: u8 = 0;
pub(super) const FREE: u8 = 1;
pub(super) const GC: u8 = 2;
pub(super) const MARKER: u8 = 3;

spill_row! {
    /// An event to be.
    #[derive(Debug, Eq, PartialEq)]
    pub(super) struct Item {
        /// In the time of the output.
        pub(super) ts_ns: u64,
        pub(super) trace: u32,
        /// Numbers of events in a file of this format, which put those of one time in order.
        pub(super) id: i64,
        pub(super) kind: u8,
        /// The address, or objects collected, or the id of a marker's name.
        pub(super) number: u64,
        pub(super) size_bytes: u64,
        pub(super) stack: u64,
        pub(super) thread: u16,
    } by (ts_ns, trace, id, kind)
}
