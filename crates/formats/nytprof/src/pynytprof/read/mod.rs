//! Walks the records of a Pynytprof file of any form.

mod chunks;
mod deflate;
mod head;

use traceloom_core::{Error, Finding, Findings, Limits, Located, Options, Position, Records, Result, Source, Window};

use self::{chunks::token, head::text};
use super::{
    check::Checker,
    findings::AFTER_END,
    forms::Context,
    item,
    raw::Layout,
    record::{Chunk, Header, Process, Record},
};
use crate::{
    Dialect, INFLATED,
    dialect::{begins, dialect, true_len},
};

/// Opens a Pynytprof file.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    if !begins(&source.prefix(64)?) {
        let message = "this is not a Pynytprof file: it does not start with NYTProf and a version";
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
    /// The bytes being read: the file, or the contents of its compressed part.
    source: Source,
    file: Source,
    /// Length of the bytes being read.
    length: u64,
    file_bytes: u64,
    header: Header,
    checker: Checker,
    limits: Limits,
    state: State,
    context: Context,
    /// The chunks of a file without lengths.
    planned: std::vec::IntoIter<Chunk>,
    is_inflated: bool,
    after_inflated: Option<u64>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Banner,
    Process,
    Chunks,
    /// Inside a chunk, with this many bytes left.
    Items(Layout, u64),
    /// After the process: records of the real stream may come before the chunks.
    Started,
    Tokens,
    Residue,
    Done,
}

/// The kind of the next record; its bytes are in the window.
#[derive(Clone, Copy, Debug)]
enum Step {
    Again,
    Done,
    Text { len: usize },
    StartDeflate { offset: u64, level: u8 },
    EndDeflate { offset: u64 },
    Process(Process, usize),
    Chunk(Chunk),
    Item { layout: Layout, len: usize },
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
            checker: Checker::new(findings, length),
            limits,
            state: State::Banner,
            context: Context::default(),
            planned: Vec::new().into_iter(),
            is_inflated: false,
            after_inflated: None,
        };
        reader.read_head()?;
        Ok(reader)
    }

    fn position(&self) -> Position {
        let position = Position::at(self.window.offset());
        if self.is_inflated { position.field(INFLATED) } else { position }
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.window.offset())
    }

    fn truncated(&mut self, what: String, needed: u64) -> Result<Step> {
        self.checker.truncated(what, needed, self.left(), self.position())?;
        self.state = State::Residue;
        Ok(Step::Again)
    }

    fn after_end(&mut self) -> Result<Step> {
        let after = Finding::new(&AFTER_END, self.position()).with("bytes", self.left());
        self.checker.findings.report(after)?;
        self.state = State::Residue;
        Ok(Step::Again)
    }

    fn residue(&mut self) -> Result<Step> {
        match self.window.fill(1)?.len() {
            0 => self.end_of_part(),
            len => Ok(Step::Residue { len }),
        }
    }

    fn step(&mut self) -> Result<Step> {
        loop {
            let step = match self.state {
                State::Banner => self.banner()?,
                State::Process => self.process()?,
                State::Chunks => self.chunk()?,
                State::Items(layout, left) => self.item(layout, left)?,
                State::Started => self.start_chunks()?,
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
                let len = chunk.framing.head_bytes();
                self.window.consume(len);
                (len, Record::Chunk(chunk))
            }
            Step::Item { layout, len } => (len, item::decode(layout, self.window.take(len))),
            Step::Token { len } => {
                let dialect = self.header.dialect;
                let bytes = self.window.take(len);
                (len, token(dialect, bytes).map_or(Record::Residue(bytes), |(record, _)| Record::Token(record)))
            }
            Step::Residue { len } => (len, Record::Residue(self.window.take(len))),
        };
        Some(Located { offset, len: len as u64, record })
    }
}

impl Records for Reader {
    traceloom_core::records_of!(crate::pynytprof::Pynytprof, checker.findings);

    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        match self.step() {
            Ok(step) => Ok(self.lend(step)),
            Err(error) => {
                self.state = State::Done;
                Err(error)
            }
        }
    }
}
