//! Walks the records of a file, front to back.

use traceloom_core::{
    Error, Finding, Findings, Limits, Located, Mode, Options, Position, Records, Result, Rule, Source, Window,
};

use crate::{
    Container, Encoding, EventTypes, Header, Record, StringTable, Zone,
    calls::Calls,
    chunk::{self, Bounds, Content, Head, Plan},
    document::{Document, Image},
    findings::*,
    probe,
    raw::{CHUNK_FIXED, ChunkType, FILE_HEADER_BYTES, PART_ENTRY},
    record::{self, Chunk, Part},
    zones::Zones,
};

/// Opens a file: recognises its container and reads its header.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    let source = probe::readable(source)?;
    let mut findings = Findings::new(options.mode, &options.limits);
    let header = probe::header(&source, &mut findings, options)?;
    Reader::with_header(source, header, findings, options)
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    /// Chunks, or the events of a packed file; for text, the chunk that it stands for.
    pub(crate) body: Window,
    /// The text itself.
    text: Window,
    feed: Feed,
    pub(crate) header: Header,
    pub(crate) findings: Findings,
    limits: Limits,
    pub(crate) types: EventTypes,
    pub(crate) zones: Zones,
    pub(crate) strings: StringTable,
    pub(crate) state: State,
    pub(crate) plan: Plan,
    /// Where decoded records stand, if their bytes stand nowhere in the file.
    pub(crate) place: Option<u64>,
    /// The chunk has been lent as raw bytes: what nobody decodes need not be lent again.
    carried: bool,
    chunk_end: u64,
    strings_given: Option<StringTable>,
    /// Definitions count beyond 16 bits: they were made from text.
    pub(crate) is_wide: bool,
    pub(crate) headers: u32,
    pub(crate) warned_no_header: bool,
    /// The end of the last buffer in which the original's reading was followed.
    pub(crate) shadowed_until: u64,
}

/// Where text comes from.
#[derive(Debug)]
enum Feed {
    None,
    Document(Box<Document>),
    Calls(Box<Calls>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// Before a chunk.
    Chunk,
    /// In a chunk, before the part with this place in the plan.
    Part(usize),
    /// In an event buffer that ends here.
    Events {
        end: u64,
        encoding: Encoding,
        then: usize,
    },
    /// In bytes that are lent as they are.
    Bytes {
        end: u64,
        kind: BytesKind,
        then: Next,
    },
    /// In text that is lent as it is; then its chunk.
    Text {
        end: u64,
    },
    /// Before the next stretch of text.
    Image,
    Done,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum BytesKind {
    Unread,
    Padding,
    Residue,
    Torn,
    Raw,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    Chunk,
    Part(usize),
    /// The chunk that begins here was lent raw and is decoded now.
    Carried(u64),
    Events {
        end: u64,
        encoding: Encoding,
        then: usize,
    },
}

impl Reader {
    fn with_header(source: Source, header: Header, findings: Findings, options: &Options) -> Result<Self> {
        let limits = &options.limits;
        let mut body = Window::new(source.clone(), limits);
        let feed = match header.container {
            Container::Binary | Container::Legacy => Feed::None,
            Container::Calls => Feed::Calls(Box::new(Calls::new(&source, limits)?)),
            Container::Json | Container::JsonPartial | Container::Script => {
                Feed::Document(Box::new(Document::new(&source, limits)))
            }
        };
        let state = match header.container {
            Container::Binary => {
                body.seek(FILE_HEADER_BYTES as u64);
                State::Chunk
            }
            Container::Legacy => {
                body.seek(header.head.len() as u64);
                State::Events { end: source.len()?, encoding: Encoding::Legacy, then: usize::MAX }
            }
            _ => State::Image,
        };
        let headers =
            u32::from(!matches!(header.container, Container::Binary | Container::Json | Container::JsonPartial));
        Ok(Self {
            body,
            text: Window::new(source, limits),
            feed,
            header,
            findings,
            limits: limits.clone(),
            types: EventTypes::new(limits),
            zones: Zones::new(limits),
            strings: StringTable::default(),
            state,
            plan: Plan::default(),
            place: None,
            carried: false,
            chunk_end: 0,
            strings_given: None,
            is_wide: false,
            headers,
            warned_no_header: false,
            shadowed_until: 0,
        })
    }

    /// The event types defined so far.
    pub fn types(&self) -> &EventTypes {
        &self.types
    }

    /// The zones created so far, in the order of creation; the first exists from the start.
    pub fn zones(&self) -> &[Zone] {
        self.zones.all()
    }

    /// Whether [`crate::Event::time_us`] goes on where the stored microseconds start again, after 71 minutes;
    /// it does unless this says otherwise, before the first record is read.
    pub fn unwrap_times(&mut self, unwraps: bool) {
        self.zones.unwraps = unwraps;
    }

    pub(crate) fn at(&self, offset: u64) -> Position {
        Position::at(self.place.unwrap_or(offset))
    }

    #[cold]
    pub(crate) fn report(
        &mut self,
        rule: &'static Rule,
        offset: u64,
        values: impl FnOnce(Finding) -> Finding,
    ) -> Result<()> {
        let finding = values(Finding::new(rule, self.at(offset)));
        self.findings.report(finding)
    }

    /// Looks at the chunk that begins here; true where its head can be lent.
    fn next_chunk(&mut self) -> Result<bool> {
        let start = self.body.offset();
        let available = self.body.fill(CHUNK_FIXED)?;
        if available.is_empty() {
            self.end_body();
            return Ok(false);
        }
        let Some(head) = Head::parse(available) else {
            let bytes = available.len();
            self.report(&TRAILING, start, |odd| odd.with("bytes", bytes))?;
            self.residue_until(start + bytes as u64);
            return Ok(false);
        };
        if u64::from(head.length) < head.needed() {
            let values = |odd: Finding| {
                odd.with("length", head.length).with("parts", head.part_count).with("needed", head.needed())
            };
            self.report(&CHUNK_SHORT, start, values)?;
            self.lose_until_chunk(start)?;
            return Ok(false);
        }
        match self.bounds(start, &head)? {
            Some(bounds) => self.enter_chunk(head, bounds),
            None => Ok(false),
        }
    }

    /// Where the chunk lies; nothing if not even its part table is there.
    fn bounds(&mut self, start: u64, head: &Head) -> Result<Option<Bounds>> {
        let file_end = self.body.source().len()?;
        let end = start.saturating_add(head.length.into());
        let mut bounds = Bounds { start, body: start + head.needed(), end, file_end, is_cut: false };
        if end > file_end {
            let left = file_end - start;
            self.report(&CHUNK_CUT, start, |odd| odd.with("length", head.length).with("left", left))?;
            bounds.is_cut = true;
            bounds.end = chunk::find(self.body.source(), start + 4, &self.limits)?.unwrap_or(file_end);
            if bounds.body > bounds.end {
                self.residue_until(bounds.end);
                return Ok(None);
            }
        } else if !head.length.is_multiple_of(4) && end < file_end {
            self.report(&CHUNK_UNALIGNED, start, |odd| odd.with("length", head.length))?;
        } else if let Some(begins) = chunk::swallowed(self.body.source(), bounds, &self.limits)? {
            let left = begins - start;
            self.report(&CHUNK_OVERLONG, start, |odd| odd.with("length", head.length).with("left", left))?;
            (bounds.is_cut, bounds.end) = (true, begins);
        }
        Ok(Some(bounds))
    }

    fn residue_until(&mut self, end: u64) {
        self.state = State::Bytes { end, kind: BytesKind::Residue, then: Next::Chunk };
    }

    /// Nothing here is a chunk: everything up to the next one is residue.
    fn lose_until_chunk(&mut self, start: u64) -> Result<()> {
        let source = self.body.source();
        let end = source.len()?;
        let found = chunk::find(source, start + 4, &self.limits)?;
        if let Some(found) = found {
            self.report(&CHUNK_LOST, start, |odd| odd.with("bytes", found - start))?;
        }
        self.residue_until(found.unwrap_or(end));
        Ok(())
    }

    /// Plans the parts and gets the strings; false where the chunk has to be lent raw first.
    fn enter_chunk(&mut self, head: Head, bounds: Bounds) -> Result<bool> {
        self.chunk_end = bounds.end;
        self.zones.begin_chunk();
        self.plan = Plan::default();
        self.strings.clear();
        if head.kind.name().is_none() {
            self.report(&CHUNK_UNKNOWN, bounds.start, |odd| odd.with("type", head.kind.to_string()))?;
            return Ok(true);
        }
        let needed = usize::try_from(head.needed()).unwrap_or(usize::MAX);
        let table = self.body.fill(needed)?.get(CHUNK_FIXED..needed).unwrap_or_default();
        let parts: Vec<Part> = record::part_table(table).collect();
        self.plan_parts(head.kind, &parts, bounds)?;
        if self.plan.overlaps && !self.carried {
            self.state = State::Bytes { end: bounds.end, kind: BytesKind::Raw, then: Next::Carried(bounds.start) };
            return Ok(false);
        }
        if let Some(strings) = self.strings_given.take() {
            self.strings = strings;
        } else if let Some((start, end)) = self.plan.strings {
            let bytes = probe::read_span(self.body.source(), start, end, &self.limits)?;
            self.strings = StringTable::from_bytes(bytes)?;
        }
        Ok(true)
    }

    fn plan_parts(&mut self, kind: ChunkType, parts: &[Part], bounds: Bounds) -> Result<()> {
        if !self.carried {
            self.plan = Plan::new(kind, parts, bounds, &mut self.findings)?;
            return Ok(());
        }
        // A binary chunk that was lent raw has had its findings; one made from text has not.
        let mut local = Findings::new(Mode::Lenient, &self.limits);
        self.plan = Plan::new(kind, parts, bounds, &mut local)?;
        if let (Some(place), false) = (self.place, matches!(self.feed, Feed::None)) {
            for finding in local.kept() {
                self.findings.report(Finding { position: Position::at(place), ..finding.clone() })?;
            }
        }
        Ok(())
    }

    /// Lends the head of the chunk that was just planned.
    fn lend_chunk(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let start = self.body.offset();
        let place = self.place;
        let carried = self.carried;
        let Some(head) = Head::parse(self.body.fill(CHUNK_FIXED)?) else { return Ok(None) };
        let is_known = head.kind.name().is_some();
        let needed = if is_known { CHUNK_FIXED + PART_ENTRY * head.part_count as usize } else { CHUNK_FIXED };
        self.state = if is_known {
            State::Part(0)
        } else {
            State::Bytes { end: self.chunk_end, kind: BytesKind::Unread, then: Next::Chunk }
        };
        self.body.fill(needed)?;
        let bytes = self.body.take(needed);
        let chunk = Chunk {
            id: head.id,
            kind: head.kind,
            length: head.length,
            start: head.start,
            end: head.end,
            part_count: head.part_count,
            parts: bytes.get(CHUNK_FIXED..).unwrap_or_default(),
            carried,
        };
        Ok(Some(Located { offset: place.unwrap_or(start), len: needed as u64, record: Record::Chunk(chunk) }))
    }

    /// Looks at the next part; true where it can be lent as one record.
    fn next_part(&mut self, index: usize) -> Result<bool> {
        let Some(step) = self.plan.steps.get(index).copied() else {
            self.end_chunk();
            return Ok(false);
        };
        if self.carried {
            self.body.seek(step.start);
        } else if self.body.offset() < step.start {
            self.state = State::Bytes { end: step.start, kind: BytesKind::Padding, then: Next::Part(index) };
            return Ok(false);
        }
        let (end, then) = (step.end, index + 1);
        let encoding = match step.content {
            Content::WordEvents => Encoding::Words,
            Content::LegacyEvents => Encoding::Legacy,
            Content::Unread => {
                self.state = State::Bytes { end, kind: BytesKind::Unread, then: Next::Part(then) };
                return Ok(false);
            }
            _ => return Ok(true),
        };
        self.state = State::Events { end, encoding, then };
        if self.headers == 0 {
            self.warn_no_header()?;
        }
        Ok(false)
    }

    fn end_chunk(&mut self) {
        let end = self.chunk_end;
        if !self.carried {
            self.state = State::Bytes { end, kind: BytesKind::Padding, then: Next::Chunk };
            return;
        }
        self.body.seek(end);
        self.state = State::Chunk;
        if let Feed::None = self.feed {
            self.carried = false;
            self.place = None;
        }
    }

    /// How many bytes can be lent at once before `end`; none of a chunk that has been lent raw.
    fn piece(&mut self, end: u64) -> Result<usize> {
        if self.carried {
            return Ok(0);
        }
        piece(&mut self.body, end)
    }

    fn lend_bytes(&mut self, len: usize, kind: BytesKind) -> Located<Record<'_>> {
        let offset = self.body.offset();
        let bytes = self.body.take(len);
        let record = match kind {
            BytesKind::Unread => Record::Unread(bytes),
            BytesKind::Padding => Record::Padding(bytes),
            BytesKind::Residue => Record::Residue(bytes),
            BytesKind::Torn => Record::Torn(bytes),
            BytesKind::Raw => Record::Raw(bytes),
        };
        Located { offset, len: len as u64, record }
    }

    fn after_bytes(&mut self, end: u64, then: Next) {
        if self.carried {
            self.body.seek(end);
        }
        self.state = match then {
            Next::Chunk => State::Chunk,
            Next::Part(index) => State::Part(index),
            Next::Events { end, encoding, then } => State::Events { end, encoding, then },
            Next::Carried(start) => {
                self.body.seek(start);
                self.carried = true;
                self.place = Some(start);
                State::Chunk
            }
        };
    }

    fn next_image(&mut self) -> Result<()> {
        let image = match &mut self.feed {
            Feed::None => None,
            Feed::Document(document) => document.next(&mut self.findings, &self.types)?,
            Feed::Calls(calls) => calls.next(&mut self.findings)?,
        };
        let Some(Image { text_end, place, chunk, strings, is_wide }) = image else {
            // Whatever nobody has claimed is text all the same.
            let end = self.text.source().len()?;
            self.state = if self.text.offset() < end { State::Text { end } } else { State::Done };
            return Ok(());
        };
        self.strings_given = strings;
        self.is_wide = is_wide;
        self.place = Some(place);
        self.carried = true;
        self.body = Window::new(Source::bytes(chunk.unwrap_or_default()), &self.limits);
        self.state = State::Text { end: text_end };
        Ok(())
    }

    fn lend_text(&mut self, len: usize) -> Located<Record<'_>> {
        let offset = self.text.offset();
        Located { offset, len: len as u64, record: Record::Raw(self.text.take(len)) }
    }

    /// The chunks of the body are over: so is the file, unless they were made from text.
    fn end_body(&mut self) {
        self.state = match self.feed {
            Feed::None => State::Done,
            _ => State::Image,
        };
    }

    pub(crate) fn leave_events(&mut self, then: usize) {
        // A packed file is one buffer and nothing else.
        self.state = if then == usize::MAX { State::Done } else { State::Part(then) };
    }

    pub(crate) fn set_state(&mut self, state: State) {
        self.state = state;
    }
}

impl Records for Reader {
    type Codec = crate::Wtf;

    fn header(&self) -> &Header {
        &self.header
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if self.findings.has_refused() {
            return Ok(None);
        }
        loop {
            match self.state {
                State::Events { end, encoding: Encoding::Words, then } => {
                    if let Some(ready) = self.plain_event(end) {
                        return Ok(Some(self.lend_event(ready, Encoding::Words)));
                    }
                    if let Some(ready) = self.prepare_words(end, then)? {
                        return Ok(Some(self.lend_event(ready, Encoding::Words)));
                    }
                }
                State::Events { end, encoding: Encoding::Legacy, then } => {
                    if let Some(ready) = self.prepare_legacy(end, then)? {
                        return Ok(Some(self.lend_event(ready, Encoding::Legacy)));
                    }
                }
                State::Chunk => {
                    if self.next_chunk()? {
                        return self.lend_chunk();
                    }
                }
                State::Part(index) => {
                    if self.next_part(index)? {
                        return self.lend_part(index);
                    }
                }
                State::Bytes { end, kind, then } => {
                    let len = self.piece(end)?;
                    if len > 0 {
                        return Ok(Some(self.lend_bytes(len, kind)));
                    }
                    self.after_bytes(end, then);
                }
                State::Text { end } => {
                    let len = piece(&mut self.text, end)?;
                    if len > 0 {
                        return Ok(Some(self.lend_text(len)));
                    }
                    self.state = State::Chunk;
                }
                State::Image => self.next_image()?,
                State::Done => return Ok(None),
            }
        }
    }

    /// Events are taken in a loop of their own while nothing about them is unusual.
    #[inline]
    fn walk<E: From<Error>>(&mut self, mut visit: impl FnMut(Located<Record<'_>>) -> Result<(), E>) -> Result<(), E> {
        loop {
            if let State::Events { end, encoding: encoding @ Encoding::Words, .. } = self.state
                && !self.findings.has_refused()
            {
                while let Some(ready) = self.plain_event(end) {
                    let (offset, len) = (self.place.unwrap_or(self.body.offset()), ready.len as u64);
                    if let Some(event) = self.event(ready, encoding) {
                        visit(Located { offset, len, record: Record::Event(event) })?;
                    }
                }
            }
            match self.next()? {
                Some(located) => visit(located)?,
                None => return Ok(()),
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

/// Bytes that are lent at once where nobody decodes them, whatever the size of the window.
const PIECE_BYTES: usize = 64 << 10;

fn piece(window: &mut Window, end: u64) -> Result<usize> {
    let left = usize::try_from(end.saturating_sub(window.offset())).unwrap_or(usize::MAX);
    let wanted = left.min(PIECE_BYTES);
    Ok(window.fill(wanted)?.len().min(wanted))
}
