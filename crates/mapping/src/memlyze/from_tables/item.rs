//! Events, in the order in which they are written.

use traceloom_core::spill_row;

/// The kinds of items.
pub(super) const ALLOC: u8 = 0;
pub(super) const FREE: u8 = 1;
pub(super) const GC: u8 = 2;
pub(super) const MARKER: u8 = 3;

spill_row! {
    /// An event to be written.
    #[derive(Debug, Eq, PartialEq)]
    pub(super) struct Item {
        /// In output time.
        pub(super) ts_ns: u64,
        pub(super) trace: u32,
        /// The number of the event in a file of this format, which orders events with equal times.
        pub(super) id: i64,
        pub(super) kind: u8,
        /// The address, the number of objects collected, or the id of a marker's name.
        pub(super) number: u64,
        pub(super) size_bytes: u64,
        pub(super) stack: u64,
        pub(super) thread: u16,
    } by (ts_ns, trace, id, kind)
}
