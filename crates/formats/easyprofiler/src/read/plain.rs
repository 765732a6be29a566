//! Blocks and values without any problem, as most are. Their path is short, because it decides how fast a file is read.

use traceloom_core::{ByteOrder, Error, Located, Mode, Result as Read};

use super::{
    State,
    decode::{self, Fixed},
};
use crate::{
    Block, Clock, Name, Reader, Record, Value,
    raw::{BLOCK_FIXED, BlockType},
};

/// Takes the plain records of a file. There is a method per kind, because building a [`Record`] for each of them is slow.
pub trait TakePlain<E> {
    /// A block or an event.
    fn block(&mut self, block: Located<Block<'_>>) -> Result<(), E>;

    /// A value.
    fn value(&mut self, value: Located<Value<'_>>) -> Result<(), E>;
}

/// Takes a glance at records that another walk over the file reads.
pub trait SkipPlain {
    /// Whether [`Self::times`] is wanted.
    fn wants_times(&self) -> bool;

    /// The start and end of a record of any kind, in ticks.
    fn times(&mut self, begin: u64, end: u64);

    /// A value.
    fn value(&mut self, value: &Value<'_>);

    /// So many records in a row; the last one ended at `end`.
    fn run(&mut self, count: u32, end: u64);
}

/// A closure as a taker; it is compiled once per kind, and need not check the kind of plain records.
pub(super) struct Visitor<F>(pub(super) F);

impl<E, F: FnMut(Located<Record<'_>>) -> Result<(), E>> TakePlain<E> for Visitor<F> {
    #[inline(always)]
    fn block(&mut self, Located { offset, len, record }: Located<Block<'_>>) -> Result<(), E> {
        (self.0)(Located { offset, len, record: Record::Block(record) })
    }

    #[inline(always)]
    fn value(&mut self, Located { offset, len, record }: Located<Value<'_>>) -> Result<(), E> {
        (self.0)(Located { offset, len, record: Record::Value(record) })
    }
}

/// A record of a known kind and with valid times that is not taken yet.
#[derive(Clone, Copy)]
pub(super) struct Framed {
    fixed: Fixed,
    block_type: BlockType,
    size: usize,
}

impl Framed {
    /// Length in bytes, prefix included.
    #[inline(always)]
    fn len(&self) -> usize {
        2 + self.size
    }

    #[inline(always)]
    fn block<'b>(&self, stored: &'b [u8]) -> Block<'b> {
        let Fixed { begin, end, descriptor } = self.fixed;
        let (text, tail) = stored.split_at_checked(self.size - BLOCK_FIXED - 1).unwrap_or((&[], stored));
        Block { begin, end, descriptor, block_type: self.block_type, name: Name { text, tail }, odd_size: None }
    }
}

/// Records in a row that a reader has looked at; see [`Reader::look_ahead`].
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    offset: u64,
    bytes: u64,
    count: u32,
}

/// How far a reader has looked ahead.
#[derive(Clone, Copy, Debug, Default)]
struct Glance {
    bytes: usize,
    count: u32,
}

/// Bytes to add to the window at a time while looking ahead, and their maximum, which holds many more records than are
/// looked at, unless their texts are long.
const AHEAD_BYTES: usize = 64 << 10;
const MAX_AHEAD_BYTES: usize = 4 << 20;
/// Max size of a record.
const MAX_RECORD: usize = 2 + u16::MAX as usize;

/// The bounds that a plain record keeps to.
#[derive(Clone, Copy)]
struct Bounds<'r> {
    order: ByteOrder,
    kinds: &'r [Option<BlockType>],
    clock: Clock,
    memory_size: u64,
}

impl Bounds<'_> {
    /// The record at the start of these bytes, and the bytes after its fixed part; `memory` is the size of all records
    /// before it.
    #[inline(always)]
    fn frame<'b>(&self, ahead: &'b [u8], memory: u64) -> Option<(Framed, &'b [u8])> {
        let (fixed, rest) = ahead.split_first_chunk::<{ 2 + BLOCK_FIXED }>()?;
        let size = usize::from(self.order.u16(decode::part(fixed, 0)));
        let stored = rest.get(..size.checked_sub(BLOCK_FIXED)?)?;
        let fixed = decode::block_fixed(fixed, self.order);
        let block_type = (*self.kinds.get(fixed.descriptor as usize)?)?;
        let fits = memory + size as u64 <= self.memory_size;
        let is_kept = fixed.begin <= fixed.end && self.clock.keeps_block(fixed.end);
        (fits && is_kept).then_some((Framed { fixed, block_type, size }, stored))
    }
}

impl Reader {
    #[inline(always)]
    fn bounds(&self) -> Bounds<'_> {
        let (order, memory_size) = (self.header.layout.order, self.header.memory_size);
        Bounds { order, kinds: &self.kinds, clock: self.clock, memory_size }
    }

    /// The next record, if it is a plain block.
    #[inline]
    pub(super) fn plain_block(&self) -> Option<Framed> {
        let State::Blocks(1..) = self.state else { return None };
        let (framed, stored) = self.bounds().frame(self.window.bytes(), self.memory)?;
        let is_block = framed.block_type != BlockType::VALUE && decode::is_name(stored);
        (self.is_simple && self.depth.is_none() && is_block).then_some(framed)
    }

    #[inline]
    pub(super) fn take_plain_block(&mut self, framed: Framed) -> Located<Record<'_>> {
        let (offset, len) = (self.window.offset(), framed.len() as u64);
        self.memory += framed.size as u64;
        self.kept += 1;
        if let State::Blocks(left) = &mut self.state {
            *left -= 1;
        }
        let stored = self.window.take(framed.len()).get(2 + BLOCK_FIXED..).unwrap_or_default();
        Located { offset, len, record: Record::Block(framed.block(stored)) }
    }

    /// Passes on at most `max` of the next records as long as they are plain and in the window;
    /// [`traceloom_core::Records::next`] returns all others.
    #[inline(always)]
    pub fn plain_records<E: From<Error>>(&mut self, max: u32, taker: &mut impl TakePlain<E>) -> Result<(), E> {
        let State::Blocks(left) = self.state else { return Ok(()) };
        // Big-endian files are rare, and not worth a check per number in this loop.
        if !self.is_simple || self.header.layout.order != ByteOrder::Little {
            return Ok(());
        }
        let Self { depth, findings, .. } = self;
        let mut check = |Fixed { begin, end, .. }, offset| match depth {
            Some(depth) => depth.push(self.thread, self.clock.span(begin, end), offset, findings),
            None => Ok(()),
        };
        let bounds = Bounds {
            order: ByteOrder::Little,
            kinds: &self.kinds,
            clock: self.clock,
            memory_size: self.header.memory_size,
        };
        let (start, all) = (self.window.offset(), self.window.bytes());
        let (mut used, mut memory, mut count) = (0, self.memory, 0);
        let max = left.min(max);
        let mut outcome = Ok(());
        while count < max
            && outcome.is_ok()
            && let Some(ahead) = all.get(used..)
            && let Some((framed, stored)) = bounds.frame(ahead, memory)
        {
            let (offset, len) = (start + used as u64, framed.len() as u64);
            if framed.block_type == BlockType::VALUE {
                let Some(value) = decode::plain_value(framed.fixed, stored, bounds.order) else { break };
                let value = Located { offset, len, record: value };
                outcome = check(framed.fixed, offset).map_err(E::from).and_then(|()| taker.value(value));
            } else if decode::is_name(stored) {
                let block = Located { offset, len, record: framed.block(stored) };
                outcome = check(framed.fixed, offset).map_err(E::from).and_then(|()| taker.block(block));
            } else {
                break;
            }
            used += framed.len();
            memory += framed.size as u64;
            count += 1;
        }
        self.window.consume(used);
        self.memory = memory;
        self.kept += u64::from(count);
        self.state = State::Blocks(left - count);
        outcome
    }

    /// Like [`Self::plain_records`], but takes records for plain that have a plain size: what else is wrong with one is
    /// only known to a walk that reads it. In strict mode, it is known at once, so nothing is skipped.
    #[inline(always)]
    pub fn skip_records(&mut self, max: u32, skipped: &mut impl SkipPlain) -> Read<()> {
        let max = self.skippable().min(max);
        let mut glance = Glance::default();
        self.glance(&mut glance, max, skipped)?;
        self.window.consume(glance.bytes);
        self.count_skipped(glance.bytes as u64, glance.count);
        Ok(())
    }

    /// Number of records that are left in the section, if they may be skipped.
    pub fn skippable(&self) -> u32 {
        let is_strict = self.findings.mode() == Mode::Strict;
        match self.state {
            State::Blocks(left) if self.is_simple && !is_strict && self.header.layout.order == ByteOrder::Little => {
                left
            }
            _ => 0,
        }
    }

    /// Looks at the next records without moving on, as [`Self::skip_records`] does: other readers of the file may then
    /// [`Self::pass`] them. `None` if this cannot be done with all of them.
    pub fn look_ahead(&mut self, count: u32, skipped: &mut impl SkipPlain) -> Option<Passage> {
        if self.skippable() < count || self.depth.is_some() {
            return None;
        }
        let mut glance = Glance::default();
        loop {
            let before = glance.count;
            self.glance(&mut glance, count, skipped).ok()?;
            if glance.count == count {
                return Some(Passage { offset: self.window.offset(), bytes: glance.bytes as u64, count });
            }
            let is_stuck = glance.count == before && glance.bytes + MAX_RECORD < self.window.bytes().len();
            // An error counts when the records before it have been read.
            if is_stuck || !self.window.extend(AHEAD_BYTES, MAX_AHEAD_BYTES).unwrap_or(false) {
                return None;
            }
        }
    }

    /// Moves past records that were looked at by a reader at the same offset; returns whether this reader is there.
    pub fn pass(&mut self, passage: &Passage) -> bool {
        let Passage { offset, bytes, count } = *passage;
        let is_here = self.window.offset() == offset && self.skippable() >= count && self.depth.is_none();
        if is_here {
            self.window.seek(offset + bytes);
            self.count_skipped(bytes, count);
        }
        is_here
    }

    fn count_skipped(&mut self, bytes: u64, count: u32) {
        self.memory += bytes - 2 * u64::from(count);
        self.kept += u64::from(count);
        if let State::Blocks(left) = &mut self.state {
            *left -= count;
        }
    }

    /// Looks at the records in the window after those that were looked at, up to `max` in total.
    #[inline(always)]
    fn glance(&mut self, glance: &mut Glance, max: u32, skipped: &mut impl SkipPlain) -> Read<()> {
        let (kinds, start, all) = (&self.kinds[..], self.window.offset(), self.window.bytes());
        let Glance { bytes: mut used, mut count } = *glance;
        let (before, mut last, wants_times) = (count, used, skipped.wants_times());
        while count < max
            && let Some(ahead) = all.get(used..)
            && let Some((fixed, rest)) = ahead.split_first_chunk::<{ 2 + BLOCK_FIXED }>()
        {
            let size = usize::from(ByteOrder::Little.u16(decode::part(fixed, 0)));
            let Some(stored) = size.checked_sub(BLOCK_FIXED).and_then(|len| rest.get(..len)) else { break };
            let fixed = decode::block_fixed(fixed, ByteOrder::Little);
            if kinds.get(fixed.descriptor as usize) == Some(&Some(BlockType::VALUE)) {
                let Some(value) = decode::plain_value(fixed, stored, ByteOrder::Little) else { break };
                skipped.value(&value);
            }
            if wants_times {
                skipped.times(fixed.begin, fixed.end);
            }
            if let Some(depth) = &mut self.depth {
                let (times, offset) = (self.clock.span(fixed.begin, fixed.end), start + used as u64);
                depth.push(self.thread, times, offset, &mut self.findings)?;
            }
            last = used;
            used += 2 + size;
            count += 1;
        }
        if count > before
            && let Some(fixed) = all.get(last..).and_then(|ahead| ahead.first_chunk())
        {
            skipped.run(count - before, decode::block_fixed(fixed, ByteOrder::Little).end);
        }
        *glance = Glance { bytes: used, count };
        Ok(())
    }
}
