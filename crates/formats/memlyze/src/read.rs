//! Walks the records of a file, front to back.

use traceloom_core::{ByteOrder, Finding, Findings, Located, Options, Position, Records, Result, Rule, Source, Window};

use crate::{
    Block, Clock, Header, Metadata, Padding, Record,
    block::Head,
    decode::{self, Body, Event, Fault},
    findings::*,
    ids::IdSet,
    metadata_read, probe,
    quick::{Known, QUICK_BYTES},
    raw::{BLOCK_HEADER_BYTES, BLOCK_MAGIC, Dialect, EVENT_BYTES, Packing},
};

/// Opens a file: reads the metadata and recognises what the events mean.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    let mut findings = Findings::new(options.mode, &options.limits);
    let mut header = probe::header(&source, &mut findings)?;
    let mut window = Window::new(source, &options.limits);
    let (metadata, events) = metadata_read::read(&mut window, &header, &options.limits, &mut findings)?;
    header.dialect = probe::dialect(&mut window, &header, &metadata, events)?;
    if header.dialect == Dialect::Growth {
        findings.report(Finding::new(&GROWTH_MODE, Position::at(events)))?;
    }
    window.seek(header.stored_bytes as u64);
    let left = events.saturating_sub(window.offset());
    Ok(Reader {
        known: Known {
            dense_stacks: metadata.stacks.ids.dense(),
            seen_stacks: IdSet::default(),
            dense_names: metadata.functions.ids.dense(),
            odd_address_bits: if header.dialect == Dialect::Growth { u64::MAX } else { 0 },
        },
        window,
        clock: Clock::new(header.dialect),
        header,
        metadata,
        findings,
        state: State::Metadata { left },
        events,
        block: Unpacked::before(events),
        missing: Missing::default(),
        overflowed: false,
    })
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    pub(crate) window: Window,
    pub(crate) header: Header,
    pub(crate) metadata: Metadata,
    pub(crate) findings: Findings,
    pub(crate) clock: Clock,
    pub(crate) state: State,
    /// Where the events begin.
    pub(crate) events: u64,
    pub(crate) block: Unpacked,
    pub(crate) missing: Missing,
    known: Known,
    overflowed: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    Metadata {
        left: u64,
    },
    /// Little-endian events in the window.
    Plain,
    /// Big-endian events in the window.
    PlainBig,
    /// At the head of a block, or at the end.
    BlockHead,
    /// Events in the unpacked block.
    InBlock,
    /// Nothing that follows can be explained.
    Tail,
    Done,
}

/// The events of the block that is being read.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    plain: Vec<u8>,
    pub(crate) taken: usize,
    /// Where its first event would lie if no block were packed.
    offset: u64,
    /// The same for the block that follows.
    pub(crate) next_offset: u64,
    /// The block before was damaged: only the head of this one knows the time.
    lost_time: bool,
}

impl Unpacked {
    /// Before a block whose first event would lie at `next_offset`.
    pub(crate) fn before(next_offset: u64) -> Self {
        Self { next_offset, ..Self::default() }
    }

    #[inline]
    pub(crate) fn left(&self) -> &[u8] {
        self.plain.get(self.taken..).unwrap_or_default()
    }
}

/// Ids that events use and the metadata does not have.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    pub(crate) stacks: IdSet,
    pub(crate) markers: IdSet,
}

/// Bytes of a piece of metadata or residue.
const PIECE_BYTES: usize = 4 << 10;

impl Reader {
    /// The metadata as tables.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The stacks that events so far refer to and the metadata does not have, by ascending id.
    pub fn missing_stacks(&self) -> impl Iterator<Item = u64> {
        self.missing.stacks.iter()
    }

    /// The marker names that events so far refer to and the metadata does not have, by ascending id.
    pub fn missing_markers(&self) -> impl Iterator<Item = u64> {
        self.missing.markers.iter()
    }

    /// Makes bytes available in the window; a failure is final.
    #[inline]
    fn fill(&mut self, wanted: usize) -> Result<()> {
        let filled = self.window.fill(wanted).map(|_| ());
        if filled.is_err() {
            self.state = State::Done;
        }
        filled
    }

    fn next_metadata(&mut self, left: u64) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        self.fill(wanted)?;
        let ahead = self.window.bytes();
        let len = whole_characters(ahead.get(..wanted).unwrap_or(ahead));
        self.state = match left.saturating_sub(len as u64) {
            0 => self.state_at_events(),
            // A file that became shorter while it was read.
            _ if len == 0 => State::Tail,
            left => State::Metadata { left },
        };
        if len == 0 {
            return self.next();
        }
        let record = Record::Metadata(self.window.take(len));
        Ok(Some(Located { offset, len: len as u64, record }))
    }

    pub(crate) fn state_at_events(&self) -> State {
        match (self.header.packing(), self.header.order) {
            (Packing::Plain, ByteOrder::Little) => State::Plain,
            (Packing::Plain, ByteOrder::Big) => State::PlainBig,
            (Packing::Blocks, _) => State::BlockHead,
        }
    }

    #[inline]
    fn next_plain(&mut self) -> Result<Option<Located<Record<'_>>>> {
        // The length alone is asked for first: where the bytes begin is then known a few cycles sooner, and every
        // event waits for that. Near its end the window is filled on the other way.
        if self.window.bytes().len() < QUICK_BYTES {
            return self.next_unusual();
        }
        if let Some(ahead) = self.window.bytes().first_chunk()
            && let Some(front) = self.known.front(ahead)
        {
            if front.is_free {
                if let Some(free) = front.free(&mut self.clock) {
                    return Ok(Some(self.passed(free, front.len)));
                }
            } else if let Some((alloc, len)) = self.known.alloc(ahead, &front, &mut self.clock) {
                return Ok(Some(self.passed(alloc, len)));
            }
        }
        self.next_other()
    }

    /// The next event where it is not an ALLOC or FREE of usual shape.
    #[inline(never)]
    fn next_other(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if let Some(ahead) = self.window.bytes().first_chunk()
            && let Some((event, len)) = self.known.event(ahead, &mut self.clock)
        {
            return Ok(Some(self.passed(event, len)));
        }
        self.next_unusual()
    }

    #[inline(always)]
    fn passed(&mut self, event: Record<'static>, len: usize) -> Located<Record<'static>> {
        let offset = self.window.offset();
        self.window.consume(len);
        Located { offset, len: len as u64, record: event }
    }

    #[inline(never)]
    fn next_unusual(&mut self) -> Result<Option<Located<Record<'_>>>> {
        self.fill(EVENT_BYTES)?;
        match decode::thorough(self.window.bytes(), self.header.order) {
            Ok(event) => {
                let offset = self.window.offset();
                self.window.consume(event.len);
                let record = self.record(&event, offset)?;
                Ok(Some(Located { offset, len: event.len as u64, record }))
            }
            Err(fault) => self.end_of_plain(fault),
        }
    }

    #[cold]
    fn end_of_plain(&mut self, fault: Fault) -> Result<Option<Located<Record<'_>>>> {
        self.state = State::Tail;
        if !self.window.bytes().is_empty() {
            let offset = self.window.offset();
            let left = self.window.source().len()?.saturating_sub(offset);
            self.report_fault(fault, offset, left)?;
        }
        self.next_tail()
    }

    fn next_in_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if self.header.order == ByteOrder::Little
            && let Some(ahead) = self.block.left().first_chunk()
            && let Some((record, len)) = self.known.event(ahead, &mut self.clock)
        {
            let offset = self.block.offset.saturating_add(self.block.taken as u64);
            self.block.taken += len;
            return Ok(Some(Located { offset, len: len as u64, record }));
        }
        self.next_unusual_in_block()
    }

    /// The next event of the block; a fault ends the block, not the file.
    #[inline(never)]
    fn next_unusual_in_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let ahead = self.block.left();
        let offset = self.block.offset.saturating_add(self.block.taken as u64);
        match decode::thorough(ahead, self.header.order) {
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

    fn next_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let Some(head) = self.unpack_ahead()? else { return self.next_tail() };
        let offset = self.window.offset();
        let stored = self.window.take(head.block_len());
        let block =
            Block { plain_len: head.plain_len as u32, time_us: head.time_us, run_delta: head.run_delta, stored };
        Ok(Some(Located { offset, len: stored.len() as u64, record: Record::Block(block) }))
    }

    /// Unpacks the block ahead without passing it; `None` where there is none.
    pub(crate) fn unpack_ahead(&mut self) -> Result<Option<Head>> {
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
        self.unpack(&head, offset)?;
        Ok(Some(head))
    }

    fn unpack(&mut self, head: &Head, offset: u64) -> Result<()> {
        let block = self.window.bytes().get(..head.block_len()).unwrap_or_default();
        let unpacked = head.unpack(block, &mut self.block.plain);
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

    /// A piece of what no record explains; among blocks it ends where another one may begin.
    pub(crate) fn next_tail(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        self.fill(PIECE_BYTES + BLOCK_MAGIC.len() - 1)?;
        let ahead = self.window.bytes();
        let ahead = ahead.get(..PIECE_BYTES + BLOCK_MAGIC.len() - 1).unwrap_or(ahead);
        let mut len = ahead.len().min(PIECE_BYTES);
        if len == 0 {
            self.state = State::Done;
            return Ok(None);
        }
        if self.header.packing() == Packing::Blocks {
            let starts = ahead.windows(BLOCK_MAGIC.len()).skip(1);
            if let Some(place) = starts.into_iter().position(|bytes| bytes == BLOCK_MAGIC) {
                len = place + 1;
                self.block.lost_time = true;
                self.state = State::BlockHead;
            }
        }
        Ok(Some(Located { offset, len: len as u64, record: Record::Residue(self.window.take(len)) }))
    }

    /// Gives an event its time and checks what it refers to.
    fn record(&mut self, event: &Event, offset: u64) -> Result<Record<'static>> {
        let time_us = match self.clock.pass(event) {
            Some(time_us) => time_us,
            None => self.overflow(offset)?,
        };
        if !event.padding.is_none() {
            self.report_padding(event.padding, offset)?;
        }
        if let Body::Alloc { stack, .. } = event.body
            && stack >= self.known.dense_stacks
            && self.known.seen_stacks.insert(stack)?
        {
            self.check_stack(stack, offset)?;
        }
        match event.body {
            Body::Alloc { address, .. } | Body::Free { address } if address & self.known.odd_address_bits != 0 => {
                self.report_address(address, offset)?;
            }
            Body::Marker { name } => self.check_marker(name, offset)?,
            Body::Alloc { .. } | Body::Free { .. } | Body::Gc { .. } => {}
        }
        Ok(event.record(time_us))
    }

    #[cold]
    fn report_address(&mut self, address: u64, offset: u64) -> Result<()> {
        self.report(&GROWTH_ADDRESS, offset, |odd| odd.with("address", format!("{address:#x}")))
    }

    #[cold]
    fn report_padding(&mut self, padding: Padding, offset: u64) -> Result<()> {
        let bytes: u8 = padding.0.iter().sum();
        self.report(&VARINT_PADDED, offset, |odd| odd.with("bytes", bytes))
    }

    /// Looks a stack up when it comes for the first time.
    #[cold]
    fn check_stack(&mut self, id: u64, offset: u64) -> Result<()> {
        if self.metadata.stacks.ids.row(id).is_some() {
            return Ok(());
        }
        self.missing.stacks.insert(id)?;
        self.report_missing(&STACK_MISSING, &GROWTH_STACK, id, offset)
    }

    /// Looks a marker's name up; one that is missing is reported when it comes for the first time.
    fn check_marker(&mut self, id: u64, offset: u64) -> Result<()> {
        if self.metadata.functions.ids.row(id).is_some() || !self.missing.markers.insert(id)? {
            return Ok(());
        }
        self.report_missing(&MARKER_MISSING, &GROWTH_MARKER, id, offset)
    }

    /// In the growth dialect nothing has a name, so that the first id speaks for all.
    #[cold]
    fn report_missing(&mut self, rule: &'static Rule, growth_rule: &'static Rule, id: u64, offset: u64) -> Result<()> {
        match self.header.dialect {
            Dialect::Document => self.report(rule, offset, |odd| odd.with("id", id)),
            Dialect::Growth if self.findings.counts().contains_key(growth_rule.code) => Ok(()),
            Dialect::Growth => self.report(growth_rule, offset, |odd| odd.with("id", id)),
        }
    }

    #[cold]
    fn overflow(&mut self, offset: u64) -> Result<u64> {
        if !std::mem::replace(&mut self.overflowed, true) {
            self.report(&TIME_OVERFLOW, offset, |odd| odd)?;
        }
        Ok(u64::MAX)
    }

    #[cold]
    fn report_fault(&mut self, fault: Fault, offset: u64, left: u64) -> Result<()> {
        match fault {
            Fault::Cut => self.report(&EVENT_CUT, offset, |odd| odd.with("left", left)),
            Fault::Unknown(kind) => {
                self.report(&UNKNOWN_EVENT, offset, |odd| odd.with("type", kind.0).with("left", left))
            }
            Fault::TooLong(place) => {
                let at = offset.saturating_add(place as u64);
                self.report(&VARINT_TOO_LONG, at, |odd| odd.with("left", left))
            }
        }
    }

    #[cold]
    pub(crate) fn report(
        &mut self,
        rule: &'static Rule,
        offset: u64,
        with: impl FnOnce(Finding) -> Finding,
    ) -> Result<()> {
        let reported = self.findings.report(with(Finding::new(rule, Position::at(offset))));
        if reported.is_err() {
            self.state = State::Done;
        }
        reported
    }
}

impl Records for Reader {
    type Codec = crate::Memlyze;

    fn header(&self) -> &Header {
        &self.header
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if self.state == State::Plain {
            return self.next_plain();
        }
        match self.state {
            State::Plain | State::PlainBig => self.next_unusual(),
            State::InBlock => self.next_in_block(),
            State::BlockHead => self.next_block(),
            State::Metadata { left } => self.next_metadata(left),
            State::Tail => self.next_tail(),
            State::Done => Ok(None),
        }
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    fn into_findings(self) -> Findings {
        self.findings
    }
}

/// How many of these bytes can be shown without cutting a character.
fn whole_characters(bytes: &[u8]) -> usize {
    let incomplete = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        _ => 0,
    };
    match bytes.len() - incomplete {
        0 => bytes.len(),
        whole => whole,
    }
}
