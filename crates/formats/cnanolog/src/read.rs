//! Walks the records of a file: entries, levels, sites.

mod damage;

use traceloom_core::{Finding, Findings, Located, Options, Position, Records, Result, Rule, Source, Window};

use self::damage::Outlook;
use crate::{
    Clock, Dictionary, Entry, Header, Numbering, Record, Section,
    dictionary::{parse_level, parse_section, parse_site},
    findings::*,
    locate::{self, Span, is_section},
    probe,
    raw::{ENTRY_HEADER_BYTES, HEADER_BYTES, LEVEL_FIXED, SECTION_HEADER_BYTES},
    survey::{self, Region, frame},
};

/// Opens a file: finds its dictionary, its byte order and its dialect.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    open_with(source, options, Extra::default())
}

/// Opens a file with what the caller knows about it.
pub fn open_with(source: Source, options: &Options, extra: Extra) -> Result<Reader> {
    let header = probe::header(&source)?;
    Reader::with_header(source, header, options, extra)
}

/// What only the caller can know about a file.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    /// Whose numbers the levels have, where the guess is wrong.
    pub numbering: Option<Numbering>,
    /// The dictionary of another file of the same program, for a file that has none; see [`Dictionary::of`].
    pub dictionary: Option<Dictionary>,
    /// Where to go on reading a file that grows: where an earlier reader stopped, see [`Reader::resume_at`].
    pub resume_at: Option<u64>,
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    window: Window,
    header: Header,
    /// Bytes of an entry before its arguments.
    header_bytes: usize,
    findings: Findings,
    state: State,
    /// Where the entries end.
    end: u64,
    dictionary: Option<Dictionary>,
    /// The dictionary is the file's own: an id that it does not have is damage.
    is_own: bool,
    levels: Option<Span>,
    sites: Option<Span>,
    /// Slots of the file's own type tables.
    slots: usize,
    entries: u64,
    /// Where damage begins, or the entries end.
    resume_at: Option<u64>,
    is_resumed: bool,
    checks_arguments: bool,
    /// Bytes of the record that is lent: the window moves on when it comes back.
    lent: usize,
    /// What entries look like where no dictionary of the file's own explains them.
    outlook: Outlook,
    /// Up to here, from the place that reading has reached, no entries begin that make sense.
    barren_until: u64,
}

/// An entry that lies whole in the window.
#[derive(Clone, Copy, Debug)]
struct Frame {
    id: u32,
    len: usize,
    index: Option<u32>,
}

/// The next record, which lies whole in the window: found first and lent afterwards, so that an error can end the walk.
#[derive(Clone, Copy, Debug)]
enum Step {
    Entry(Frame),
    Levels(Section),
    Level(usize),
    Dictionary(Section),
    Site(usize),
    Residue(usize),
}

#[derive(Clone, Copy, Debug)]
enum State {
    Entries,
    /// Bytes of a damaged stretch so far.
    Lost(u64),
    Levels,
    Level(u32),
    Dictionary,
    Site(u32),
    Trailing {
        reported: bool,
    },
    Done,
}

/// Damaged stretches and trailing bytes go out in pieces of this size, whatever the window's.
const PIECE: usize = 64 << 10;
/// Longest name of a level.
const MOST_NAME: usize = 255;

impl Reader {
    fn with_header(source: Source, header: Header, options: &Options, extra: Extra) -> Result<Self> {
        let mut findings = Findings::new(options.mode, &options.limits);
        probe::findings(&header).into_iter().try_for_each(|finding| findings.report(finding))?;
        let trailer = locate::trailer(&source, &header, extra.resume_at, &options.limits, &mut findings)?;
        let end = match &trailer {
            Some(trailer) => trailer.at(),
            None => source.len()?,
        };
        let (levels, sites) =
            (trailer.as_ref().and_then(|trailer| trailer.levels), trailer.as_ref().map(|it| it.sites));
        let slots = trailer.as_ref().map_or(0, |trailer| trailer.dictionary.slots());
        // A dictionary that is cut gives way to a supplied one.
        let is_own = trailer.as_ref().is_some_and(|trailer| trailer.is_whole || extra.dictionary.is_none());
        let mut dictionary = trailer.filter(|_| is_own).map(|trailer| trailer.dictionary);
        let region = Region { source: &source, header: &header, end, limits: &options.limits };
        let sites_at = sites.map_or(0, |sites| sites.at + SECTION_HEADER_BYTES as u64);
        survey::settle(&mut dictionary, extra.dictionary, sites_at, &region, &mut findings)?;
        if let (Some(dictionary), Some(numbering)) = (&mut dictionary, extra.numbering) {
            dictionary.number_levels(numbering);
        }
        let outlook = Outlook::of(&header);
        let mut window = Window::new(source, &options.limits);
        let start = extra.resume_at.unwrap_or(0).max(header.stored_bytes.min(HEADER_BYTES) as u64);
        window.seek(start);
        Ok(Self {
            window,
            header_bytes: header.entry_header_bytes(),
            header,
            findings,
            state: State::Entries,
            end,
            dictionary,
            is_own,
            levels,
            sites,
            slots,
            entries: 0,
            resume_at: None,
            is_resumed: extra.resume_at.is_some(),
            checks_arguments: options.is_thorough(),
            lent: 0,
            outlook,
            barren_until: 0,
        })
    }

    /// The clock of the file's timestamps.
    pub fn clock(&self) -> Clock {
        self.header.clock()
    }

    /// Sites and levels, the file's own or supplied ones.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_ref()
    }

    /// Sites and levels, when nothing else is wanted.
    pub fn into_dictionary(self) -> Option<Dictionary> {
        self.dictionary
    }

    /// Whether the dictionary is the file's own.
    pub fn has_own_dictionary(&self) -> bool {
        self.is_own
    }

    /// Where a later reader of a growing file has to go on: after the last whole entry.
    pub fn resume_at(&self) -> u64 {
        self.resume_at.unwrap_or(self.window.offset() + self.lent as u64)
    }

    /// Goes to an entry that was read before; `offset` is what came with it. Entries are no longer counted.
    pub fn seek(&mut self, offset: u64) {
        self.lent = 0;
        self.barren_until = 0;
        self.is_resumed = true;
        self.state = State::Entries;
        self.window.seek(offset);
    }

    fn report(&mut self, rule: &'static Rule, with: impl FnOnce(Finding) -> Finding) -> Result<()> {
        let position = Position::at(self.window.offset());
        self.findings.report(with(Finding::new(rule, position)))
    }

    /// The next entry, if it lies whole in the window, nothing is to be said about it, and another one follows.
    #[inline]
    fn quick_frame(&self) -> Option<Frame> {
        let bytes = self.window.bytes();
        let (id, data_len) = frame(bytes, self.header_bytes, self.header.order)?;
        let len = self.header_bytes + data_len;
        let next = bytes.get(len..)?.first_chunk()?;
        let index = match &self.dictionary {
            Some(dictionary) => {
                dictionary.find(self.header.order.u32(*next))?;
                Some(dictionary.find(id)?)
            }
            None => None,
        };
        let is_inside = len as u64 <= self.end.saturating_sub(self.window.offset());
        if id == 0 && data_len == 0 && self.is_never_written(bytes) {
            return None;
        }
        let is_expected = self.is_own || !self.is_odd(0) && !self.is_odd(len);
        (is_inside && is_expected && !self.checks_arguments).then_some(Frame { id, len, index })
    }

    /// The timestamp of the entry `at` bytes from here, where entries have one.
    #[inline]
    fn timestamp(&self, at: usize) -> Option<u64> {
        match self.header_bytes {
            ENTRY_HEADER_BYTES => {
                let bytes = self.window.bytes().get(at + 4..)?.first_chunk()?;
                Some(self.header.order.u64(*bytes))
            }
            _ => None,
        }
    }

    /// An entry, as far as its arguments are concerned.
    fn entry_at(&self, at: usize, frame: Frame) -> Option<Entry<'_>> {
        let data = self.window.bytes().get(at + self.header_bytes..at + frame.len)?;
        Some(Entry { dictionary: self.dictionary.as_ref(), index: frame.index, ..Entry::new(frame.id, None, data) })
    }

    fn next_entry(&mut self) -> Result<Option<Step>> {
        let offset = self.window.offset();
        let header_bytes = self.header_bytes;
        let left = self.end.saturating_sub(offset);
        let available = self.window.fill(header_bytes)?;
        let Some((id, data_len)) = frame(available, header_bytes, self.header.order) else {
            let available = available.len() as u64;
            return self.end_entries(left.min(available));
        };
        if !self.is_own && is_section(id) {
            return self.half_a_dictionary();
        }
        let len = header_bytes + data_len;
        if len as u64 > left || !self.window.has(len)? {
            return self.broken_frame(data_len, left);
        }
        if self.is_never_written(self.window.bytes()) {
            self.report(&ZEROS, |odd| odd)?;
            return self.lose(1);
        }
        let index = match &self.dictionary {
            Some(dictionary) => match dictionary.find(id) {
                None if self.is_own => return self.unknown_id(id, len),
                index => index,
            },
            None => None,
        };
        let frame = Frame { id, len, index };
        if self.swallows(frame)? {
            self.report(&ENTRY_LENGTH, |odd| odd.with("bytes", data_len))?;
            return self.lose(1);
        }
        if !self.is_own && self.is_odd(0) && self.is_garbage(len)? {
            return self.lose(1);
        }
        if index.is_none() && self.dictionary.is_some() {
            let sites = self.dictionary.as_ref().map_or(0, Dictionary::len);
            self.report(&UNKNOWN_ID, |odd| odd.with("id", id).with("sites", sites))?;
        }
        Ok(Some(Step::Entry(frame)))
    }

    /// The program was stopped, or is still busy, writing its levels or its dictionary.
    #[cold]
    fn half_a_dictionary(&mut self) -> Result<Option<Step>> {
        let section = parse_section(self.window.fill(SECTION_HEADER_BYTES)?, self.header.order);
        let expected = section.map_or(0, |section| section.count);
        self.report(&DICTIONARY_CUT, |cut| cut.with("expected", expected).with("found", 0u32))?;
        self.resume_at = Some(self.window.offset());
        self.state = State::Trailing { reported: true };
        self.check_count()?;
        Ok(None)
    }

    /// No entry header is left.
    #[cold]
    fn end_entries(&mut self, left: u64) -> Result<Option<Step>> {
        if left == 0 {
            self.resume_at = Some(self.window.offset());
            self.state = State::Levels;
            self.check_count()?;
            return Ok(None);
        }
        let needed = self.header_bytes;
        self.report(&ENTRY_CUT, |odd| odd.with("needed", needed).with("left", left))?;
        self.lose(1)
    }

    fn check_entry(&mut self, frame: Frame) -> Result<()> {
        let Some(entry) = self.entry_at(0, frame).filter(|entry| entry.index.is_some()) else { return Ok(()) };
        let rule = match entry.args() {
            None => &ARGUMENTS,
            Some(_) if entry.has_lost_sign() => &SIGN_LOST,
            Some(_) => return Ok(()),
        };
        let bytes = entry.data.len();
        self.report(rule, |odd| odd.with("id", frame.id).with("bytes", bytes))
    }

    fn check_count(&mut self) -> Result<()> {
        if self.is_resumed {
            return Ok(());
        }
        let (expected, found) = (self.header.entry_count, self.entries);
        let Some(rule) = count_rule(expected, found) else { return Ok(()) };
        let odd = Finding::new(rule, Position::at(48).field("entry_count"));
        self.findings.report(odd.with("expected", expected).with("found", found))
    }

    /// Bytes before a section that nothing explains.
    fn gap(&mut self, until: u64) -> Result<Option<Step>> {
        let bytes = until.saturating_sub(self.window.offset());
        self.report(&GAP, |odd| odd.with("bytes", bytes))?;
        let piece = usize::try_from(bytes).map_or(PIECE, |bytes| bytes.min(PIECE));
        let piece = piece.min(self.window.fill(piece)?.len());
        if piece == 0 {
            self.state = State::Trailing { reported: false };
        }
        Ok(residue(piece))
    }

    fn next_section(&mut self, span: Option<Span>, next: State, after: State) -> Result<Option<Step>> {
        let Some(span) = span else {
            self.state = after;
            return Ok(None);
        };
        if self.window.offset() < span.at {
            return self.gap(span.at);
        }
        let Some(section) = parse_section(self.window.fill(SECTION_HEADER_BYTES)?, self.header.order) else {
            return self.shrunk();
        };
        self.state = next;
        Ok(Some(if matches!(next, State::Level(_)) { Step::Levels(section) } else { Step::Dictionary(section) }))
    }

    fn next_level(&mut self, left: u32) -> Result<Option<Step>> {
        let Some((_, len)) = parse_level(self.window.fill(LEVEL_FIXED + MOST_NAME)?) else { return self.shrunk() };
        self.state = State::Level(left - 1);
        Ok(Some(Step::Level(len)))
    }

    fn next_site(&mut self, left: u32) -> Result<Option<Step>> {
        let (order, slots) = (self.header.order, self.slots);
        let mut wanted = 256;
        let len = loop {
            let bytes = self.window.fill(wanted)?;
            match parse_site(bytes, order, slots) {
                Some((_, len)) => break len,
                // Two names of 65 535 bytes at most.
                None if bytes.len() >= wanted && wanted < 1 << 18 => wanted *= 4,
                None => return self.shrunk(),
            }
        };
        self.state = State::Site(left - 1);
        Ok(Some(Step::Site(len)))
    }

    /// The file is shorter than when it was opened.
    #[cold]
    fn shrunk(&mut self) -> Result<Option<Step>> {
        self.state = State::Trailing { reported: false };
        Ok(None)
    }

    fn next_trailing(&mut self) -> Result<Option<Step>> {
        let left = self.window.fill(PIECE)?.len().min(PIECE);
        if left == 0 {
            self.state = State::Done;
        } else if let State::Trailing { reported: false } = self.state {
            self.state = State::Trailing { reported: true };
            let bytes = self.window.source().len()?.saturating_sub(self.window.offset());
            self.report(&TRAILING, |odd| odd.with("bytes", bytes))?;
        }
        Ok(residue(left))
    }

    /// Finds the next record; `None` at the end.
    fn step(&mut self) -> Result<Option<Step>> {
        loop {
            let found = match self.state {
                State::Entries => self.next_entry()?,
                State::Lost(_) => self.lose(0)?,
                State::Levels => self.next_section(self.levels, State::Level(items(self.levels)), State::Dictionary)?,
                State::Level(0) => {
                    self.state = State::Dictionary;
                    None
                }
                State::Level(left) => self.next_level(left)?,
                State::Dictionary => {
                    let after = State::Trailing { reported: false };
                    self.next_section(self.sites, State::Site(items(self.sites)), after)?
                }
                State::Site(0) => {
                    self.state = State::Trailing { reported: false };
                    None
                }
                State::Site(left) => self.next_site(left)?,
                State::Trailing { .. } => self.next_trailing()?,
                State::Done => return Ok(None),
            };
            if let Some(Step::Entry(frame)) = found
                && self.checks_arguments
            {
                self.check_entry(frame)?;
            }
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    #[inline(never)]
    fn next_slowly(&mut self) -> Result<Option<Located<Record<'_>>>> {
        match self.step() {
            Ok(Some(Step::Entry(frame))) => Ok(Some(self.lend(frame))),
            Ok(Some(step)) => Ok(self.lend_other(step)),
            Ok(None) => Ok(None),
            Err(error) => {
                self.state = State::Done;
                Err(error)
            }
        }
    }

    #[inline]
    fn lend(&mut self, frame: Frame) -> Located<Record<'_>> {
        let Frame { id, len, index } = frame;
        let offset = self.window.offset();
        self.entries += 1;
        self.lent = len;
        let timestamp = self.timestamp(0);
        let padded = self.window.bytes().get(self.header_bytes..).unwrap_or_default();
        let data = padded.get(..len - self.header_bytes).unwrap_or_default();
        let entry = Entry { id, timestamp, data, padded, dictionary: self.dictionary.as_ref(), index };
        Located { offset, len: len as u64, record: Record::Entry(entry) }
    }

    fn lend_other(&mut self, step: Step) -> Option<Located<Record<'_>>> {
        let offset = self.window.offset();
        let (order, slots) = (self.header.order, self.slots);
        let bytes = self.window.bytes();
        let (len, record) = match step {
            Step::Levels(section) => (SECTION_HEADER_BYTES, Record::Levels(section)),
            Step::Dictionary(section) => (SECTION_HEADER_BYTES, Record::Dictionary(section)),
            Step::Level(len) => (len, Record::Level(parse_level(bytes)?.0)),
            Step::Site(len) => (len, Record::Site(parse_site(bytes, order, slots)?.0)),
            Step::Residue(len) => (len, Record::Residue(bytes.get(..len)?)),
            Step::Entry(_) => return None,
        };
        self.lent = len;
        Some(Located { offset, len: len as u64, record })
    }
}

impl Records for Reader {
    type Codec = crate::CNanoLog;

    fn header(&self) -> &Header {
        &self.header
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        self.window.consume(std::mem::take(&mut self.lent));
        if let State::Entries = self.state
            && let Some(frame) = self.quick_frame()
        {
            return Ok(Some(self.lend(frame)));
        }
        self.next_slowly()
    }

    fn findings(&self) -> &Findings {
        &self.findings
    }

    fn into_findings(self) -> Findings {
        self.findings
    }
}

fn residue(len: usize) -> Option<Step> {
    (len > 0).then_some(Step::Residue(len))
}

fn items(span: Option<Span>) -> u32 {
    span.map_or(0, |span| span.items)
}

/// What a header's count of 32 bits is worth saying about.
fn count_rule(expected: u32, found: u64) -> Option<&'static Rule> {
    match (u64::from(expected) == found, expected == found as u32) {
        (true, _) => None,
        (false, true) => Some(&COUNT_WRAPPED),
        (false, false) => Some(&COUNT_MISMATCH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_count_is_only_a_note() {
        let code = |expected, found| count_rule(expected, found).map(|rule| rule.code);
        assert_eq!(code(7, 7), None);
        assert_eq!(code(7, 8), Some(COUNT_MISMATCH.code));
        assert_eq!(code(7, 7 + (1 << 32)), Some(COUNT_WRAPPED.code));
        assert_eq!(code(0, 1 << 33), Some(COUNT_WRAPPED.code));
    }
}
