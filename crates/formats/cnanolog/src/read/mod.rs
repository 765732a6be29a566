//! Walks the records of a file: entries, levels, sites.

mod ahead;
mod blocks;
mod damage;
mod entries;
mod locate;
mod recover;
mod scan;
mod sections;
mod survey;
mod vet;

use traceloom_core::{Finding, Findings, Located, Options, Position, Records, Result, Rule, Source, Window};

pub use self::ahead::Passage;
use self::{
    blocks::Blocks,
    damage::Outlook,
    entries::Frame,
    locate::{Locator, Span},
    survey::Region,
};
use crate::{
    Clock, Dictionary, Header, Numbering, Record, Section,
    dictionary::{parse_level, parse_site},
    journal, probe,
    raw::{HEADER_BYTES, SECTION_HEADER_BYTES},
};

/// Opens a file: finds its dictionary and detects its byte order and dialect.
pub fn open(source: Source, options: &Options) -> Result<Reader> {
    open_with(source, options, Extra::default())
}

/// Opens a file with facts that the caller knows.
pub fn open_with(source: Source, options: &Options, mut extra: Extra) -> Result<Reader> {
    let header = probe::header(&source)?;
    let companion = source.companion();
    if extra.dictionary.is_none()
        && let Some(journal) = companion
    {
        extra.dictionary = journal::dictionary_in(journal, &header, &options.limits);
    }
    let blocks = Blocks::find(&source, &header, &options.limits, || {
        let lenient = Options::default().with_limits(options.limits.clone());
        let mut plain = Reader::with_header(source.clone(), header.clone(), &lenient, extra.clone(), None)?;
        Ok(plain.is_own || plain.chains(0)?)
    })?;
    Reader::with_header(source, header, options, extra, blocks)
}

/// Facts about a file that only the caller can know.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Extra {
    /// How the levels are numbered (default: detect).
    pub numbering: Option<Numbering>,
    /// The dictionary of another file of the same program, for a file without one; see [`Dictionary::of`].
    pub dictionary: Option<Dictionary>,
    /// Where to continue reading a growing file: where an earlier reader stopped, see [`Reader::resume_at`].
    pub resume_at: Option<u64>,
}

impl Extra {
    /// Sets the numbering of the levels.
    #[must_use]
    pub fn with_numbering(self, numbering: Numbering) -> Self {
        Self { numbering: Some(numbering), ..self }
    }

    /// Sets the dictionary.
    #[must_use]
    pub fn with_dictionary(self, dictionary: Dictionary) -> Self {
        Self { dictionary: Some(dictionary), ..self }
    }

    /// Starts at this offset.
    #[must_use]
    pub fn resuming_at(self, offset: u64) -> Self {
        Self { resume_at: Some(offset), ..self }
    }
}

/// Reads one file; see [`Records`].
#[derive(Debug)]
pub struct Reader {
    window: Window,
    header: Header,
    /// Size of an entry before its arguments.
    header_bytes: usize,
    findings: Findings,
    state: State,
    /// Where the entries end.
    entries_end: u64,
    /// The same, or the end of an earlier block whose entries must not extend beyond it.
    end: u64,
    dictionary: Option<Dictionary>,
    /// Whether the dictionary is the file's.
    is_own: bool,
    /// Whether it is and is complete, so that an unknown id means damage.
    knows_all_ids: bool,
    levels: Option<Span>,
    sites: Option<Span>,
    /// Slots of the file's type tables.
    slots: usize,
    entries: u64,
    /// Where damage starts, or the entries end.
    resume_at: Option<u64>,
    is_resumed: bool,
    checks_arguments: bool,
    /// Size of the borrowed record: the window moves on at the next call.
    lent: usize,
    /// What entries look like if the file has no dictionary.
    outlook: Outlook,
    /// From the current position up to here, no plausible entries start.
    barren_until: u64,
    blocks: Option<Blocks>,
    /// Where the next block starts, in the file without blocks.
    next_block_at: u64,
}

/// The next record, which is completely in the window: found first and returned afterwards, so that an error can end
/// the walk.
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
    /// Number of bytes of a damaged range so far.
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

/// Damaged ranges and trailing bytes are returned in records of at most this size, whatever the size of the window.
const MAX_RESIDUE_BYTES: usize = 64 << 10;
impl Reader {
    fn with_header(
        source: Source,
        header: Header,
        options: &Options,
        extra: Extra,
        blocks: Option<Blocks>,
    ) -> Result<Self> {
        let mut findings = Findings::new(options.mode, &options.limits);
        probe::findings(&header).into_iter().try_for_each(|finding| findings.report(finding))?;
        let flags = blocks.as_ref().and_then(|blocks| blocks.flags_finding(&header));
        flags.map_or(Ok(()), |finding| findings.report(finding))?;
        let source = blocks.as_ref().map_or(source, Blocks::plain);
        let is_shifted = blocks.as_ref().is_some_and(|blocks| blocks.is_shifted(header.dictionary_offset));
        let locator = Locator::new(&source, &header, &options.limits, is_shifted)?;
        let trailer = locator.trailer(&extra, &mut findings)?;
        let end = match &trailer {
            Some(trailer) => trailer.at(),
            None => source.len()?,
        };
        let (levels, sites) =
            (trailer.as_ref().and_then(|trailer| trailer.levels), trailer.as_ref().map(|it| it.sites));
        let slots = trailer.as_ref().map_or(0, |trailer| trailer.dictionary.slots());
        let is_damaged = blocks.as_ref().is_some_and(|blocks| blocks.is_damaged_from(end));
        // A supplied dictionary replaces one that is cut off or damaged.
        let is_whole = trailer.as_ref().is_some_and(|trailer| trailer.is_whole && !is_damaged);
        let is_own = is_whole || trailer.is_some() && extra.dictionary.is_none();
        let mut dictionary = trailer.filter(|_| is_own).map(|trailer| trailer.dictionary);
        if let Some(own) = &mut dictionary {
            own.set_run(header.run());
        }
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
        let mut reader = Self {
            window,
            header_bytes: header.entry_header_bytes(),
            header,
            findings,
            state: State::Entries,
            entries_end: end,
            end,
            dictionary,
            is_own,
            knows_all_ids: is_own && !is_damaged,
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
            blocks,
            next_block_at: u64::MAX,
        };
        reader.enter_blocks();
        if !is_own && reader.dictionary.is_some() {
            reader.vet(&options.limits)?;
        }
        Ok(reader)
    }

    /// The clock of the file's timestamps.
    pub fn clock(&self) -> Clock {
        self.header.clock()
    }

    /// Sites and levels, from the file or supplied.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_ref()
    }

    /// Sites and levels, if nothing else is needed.
    pub fn into_dictionary(self) -> Option<Dictionary> {
        self.dictionary
    }

    /// Whether the dictionary is the file's.
    pub fn has_own_dictionary(&self) -> bool {
        self.is_own
    }

    /// Where a later reader of a growing file has to continue: after the last whole entry.
    pub fn resume_at(&self) -> u64 {
        self.resume_at.unwrap_or(self.window.offset() + self.lent as u64)
    }

    /// Moves to an entry that was read before; `offset` is the offset that it had. Entries are no longer counted.
    pub fn seek(&mut self, offset: u64) {
        self.lent = 0;
        self.barren_until = 0;
        self.is_resumed = true;
        self.state = State::Entries;
        self.end = self.entries_end;
        self.next_block_at = u64::MAX;
        self.window.seek(offset);
    }

    fn report(&mut self, rule: &'static Rule, with: impl FnOnce(Finding) -> Finding) -> Result<()> {
        let position = Position::at(self.window.offset());
        self.findings.report(with(Finding::new(rule, position)))
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
        self.entries += 1;
        self.lent = frame.len;
        let record = Record::Entry(self.entry(0, frame));
        Located { offset: self.window.offset(), len: frame.len as u64, record }
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
    traceloom_core::records_of!(crate::CNanoLog, findings);

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        self.window.consume(std::mem::take(&mut self.lent));
        if self.window.offset() >= self.next_block_at {
            return self.next_block();
        }
        if let State::Entries = self.state
            && let Some(frame) = self.quick_frame(0)
        {
            return Ok(Some(self.lend(frame)));
        }
        self.next_slowly()
    }
}

fn residue(len: usize) -> Option<Step> {
    (len > 0).then_some(Step::Residue(len))
}

fn items(span: Option<Span>) -> u32 {
    span.map_or(0, |span| span.items)
}
