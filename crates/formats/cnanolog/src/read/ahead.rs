//! Looking ahead, so that several readers of a file need not all find its entries.

use super::{Reader, State};
use crate::{Entry, raw::ENTRY_HEADER_BYTES};

/// Entries in a row that a reader has looked at; see [`Reader::look_ahead`].
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    offset: u64,
    bytes: usize,
    entries: u64,
}

/// Bytes to add to the window at a time, and their maximum.
const AHEAD_BYTES: usize = 64 << 10;
const MAX_AHEAD_BYTES: usize = 4 << 20;
/// More than an entry and the id of the next one.
const ENOUGH_BYTES: usize = ENTRY_HEADER_BYTES + u16::MAX as usize + ENTRY_HEADER_BYTES;

impl Reader {
    /// The offset of the next record.
    pub fn offset(&self) -> u64 {
        self.window.offset() + self.lent as u64
    }

    /// Looks at the next entries without moving on: other readers of the file may then [`Self::pass`] them. `None` if one
    /// of them has a problem, cannot be read, or they take too much room.
    pub fn look_ahead(&mut self, count: u64, mut look: impl FnMut(&Entry<'_>)) -> Option<Passage> {
        self.window.consume(std::mem::take(&mut self.lent));
        if !self.can_pass() {
            return None;
        }
        let (mut bytes, mut entries) = (0, 0);
        while entries < count {
            if let Some(frame) = self.quick_frame(bytes) {
                look(&self.entry(bytes, frame));
                (bytes, entries) = (bytes + frame.len, entries + 1);
                continue;
            }
            let is_stuck = bytes + ENOUGH_BYTES <= self.window.bytes().len();
            // An error counts when the records before it have been read.
            if is_stuck || !self.window.extend(AHEAD_BYTES, MAX_AHEAD_BYTES).unwrap_or(false) {
                return None;
            }
        }
        Some(Passage { offset: self.window.offset(), bytes, entries })
    }

    /// Moves past entries that were looked at by a reader at the same offset; returns whether this reader is there.
    pub fn pass(&mut self, passage: &Passage) -> bool {
        let is_here = self.can_pass() && self.offset() == passage.offset;
        if is_here {
            self.window.seek(passage.offset + passage.bytes as u64);
            self.lent = 0;
            self.entries += passage.entries;
        }
        is_here
    }

    /// Whether nothing but their boundaries matters about entries that are not lent. Blocks are separate records.
    fn can_pass(&self) -> bool {
        matches!(self.state, State::Entries) && !self.checks_arguments && self.blocks.is_none()
    }
}
