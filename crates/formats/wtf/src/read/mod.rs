//! Walks the records of a file, front to back.

mod chunks;
mod damage;
mod events;
mod loader;
mod original;
mod parts;
mod plan;
mod zones;

pub(crate) use self::plan::Head;
pub use self::zones::Zone;

use traceloom_core::{
    Error, Finding, Findings, Limits, Located, Options, Position, Records, Result, Rule, Source, Window,
};

use self::{plan::Plan, zones::Zones};
use crate::{
    Container, Encoding, EventTypes, Header, Record, StringTable,
    containers::{Calls, Context, Document, Image},
    probe,
    raw::{CHUNK_FIXED, FILE_HEADER_BYTES},
};

/// Opens a file: detects its container and reads its header.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    let source = probe::readable(source)?;
    let mut findings = Findings::new(options.mode, &options.limits);
    let header = probe::header(&source, &mut findings, options)?;
    Reader::with_header(source, header, findings, options)
}

/// The end of the last complete chunk in a growing binary file; `from` is the previous result, or 0. Bytes that are not
/// a chunk count as one.
pub fn whole_chunks(source: &Source, from: u64) -> Result<u64> {
    let length = source.len()?;
    let mut end = from.max(FILE_HEADER_BYTES as u64);
    loop {
        let mut bytes = [0; CHUNK_FIXED];
        if source.read_full(end, &mut bytes)? < CHUNK_FIXED {
            return Ok(end.min(length));
        }
        let chunk = Head::parse(&bytes).map_or(0, |head| u64::from(head.length));
        if chunk < CHUNK_FIXED as u64 {
            return Ok(length);
        }
        if end + chunk > length {
            return Ok(end);
        }
        end += chunk;
    }
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    /// Chunks, or the events of a packed file; for text, the chunk decoded from it.
    body: Window,
    /// The text itself.
    text: Window,
    feed: Feed,
    header: Header,
    findings: Findings,
    limits: Limits,
    types: EventTypes,
    zones: Zones,
    strings: StringTable,
    state: State,
    plan: Plan,
    /// The offset of decoded records whose bytes are not in the file.
    place: Option<u64>,
    /// Whether the chunk has been returned as raw bytes, so that parts which are not decoded need not be returned
    /// again.
    carried: bool,
    chunk_end: u64,
    /// Number of bytes that may still be read again because parts overlap; without a limit, a small file could be
    /// endless.
    spare_bytes: u64,
    strings_given: Option<StringTable>,
    /// Whether wire ids may exceed 16 bits, because the definitions were made from text.
    is_wide: bool,
    headers: u32,
    warned_no_header: bool,
    /// The end of the last buffer in which WTF's reading was followed.
    shadowed_until: u64,
}

/// The source of text.
#[derive(Debug)]
enum Feed {
    None,
    Document(Box<Document>),
    Calls(Box<Calls>),
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Before a chunk.
    Chunk,
    /// In a chunk, before the part with this index in the plan.
    Part(usize),
    /// In an event buffer.
    Events(Buffer),
    /// In bytes that are returned unchanged.
    Bytes {
        end: u64,
        kind: BytesKind,
        then: Next,
    },
    /// In text that is returned unchanged; its chunk follows.
    Text {
        end: u64,
    },
    /// Before the next range of text.
    Image,
    Done,
}

#[derive(Clone, Copy, Debug)]
enum BytesKind {
    Unread,
    Padding,
    Residue,
    Torn,
    Raw,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Chunk,
    Part(usize),
    /// The chunk that starts here was returned raw and is now decoded.
    Carried(u64),
    Events(Buffer),
}

/// The event buffer being read.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    end: u64,
    encoding: Encoding,
    /// The part after it; a packed file is a single buffer.
    then: Option<usize>,
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
                State::Events(Buffer { end: source.len()?, encoding: Encoding::Legacy, then: None })
            }
            _ => State::Image,
        };
        let headers =
            u32::from(!matches!(header.container, Container::Binary | Container::Json | Container::JsonPartial));
        let spare_bytes = (64 << 10) + source.len()?.saturating_mul(4);
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
            spare_bytes,
            strings_given: None,
            is_wide: false,
            headers,
            warned_no_header: false,
            shadowed_until: 0,
        })
    }

    /// Continues with the chunks that were appended to a binary file since its end was reached.
    pub fn resume(&mut self) {
        if self.header.container == Container::Binary && matches!(self.state, State::Done) {
            self.state = State::Chunk;
        }
    }

    /// The event types defined so far.
    pub fn types(&self) -> &EventTypes {
        &self.types
    }

    /// The zones created so far, in the order of creation; the first exists from the start.
    pub fn zones(&self) -> &[Zone] {
        self.zones.all()
    }

    /// Sets whether [`crate::Event::time_us`] continues when the stored microseconds wrap, after 71 minutes. It does by
    /// default; this must be called before the first record is read.
    pub fn unwrap_times(&mut self, unwraps: bool) {
        self.zones.unwraps = unwraps;
    }

    fn at(&self, offset: u64) -> Position {
        Position::at(self.place.unwrap_or(offset))
    }

    #[cold]
    fn report(&mut self, rule: &'static Rule, offset: u64, values: impl FnOnce(Finding) -> Finding) -> Result<()> {
        let finding = values(Finding::new(rule, self.at(offset)));
        self.findings.report(finding)
    }

    fn next_image(&mut self) -> Result<()> {
        let image = match &mut self.feed {
            Feed::None => None,
            Feed::Document(document) => {
                document.next(&mut Context { findings: &mut self.findings, types: &self.types })?
            }
            Feed::Calls(calls) => calls.next(&mut self.findings)?,
        };
        let Some(Image { text_end, place, chunk, strings, is_wide }) = image else {
            // The rest is still text.
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

    /// Called after the last chunk of the body: the file ends, unless the chunks were made from text.
    fn end_body(&mut self) {
        self.state = match self.feed {
            Feed::None => State::Done,
            _ => State::Image,
        };
    }

    fn leave_events(&mut self, buffer: Buffer) {
        self.state = buffer.then.map_or(State::Done, State::Part);
    }
}

impl Records for Reader {
    traceloom_core::records_of!(crate::Wtf, findings);

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        if self.findings.has_refused() {
            return Ok(None);
        }
        loop {
            match self.state {
                State::Events(buffer @ Buffer { encoding: Encoding::Words, .. }) => {
                    if let Some(ready) = self.plain_event(buffer.end) {
                        return Ok(Some(self.lend_event(ready)));
                    }
                    if let Some(ready) = self.prepare_words(buffer)? {
                        return Ok(Some(self.lend_event(ready)));
                    }
                }
                State::Events(buffer) => {
                    if let Some(ready) = self.prepare_legacy(buffer)? {
                        return Ok(Some(self.lend_event(ready)));
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

    /// Reads ordinary events in a separate loop.
    #[inline]
    fn walk<E: From<Error>>(&mut self, mut visit: impl FnMut(Located<Record<'_>>) -> Result<(), E>) -> Result<(), E> {
        loop {
            if let State::Events(Buffer { end, encoding: Encoding::Words, .. }) = self.state
                && !self.findings.has_refused()
            {
                while let Some(ready) = self.plain_event(end) {
                    let (offset, len) = (self.place.unwrap_or(self.body.offset()), ready.len as u64);
                    if let Some(event) = self.event(ready) {
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
}

/// Number of bytes that are returned at once if they are not decoded, whatever the size of the window.
const PIECE_BYTES: usize = 64 << 10;

fn piece(window: &mut Window, end: u64) -> Result<usize> {
    let left = usize::try_from(end.saturating_sub(window.offset())).unwrap_or(usize::MAX);
    let wanted = left.min(PIECE_BYTES);
    Ok(window.fill(wanted)?.len().min(wanted))
}
