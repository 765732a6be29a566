//! Walks the records of a file, front to back.

mod blocks;
mod decode;
mod ending;
mod frame;
mod plain;
mod resync;

use traceloom_core::{
    ByteOrder, Cursor, Error, Finding, Findings, Limits, Located, Mode, Options, Position, Records, Result, Rule,
    Source, Window,
};

pub use self::plain::{Passage, SkipPlain, TakePlain};
use self::{
    blocks::Depth,
    frame::{Extent, Frame, Section},
    plain::Visitor,
};
use crate::{
    Clock, Header, Record, Thread,
    findings::*,
    probe,
    raw::{BlockType, DESCRIPTOR_FIXED, DOCUMENT_BOOKMARKS_MARK, EASY_PROFILER_SIGNATURE, SizeRule},
};

/// Opens a file: detects version, byte order and dialect.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    let header = probe::header(&source, options)?;
    Reader::with_header(source, header, options)
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    window: Window,
    header: Header,
    findings: Findings,
    clock: Clock,
    limits: Limits,
    state: State,
    /// Type of each descriptor; `None` for a hole.
    kinds: Vec<Option<BlockType>>,
    descriptor_bytes: u64,
    /// Number of records that easy_profiler would keep.
    kept: u64,
    /// Sum of the sizes of all records so far.
    memory: u64,
    threads: u32,
    thread: u64,
    /// Set if nesting has to be checked: in strict mode, and for `check`.
    depth: Option<Depth>,
    /// Whether SIZE is reliable, and no damage requires additional checks of each block.
    is_simple: bool,
    /// Whether damaged records are skipped: not in strict mode, because easy_profiler does not search further, nor
    /// while a layout is tried.
    resyncs: bool,
    /// Up to here, no better offset to continue was found.
    searched_to: u64,
    /// Whether records of this thread were skipped, so that its count no longer shows where it ends.
    resynced: bool,
    /// Number of descriptors that are missing before the next one.
    missing: u32,
    /// Length of the last bookmark's text: easy_profiler reuses the buffer, see [`Self::next_bookmark`].
    last_bookmark: usize,
}

/// Trailing bytes are returned in pieces of this size, whatever the window holds.
const RESIDUE_BYTES: usize = 4 << 10;

#[derive(Clone, Copy, Debug)]
enum State {
    Descriptors,
    Threads,
    Switches(u32),
    BlocksHead,
    Blocks(u32),
    ThreadsMark,
    /// After the threads' mark; whether its upper half, in the documented layout, may still follow.
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
            is_simple: true,
            resyncs: options.mode == Mode::Lenient,
            searched_to: 0,
            resynced: false,
            missing: 0,
            last_bookmark: 0,
        };
        reader.is_simple = reader.header.layout.size == SizeRule::Payload;
        reader.resyncs &= reader.is_simple;
        if options.is_thorough() {
            reader.check_depth();
        }
        reader.report_header()?;
        Ok(reader)
    }

    /// The clock of the file's times.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The offset of the next record.
    pub fn offset(&self) -> u64 {
        self.window.offset()
    }

    /// Does not skip damaged records.
    pub(crate) fn without_resync(self) -> Self {
        Self { resyncs: false, ..self }
    }

    /// From here on, also reports nesting that is too deep for easy_profiler.
    fn check_depth(&mut self) {
        self.depth = Some(Depth::new(&self.limits));
    }

    fn report_header(&mut self) -> Result<()> {
        for finding in probe::layout_findings(&self.header) {
            self.findings.report(finding)?;
        }
        let header = &self.header;
        let expected = header.layout.header_bytes();
        let at = |field| Position::at(header.layout.header_offset(field) as u64).field(field);
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
        if self.missing > 0 {
            self.missing -= 1;
            self.kinds.push(None);
            return Ok(Some(self.residue(0)));
        }
        if let Some(skip) = self.resync_descriptor()? {
            self.kinds.push(None);
            return self.skip("descriptor", skip);
        }
        let frame = match self.frame(Section::Descriptor)? {
            Frame::Whole(frame) => frame,
            Frame::Cut(cut) => return self.cut("descriptor", cut.needed, cut.left),
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

    /// Determines whether a thread follows; moves on to the mark or the end if not.
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
        // A thread may have the mark's number as its id: easy_profiler always treats it as a thread.
        let is_thread = !is_mark || self.findings.mode() == Mode::Strict || self.thread_is_ahead()?;
        if left > 0 && is_thread {
            return Ok(true);
        }
        // Fewer bytes than a thread's counters: easy_profiler reaches the end without complaint.
        let rule = if left < 14 { &THREADS_MISSING } else { &THREADS_MARK_EARLY };
        self.report(rule, |odd| odd.with("expected", expected).with("found", found))?;
        self.end_threads(if is_mark { State::ThreadsMark } else { State::Done })?;
        Ok(false)
    }

    fn end_threads(&mut self, next: State) -> Result<()> {
        self.state = next;
        let (expected, found) = (self.header.blocks_count, self.kept);
        if u64::from(expected) != found {
            self.report(&COUNT_MISMATCH, |odd| odd.with("expected", expected).with("found", found))?;
        }
        Ok(())
    }

    fn next_thread(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let layout = self.header.layout;
        if let Some(skip) = self.resync_thread()? {
            return self.skip("thread", skip);
        }
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
        // An unnamed thread may be stored without a name field.
        let name =
            if size == 0 { Default::default() } else { decode::name(stored, "thread", offset, &mut self.findings)? };
        let switches = cursor.u32("switches")?;
        self.thread = id;
        self.state = State::Switches(switches);
        self.resynced = false;
        let record = Record::Thread(Thread { id, name, switches });
        Ok(Some(Located { offset, len: needed as u64, record }))
    }

    /// The next record, if it is not a sound block.
    #[inline(never)]
    fn next_other(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if self.findings.has_refused() {
            return Ok(None);
        }
        loop {
            match self.state {
                State::Blocks(left @ 1..) => return self.next_block(left),
                State::Blocks(0) => self.end_blocks()?,
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

    /// The file ends inside something: the rest is returned as residue.
    fn cut(&mut self, what: &'static str, needed: usize, left: usize) -> Result<Option<Located<Record<'_>>>> {
        self.report(&TRUNCATED, |odd| odd.with("what", what).with("needed", needed).with("left", left))?;
        let in_threads = !matches!(self.state, State::Bookmarks(_));
        self.state = State::Trailing { reported: true };
        if in_threads {
            self.end_threads(self.state)?;
        }
        self.next_trailing()
    }

    fn malformed(&mut self, frame: &Extent) -> Located<Record<'_>> {
        // A SIZE that differs from the payload would be lost with the prefix.
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
    traceloom_core::records_of!(crate::EasyProfiler, findings);

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        match self.plain_block() {
            Some(framed) => Ok(Some(self.take_plain_block(framed))),
            None => self.next_other(),
        }
    }

    #[inline]
    fn walk<E: From<Error>>(&mut self, visit: impl FnMut(Located<Record<'_>>) -> Result<(), E>) -> Result<(), E> {
        let mut visitor = Visitor(visit);
        loop {
            self.plain_records(u32::MAX, &mut visitor)?;
            match self.next()? {
                Some(located) => (visitor.0)(located)?,
                None => return Ok(()),
            }
        }
    }
}

/// Whether the file ends as documented: a mark of either width, and possibly a second one.
fn only_marks_left(ahead: &[u8], order: ByteOrder) -> bool {
    let Some(rest) = ahead.strip_prefix(&order.put_u32(EASY_PROFILER_SIGNATURE)) else { return false };
    let rest = rest.strip_prefix(&[0; 4]).unwrap_or(rest);
    let second = [EASY_PROFILER_SIGNATURE, DOCUMENT_BOOKMARKS_MARK];
    rest.is_empty() || second.iter().any(|mark| rest == order.put_u32(*mark))
}
