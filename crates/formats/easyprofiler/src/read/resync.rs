//! Finds the way back into the blocks of a thread after a damaged record.

use traceloom_core::{ByteOrder, Mode, Result, find_nul};

use super::decode;
use crate::{
    Reader,
    raw::{BLOCK_FIXED, BlockType, EASY_PROFILER_SIGNATURE, SizeRule},
};

/// How far the next good record may be: one damaged disk block, with room.
const REACH_BYTES: usize = 64 << 10;
/// Records in a row that have to make sense; fewer do where the section ends behind them.
const CHAIN: usize = 4;
/// Odd records in a row that are taken as they are.
const ODD_RUN: u32 = 16;
/// Most bytes of a chain; longer names than this are not looked through.
const CHAIN_BYTES: usize = 16 << 10;

impl Reader {
    /// Bytes to skip where the odd record ahead is followed by nonsense: among good ones it is just odd.
    #[cold]
    #[inline(never)]
    pub(super) fn resync_if_lost(&mut self, left: u32, payload: usize) -> Result<Option<usize>> {
        if self.goes_on_after(left, payload)? { Ok(None) } else { self.resync() }
    }

    /// Whether the sizes lead from the record ahead to a good one, or through all that are announced.
    /// Blocks that end before they begin come in runs where the clocks of two processors disagree.
    fn goes_on_after(&mut self, left: u32, payload: usize) -> Result<bool> {
        let order = self.header.layout.order;
        let mut ahead = self.window.fill(2 + payload + CHAIN_BYTES)?;
        for _ in 0..left.min(ODD_RUN) {
            let fixed = ahead.first_chunk().map(|fixed| decode::block_fixed(fixed, order));
            let known = fixed.is_some_and(|fixed| (fixed.descriptor as usize) < self.kinds.len());
            let payload = ahead.first_chunk::<2>().map_or(0, |size| usize::from(order.u16(*size)));
            let Some(rest) = ahead.get(2 + payload..).filter(|_| known && payload >= BLOCK_FIXED) else {
                return Ok(false);
            };
            if block_len(rest, order, &self.kinds).is_some() {
                return Ok(true);
            }
            ahead = rest;
        }
        Ok(true)
    }

    /// Bytes to skip from here to the next block, where the record ahead makes no sense and a row of
    /// others behind it does.
    #[cold]
    #[inline(never)]
    pub(super) fn resync(&mut self) -> Result<Option<usize>> {
        let offset = self.window.offset();
        // Strict is the original's view, and the original does not look further. A search that found
        // nothing is not repeated over the same bytes: each byte is looked at a bounded number of times.
        if self.findings.mode() == Mode::Strict
            || self.header.layout.size != SizeRule::Payload
            || offset < self.searched_to
        {
            return Ok(None);
        }
        let ahead = self.window.fill(REACH_BYTES + CHAIN_BYTES)?;
        let order = self.header.layout.order;
        let last = ahead.len().min(REACH_BYTES);
        let found = (1..last).find(|skip| {
            let rest = ahead.get(*skip..).unwrap_or_default();
            is_chain(rest, order, &self.kinds)
        });
        if found.is_some() {
            self.resynced = true;
        } else {
            self.searched_to = offset + last as u64;
        }
        Ok(found)
    }

    /// Whether a thread's blocks are over although its count says otherwise: after a skip nobody knows
    /// how many records were lost.
    #[cold]
    #[inline(never)]
    pub(super) fn blocks_are_over(&mut self) -> Result<bool> {
        let order = self.header.layout.order;
        let ahead = self.window.fill(CHAIN_BYTES)?;
        if block_len(ahead, order, &self.kinds).is_some() {
            return Ok(false);
        }
        let is_mark = ahead.starts_with(&order.put_u32(EASY_PROFILER_SIGNATURE));
        Ok(ahead.is_empty() || is_mark || self.thread_is_ahead()?)
    }

    /// Whether what is ahead can be the head of a thread's section: its name ends where it should.
    pub(super) fn thread_is_ahead(&mut self) -> Result<bool> {
        let order = self.header.layout.order;
        let head = self.header.layout.thread_id.bytes() + 2;
        let ahead = self.window.fill(CHAIN_BYTES)?;
        let size = ahead.get(head - 2..).and_then(|bytes| bytes.first_chunk::<2>()).map(|bytes| order.u16(*bytes));
        let name = size.and_then(|size| ahead.get(head..head + usize::from(size)));
        let whole = size.is_some_and(|size| ahead.len() >= head + usize::from(size) + 8);
        Ok(whole && name.is_some_and(|name| name.is_empty() || find_nul(name) == Some(name.len() - 1)))
    }
}

/// Whether a row of blocks begins here.
fn is_chain(mut bytes: &[u8], order: ByteOrder, kinds: &[Option<BlockType>]) -> bool {
    for count in 0..CHAIN {
        match block_len(bytes, order, kinds) {
            Some(len) => bytes = bytes.get(len..).unwrap_or_default(),
            None => return count > 0 && bytes.starts_with(&order.put_u32(EASY_PROFILER_SIGNATURE)),
        }
    }
    true
}

/// The length of the block at the front, if it makes sense in every way that can be checked.
fn block_len(bytes: &[u8], order: ByteOrder, kinds: &[Option<BlockType>]) -> Option<usize> {
    let payload = usize::from(order.u16(*bytes.first_chunk::<2>()?));
    let fixed = decode::block_fixed(bytes.first_chunk()?, order);
    let kind = kinds.get(fixed.descriptor as usize).copied().flatten()?;
    let stored = bytes.get(2 + BLOCK_FIXED..2 + payload)?;
    let makes_sense = match kind {
        BlockType::VALUE => decode::is_value(stored, order),
        _ => decode::is_name(stored),
    };
    (makes_sense && fixed.begin <= fixed.end).then_some(2 + payload)
}
