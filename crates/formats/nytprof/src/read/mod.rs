//! Walks the records of a real stream, front to back, including the compressed part.

mod damage;
mod deflate;
mod probe;
mod text;
mod walk;

use traceloom_core::{Error, Finding, Limits, Located, Options, Position, Records, Result, Source, Window};

use self::text::text_record;
use crate::{
    Header, NvLayout, Record, TimeLine,
    check::Checker,
    dialect::{self, dialect},
    findings::{INTEGER_PADDED, VERSION_LINE, VERSION_NEWER},
    inflate::Inflater,
    parse::{self, Statement, Stop},
    raw::{NYTP_FILE_MAJOR_VERSION, NYTP_FILE_MINOR_VERSION, Tag},
    record::brief,
};

/// Opens a profile of Devel::NYTProf.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    if !dialect::begins(&source.prefix(64)?) {
        let message = "this is not a NYTProf file: it does not start with NYTProf and a version";
        return Err(Error::unrecognized(message).at(Position::at(0).field("version")));
    }
    let found = dialect(&source, &options.limits)?;
    if found.is_pynytprof() {
        let message = format!("this is a file of {}, which Devel::NYTProf cannot load", found.as_str());
        return Err(Error::unrecognized(message));
    }
    Reader::new(source, options)
}

/// Reads one profile; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    window: Window,
    source: Source,
    header: Header,
    checker: Checker,
    limits: Limits,
    part: Part,
    state: State,
    inflater: Option<Inflater>,
    nv: Option<NvLayout>,
}

/// The field name that marks an offset in the decompressed bytes.
pub const INFLATED: &str = "inflated";

/// Which bytes the window shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Plain,
    Inflated,
    AfterInflated,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Lines at the start: a stray line does not end the read.
    Text,
    Records,
    /// The rest of the part cannot be read.
    Residue,
    Done,
}

/// The kind of the next record; its bytes are in the window.
#[derive(Clone, Copy, Debug)]
enum Step {
    Done,
    TimeLine(Statement),
    Binary { len: usize, layout: NvLayout },
    Text { tag: Tag, len: usize },
    Residue { len: usize },
    StartDeflate { offset: u64, level: u8 },
    EndDeflate { offset: u64 },
}

/// No record without a string is longer, and the first byte after it is also visible.
const AHEAD: usize = 64;
/// Maximum number of bytes that a wrong guess of the number layout may request.
const MAX_PROBED: usize = 1 << 20;

impl Reader {
    fn new(source: Source, options: &Options) -> Result<Self> {
        let length = source.len()?;
        let mut limits = options.limits.clone();
        // A string is kept completely. The contents of a small file must not take more memory than the file justifies.
        let worth = (16 << 20) + usize::try_from(length).unwrap_or(usize::MAX / 4);
        limits.record_bytes = limits.record_bytes.min(worth);
        let mut reader = Self {
            window: Window::new(source.clone(), &limits),
            source,
            header: Header::default(),
            checker: Checker::new(options, length),
            limits,
            part: Part::Plain,
            state: State::Text,
            inflater: None,
            nv: None,
        };
        reader.read_header()?;
        Ok(reader)
    }

    /// How numbers are stored; known once one has been read.
    pub fn nv_layout(&self) -> Option<NvLayout> {
        self.nv
    }

    /// Whether the current records are compressed in the file.
    pub fn is_inflating(&self) -> bool {
        self.part == Part::Inflated
    }

    /// Length of the file.
    pub(crate) fn source_bytes(&self) -> Result<u64> {
        self.source.len()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn read_header(&mut self) -> Result<()> {
        let len = self.window.line_len()?;
        let line = self.window.take(len);
        let Some(header) = probe::parse_version(line) else {
            let message = "the first line is not NYTProf and two numbers";
            return Err(Error::unrecognized(message).at(Position::at(0).field("version")));
        };
        self.header = header;
        let (major, minor) = (self.header.major, self.header.minor);
        let position = Position::at(0).field("version");
        if major != NYTP_FILE_MAJOR_VERSION {
            let message = format!("NYTProf format version {major}.{minor}; only version 5 is known");
            return Err(Error::unrecognized(message).at(position));
        }
        if minor > NYTP_FILE_MINOR_VERSION {
            let newer = Finding::new(&VERSION_NEWER, position).with("major", major).with("minor", minor);
            self.checker.findings.report(newer)?;
        }
        if !self.header.rest.is_empty() {
            let rest = brief(&self.header.rest);
            self.checker.findings.report(Finding::new(&VERSION_LINE, position).with("text", rest))?;
        }
        Ok(())
    }

    #[inline]
    fn position(&self) -> Position {
        position_of(self.window.offset(), self.part == Part::Inflated)
    }

    #[inline]
    fn time_line(&mut self) -> Result<Step> {
        let Some(statement) = parse::time_line(self.window.bytes()) else { return self.binary() };
        let Statement { ticks, fid, line, is_padded, .. } = statement;
        let (offset, is_inflated) = (self.window.offset(), self.part == Part::Inflated);
        self.state = State::Records;
        self.checker.time(ticks, fid, line, || position_of(offset, is_inflated))?;
        if is_padded {
            self.checker.findings.report(Finding::new(&INTEGER_PADDED, position_of(offset, is_inflated)))?;
        }
        Ok(Step::TimeLine(statement))
    }

    fn binary(&mut self) -> Result<Step> {
        let tag = Tag(self.window.bytes().first().copied().unwrap_or(0));
        let layout = match self.nv {
            Some(layout) => layout,
            None if matches!(tag, Tag::PID_START | Tag::PID_END | Tag::SUB_RETURN | Tag::SUB_CALLERS) => {
                self.decide_layout()?
            }
            None => NvLayout::COMMON,
        };
        let position = self.position();
        if let Err(stop) = self.measure(layout, usize::MAX)? {
            return self.stop(tag, stop);
        }
        match parse::record(self.window.bytes(), layout) {
            Ok((record, len)) => {
                self.checker.record(&record, position)?;
                self.state = State::Records;
                Ok(Step::Binary { len, layout })
            }
            Err(stop) => self.stop(tag, stop),
        }
    }

    /// The length of the record at the front, which is made available completely.
    fn measure(&mut self, layout: NvLayout, max: usize) -> Result<Result<usize, Stop>> {
        loop {
            match parse::record(self.window.bytes(), layout) {
                Ok((_, len)) => return Ok(Ok(len)),
                Err(Stop::Need(needed)) => {
                    if needed > max || self.window.grow(needed)? < needed {
                        return Ok(Err(Stop::Need(needed)));
                    }
                }
                Err(stop) => return Ok(Err(stop)),
            }
        }
    }

    /// Determines the next record and applies all rules to it; the remaining work cannot fail.
    #[inline]
    fn step(&mut self) -> Result<Step> {
        match self.state {
            State::Text | State::Records => {}
            State::Residue => return self.residue(),
            State::Done => return Ok(Step::Done),
        }
        let Some(tag) = self.window.fill(AHEAD)?.first().map(|tag| Tag(*tag)) else { return self.end_of_part() };
        match tag {
            Tag::TIME_LINE => self.time_line(),
            Tag::ATTRIBUTE | Tag::OPTION | Tag::COMMENT => self.text(tag),
            Tag::START_DEFLATE => self.start_deflate(),
            _ => self.binary(),
        }
    }

    fn lend(&mut self, step: Step) -> Option<Located<Record<'_>>> {
        let offset = self.window.offset();
        let (len, record) = match step {
            Step::Done => return None,
            Step::StartDeflate { offset, level } => {
                return Some(Located { offset, len: 1, record: Record::StartDeflate(level) });
            }
            Step::EndDeflate { offset } => return Some(Located { offset, len: 0, record: Record::EndDeflate }),
            Step::TimeLine(Statement { ticks, fid, line, len, is_padded }) => {
                let odd_bytes = Some(self.window.take(len)).filter(|_| is_padded);
                (len, Record::TimeLine(TimeLine { ticks, fid, line, odd_bytes }))
            }
            Step::Residue { len } => (len, Record::Residue(self.window.take(len))),
            Step::Text { tag, len } => (len, text_record(tag, self.window.take(len))),
            Step::Binary { len, layout } => {
                let bytes = self.window.take(len);
                (len, parse::record(bytes, layout).map_or(Record::Residue(bytes), |(record, _)| record))
            }
        };
        Some(Located { offset, len: len as u64, record })
    }
}

impl Records for Reader {
    traceloom_core::records_of!(crate::Nytprof, checker.findings);

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        // The hot path of nearly every file: a plain statement in the middle of a window.
        if self.state == State::Records
            && let bytes = self.window.bytes()
            && bytes.len() >= AHEAD
            && bytes.first() == Some(&Tag::TIME_LINE.0)
            && let Some(Statement { ticks, fid, line, len, is_padded: false }) = parse::time_line(bytes)
            && self.checker.passes_time(ticks, fid, line)
        {
            let offset = self.window.offset();
            self.window.consume(len);
            let record = Record::TimeLine(TimeLine { ticks, fid, line, odd_bytes: None });
            return Ok(Some(Located { offset, len: len as u64, record }));
        }
        match self.step() {
            Ok(step) => Ok(self.lend(step)),
            Err(error) => {
                self.state = State::Done;
                Err(error)
            }
        }
    }

    #[inline]
    fn walk<E: From<Error>>(&mut self, mut visit: impl FnMut(Located<Record<'_>>) -> Result<(), E>) -> Result<(), E> {
        loop {
            let result = match self.walk_run(&mut visit) {
                Ok(()) => match self.next()? {
                    Some(located) => visit(located),
                    None => return Ok(()),
                },
                Err(error) => Err(error),
            };
            if result.is_err() {
                self.state = State::Done;
                return result;
            }
        }
    }
}

/// The position of an offset in this part of the file.
fn position_of(offset: u64, is_inflated: bool) -> Position {
    let position = Position::at(offset);
    if is_inflated { position.field(INFLATED) } else { position }
}
