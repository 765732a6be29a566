//! Walks the records of a real stream, front to back, through the compressed part as well.

use traceloom_core::{Error, Finding, Findings, Limits, Located, Options, Position, Records, Result, Source, Window};

use crate::{
    Header, NvLayout, Pair, Record, TimeLine,
    check::Checks,
    dialect::{self, dialect},
    findings::*,
    inflate::{Inflater, Outcome, Wrapper},
    parse::{self, Stop},
    probe,
    raw::{NYTP_FILE_MAJOR_VERSION, NYTP_FILE_MINOR_VERSION, ORIGINAL_BUFFER, ORIGINAL_LINE, Tag},
    record::brief,
};

/// Opens a profile of Devel::NYTProf.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    if !dialect::begins(&source.prefix(64)?) {
        let message = "this is not a NYTProf file: it does not begin with NYTProf and a version";
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
    pub(crate) window: Window,
    source: Source,
    header: Header,
    pub(crate) checks: Checks,
    limits: Limits,
    part: Part,
    pub(crate) state: State,
    inflater: Option<Inflater>,
    pub(crate) nv: Option<NvLayout>,
}

/// The name that marks an offset in the decompressed bytes.
pub const INFLATED: &str = "inflated";

/// Which bytes the window shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Plain,
    Inflated,
    AfterInflated,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// Lines at the start: a stray line does not end the read.
    Text,
    Records,
    /// The rest of the part cannot be read.
    Residue,
    Done,
}

/// What the next record is; its bytes are in the window.
#[derive(Clone, Copy, Debug)]
enum Step {
    Done,
    TimeLine { ticks: i32, fid: u32, line: u32, len: usize, is_padded: bool },
    Binary { len: usize, layout: NvLayout },
    Text { tag: Tag, len: usize },
    Residue { len: usize },
    StartDeflate { offset: u64, level: u8 },
    EndDeflate { offset: u64 },
}

/// No record without a string is longer, and the first byte after it is in sight too.
pub(crate) const AHEAD: usize = 64;
/// Bytes that a wrong guess at the layout of numbers may ask for.
pub(crate) const MOST_PROBED: usize = 1 << 20;

impl Reader {
    fn new(source: Source, options: &Options) -> Result<Self> {
        let length = source.len()?;
        let mut limits = options.limits.clone();
        // A string is kept whole. What a small file unpacks to must not ask for more memory than the file is worth.
        let worth = (16 << 20) + usize::try_from(length).unwrap_or(usize::MAX / 4);
        limits.record_bytes = limits.record_bytes.min(worth);
        let findings = Findings::new(options.mode, &limits);
        let mut reader = Self {
            window: Window::new(source.clone(), &limits),
            source,
            header: Header::default(),
            checks: Checks::new(findings, length),
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

    /// Whether the records that come now are compressed in the file.
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
        let len = self.line_len()?;
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
            self.checks.findings.report(newer)?;
        }
        if !self.header.rest.is_empty() {
            let rest = brief(&self.header.rest);
            self.checks.findings.report(Finding::new(&VERSION_LINE, position).with("text", rest))?;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn position(&self) -> Position {
        let position = Position::at(self.window.offset());
        if self.part == Part::Inflated { position.field(INFLATED) } else { position }
    }

    /// Length of the line at the front with its newline, or of all there is.
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

    /// Makes `wanted` bytes available, in steps, so that a lie about a length costs no memory.
    pub(crate) fn grow(&mut self, wanted: usize) -> Result<usize> {
        loop {
            let available = self.window.bytes().len();
            if available >= wanted {
                return Ok(available);
            }
            let step = wanted.min(available.saturating_mul(2).max(AHEAD));
            if self.window.fill(step)?.len() < step {
                return Ok(self.window.bytes().len());
            }
        }
    }

    #[inline]
    fn time_line(&mut self) -> Result<Step> {
        let Some((ticks, fid, line, len, is_padded)) = parse::time_line(self.window.bytes()) else {
            return self.binary();
        };
        let (offset, is_inflated) = (self.window.offset(), self.part == Part::Inflated);
        self.state = State::Records;
        self.checks.time(ticks, fid, line, || place(offset, is_inflated))?;
        if is_padded {
            self.checks.findings.report(Finding::new(&INTEGER_PADDED, place(offset, is_inflated)))?;
        }
        Ok(Step::TimeLine { ticks, fid, line, len, is_padded })
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
                self.checks.record(&record, position)?;
                self.state = State::Records;
                Ok(Step::Binary { len, layout })
            }
            Err(stop) => self.stop(tag, stop),
        }
    }

    /// The length of the record at the front, made available whole.
    pub(crate) fn measure(&mut self, layout: NvLayout, most: usize) -> Result<Result<usize, Stop>> {
        loop {
            match parse::record(self.window.bytes(), layout) {
                Ok((_, len)) => return Ok(Ok(len)),
                Err(Stop::Need(needed)) => {
                    if needed > most || self.grow(needed)? < needed {
                        return Ok(Err(Stop::Need(needed)));
                    }
                }
                Err(stop) => return Ok(Err(stop)),
            }
        }
    }

    /// The record at the front cannot be read.
    fn stop(&mut self, tag: Tag, stop: Stop) -> Result<Step> {
        let position = self.position();
        let left = self.window.bytes().len();
        match stop {
            Stop::Need(needed) => {
                self.state = State::Residue;
                // A cut inside the compressed part is told once, as what it is.
                if !self.is_cut_inflating() {
                    let cut = Finding::new(&TRUNCATED, position).with("record", tag.to_string());
                    self.checks.findings.report(cut.with("needed", needed).with("left", left))?;
                }
            }
            Stop::NoString { at, tag } => {
                self.state = State::Residue;
                let place = Position { offset: position.offset + at as u64, ..position };
                let odd = Finding::new(&STRING_TAG, place).with("tag", Tag(tag).to_string());
                self.checks.findings.report(odd)?;
            }
            Stop::Unknown => return self.unknown(tag, position),
        }
        self.residue()
    }

    fn is_cut_inflating(&self) -> bool {
        let outcome = self.inflater.as_ref().and_then(Inflater::outcome);
        self.part == Part::Inflated && matches!(outcome, Some(Outcome::Truncated | Outcome::Damaged(_)))
    }

    fn unknown(&mut self, tag: Tag, position: Position) -> Result<Step> {
        let resumes = self.state == State::Text && self.part == Part::Plain;
        let len = if resumes { self.stray_lines()? } else { None };
        let skipped = match len {
            Some(len) => format!("{len} bytes up to the next line that makes sense are skipped"),
            None => "the rest cannot be read".to_owned(),
        };
        let unknown = Finding::new(&UNKNOWN_TAG, position).with("tag", tag.to_string()).with("skipped", skipped);
        self.checks.findings.report(unknown)?;
        match len {
            Some(len) => Ok(Step::Residue { len }),
            None => {
                self.state = State::Residue;
                self.residue()
            }
        }
    }

    /// The profiler writes a script's name as it is, with its newlines: what follows one is no record.
    fn stray_lines(&mut self) -> Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let bytes = self.window.bytes();
            let pairs = bytes.windows(2).skip(searched);
            let found = pairs.enumerate().find(|(_, pair)| matches!(pair, [b'\n', b':' | b'!' | b'#' | b'P' | b'z']));
            if let Some((index, _)) = found {
                return Ok(Some(searched + index + 1));
            }
            let available = bytes.len();
            if available > MOST_PROBED || self.grow(available + 1)? <= available {
                return Ok(None);
            }
            searched = available.saturating_sub(1);
        }
    }

    fn residue(&mut self) -> Result<Step> {
        match self.window.fill(1)?.len() {
            0 => self.end_of_part(),
            len => Ok(Step::Residue { len }),
        }
    }

    fn text(&mut self, tag: Tag) -> Result<Step> {
        let len = self.line_len()?;
        if self.window.bytes().get(len - 1) != Some(&b'\n') {
            return self.stop(tag, Stop::Need(len + 1));
        }
        self.inspect_text(tag, len, self.position())?;
        Ok(Step::Text { tag, len })
    }

    fn inspect_text(&mut self, tag: Tag, len: usize, position: Position) -> Result<()> {
        let line = self.window.bytes().get(1..len - 1).unwrap_or_default();
        let (checks, at) = (&mut self.checks, |rule| Finding::new(rule, position));
        let is_inflated = self.part == Part::Inflated;
        if line.contains(&0) && !is_inflated {
            checks.findings.report(at(&TEXT_NUL))?;
        }
        if is_inflated && line.len() > ORIGINAL_LINE {
            checks.findings.report(at(&TEXT_LONG).with("bytes", line.len()))?;
        }
        let (first, last) = (position.offset + 1, position.offset + len as u64 - 1);
        if is_inflated && first / ORIGINAL_BUFFER != last / ORIGINAL_BUFFER {
            checks.findings.report(at(&TEXT_STRADDLES))?;
        }
        let pair = Pair::split(line);
        match (tag, pair.value) {
            (Tag::ATTRIBUTE, Some(value)) => checks.attribute(pair.key, value, position),
            (Tag::ATTRIBUTE, None) => checks.findings.report(at(&ATTRIBUTE_MALFORMED).with("key", brief(pair.key))),
            (Tag::OPTION, None) => checks.findings.report(at(&OPTION_MALFORMED).with("key", brief(pair.key))),
            _ => Ok(()),
        }
    }

    fn start_deflate(&mut self) -> Result<Step> {
        let position = self.position();
        if self.part == Part::Inflated {
            self.checks.findings.report(Finding::new(&ZLIB_NESTED, position))?;
            self.state = State::Residue;
            return self.residue();
        }
        let (wrapper, level) = Wrapper::of(self.window.fill(4)?.get(1..).unwrap_or_default());
        if wrapper != Wrapper::Zlib {
            let odd = Finding::new(&ZLIB_HEADER, position).with("found", wrapper.name());
            self.checks.findings.report(odd)?;
        }
        let inflater = Inflater::new(self.source.clone(), position.offset + 1, wrapper);
        self.window = Window::new(inflater.source(), &self.limits);
        self.inflater = Some(inflater);
        self.part = Part::Inflated;
        Ok(Step::StartDeflate { offset: position.offset, level })
    }

    /// The part's bytes are all read.
    fn end_of_part(&mut self) -> Result<Step> {
        let position = self.position();
        let outcome = self.inflater.as_ref().and_then(Inflater::outcome);
        let (Part::Inflated, Some(outcome)) = (self.part, outcome) else { return self.finish(position) };
        let at = |rule| Finding::new(rule, position).with("bytes", position.offset);
        let next = match outcome {
            Outcome::Complete(next) => next,
            Outcome::Checksum(next) => {
                self.checks.findings.report(at(&ZLIB_CHECKSUM))?;
                next
            }
            Outcome::Truncated => {
                self.checks.findings.report(at(&ZLIB_TRUNCATED))?;
                return self.finish(position);
            }
            Outcome::Damaged(reason) => {
                self.checks.findings.report(at(&ZLIB_DAMAGED).with("reason", reason))?;
                return self.finish(position);
            }
        };
        self.part = Part::AfterInflated;
        self.state = State::Residue;
        self.window = Window::new(self.source.clone(), &self.limits);
        self.window.seek(next);
        self.inspect_trailer(next)?;
        Ok(Step::EndDeflate { offset: position.offset })
    }

    fn inspect_trailer(&mut self, at: u64) -> Result<()> {
        let bytes = self.source.len()?.saturating_sub(at);
        let trailer = self.window.fill(15)?;
        if !trailer.is_empty() && !trailer.starts_with(b"#\n# Compressed ") {
            let odd = Finding::new(&ZLIB_TRAILING, Position::at(at)).with("bytes", bytes);
            self.checks.findings.report(odd)?;
        }
        Ok(())
    }

    fn finish(&mut self, position: Position) -> Result<Step> {
        self.state = State::Done;
        self.checks.finish(position)?;
        Ok(Step::Done)
    }

    /// Decides on the next record and applies all rules to it; what is left to do cannot fail.
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
            Step::TimeLine { ticks, fid, line, len, is_padded } => {
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
    type Codec = crate::Nytprof;

    fn header(&self) -> &Header {
        &self.header
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        // The hot path of nearly every file: a plain statement in the middle of a window.
        if self.state == State::Records
            && let bytes = self.window.bytes()
            && bytes.len() >= AHEAD
            && bytes.first() == Some(&Tag::TIME_LINE.0)
            && let Some((ticks, fid, line, len, false)) = parse::time_line(bytes)
            && self.checks.passes_time(ticks, fid, line)
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

    fn findings(&self) -> &Findings {
        &self.checks.findings
    }

    fn into_findings(self) -> Findings {
        self.checks.findings
    }
}

fn text_record(tag: Tag, line: &[u8]) -> Record<'_> {
    let text = line.get(1..line.len().saturating_sub(1)).unwrap_or_default();
    match tag {
        Tag::ATTRIBUTE => Record::Attribute(Pair::split(text)),
        Tag::OPTION => Record::Option(Pair::split(text)),
        _ => Record::Comment(text),
    }
}

pub(crate) fn place(offset: u64, is_inflated: bool) -> Position {
    let position = Position::at(offset);
    if is_inflated { position.field(INFLATED) } else { position }
}
