//! The timed records of a thread: context switches, blocks, events, values.

use traceloom_core::{Cursor, Finding, Findings, Limits, Located, Position, Records, Result};

use super::{
    State,
    decode::{self, Fixed},
    frame::{Cut, Extent, Frame, Section},
};
use crate::{
    Block, Header, Name, Nestings, Reader, Record, Value,
    findings::*,
    raw::{BLOCK_FIXED, BlockType, MAX_LEVELS},
};

impl Reader {
    pub(super) fn next_switch(&mut self, left: u32) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let needed = self.header.layout.switch_fixed();
        if self.switches_are_over()? {
            self.ignore_count("number of context switches")?;
            self.state = State::BlocksHead;
            return self.next();
        }
        if let Some(skip) = self.resync_switch(left)? {
            return self.skip("context switch", skip);
        }
        let frame = match self.frame(Section::Switch)? {
            Frame::Whole(frame) => frame,
            Frame::Cut(cut) => return self.cut_record("context switch", left, cut),
        };
        self.state = State::Switches(left - 1);
        self.count_memory(frame.payload)?;
        if frame.payload < needed {
            let rule = if frame.payload == 0 { &SWITCH_SIZE_ZERO } else { &SWITCH_SHORT };
            self.report(rule, |odd| odd.with("size", frame.payload).with("needed", needed))?;
            if frame.payload > 0 {
                self.count_padded(2 + frame.payload)?;
            }
            return Ok(Some(self.malformed(&frame)));
        }
        self.window.consume(2);
        let payload = self.window.take(frame.payload);
        let cursor = Cursor::new(payload, offset + 2, self.header.layout.order);
        let mut switch = decode::switch(cursor, &self.header.layout, &mut self.findings)?;
        switch.odd_size = frame.odd_size;
        let kept = self.clock.keeps_switch(switch.end);
        self.kept += u64::from(kept);
        if !kept || switch.end < switch.begin {
            let odd = OddTimes { what: "context switch", begin: switch.begin, end: switch.end, kept };
            odd.report(&self.header, offset, &mut self.findings)?;
        }
        let len = 2 + frame.payload as u64;
        Ok(Some(Located { offset, len, record: Record::Switch(switch) }))
    }

    pub(super) fn next_blocks_head(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        if self.switches_go_on()? {
            self.ignore_count("number of context switches")?;
            self.state = State::Switches(u32::MAX);
            return self.next();
        }
        let ahead = self.window.fill(4)?;
        let Some(bytes) = ahead.first_chunk::<4>() else {
            let left = ahead.len();
            return self.cut("thread's block count", 4, left);
        };
        let count = self.header.layout.order.u32(*bytes);
        self.window.consume(4);
        self.state = State::Blocks(count);
        Ok(Some(Located { offset, len: 4, record: Record::Blocks(count) }))
    }

    #[inline(never)]
    pub(super) fn next_block(&mut self, left: u32) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        if self.resynced && self.blocks_are_over()? {
            self.state = State::Threads;
            return self.next();
        }
        let frame = match self.frame(Section::Block)? {
            Frame::Whole(frame) => frame,
            Frame::Cut(cut) => {
                return match self.resync()? {
                    Some(skip) => self.skip("block", skip),
                    None => self.cut_record("block", left, cut),
                };
            }
        };
        let order = self.header.layout.order;
        let fixed = self.window.bytes().split_first_chunk::<{ 2 + BLOCK_FIXED }>();
        let Some((fixed, stored)) = fixed.filter(|_| frame.payload >= BLOCK_FIXED) else {
            return self.short_block(left, &frame);
        };
        let fixed = decode::block_fixed(fixed, order);
        let Fixed { begin, end, descriptor } = fixed;
        let kind = self.kinds.get(descriptor as usize).copied();
        let stored = stored.get(..frame.payload - BLOCK_FIXED).unwrap_or_default();
        let named = kind != Some(Some(BlockType::VALUE)) && decode::is_name(stored);
        let sound = begin <= end && kind.is_some() && (named || decode::is_value(stored, order));
        if !sound && let Some(skip) = self.resync_if_lost(left, frame.payload)? {
            return self.skip("block", skip);
        }
        self.state = State::Blocks(left - 1);
        self.count_memory(frame.payload)?;
        let kept = self.clock.keeps_block(end);
        self.kept += u64::from(kept);
        if !kept || end < begin {
            OddTimes { what: "block", begin, end, kept }.report(&self.header, offset, &mut self.findings)?;
        }
        let block_type = match kind {
            Some(Some(kind)) => kind,
            kind => {
                report_descriptor(descriptor, kind.is_some(), self.kinds.len(), offset, &mut self.findings)?;
                BlockType::BLOCK
            }
        };
        let record = self.window.take(2 + frame.payload);
        let stored = record.get(2 + BLOCK_FIXED..).unwrap_or_default();
        if let Some(depth) = &mut self.depth {
            depth.push(self.thread, self.clock.span(begin, end), offset, &mut self.findings)?;
        }
        let len = record.len() as u64;
        let odd_size = frame.odd_size;
        if block_type == BlockType::VALUE
            && let Some(value) = decode::value(fixed, stored, order, offset, &mut self.findings)?
        {
            let record = Record::Value(Value { odd_size, ..value });
            return Ok(Some(Located { offset, len, record }));
        }
        let name = match stored.split_at_checked(stored.len().saturating_sub(1)) {
            Some((text, tail)) if named => Name { text, tail },
            _ => decode::name(stored, "block", offset, &mut self.findings)?,
        };
        let block = Block { begin, end, descriptor, block_type, name, odd_size };
        Ok(Some(Located { offset, len, record: Record::Block(block) }))
    }

    #[cold]
    fn short_block(&mut self, left: u32, frame: &Extent) -> Result<Option<Located<Record<'_>>>> {
        if let Some(skip) = self.resync()? {
            return self.skip("block", skip);
        }
        self.state = State::Blocks(left - 1);
        self.count_memory(frame.payload)?;
        let rule = if frame.payload == 0 { &BLOCK_SIZE_ZERO } else { &BLOCK_SHORT };
        self.report(rule, |odd| odd.with("size", frame.payload))?;
        if frame.payload > 0 {
            self.count_padded(2 + frame.payload)?;
        }
        Ok(Some(self.malformed(frame)))
    }

    /// Whether the record ahead belongs to a descriptor of values.
    pub(super) fn next_is_value(&mut self) -> Result<bool> {
        let ahead = self.window.fill(2 + BLOCK_FIXED)?;
        let bytes = ahead.get(18..).and_then(|bytes| bytes.first_chunk::<4>());
        let descriptor = bytes.map(|bytes| self.header.layout.order.u32(*bytes));
        let kind = descriptor.and_then(|descriptor| self.kinds.get(descriptor as usize));
        Ok(kind == Some(&Some(BlockType::VALUE)))
    }

    /// The header's memory size is the buffer of easy_profiler, which refuses a file with more than fits.
    #[inline]
    fn count_memory(&mut self, payload: usize) -> Result<()> {
        self.memory += payload as u64;
        if self.memory > self.header.memory_size { self.report_memory(payload) } else { Ok(()) }
    }

    #[cold]
    fn report_memory(&mut self, payload: usize) -> Result<()> {
        let declared = self.header.memory_size;
        let crosses = self.memory - payload as u64 <= declared;
        // Zero has been reported as an empty profile.
        if crosses && declared != 0 {
            self.report(&MEMORY_SIZE, |odd| odd.with("declared", declared))?;
        }
        Ok(())
    }

    /// The file ends inside a switch or block.
    fn cut_record(&mut self, what: &'static str, records: u32, cut: Cut) -> Result<Option<Located<Record<'_>>>> {
        if cut.left == 0 {
            let thread = self.thread;
            self.report(&RECORDS_MISSING, |odd| odd.with("thread", thread).with("left", records))?;
            self.end_threads(State::Done)?;
            return Ok(None);
        }
        self.count_memory(cut.size.into())?;
        self.count_padded(cut.left)?;
        self.cut(what, cut.needed, cut.left)
    }

    /// Counts a switch or block of which only `len` bytes, prefix included, are there. easy_profiler reads
    /// them into a buffer, which we take for zeroed, and keeps the record if that happens to make sense.
    #[cold]
    fn count_padded(&mut self, len: usize) -> Result<()> {
        let mut padded = [0; 2 + BLOCK_FIXED];
        for (to, from) in padded.iter_mut().zip(self.window.bytes().iter().take(len)) {
            *to = *from;
        }
        let Fixed { end, descriptor, .. } = decode::block_fixed(&padded, self.header.layout.order);
        if !matches!(self.state, State::Blocks(_)) {
            self.kept += u64::from(self.clock.keeps_switch(end));
            return Ok(());
        }
        let kind = self.kinds.get(descriptor as usize);
        if !matches!(kind, Some(Some(_))) {
            let (known, offset) = (kind.is_some(), self.window.offset());
            report_descriptor(descriptor, known, self.kinds.len(), offset, &mut self.findings)?;
        }
        self.kept += u64::from(self.clock.keeps_block(end));
        Ok(())
    }

    /// Reports a wrong count of four bytes, unless skipped records are the reason.
    #[cold]
    pub(super) fn ignore_count(&mut self, what: &'static str) -> Result<()> {
        let next = self.window.offset();
        if std::mem::replace(&mut self.resynced, true) {
            return Ok(());
        }
        self.is_simple = false;
        self.report(&RESYNCED, |odd| odd.with("bytes", 4).with("what", what).with("next", next))
    }

    /// Goes to where the records make sense again.
    #[cold]
    pub(super) fn skip(&mut self, what: &'static str, bytes: usize) -> Result<Option<Located<Record<'_>>>> {
        let next = self.window.offset() + bytes as u64;
        self.is_simple = false;
        self.report(&RESYNCED, |odd| odd.with("bytes", bytes).with("what", what).with("next", next))?;
        Ok(Some(self.residue(bytes)))
    }
}

/// How deep the blocks of every thread lie in one another.
#[derive(Debug)]
pub(super) struct Depth {
    thread: Option<u64>,
    nestings: Nestings,
}

impl Depth {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { thread: None, nestings: Nestings::new(limits) }
    }

    #[inline]
    pub(super) fn push(
        &mut self,
        thread: u64,
        (begin, end): (u64, u64),
        offset: u64,
        findings: &mut Findings,
    ) -> Result<()> {
        if self.thread != Some(thread) {
            self.nestings.thread(thread)?;
            self.thread = Some(thread);
        }
        let levels = self.nestings.push(begin, end)?.levels;
        if levels > MAX_LEVELS {
            findings.report(Finding::new(&TOO_DEEP, Position::at(offset)).with("levels", levels))?;
        }
        Ok(())
    }
}

/// A record that ends before it begins, or before the capture does.
struct OddTimes {
    what: &'static str,
    begin: u64,
    end: u64,
    kept: bool,
}

impl OddTimes {
    #[cold]
    fn report(&self, header: &Header, offset: u64, findings: &mut Findings) -> Result<()> {
        let at = |rule| Finding::new(rule, Position::at(offset)).with("what", self.what).with("end", self.end);
        if self.end < self.begin {
            findings.report(at(&NEGATIVE_DURATION).with("begin", self.begin))?;
        }
        if !self.kept {
            findings.report(at(&BEFORE_CAPTURE).with("begin", header.begin_time))?;
        }
        Ok(())
    }
}

#[cold]
fn report_descriptor(descriptor: u32, is_hole: bool, count: usize, offset: u64, findings: &mut Findings) -> Result<()> {
    let rule = if is_hole { &DESCRIPTOR_HOLE } else { &DESCRIPTOR_MISSING };
    let odd = Finding::new(rule, Position::at(offset).field("descriptor"));
    findings.report(odd.with("descriptor", descriptor).with("count", count))
}
