//! What happens, in the order in which it is written.

use std::cmp::Ordering;

use traceloom_core::{Cursor, Entry, Result};

/// What an item is.
pub(super) const ALLOC: u8 = 0;
pub(super) const FREE: u8 = 1;
pub(super) const GC: u8 = 2;
pub(super) const MARKER: u8 = 3;

/// An event to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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
}

impl Item {
    fn place(&self) -> (u64, u32, i64, u8) {
        (self.ts_ns, self.trace, self.id, self.kind)
    }
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Entry for Item {
    const BYTES: usize = 47;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.id.to_le_bytes());
        for number in [self.ts_ns, self.number, self.size_bytes, self.stack] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.trace.to_le_bytes());
        bytes.extend_from_slice(&self.thread.to_le_bytes());
        bytes.push(self.kind);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let id = cursor.i64("id")?;
        let (ts_ns, number) = (cursor.u64("time")?, cursor.u64("number")?);
        let (size_bytes, stack) = (cursor.u64("size")?, cursor.u64("stack")?);
        let (trace, thread) = (cursor.u32("trace")?, cursor.u16("thread")?);
        Ok(Self { ts_ns, trace, id, kind: cursor.u8("kind")?, number, size_bytes, stack, thread })
    }
}

#[cfg(test)]
mod tests {
    use traceloom_core::ByteOrder;

    use super::*;

    #[test]
    fn an_item_comes_back_as_it_was() {
        let item = Item { ts_ns: 1, trace: 2, id: -3, kind: GC, number: 4, size_bytes: 5, stack: 6, thread: 7 };
        let mut bytes = Vec::new();
        item.put(&mut bytes);
        assert_eq!(bytes.len(), Item::BYTES);
        assert_eq!(Item::take(&mut Cursor::new(&bytes, 0, ByteOrder::Little)).unwrap(), item);
    }
}
