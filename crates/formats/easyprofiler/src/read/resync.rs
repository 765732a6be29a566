//! Finds the next good record after a damaged one.

use traceloom_core::{ByteOrder, Result, find_nul};

use super::{State, decode, frame::MEASURED_BYTES};
use crate::{
    Reader,
    raw::{BLOCK_FIXED, BlockType, DESCRIPTOR_FIXED, EASY_PROFILER_SIGNATURE, Layout, SwitchOrder},
};

/// How far away the next good record may be: one damaged disk block, with some margin.
const REACH_BYTES: usize = 64 << 10;
/// Number of consecutive records that have to make sense; fewer are enough if the section ends after them.
const CHAIN: usize = 4;
/// Number of consecutive odd records that are accepted.
const ODD_RUN: u32 = 16;
/// Maximum size of a chain; longer names are not searched through.
const CHAIN_BYTES: usize = 16 << 10;
/// The longest record, plus a chain after it.
const AHEAD_BYTES: usize = (64 << 10) + CHAIN_BYTES;
/// Maximum number of descriptors that are assumed to be missing at once: as many as fit into the bytes that are searched.
const MAX_MISSING: u32 = (REACH_BYTES / (2 + DESCRIPTOR_FIXED)) as u32;

impl Reader {
    /// Number of bytes to skip if the odd record ahead is followed by nonsense: among good ones, it is just odd.
    #[cold]
    #[inline(never)]
    pub(super) fn resync_if_lost(&mut self, left: u32, payload: usize) -> Result<Option<usize>> {
        if self.goes_on_after(left, payload)? { Ok(None) } else { self.resync() }
    }

    /// Whether the sizes lead from the record ahead to a good one, or through all that are announced. Blocks that end
    /// before they start occur in runs if the clocks of two processors disagree.
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
            if block_len(rest, order, &self.kinds, 0).is_some() {
                return Ok(true);
            }
            ahead = rest;
        }
        Ok(true)
    }

    /// Number of bytes to skip from here to the next block of the thread, or to the next thread, if the record ahead
    /// makes no sense but several others after it do.
    #[cold]
    #[inline(never)]
    pub(super) fn resync(&mut self) -> Result<Option<usize>> {
        let found = self.search(|ahead, reader| {
            let is_thread = reader.is_thread(ahead);
            (is_thread || reader.is_chain(ahead)).then_some(is_thread)
        })?;
        let Some((skip, is_thread)) = found else { return Ok(None) };
        self.resynced = true;
        if is_thread {
            self.state = State::Threads;
        }
        Ok(Some(skip))
    }

    /// The same if a descriptor is expected: skips to one whose number shows how many are missing, or to the threads.
    #[inline]
    pub(super) fn resync_descriptor(&mut self) -> Result<Option<usize>> {
        let (order, index, count) = (self.header.layout.order, self.kinds.len() as u32, self.header.descriptors_count);
        if !self.resyncs || descriptor_len(self.window.bytes(), order).is_some() {
            return Ok(None);
        }
        self.window.fill(AHEAD_BYTES)?;
        let ahead = bounded(self.window.bytes(), AHEAD_BYTES);
        let is_good = |rest: &[u8]| descriptor_len(rest, order).is_some();
        let is_end =
            |rest: &[u8]| self.is_mark(rest) || self.starts_thread(rest) || self.sizes_lead_through_thread(rest);
        // Odd descriptors among good ones are just odd.
        if is_good(ahead) || self.sizes_lead_on(ahead, count - index, is_good, is_end) {
            return Ok(None);
        }
        let found = self.search(|ahead, reader| match descriptor_len(ahead, order) {
            Some((id, len)) if (index..count).contains(&id) => {
                let rest = ahead.get(len..).unwrap_or_default();
                let is_next = descriptor_len(rest, order).is_some_and(|(next, _)| next == id + 1);
                (is_next || (id + 1 == count && reader.is_thread(rest))).then_some(id)
            }
            _ => reader.is_thread(ahead).then_some(count),
        })?;
        let Some((skip, id)) = found else { return Ok(None) };
        self.missing = id.saturating_sub(index + 1).min(MAX_MISSING);
        Ok(Some(skip))
    }

    /// The same if a thread is expected: skips to the next one.
    pub(super) fn resync_thread(&mut self) -> Result<Option<usize>> {
        if !self.resyncs
            || self.thread_is_ahead()?
            || self.sizes_lead_through_thread(bounded(self.window.bytes(), AHEAD_BYTES))
        {
            return Ok(None);
        }
        Ok(self.search(|ahead, reader| reader.is_thread(ahead).then_some(()))?.map(|(skip, ())| skip))
    }

    /// The same if one of `left` context switches is expected: skips to the next one, or to the blocks.
    pub(super) fn resync_switch(&mut self, left: u32) -> Result<Option<usize>> {
        let layout = self.header.layout;
        if !self.resyncs || switch_len(self.window.bytes(), &layout).is_some() {
            return Ok(None);
        }
        self.window.fill(AHEAD_BYTES)?;
        let ahead = bounded(self.window.bytes(), AHEAD_BYTES);
        let is_good = |rest: &[u8]| switch_len(rest, &layout).is_some();
        if is_good(ahead) || self.sizes_lead_on(ahead, left, is_good, |rest| self.sizes_lead_through(rest, 1)) {
            return Ok(None);
        }
        let found = self.search(|ahead, reader| {
            let are_blocks = reader.is_chain(ahead);
            (are_blocks || reader.are_blocks(ahead) || reader.are_switches(ahead)).then_some(are_blocks)
        })?;
        let Some((skip, are_blocks)) = found else { return Ok(None) };
        self.resynced = true;
        if are_blocks {
            self.state = State::Blocks(u32::MAX);
        }
        Ok(Some(skip))
    }

    /// Searches for an offset after the record ahead that `is_good` accepts; returns its distance.
    fn search<T>(&mut self, is_good: impl Fn(&[u8], &Self) -> Option<T>) -> Result<Option<(usize, T)>> {
        let offset = self.window.offset();
        // A failed search is not repeated over the same bytes, so each byte is examined a bounded number of times.
        if !self.resyncs || offset < self.searched_to {
            return Ok(None);
        }
        self.window.fill(REACH_BYTES + CHAIN_BYTES)?;
        let ahead = bounded(self.window.bytes(), REACH_BYTES + CHAIN_BYTES);
        let last = ahead.len().min(REACH_BYTES);
        let found = (1..last).find_map(|skip| Some((skip, is_good(ahead.get(skip..)?, self)?)));
        if found.is_none() {
            self.searched_to = offset + last as u64;
        }
        Ok(found)
    }

    /// Whether the context switches of a thread have ended although its count says otherwise.
    pub(super) fn switches_are_over(&mut self) -> Result<bool> {
        let layout = self.header.layout;
        if !self.resyncs || switch_len(self.window.bytes(), &layout).is_some() {
            return Ok(false);
        }
        self.window.fill(CHAIN_BYTES)?;
        let ahead = bounded(self.window.bytes(), CHAIN_BYTES);
        Ok(switch_len(ahead, &layout).is_none() && self.is_blocks_head(ahead))
    }

    /// Whether the context switches of a thread continue although its count says otherwise.
    pub(super) fn switches_go_on(&mut self) -> Result<bool> {
        if !self.resyncs {
            return Ok(false);
        }
        self.window.fill(CHAIN_BYTES)?;
        let ahead = bounded(self.window.bytes(), CHAIN_BYTES);
        Ok(self.are_switches(ahead) && !self.is_blocks_head(ahead))
    }

    /// Ends the blocks of a thread, unless they continue although its count says otherwise.
    pub(super) fn end_blocks(&mut self) -> Result<()> {
        self.state = State::Threads;
        if !self.resyncs {
            return Ok(());
        }
        self.window.fill(CHAIN_BYTES)?;
        let ahead = bounded(self.window.bytes(), CHAIN_BYTES);
        if self.is_chain(ahead) {
            self.ignore_count("number of blocks")?;
            self.state = State::Blocks(u32::MAX);
        }
        Ok(())
    }

    /// Whether a thread starts here, with a name, and with records that make sense.
    fn is_thread(&self, bytes: &[u8]) -> bool {
        self.thread_name(bytes).is_some_and(|(name, _)| is_text(name)) && self.has_thread_records(bytes)
    }

    /// Whether the head of a thread is here, and its first record is not too short. Any zeros can be the head of a thread
    /// without a name.
    fn starts_thread(&self, bytes: &[u8]) -> bool {
        let order = self.header.layout.order;
        let Some((_, rest)) = self.thread_name(bytes).filter(|_| self.is_thread_head(bytes)) else { return false };
        let Some((switches, mut rest)) = rest.split_first_chunk::<4>() else { return false };
        if order.u32(*switches) == 0 {
            let Some((blocks, records)) = rest.split_first_chunk::<4>() else { return false };
            if order.u32(*blocks) == 0 {
                return true;
            }
            rest = records;
        }
        rest.first_chunk::<2>().is_none_or(|size| usize::from(order.u16(*size)) >= BLOCK_FIXED)
    }

    /// Whether the sizes of the first records are consistent after the head of a thread, whatever its name: up to its
    /// end if it is short.
    fn sizes_lead_through_thread(&self, bytes: &[u8]) -> bool {
        self.thread_name(bytes).is_some_and(|(_, rest)| self.sizes_lead_through(rest, 2))
    }

    /// The same for the last `lists` of a thread, of switches and blocks.
    fn sizes_lead_through(&self, mut rest: &[u8], lists: usize) -> bool {
        let order = self.header.layout.order;
        let mut seen = 0;
        for list in (0..lists).rev() {
            let Some((count, records)) = rest.split_first_chunk::<4>() else { return false };
            rest = records;
            for _ in 0..order.u32(*count) {
                if list > 0 && self.is_chain(rest) {
                    return false;
                }
                let size = rest.first_chunk::<2>().map(|size| usize::from(order.u16(*size)));
                let Some(next) = size.and_then(|size| rest.get(2 + size..)) else { return false };
                (rest, seen) = (next, seen + 1);
                if seen == ODD_RUN {
                    return true;
                }
            }
        }
        rest.is_empty() || self.is_mark(rest) || self.thread_name(rest).is_some_and(|(_, rest)| rest.len() >= 8)
    }

    /// Whether the sizes lead from the odd record ahead to one that `is_good` accepts, or through all `left` records to
    /// their `end`, but not to blocks, which come later.
    fn sizes_lead_on(
        &self,
        mut ahead: &[u8],
        left: u32,
        is_good: impl Fn(&[u8]) -> bool,
        is_end: impl Fn(&[u8]) -> bool,
    ) -> bool {
        let order = self.header.layout.order;
        for record in 1..=left.min(ODD_RUN) {
            let size = ahead.first_chunk::<2>().map(|size| usize::from(order.u16(*size)));
            let Some(rest) = size.and_then(|size| ahead.get(2 + size..)) else { return false };
            if record == left {
                return rest.is_empty() || is_end(rest);
            }
            if is_good(rest) {
                return true;
            }
            if self.is_chain(rest) {
                return false;
            }
            ahead = rest;
        }
        true
    }

    /// Whether the mark that ends the threads is here.
    fn is_mark(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&self.header.layout.order.put_u32(EASY_PROFILER_SIGNATURE))
    }

    /// Whether records that make sense follow the head of a thread, whatever its name.
    fn has_thread_records(&self, bytes: &[u8]) -> bool {
        let layout = &self.header.layout;
        let switches = self.thread_name(bytes).and_then(|(_, rest)| rest.split_first_chunk::<4>());
        switches.is_some_and(|(switches, rest)| match layout.order.u32(*switches) {
            0 => self.are_blocks(rest),
            _ => self.are_switches(rest),
        })
    }

    /// The name of the thread at the front, and the bytes after it.
    fn thread_name<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let (size, rest) = bytes.get(self.header.layout.thread_id.bytes()..)?.split_first_chunk::<2>()?;
        rest.split_at_checked(self.header.layout.order.u16(*size).into())
    }

    /// Whether the number of a thread's blocks is here, followed by that many that make sense.
    fn are_blocks(&self, bytes: &[u8]) -> bool {
        let order = self.header.layout.order;
        let Some((count, mut rest)) = bytes.split_first_chunk::<4>() else { return false };
        let count = order.u32(*count);
        (0..count.min(CHAIN as u32)).all(|_| match block_len(rest, order, &self.kinds, 0) {
            Some(len) => {
                rest = rest.get(len..).unwrap_or_default();
                true
            }
            None => false,
        }) && count > 0
    }

    /// The same, or a number of zero at the end of the thread.
    fn is_blocks_head(&self, bytes: &[u8]) -> bool {
        let is_named = |rest: &[u8]| self.thread_name(rest).is_some_and(|(name, _)| is_text(name));
        let is_end = |rest: &[u8]| rest.is_empty() || self.is_mark(rest) || is_named(rest);
        self.are_blocks(bytes) || bytes.strip_prefix(&[0; 4]).is_some_and(is_end)
    }

    /// Whether a chain of blocks starts here. Descriptors that are not read yet may be those of blocks.
    fn is_chain(&self, mut bytes: &[u8]) -> bool {
        let order = self.header.layout.order;
        let is_early = matches!(self.state, State::Descriptors);
        let unread = if is_early { self.header.descriptors_count } else { 0 };
        for count in 0..CHAIN {
            match block_len(bytes, order, &self.kinds, unread) {
                Some(len) => bytes = bytes.get(len..).unwrap_or_default(),
                None => return count > 0 && self.is_mark(bytes),
            }
        }
        true
    }

    /// Whether a context switch is here, followed by another or by the blocks. A block with a name can pass for a context
    /// switch, but not the other way around.
    fn are_switches(&self, bytes: &[u8]) -> bool {
        let layout = &self.header.layout;
        let rest = switch_len(bytes, layout).and_then(|len| bytes.get(len..));
        let are_good = rest.is_some_and(|rest| switch_len(rest, layout).is_some() || self.is_blocks_head(rest));
        are_good && !self.is_chain(bytes)
    }

    /// Whether a thread's blocks have ended although its count says otherwise: after a skip, the number of lost records
    /// is unknown.
    #[cold]
    #[inline(never)]
    pub(super) fn blocks_are_over(&mut self) -> Result<bool> {
        self.window.fill(CHAIN_BYTES)?;
        let ahead = self.window.bytes();
        if block_len(ahead, self.header.layout.order, &self.kinds, 0).is_some() {
            return Ok(false);
        }
        Ok(ahead.is_empty() || self.is_mark(ahead) || self.thread_is_ahead()?)
    }

    /// Whether the bytes ahead can be the head of a thread's section: its name ends where it should.
    pub(super) fn thread_is_ahead(&mut self) -> Result<bool> {
        self.window.fill(AHEAD_BYTES)?;
        Ok(self.is_thread_head(bounded(self.window.bytes(), AHEAD_BYTES)))
    }

    /// Any zeros can be the head of a thread without a name, so its records decide.
    fn is_thread_head(&self, bytes: &[u8]) -> bool {
        match self.thread_name(bytes).filter(|(_, rest)| rest.len() >= 8) {
            Some(([], rest)) => self.sizes_lead_through(rest, 2),
            Some((name, _)) => find_nul(name) == Some(name.len() - 1),
            None => false,
        }
    }
}

/// Whether a text ends in its first NUL. Longer ones than a recorder writes do not count, because a search looks for
/// texts at every offset.
fn is_text(stored: &[u8]) -> bool {
    stored.len() <= MEASURED_BYTES && decode::is_name(stored)
}

/// Limits what is examined, so that the result does not depend on the size of the window.
fn bounded(ahead: &[u8], most: usize) -> &[u8] {
    ahead.get(..most).unwrap_or(ahead)
}

/// Number and length of the descriptor at the front, if it makes sense.
fn descriptor_len(bytes: &[u8], order: ByteOrder) -> Option<(u32, usize)> {
    let payload = usize::from(order.u16(*bytes.first_chunk::<2>()?));
    let (fixed, texts) = bytes.get(2..2 + payload)?.split_first_chunk::<DESCRIPTOR_FIXED>()?;
    let name_size = usize::from(order.u16(decode::part(fixed, 14)));
    let (name, file) = texts.split_at_checked(name_size)?;
    let is_known = BlockType(fixed[12]).name().is_some();
    (is_known && is_text(name) && is_text(file)).then(|| (order.u32(decode::part(fixed, 0)), 2 + payload))
}

/// The length of the context switch at the front, if it makes sense.
fn switch_len(bytes: &[u8], layout: &Layout) -> Option<usize> {
    let payload = usize::from(layout.order.u16(*bytes.first_chunk::<2>()?));
    let name = bytes.get(2 + layout.switch_fixed()..2 + payload)?;
    let times = if layout.switch == SwitchOrder::TimesFirst { 2 } else { 10 };
    let time = |at: usize| Some(layout.order.u64(*bytes.get(at..)?.first_chunk()?));
    (time(times)? <= time(times + 8)? && is_text(name)).then_some(2 + payload)
}

/// The length of the block at the front, if it passes every check; one may have a descriptor after those of known kinds and
/// below `unread`.
fn block_len(bytes: &[u8], order: ByteOrder, kinds: &[Option<BlockType>], unread: u32) -> Option<usize> {
    let payload = usize::from(order.u16(*bytes.first_chunk::<2>()?));
    let fixed = decode::block_fixed(bytes.first_chunk()?, order);
    let kind = match kinds.get(fixed.descriptor as usize) {
        Some(kind) => (*kind)?,
        None => (fixed.descriptor < unread).then_some(BlockType::BLOCK)?,
    };
    let stored = bytes.get(2 + BLOCK_FIXED..2 + payload)?;
    let makes_sense = match kind {
        BlockType::VALUE => decode::is_value(stored, order),
        _ => is_text(stored),
    };
    (makes_sense && fixed.begin <= fixed.end).then_some(2 + payload)
}
