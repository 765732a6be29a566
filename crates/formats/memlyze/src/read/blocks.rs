//! Events in blocks, and bytes that belong to no record.

use traceloom_core::{ByteOrder, Limits, Located, Result};

use super::{PIECE_BYTES, Reader, State};
use crate::{
    Block, Clock, Record,
    encoding::{block::Head, thorough},
    findings::{BLOCK_DAMAGED, BLOCK_LOST, BLOCK_TIME},
    raw::{BLOCK_HEADER_BYTES, BLOCK_MAGIC, Packing},
};

/// The events of the block being read.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    plain: Vec<u8>,
    pub(super) taken: usize,
    /// Where its first event would be if no block were packed.
    offset: u64,
    /// The same for the next block.
    pub(super) next_offset: u64,
    /// Whether the previous block was damaged, so that only the head of this one has the time.
    lost_time: bool,
}

impl Unpacked {
    /// The state before a block whose first event would be at `next_offset`.
    pub(super) fn before(next_offset: u64) -> Self {
        Self { next_offset, ..Self::default() }
    }

    #[inline]
    pub(super) fn left(&self) -> &[u8] {
        self.plain.get(self.taken..).unwrap_or_default()
    }
}

impl Reader {
    pub(super) fn next_in_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if self.header.order == ByteOrder::Little
            && let Some(ahead) = self.block.left().first_chunk()
            && let Some((record, len)) = self.quick.event(ahead, &mut self.clock)
        {
            let offset = self.block.offset.saturating_add(self.block.taken as u64);
            self.block.taken += len;
            return Ok(Some(Located { offset, len: len as u64, record }));
        }
        self.next_unusual_in_block()
    }

    /// The next event of the block; an error ends the block, not the file.
    #[inline(never)]
    fn next_unusual_in_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let ahead = self.block.left();
        let offset = self.block.offset.saturating_add(self.block.taken as u64);
        match thorough::decode(ahead, self.header.order) {
            Ok(event) => {
                self.block.taken += event.len;
                let record = self.record(&event, offset)?;
                Ok(Some(Located { offset, len: event.len as u64, record }))
            }
            Err(fault) => {
                let left = ahead.len() as u64;
                self.state = State::BlockHead;
                if left > 0 {
                    self.block.lost_time = true;
                    self.report_fault(fault, offset, left)?;
                }
                self.next_block()
            }
        }
    }

    pub(super) fn next_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let Some(head) = self.unpack_ahead()? else { return self.next_tail() };
        let offset = self.window.offset();
        let stored = self.window.take(head.block_len());
        let block =
            Block { plain_len: head.plain_len as u32, time_us: head.time_us, run_delta: head.run_delta, stored };
        Ok(Some(Located { offset, len: stored.len() as u64, record: Record::Block(block) }))
    }

    /// Unpacks the next block without moving past it; `None` if there is none.
    pub(super) fn unpack_ahead(&mut self) -> Result<Option<Head>> {
        let offset = self.window.offset();
        self.fill(BLOCK_HEADER_BYTES)?;
        let ahead = self.window.bytes();
        let is_end = ahead.is_empty();
        let head = Head::read(ahead, self.header.order);
        let block_len = head.map_or(0, |head| head.block_len());
        self.fill(block_len)?;
        let is_whole = self.window.bytes().len() >= block_len;
        let head = match head {
            Ok(head) if is_whole => head,
            fault => {
                self.state = State::Tail;
                if !is_end {
                    let reason = fault.err().unwrap_or("the file ends inside the block");
                    self.report(&BLOCK_LOST, offset, |odd| odd.with("reason", reason))?;
                }
                return Ok(None);
            }
        };
        if self.block.next_offset.saturating_add(head.plain_len as u64) > self.max_plain {
            self.state = State::Rest;
            self.report(&BLOCK_LOST, offset, |odd| odd.with("reason", Limits::UNPACKS_TOO_MUCH))?;
            return Ok(None);
        }
        self.unpack(&head, offset)?;
        Ok(Some(head))
    }

    fn unpack(&mut self, head: &Head, offset: u64) -> Result<()> {
        let Self { window, ahead, block: Unpacked { plain, .. }, .. } = self;
        let block = window.bytes().get(..head.block_len()).unwrap_or_default();
        let is_ready = ahead.take(window, head, self.header.order, plain);
        let unpacked = if is_ready { Ok(()) } else { head.unpack(block, plain) };
        self.block.taken = 0;
        self.block.offset = self.block.next_offset;
        self.block.next_offset = self.block.offset.saturating_add(head.plain_len as u64);
        if let Err(reason) = unpacked {
            self.block.plain.clear();
            self.block.lost_time = true;
            self.state = State::BlockHead;
            let bytes = head.block_len();
            return self.report(&BLOCK_DAMAGED, offset, |odd| odd.with("bytes", bytes).with("reason", reason));
        }
        let is_late = head.time_us != self.clock.now_us();
        if is_late && !std::mem::take(&mut self.block.lost_time) {
            let found = self.clock.now_us();
            self.report(&BLOCK_TIME, offset, |odd| odd.with("declared", head.time_us).with("found", found))?;
        }
        self.block.lost_time = false;
        self.clock = Clock::at(self.header.dialect, head.time_us, head.run_delta);
        self.state = State::InBlock;
        Ok(())
    }

    /// A piece of unexplained bytes; among blocks, it ends where another block may start.
    pub(super) fn next_tail(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        self.fill(PIECE_BYTES + BLOCK_MAGIC.len() - 1)?;
        let ahead = self.window.bytes();
        let ahead = ahead.get(..PIECE_BYTES + BLOCK_MAGIC.len() - 1).unwrap_or(ahead);
        let mut len = ahead.len().min(PIECE_BYTES);
        if len == 0 {
            self.state = State::Done;
            return Ok(None);
        }
        if self.header.packing() == Packing::Blocks && self.state != State::Rest {
            let starts = ahead.windows(BLOCK_MAGIC.len()).skip(1);
            if let Some(place) = starts.into_iter().position(|bytes| bytes == BLOCK_MAGIC) {
                len = place + 1;
                self.block.lost_time = true;
                self.state = State::BlockHead;
            }
        }
        Ok(Some(Located { offset, len: len as u64, record: Record::Residue(self.window.take(len)) }))
    }
}
