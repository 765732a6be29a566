//! Walks the records of a Pynytprof file, whichever form it has.

use std::io;

use traceloom_core::{
    ByteOrder, Cursor, Error, Finding, Findings, Limits, Located, Options, Position, Records, Result, Source, Window,
};

use super::{
    check::Checks,
    findings::*,
    forms::{Contents, Context},
    item,
    raw::{CHUNK_HEAD, Form, LENGTH_PROCESS_BYTES, PROCESS_BYTES, Tag},
    record::{Chunk, Header, Process, Record},
};
use crate::{
    Dialect, INFLATED, NvLayout, Pair,
    dialect::{ANCESTOR_MAGIC, begins, dialect, true_len},
    inflate::{Inflater, Outcome, Wrapper},
    parse,
    record::brief,
};

/// Opens a file of Pynytprof.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    if !begins(&source.prefix(64)?) {
        let message = "this is not a file of Pynytprof: it does not begin with NYTProf and a version";
        return Err(Error::unrecognized(message).at(Position::at(0).field("version")));
    }
    match dialect(&source, &options.limits)? {
        Dialect::Nytprof => Err(Error::unrecognized("this is a profile of Devel::NYTProf, not of Pynytprof")),
        found => Reader::new(source, found, options),
    }
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    window: Window,
    /// The bytes of the part that is read: the file, or what its compressed part holds.
    source: Source,
    file: Source,
    /// Length of the part that is read.
    length: u64,
    file_bytes: u64,
    header: Header,
    checks: Checks,
    limits: Limits,
    state: State,
    context: Context,
    is_inflated: bool,
    after_inflated: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Banner,
    Process,
    Chunks,
    /// Inside a chunk, with so many bytes left.
    Items(Form, u64),
    Tokens,
    Residue,
    Done,
}

/// What the next record is; its bytes are in the window.
#[derive(Clone, Copy, Debug)]
enum Step {
    Again,
    Done,
    Text { len: usize },
    StartDeflate { offset: u64, level: u8 },
    EndDeflate { offset: u64 },
    Process(Process, usize),
    Chunk(Chunk),
    Item { form: Form, len: usize },
    Token { len: usize },
    Residue { len: usize },
}

impl Reader {
    fn new(source: Source, dialect: Dialect, options: &Options) -> Result<Self> {
        let length = true_len(&source)?;
        let mut limits = options.limits.clone();
        limits.record_bytes = limits.record_bytes.min((16 << 20) + usize::try_from(length).unwrap_or(usize::MAX / 4));
        let findings = Findings::new(options.mode, &limits);
        let mut reader = Self {
            window: Window::new(source.clone(), &limits),
            file: source.clone(),
            source,
            length,
            file_bytes: length,
            header: Header { dialect, head: Vec::new() },
            checks: Checks::new(findings, length),
            limits,
            state: State::Banner,
            context: Context::default(),
            is_inflated: false,
            after_inflated: None,
        };
        reader.read_head()?;
        Ok(reader)
    }

    fn read_head(&mut self) -> Result<()> {
        let position = Position::at(0);
        let not_loadable = Finding::new(&NOT_LOADABLE, position).with("form", self.header.dialect.as_str());
        self.checks.findings.report(not_loadable)?;
        if self.header.dialect == Dialect::Ancestor {
            self.checks.findings.report(Finding::new(&ANCESTOR, position))?;
            let len = self.ancestor_head()?;
            self.header.head = self.window.take(len).to_vec();
            self.state = State::Chunks;
            return Ok(());
        }
        let len = self.line_len()?;
        self.header.head = self.window.take(len).to_vec();
        if self.header.head != b"NYTProf 5 0\n" {
            let text = brief(self.header.head.trim_ascii_end());
            self.checks.findings.report(Finding::new(&VERSION, position.field("version")).with("text", text))?;
        }
        Ok(())
    }

    /// The ancestor's header is the magic and two numbers, or the magic, a number and a length; then chunks.
    fn ancestor_head(&mut self) -> Result<usize> {
        let ahead = self.window.fill(64)?;
        let is_chunk = |at: &usize| ahead.get(*at).is_some_and(|tag| Tag(*tag).is_known());
        let shortest = ANCESTOR_MAGIC.len();
        let at = [shortest + 8, shortest + 12, shortest + 4].into_iter().find(is_chunk);
        Ok(at.unwrap_or(ahead.len().min(shortest + 8)))
    }

    fn position(&self) -> Position {
        let position = Position::at(self.window.offset());
        if self.is_inflated { position.field(INFLATED) } else { position }
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.window.offset())
    }

    /// Makes `wanted` bytes available, in steps, so that a lie about a length costs no memory.
    fn grow(&mut self, wanted: usize) -> Result<usize> {
        loop {
            let available = self.window.bytes().len();
            let step = wanted.min(available.saturating_mul(2).max(64));
            if available >= wanted || self.window.fill(step)?.len() < step {
                return Ok(self.window.bytes().len());
            }
        }
    }

    fn line_len(&mut self) -> Result<usize> {
        let mut searched = 0;
        loop {
            let bytes = self.window.bytes();
            if let Some(found) = bytes.iter().skip(searched).position(|byte| *byte == b'\n') {
                return Ok(searched + found + 1);
            }
            searched = bytes.len();
            if self.grow(searched + 1)? <= searched {
                return Ok(searched);
            }
        }
    }

    fn banner(&mut self) -> Result<Step> {
        match self.window.fill(1)?.first() {
            Some(b':' | b'!' | b'#' | b'\n') => {
                let len = self.line_len()?;
                let position = self.position();
                let line = self.window.bytes().get(..len).unwrap_or_default();
                if line.last() != Some(&b'\n') {
                    return self.truncated("a line of text".to_owned(), len as u64 + 1);
                }
                self.checks.text(line, position)?;
                Ok(Step::Text { len })
            }
            Some(b'z') if !self.is_inflated => self.start_deflate(),
            _ => {
                self.checks.end_banner(self.position())?;
                self.state = State::Process;
                Ok(Step::Again)
            }
        }
    }

    /// The compressed part is small and is needed at any place, so it is unpacked to a temporary file.
    fn start_deflate(&mut self) -> Result<Step> {
        let offset = self.window.offset();
        self.checks.findings.report(Finding::new(&ZLIB, Position::at(offset)))?;
        let (wrapper, level) = Wrapper::of(self.window.fill(4)?.get(1..).unwrap_or_default());
        let inflater = Inflater::new(self.file.clone(), offset + 1, wrapper);
        self.source = Source::spool(Stream { source: inflater.source(), offset: 0 }, &self.limits)?;
        self.length = self.source.len()?;
        self.window = Window::new(self.source.clone(), &self.limits);
        self.is_inflated = true;
        let reason = match inflater.outcome() {
            Some(Outcome::Complete(next)) => {
                self.after_inflated = Some(next);
                None
            }
            Some(Outcome::Checksum(next)) => {
                self.after_inflated = Some(next);
                Some("complete and has a wrong checksum".to_owned())
            }
            Some(Outcome::Damaged(reason)) => Some(format!("damaged ({reason})")),
            Some(Outcome::Truncated) | None => Some("cut".to_owned()),
        };
        if let Some(reason) = reason {
            let damaged = Finding::new(&ZLIB_DAMAGED, Position::at(offset)).with("reason", reason);
            self.checks.findings.report(damaged.with("bytes", inflater.produced()))?;
        }
        Ok(Step::StartDeflate { offset, level })
    }

    fn process(&mut self) -> Result<Step> {
        self.state = if self.header.dialect == Dialect::Tokens { State::Tokens } else { State::Chunks };
        let position = self.position();
        let has_length = self.header.dialect == Dialect::LengthProcess;
        let len = if has_length { LENGTH_PROCESS_BYTES } else { PROCESS_BYTES };
        let bytes = self.window.fill(len)?;
        if bytes.first() != Some(&b'P') {
            self.checks.no_process(position)?;
            return Ok(Step::Again);
        }
        let Some(fields) = bytes.get(len - 16..len) else {
            return self.truncated("the process record".to_owned(), len as u64);
        };
        let mut cursor = Cursor::new(fields, position.offset, ByteOrder::Little);
        let (pid, ppid, time) = (cursor.u32("pid")?, cursor.u32("ppid")?, cursor.f64("time")?);
        let process = Process { pid, ppid, time, has_length };
        self.checks.process(&process, position)?;
        if self.header.dialect == Dialect::Tokens {
            self.checks.findings.report(Finding::new(&TOKENS, position))?;
        }
        Ok(Step::Process(process, len))
    }

    fn chunk(&mut self) -> Result<Step> {
        let position = self.position();
        let head = self.window.fill(CHUNK_HEAD)?;
        let Some(&tag) = head.first() else { return self.end_of_part() };
        let tag = Tag(tag);
        let length = head.get(1..5).and_then(|length| length.first_chunk()).map(|length| u32::from_le_bytes(*length));
        let left = self.left().saturating_sub(CHUNK_HEAD as u64);
        let is_cut = length.is_none_or(|length| u64::from(length) > left);
        if self.checks.has_ended() && (!tag.is_known() || is_cut) {
            return self.after_end();
        }
        if !tag.is_known() {
            let unknown = Finding::new(&CHUNK_UNKNOWN, position).with("tag", tag.to_string());
            self.checks.findings.report(unknown)?;
            self.state = State::Residue;
            return Ok(Step::Again);
        }
        // A length that no records fill is a lie rather than a sign of a cut.
        let is_lie = matches!(tag, Tag::S | Tag::C) && length.is_some_and(|length| length % 28 != 0);
        let Some(length) = length.filter(|_| !is_cut || !is_lie) else {
            return self.truncated(format!("chunk {tag}"), CHUNK_HEAD as u64 + length.map_or(0, u64::from));
        };
        let available = u64::from(length).min(left);
        let start = position.offset + CHUNK_HEAD as u64;
        let contents = Contents { source: &self.source, start, length: available, is_cut };
        let form = contents.form(tag, self.context)?;
        self.context.is_varint |= form.is_varint();
        self.context.has_ranges |= form == Form::Ranges;
        self.checks.chunk(&Chunk { tag, length, form }, position)?;
        if is_cut {
            self.checks.truncated(format!("chunk {tag}"), length.into(), left, position)?;
        }
        self.state = State::Items(form, available);
        Ok(Step::Chunk(Chunk { tag, length, form }))
    }

    fn item(&mut self, form: Form, left: u64) -> Result<Step> {
        if left == 0 {
            self.state = State::Chunks;
            return Ok(Step::Again);
        }
        let within = usize::try_from(left).unwrap_or(usize::MAX);
        let len = self.item_len(form, within)?;
        let Some(len) = len else {
            if form == Form::Raw {
                // The file has become shorter while it was read.
                self.state = State::Residue;
                return Ok(Step::Again);
            }
            // Only a cut chunk ends inside of an item: the form was chosen because it fits.
            self.state = State::Items(Form::Raw, left);
            return self.item(Form::Raw, left);
        };
        let position = self.position();
        let bytes = self.window.bytes().get(..len).unwrap_or_default();
        self.checks.item(form, bytes, position)?;
        self.state = State::Items(form, left - len as u64);
        Ok(Step::Item { form, len })
    }

    /// The length of the item at the front, made available whole; `None` if it is not within its chunk.
    fn item_len(&mut self, form: Form, within: usize) -> Result<Option<usize>> {
        if form == Form::Raw {
            let available = self.window.fill(1)?.len();
            return Ok(Some(available.min(within)).filter(|len| *len > 0));
        }
        loop {
            let bytes = self.window.bytes();
            let bytes = bytes.get(..within.min(bytes.len())).unwrap_or_default();
            match item::measure(form, bytes) {
                Ok(len) => return Ok(Some(len)),
                Err(needed) if needed > within || self.grow(needed)? < needed => return Ok(None),
                Err(_) => {}
            }
        }
    }

    fn token(&mut self) -> Result<Step> {
        let position = self.position();
        let Some(&tag) = self.window.fill(64)?.first() else { return self.end_of_part() };
        loop {
            let measured = parse::record(self.window.bytes(), NvLayout::COMMON).map(|(_, len)| len);
            match measured {
                Ok(len) => return Ok(Step::Token { len }),
                Err(parse::Stop::Need(needed)) => {
                    if self.grow(needed)? < needed {
                        return self.truncated(format!("a {} record", Tag(tag)), needed as u64);
                    }
                }
                Err(_) => {
                    let unknown = Finding::new(&CHUNK_UNKNOWN, position).with("tag", Tag(tag).to_string());
                    self.checks.findings.report(unknown)?;
                    self.state = State::Residue;
                    return Ok(Step::Again);
                }
            }
        }
    }

    fn truncated(&mut self, what: String, needed: u64) -> Result<Step> {
        self.checks.truncated(what, needed, self.left(), self.position())?;
        self.state = State::Residue;
        Ok(Step::Again)
    }

    fn after_end(&mut self) -> Result<Step> {
        let after = Finding::new(&AFTER_END, self.position()).with("bytes", self.left());
        self.checks.findings.report(after)?;
        self.state = State::Residue;
        Ok(Step::Again)
    }

    fn residue(&mut self) -> Result<Step> {
        match self.window.fill(1)?.len() {
            0 => self.end_of_part(),
            len => Ok(Step::Residue { len }),
        }
    }

    fn end_of_part(&mut self) -> Result<Step> {
        let position = self.position();
        if let Some(next) = self.after_inflated.take() {
            self.is_inflated = false;
            (self.source, self.length) = (self.file.clone(), self.file_bytes);
            self.window = Window::new(self.file.clone(), &self.limits);
            self.window.seek(next);
            self.state = State::Residue;
            if self.left() > 0 {
                self.after_end()?;
            }
            return Ok(Step::EndDeflate { offset: position.offset });
        }
        self.state = State::Done;
        self.checks.finish(self.header.dialect, position)?;
        Ok(Step::Done)
    }

    fn step(&mut self) -> Result<Step> {
        loop {
            let step = match self.state {
                State::Banner => self.banner()?,
                State::Process => self.process()?,
                State::Chunks => self.chunk()?,
                State::Items(form, left) => self.item(form, left)?,
                State::Tokens => self.token()?,
                State::Residue => self.residue()?,
                State::Done => Step::Done,
            };
            if !matches!(step, Step::Again) {
                return Ok(step);
            }
        }
    }

    fn lend(&mut self, step: Step) -> Option<Located<Record<'_>>> {
        let offset = self.window.offset();
        let (len, record) = match step {
            Step::Again | Step::Done => return None,
            Step::StartDeflate { offset, level } => {
                return Some(Located { offset, len: 1, record: Record::StartDeflate(level) });
            }
            Step::EndDeflate { offset } => return Some(Located { offset, len: 0, record: Record::EndDeflate }),
            Step::Text { len } => (len, text(self.window.take(len))),
            Step::Process(process, len) => {
                self.window.consume(len);
                (len, Record::Process(process))
            }
            Step::Chunk(chunk) => {
                self.window.consume(CHUNK_HEAD);
                (CHUNK_HEAD, Record::Chunk(chunk))
            }
            Step::Item { form, len } => (len, item::decode(form, self.window.take(len))),
            Step::Token { len } => {
                let bytes = self.window.take(len);
                let token = parse::record(bytes, NvLayout::COMMON);
                (len, token.map_or(Record::Residue(bytes), |(record, _)| Record::Token(record)))
            }
            Step::Residue { len } => (len, Record::Residue(self.window.take(len))),
        };
        Some(Located { offset, len: len as u64, record })
    }
}

fn text(line: &[u8]) -> Record<'_> {
    let text = line.get(1..line.len().saturating_sub(1)).unwrap_or_default();
    match line.first() {
        Some(b'#') => Record::Comment(text),
        Some(b':') => Record::Attribute(Pair::split(text)),
        Some(b'!') => Record::Option(Pair::split(text)),
        _ => Record::Blank,
    }
}

impl Records for Reader {
    type Codec = crate::pynytprof::Pynytprof;

    fn header(&self) -> &Header {
        &self.header
    }

    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        match self.step() {
            Ok(step) => Ok(self.lend(step)),
            Err(error) => {
                self.state = State::Done;
                Err(error)
            }
        }
    }

    fn findings(&self) -> &Findings {
        &self.checks.findings
    }

    fn into_findings(self) -> Findings {
        self.checks.findings
    }
}

/// The compressed part as a stream.
struct Stream {
    source: Source,
    offset: u64,
}

impl io::Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read_at(self.offset, buffer).map_err(|error| io::Error::other(error.to_string()))?;
        self.offset += read as u64;
        Ok(read)
    }
}
