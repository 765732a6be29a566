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

/// Opens a file: recognizes its container and reads its header.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    let source = probe::readable(source)?;
    let mut findings = Findings::new(options.mode, &options.limits);
    let header = probe::header(&source, &mut findings, options)?;
    Reader::with_header(source, header, findings, options)
}

/// Where the last chunk ends that is there as a whole, in a binary file that grows; `from` is what this gave before, or 0.
/// Bytes that are not a chunk count as one.
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
    /// Chunks, or the events of a packed file; for text, the chunk that it stands for.
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
    /// Where decoded records stand, if their bytes stand nowhere in the file.
    place: Option<u64>,
    /// The chunk has been lent as raw bytes: what nobody decodes need not be lent again.
    carried: bool,
    chunk_end: u64,
    /// Bytes that may still be read again because parts lie on one another: else a small file is endless.
    spare_bytes: u64,
    strings_given: Option<StringTable>,
    /// Definitions count beyond 16 bits: they were made from text.
    is_wide: bool,
    headers: u32,
    warned_no_header: bool,
    /// The end of the last buffer in which the original's reading was followed.
    shadowed_until: u64,
}

/// Where text comes from.
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
    /// In a chunk, before the part with this place in the plan.
    Part(usize),
    /// In an event buffer.
    Events(Buffer),
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
    /// The chunk that begins here was lent raw and is decoded now.
    Carried(u64),
    Events(Buffer),
}

/// The event buffer that is being read.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    end: u64,
    encoding: Encoding,
    /// The part behind it; a packed file is one buffer and nothing else.
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

    /// Goes on with the chunks that were appended to a binary file since its end was reached.
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

    /// Whether [`crate::Event::time_us`] goes on where the stored microseconds start again, after 71 minutes;
    /// it does unless this says otherwise, before the first record is read.
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

    fn leave_events(&mut self, buffer: Buffer) {
        self.state = buffer.then.map_or(State::Done, State::Part);
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

    /// Events are taken in a loop of their own while nothing about them is unusual.
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
