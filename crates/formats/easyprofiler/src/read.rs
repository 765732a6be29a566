//! Walks the records of a file, front to back.

use std::collections::HashMap;

use traceloom_bytes::{
    Arena, ByteOrder, Cursor, Finding, Findings, Limits, Located, Mode, Options, Position, Records, Result, Rule,
    Source, Window,
};

use crate::{
    Block, Clock, Header, Name, Nesting, Record, Thread, decode,
    findings::*,
    frame::{Extent, Frame, Section},
    probe,
    raw::{
        BLOCK_FIXED, BOOKMARK_FIXED, BlockType, DESCRIPTOR_FIXED, DOCUMENT_BOOKMARKS_MARK, EASY_PROFILER_SIGNATURE,
        MOST_LEVELS, VALUE_FIXED,
    },
};

/// Opens a file: recognises version, byte order and dialect.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    let header = probe::header(&source, options)?;
    Reader::with_header(source, header, options)
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    pub(crate) window: Window,
    pub(crate) header: Header,
    pub(crate) findings: Findings,
    clock: Clock,
    limits: Limits,
    state: State,
    /// Type of each descriptor; a hole has none.
    kinds: Vec<Option<BlockType>>,
    descriptor_bytes: u64,
    /// Records that the original would keep.
    kept: u64,
    /// Sizes of all records so far.
    memory: u64,
    threads: u32,
    thread: u64,
    /// Set where nesting is to be checked: strict mode, and `check`.
    depth: Option<Depth>,
    /// Length of the last bookmark's text: the original reuses the buffer, see [`Self::next_bookmark`].
    last_bookmark: usize,
}

/// Trailing bytes go out in pieces of this size, whatever the window happens to hold.
const RESIDUE_BYTES: usize = 4 << 10;

#[derive(Clone, Copy, Debug)]
enum State {
    Descriptors,
    Threads,
    Switches(u32),
    BlocksHead,
    Blocks(u32),
    ThreadsMark,
    /// After the threads' mark; whether its upper half, of the document's layout, may still follow.
    AfterMark {
        upper_half: bool,
    },
    Bookmarks(u16),
    BookmarksMark,
    Trailing {
        reported: bool,
    },
    Done,
}

#[derive(Debug)]
struct Depth {
    arena: Arena,
    threads: HashMap<u64, Nesting>,
}

impl Reader {
    pub(crate) fn with_header(source: Source, header: Header, options: &Options) -> Result<Self> {
        let mut window = Window::new(source, &options.limits);
        window.seek(header.stored_bytes as u64);
        let mut reader = Self {
            window,
            clock: header.clock(),
            header,
            findings: Findings::new(options.mode, &options.limits),
            limits: options.limits.clone(),
            state: State::Descriptors,
            kinds: Vec::new(),
            descriptor_bytes: 0,
            kept: 0,
            memory: 0,
            threads: 0,
            thread: 0,
            depth: None,
            last_bookmark: 0,
        };
        if options.mode == Mode::Strict {
            reader.check_depth();
        }
        reader.report_header()?;
        Ok(reader)
    }

    /// The header, as stored.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The clock of the file's times.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// From here on, also reports nesting that is too deep for the original; call it first.
    pub fn check_depth(&mut self) {
        self.depth = Some(Depth { arena: Arena::new(self.limits.tree_bytes), threads: HashMap::new() });
    }

    fn report_header(&mut self) -> Result<()> {
        for finding in probe::layout_findings(&self.header) {
            self.findings.report(finding)?;
        }
        let header = &self.header;
        let expected = header.layout.header_bytes();
        let at = |field| Position::at(0).field(field);
        let mut found = Vec::new();
        if header.stored_bytes < expected {
            let cut = Finding::new(&HEADER_CUT, Position::at(header.stored_bytes as u64));
            found.push(cut.with("found", header.stored_bytes).with("expected", expected));
        }
        if header.memory_size == 0 || header.blocks_count == 0 {
            let empty = Finding::new(&EMPTY_PROFILE, at("blocks_count"));
            found.push(empty.with("blocks", header.blocks_count).with("bytes", header.memory_size));
        }
        if header.descriptors_memory_size == 0 || header.descriptors_count == 0 {
            let none = Finding::new(&NO_DESCRIPTORS, at("descriptors_count"));
            found.push(none.with("count", header.descriptors_count).with("bytes", header.descriptors_memory_size));
        }
        if header.threads_count == Some(0) {
            found.push(Finding::new(&NO_THREADS, at("threads_count")));
        }
        if let Some(padding @ 1..) = header.padding {
            found.push(Finding::new(&PADDING, at("padding")).with("found", padding));
        }
        found.into_iter().try_for_each(|finding| self.findings.report(finding))
    }

    fn report(&mut self, rule: &'static Rule, with: impl FnOnce(Finding) -> Finding) -> Result<()> {
        let position = Position::at(self.window.offset());
        self.findings.report(with(Finding::new(rule, position)))
    }

    fn next_descriptor(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let index = self.kinds.len();
        self.limits.check_entries("descriptors", index as u64 + 1)?;
        let offset = self.window.offset();
        let frame = match self.frame(Section::Descriptor)? {
            Frame::Whole(frame) => frame,
            Frame::Cut { needed, left, .. } => return self.cut("descriptor", needed, left),
        };
        self.descriptor_bytes += frame.payload as u64;
        if frame.payload < DESCRIPTOR_FIXED {
            self.kinds.push(None);
            if frame.payload == 0 && frame.odd_size.is_none() {
                self.window.consume(2);
                return Ok(Some(Located { offset, len: 2, record: Record::Hole }));
            }
            let size = frame.payload;
            self.report(&DESCRIPTOR_SHORT, |finding| finding.with("index", index).with("size", size))?;
            return Ok(Some(self.malformed(&frame)));
        }
        self.window.consume(2);
        let payload = self.window.take(frame.payload);
        let cursor = Cursor::new(payload, offset + 2, self.header.layout.order);
        let mut descriptor = decode::descriptor(cursor, index, &mut self.findings)?;
        descriptor.odd_size = frame.odd_size;
        self.kinds.push(Some(descriptor.block_type));
        let position = Position::at(offset);
        if descriptor.id as usize != index {
            let odd = Finding::new(&DESCRIPTOR_ID, position.field("id"));
            self.findings.report(odd.with("index", index).with("id", descriptor.id))?;
        }
        if descriptor.block_type.name().is_none() {
            let odd = Finding::new(&DESCRIPTOR_TYPE, position.field("type"));
            self.findings.report(odd.with("index", index).with("type", descriptor.block_type.0))?;
        }
        let len = 2 + frame.payload as u64;
        Ok(Some(Located { offset, len, record: Record::Descriptor(descriptor) }))
    }

    fn end_descriptors(&mut self) -> Result<()> {
        self.state = State::Threads;
        let (declared, found) = (self.header.descriptors_memory_size, self.descriptor_bytes);
        if declared < found && declared != 0 {
            self.report(&DESCRIPTORS_MEMORY, |odd| odd.with("declared", declared).with("found", found))?;
        }
        Ok(())
    }

    /// Decides whether a thread follows; moves on to the mark or the end if not.
    fn at_thread(&mut self) -> Result<bool> {
        let layout = self.header.layout;
        let mark = layout.order.put_u32(EASY_PROFILER_SIGNATURE);
        let ahead = self.window.fill(16)?;
        let (left, is_mark) = (ahead.len(), ahead.starts_with(&mark));
        let only_marks = only_marks_left(ahead, layout.order);
        let Some(expected) = self.header.threads_count else {
            if left == 0 {
                self.end_threads(State::Done)?;
            } else if only_marks {
                let version = self.header.version.to_string();
                self.report(&DOCUMENT_MARK_EARLY_VERSION, |odd| odd.with("version", version))?;
                self.end_threads(State::ThreadsMark)?;
            } else {
                return Ok(true);
            }
            return Ok(false);
        };
        let found = self.threads;
        if found == expected {
            self.end_threads(State::ThreadsMark)?;
            return Ok(false);
        }
        if left > 0 && !is_mark {
            return Ok(true);
        }
        // Fewer bytes than a thread's counters: the original runs into the end and stays silent.
        let rule = if left < 14 { &THREADS_MISSING } else { &THREADS_MARK_EARLY };
        self.report(rule, |odd| odd.with("expected", expected).with("found", found))?;
        self.end_threads(if is_mark { State::ThreadsMark } else { State::Done })?;
        Ok(false)
    }

    fn end_threads(&mut self, next: State) -> Result<()> {
        self.state = next;
        let (expected, found) = (self.header.blocks_count, self.kept);
        // An empty profile has been reported as such.
        if u64::from(expected) != found {
            self.report(&COUNT_MISMATCH, |odd| odd.with("expected", expected).with("found", found))?;
        }
        Ok(())
    }

    fn next_thread(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let layout = self.header.layout;
        let head = layout.thread_id.bytes() + 2;
        let mut needed = head;
        let mut ahead = self.window.fill(needed)?;
        if let Some([low, high]) = ahead.get(head - 2..head) {
            needed += usize::from(layout.order.u16([*low, *high])) + 4;
            ahead = self.window.fill(needed)?;
        }
        if ahead.len() < needed {
            let left = ahead.len();
            return self.cut("thread", needed, left);
        }
        self.limits.check_entries("threads", u64::from(self.threads) + 1)?;
        self.threads += 1;
        let mut cursor = Cursor::new(self.window.take(needed), offset, layout.order);
        let id = decode::id(&mut cursor, layout.thread_id, "thread_id")?;
        let size = cursor.u16("name_size")?;
        let stored = cursor.take(size.into(), "name")?;
        // No name field at all is how an unnamed thread may be stored.
        let name =
            if size == 0 { Default::default() } else { decode::name(stored, "thread", offset, &mut self.findings)? };
        let switches = cursor.u32("switches")?;
        self.thread = id;
        self.state = State::Switches(switches);
        let record = Record::Thread(Thread { id, name, switches });
        Ok(Some(Located { offset, len: needed as u64, record }))
    }

    fn next_switch(&mut self, left: u32) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let needed = self.header.layout.switch_fixed();
        let frame = match self.frame(Section::Switch)? {
            Frame::Whole(frame) => frame,
            Frame::Cut { needed, left: bytes, size } => {
                return self.cut_record("context switch", left, needed, bytes, size);
            }
        };
        self.state = State::Switches(left - 1);
        self.count_memory(frame.payload)?;
        if frame.payload < needed {
            let rule = if frame.payload == 0 { &SWITCH_SIZE_ZERO } else { &SWITCH_SHORT };
            self.report(rule, |odd| odd.with("size", frame.payload).with("needed", needed))?;
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
            report_times("context switch", switch.begin, switch.end, kept, &self.header, offset, &mut self.findings)?;
        }
        let len = 2 + frame.payload as u64;
        Ok(Some(Located { offset, len, record: Record::Switch(switch) }))
    }

    fn next_blocks_head(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
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

    #[inline]
    fn next_block(&mut self, left: u32) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let frame = match self.frame(Section::Block)? {
            Frame::Whole(frame) => frame,
            Frame::Cut { needed, left: bytes, size } => return self.cut_record("block", left, needed, bytes, size),
        };
        self.state = State::Blocks(left - 1);
        self.count_memory(frame.payload)?;
        if frame.payload < BLOCK_FIXED {
            let rule = if frame.payload == 0 { &BLOCK_SIZE_ZERO } else { &BLOCK_SHORT };
            self.report(rule, |odd| odd.with("size", frame.payload))?;
            return Ok(Some(self.malformed(&frame)));
        }
        let order = self.header.layout.order;
        let record = self.window.take(2 + frame.payload);
        let Some((fixed, stored)) = record.split_first_chunk::<{ 2 + BLOCK_FIXED }>() else { return Ok(None) };
        let (begin, end, descriptor) = decode::block_fixed(fixed, order);
        let kept = self.clock.keeps_block(end);
        self.kept += u64::from(kept);
        if !kept || end < begin {
            report_times("block", begin, end, kept, &self.header, offset, &mut self.findings)?;
        }
        let block_type = match self.kinds.get(descriptor as usize) {
            Some(Some(kind)) => *kind,
            kind => {
                report_descriptor(descriptor, kind.is_some(), self.kinds.len(), offset, &mut self.findings)?;
                BlockType::BLOCK
            }
        };
        if let Some(depth) = &mut self.depth {
            depth.push(self.thread, self.clock.span(begin, end), offset, &mut self.findings)?;
        }
        let len = record.len() as u64;
        if block_type == BlockType::VALUE {
            if let Some((_, payload)) =
                record.split_first_chunk::<2>().filter(|(_, payload)| payload.len() >= VALUE_FIXED)
            {
                let mut value = decode::value(Cursor::new(payload, offset + 2, order), &mut self.findings)?;
                value.odd_size = frame.odd_size;
                return Ok(Some(Located { offset, len, record: Record::Value(value) }));
            }
            let short = Finding::new(&VALUE_SHORT, Position::at(offset));
            self.findings.report(short.with("size", frame.payload))?;
        }
        let name = match stored {
            // Most blocks have no runtime name.
            [0] => Name { text: &[], tail: stored },
            _ => decode::name(stored, "block", offset, &mut self.findings)?,
        };
        let block = Block { begin, end, descriptor, block_type, name, odd_size: frame.odd_size };
        Ok(Some(Located { offset, len, record: Record::Block(block) }))
    }

    /// Whether the record ahead belongs to a descriptor of values.
    pub(crate) fn next_is_value(&mut self) -> Result<bool> {
        let ahead = self.window.fill(2 + BLOCK_FIXED)?;
        let bytes = ahead.get(18..).and_then(|bytes| bytes.first_chunk::<4>());
        let descriptor = bytes.map(|bytes| self.header.layout.order.u32(*bytes));
        let kind = descriptor.and_then(|descriptor| self.kinds.get(descriptor as usize));
        Ok(kind == Some(&Some(BlockType::VALUE)))
    }

    /// The header's memory size is the buffer of the original: more than fits makes it refuse.
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

    fn next_mark(&mut self, rule: &'static Rule, next: State) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let ahead = self.window.fill(4)?;
        let Some(bytes) = ahead.first_chunk::<4>() else {
            self.report(rule, |odd| odd.with("found", "missing"))?;
            self.state = State::Trailing { reported: true };
            return self.next_trailing();
        };
        let mark = self.header.layout.order.u32(*bytes);
        self.state = next;
        if mark == DOCUMENT_BOOKMARKS_MARK && std::ptr::eq(rule, &BOOKMARKS_MARK) {
            self.report(&DOCUMENT_MARK_TYPO, |odd| odd)?;
        } else if mark != EASY_PROFILER_SIGNATURE {
            self.report(rule, |odd| odd.with("found", format!("{mark:#010x}")))?;
        }
        self.window.consume(4);
        Ok(Some(Located { offset, len: 4, record: Record::Mark(mark) }))
    }

    /// Behind the threads' mark the document leaves a zero upper half, and a second mark in any case.
    fn after_mark(&mut self, upper_half: bool) -> Result<Option<Located<Record<'_>>>> {
        let bookmarks = self.header.bookmarks_count.unwrap_or(0);
        let order = self.header.layout.order;
        let mark = self.window.fill(4)?.first_chunk::<4>().map(|bytes| order.u32(*bytes));
        if mark == Some(0) && upper_half {
            if bookmarks > 0 {
                self.report(&DOCUMENT_MARK_U64_BOOKMARKS, |odd| odd)?;
            } else if self.header.layout.marks {
                self.report(&DOCUMENT_MARK_U64, |odd| odd)?;
            }
            self.state = State::AfterMark { upper_half: false };
            return Ok(Some(self.residue(4)));
        }
        self.state = if bookmarks > 0 { State::Bookmarks(bookmarks) } else { State::Trailing { reported: false } };
        if bookmarks == 0 && matches!(mark, Some(EASY_PROFILER_SIGNATURE | DOCUMENT_BOOKMARKS_MARK)) {
            self.report(&DOCUMENT_SECOND_MARK, |odd| odd)?;
            return self.next_mark(&BOOKMARKS_MARK, self.state);
        }
        self.next()
    }

    fn next_bookmark(&mut self, left: u16) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let frame = match self.frame(Section::Bookmark)? {
            Frame::Whole(frame) => frame,
            Frame::Cut { needed, left: bytes, size } => {
                let size = usize::from(size);
                if size <= BOOKMARK_FIXED {
                    self.report(&BOOKMARK_SHORT, |odd| odd.with("size", size))?;
                } else if size - BOOKMARK_FIXED < self.last_bookmark {
                    // The original's buffer still holds the last text there, and no NUL.
                    self.report(&BOOKMARK_NUL, |odd| odd)?;
                }
                return self.cut("bookmark", needed, bytes);
            }
        };
        self.state = State::Bookmarks(left - 1);
        if frame.payload <= BOOKMARK_FIXED {
            self.report(&BOOKMARK_SHORT, |odd| odd.with("size", frame.payload))?;
            return Ok(Some(self.malformed(&frame)));
        }
        self.window.consume(2);
        let payload = self.window.take(frame.payload);
        self.last_bookmark = frame.payload - BOOKMARK_FIXED;
        if payload.last() != Some(&0) {
            self.findings.report(Finding::new(&BOOKMARK_NUL, Position::at(offset).field("text")))?;
        }
        let mut bookmark = decode::bookmark(Cursor::new(payload, offset + 2, self.header.layout.order))?;
        bookmark.odd_size = frame.odd_size;
        let len = 2 + frame.payload as u64;
        Ok(Some(Located { offset, len, record: Record::Bookmark(bookmark) }))
    }

    fn next_trailing(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let left = self.window.fill(RESIDUE_BYTES)?.len().min(RESIDUE_BYTES);
        if left == 0 {
            self.state = State::Done;
            return Ok(None);
        }
        if let State::Trailing { reported: false } = self.state {
            self.state = State::Trailing { reported: true };
            let bytes = self.window.source().len()?.saturating_sub(self.window.offset());
            self.report(&TRAILING, |odd| odd.with("bytes", bytes))?;
        }
        Ok(Some(self.residue(left)))
    }

    /// The file ends inside something: what is left goes out as residue.
    fn cut(&mut self, what: &'static str, needed: usize, left: usize) -> Result<Option<Located<Record<'_>>>> {
        self.report(&TRUNCATED, |odd| odd.with("what", what).with("needed", needed).with("left", left))?;
        let in_threads = !matches!(self.state, State::Bookmarks(_));
        self.state = State::Trailing { reported: true };
        if in_threads {
            self.end_threads(self.state)?;
        }
        self.next_trailing()
    }

    /// The file ends inside a switch or block, of which the original has read what is there into a
    /// zeroed buffer; it counts it if that happens to make sense.
    fn cut_record(
        &mut self,
        what: &'static str,
        records: u32,
        needed: usize,
        left: usize,
        size: u16,
    ) -> Result<Option<Located<Record<'_>>>> {
        if left == 0 {
            let thread = self.thread;
            self.report(&RECORDS_MISSING, |odd| odd.with("thread", thread).with("left", records))?;
            self.end_threads(State::Done)?;
            return Ok(None);
        }
        self.count_memory(size.into())?;
        let mut padded = [0; 2 + BLOCK_FIXED];
        for (to, from) in padded.iter_mut().zip(self.window.bytes()) {
            *to = *from;
        }
        let mut cursor = Cursor::new(&padded, self.window.offset(), self.header.layout.order);
        cursor.u16("size")?;
        let (begin, end, descriptor) = (cursor.u64("begin")?, cursor.u64("end")?, cursor.u32("descriptor")?);
        let _ = begin;
        if matches!(self.state, State::Blocks(_)) {
            let kind = self.kinds.get(descriptor as usize);
            if kind.is_none_or(Option::is_none) {
                let (known, offset) = (kind.is_some(), self.window.offset());
                report_descriptor(descriptor, known, self.kinds.len(), offset, &mut self.findings)?;
            }
            self.kept += u64::from(self.clock.keeps_block(end));
        } else {
            self.kept += u64::from(self.clock.keeps_switch(end));
        }
        self.cut(what, needed, left)
    }

    fn malformed(&mut self, frame: &Extent) -> Located<Record<'_>> {
        // A SIZE that the payload does not explain would be lost with the prefix.
        if frame.odd_size.is_some() {
            return self.residue(2 + frame.payload);
        }
        let offset = self.window.offset();
        self.window.consume(2);
        let record = Record::Malformed(self.window.take(frame.payload));
        Located { offset, len: 2 + frame.payload as u64, record }
    }

    fn residue(&mut self, len: usize) -> Located<Record<'_>> {
        let offset = self.window.offset();
        Located { offset, len: len as u64, record: Record::Residue(self.window.take(len)) }
    }
}

impl Records for Reader {
    type Record<'a> = Record<'a>;

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        loop {
            match self.state {
                State::Blocks(left @ 1..) => return self.next_block(left),
                State::Blocks(0) => self.state = State::Threads,
                State::Descriptors if self.kinds.len() as u64 >= self.header.descriptors_count.into() => {
                    self.end_descriptors()?;
                }
                State::Descriptors => return self.next_descriptor(),
                State::Threads => {
                    if self.at_thread()? {
                        return self.next_thread();
                    }
                }
                State::Switches(0) => self.state = State::BlocksHead,
                State::Switches(left) => return self.next_switch(left),
                State::BlocksHead => return self.next_blocks_head(),
                State::ThreadsMark => return self.next_mark(&THREADS_MARK, State::AfterMark { upper_half: true }),
                State::AfterMark { upper_half } => return self.after_mark(upper_half),
                State::Bookmarks(0) => self.state = State::BookmarksMark,
                State::Bookmarks(left) => return self.next_bookmark(left),
                State::BookmarksMark => return self.next_mark(&BOOKMARKS_MARK, State::Trailing { reported: false }),
                State::Trailing { .. } => return self.next_trailing(),
                State::Done => return Ok(None),
            }
        }
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    fn into_findings(self) -> Findings {
        self.findings
    }
}

impl Depth {
    fn push(&mut self, thread: u64, (begin, end): (u64, u64), offset: u64, findings: &mut Findings) -> Result<()> {
        let nesting = self.threads.entry(thread).or_insert_with(|| Nesting::new(&self.arena));
        let levels = nesting.push(begin, end)?.levels;
        if levels > MOST_LEVELS {
            findings.report(Finding::new(&TOO_DEEP, Position::at(offset)).with("levels", levels))?;
        }
        Ok(())
    }
}

/// Whether the file ends as the document has it: a mark, as wide as it may be, and perhaps a second one.
fn only_marks_left(ahead: &[u8], order: ByteOrder) -> bool {
    let Some(rest) = ahead.strip_prefix(&order.put_u32(EASY_PROFILER_SIGNATURE)) else { return false };
    let rest = rest.strip_prefix(&[0; 4]).unwrap_or(rest);
    let second = [EASY_PROFILER_SIGNATURE, DOCUMENT_BOOKMARKS_MARK];
    rest.is_empty() || second.iter().any(|mark| rest == order.put_u32(*mark))
}

#[cold]
fn report_times(
    what: &'static str,
    begin: u64,
    end: u64,
    kept: bool,
    header: &Header,
    offset: u64,
    findings: &mut Findings,
) -> Result<()> {
    let at = |rule| Finding::new(rule, Position::at(offset)).with("what", what).with("end", end);
    if end < begin {
        findings.report(at(&NEGATIVE_DURATION).with("begin", begin))?;
    }
    if !kept {
        findings.report(at(&BEFORE_CAPTURE).with("begin", header.begin_time))?;
    }
    Ok(())
}

#[cold]
fn report_descriptor(descriptor: u32, is_hole: bool, count: usize, offset: u64, findings: &mut Findings) -> Result<()> {
    let rule = if is_hole { &DESCRIPTOR_HOLE } else { &DESCRIPTOR_MISSING };
    let odd = Finding::new(rule, Position::at(offset).field("descriptor"));
    findings.report(odd.with("descriptor", descriptor).with("count", count))
}
