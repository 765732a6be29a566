//! Walks the records of a file: entries, levels, sites.

use traceloom_bytes::{Finding, Findings, Located, Mode, Options, Position, Records, Result, Rule, Source, Window};

use crate::{
    Clock, Dictionary, Entry, Header, Numbering, Record,
    dictionary::{parse_level, parse_section, parse_site},
    findings::*,
    locate::{self, Span},
    probe,
    raw::{ENTRY_HEADER_BYTES, HEADER_BYTES, SECTION_HEADER_BYTES},
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
    /// Bytes of the entry that is lent: the window moves on when it comes back.
    lent: usize,
}

/// An entry that lies whole in the window.
#[derive(Clone, Copy, Debug)]
struct Frame {
    id: u32,
    len: usize,
    index: Option<u32>,
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
/// Entries in a row that must make sense before reading goes on after damage.
const CHAIN: usize = 3;

impl Reader {
    fn with_header(source: Source, header: Header, options: &Options, extra: Extra) -> Result<Self> {
        let mut findings = Findings::new(options.mode, &options.limits);
        probe::findings(&header).into_iter().try_for_each(|finding| findings.report(finding))?;
        let trailer = locate::trailer(&source, &header, &options.limits, &mut findings)?;
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
            checks_arguments: options.mode == Mode::Strict,
            lent: 0,
        })
    }

    /// The header, as stored.
    pub fn header(&self) -> &Header {
        &self.header
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

    /// From here on, also reports arguments that do not fit their types; call it first. Strict mode does so anyway.
    pub fn check_arguments(&mut self) {
        self.checks_arguments = true;
    }

    /// Goes to an entry that was read before; `offset` is what came with it. Entries are no longer counted.
    pub fn seek(&mut self, offset: u64) {
        self.lent = 0;
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
        (is_inside && !self.checks_arguments).then_some(Frame { id, len, index })
    }

    fn next_entry(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let header_bytes = self.header_bytes;
        let left = self.end.saturating_sub(offset);
        let available = self.window.fill(header_bytes)?;
        let Some((id, data_len)) = frame(available, header_bytes, self.header.order) else {
            let available = available.len() as u64;
            return self.end_entries(left.min(available));
        };
        let len = header_bytes + data_len;
        if len as u64 > left {
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
        if self.window.fill(len)?.len() < len {
            return self.broken_frame(data_len, left);
        }
        let frame = Frame { id, len, index };
        if self.is_own && self.swallows(frame)? {
            self.report(&ENTRY_LENGTH, |odd| odd.with("bytes", data_len))?;
            return self.lose(1);
        }
        if index.is_none() && self.dictionary.is_some() {
            let sites = self.dictionary.as_ref().map_or(0, Dictionary::len);
            self.report(&UNKNOWN_ID, |odd| odd.with("id", id).with("sites", sites))?;
        }
        self.emit(frame)
    }

    /// Whether zeros stand where an entry header should: a block that never got to the disk. No entry of a log that
    /// was started later has the tick 0.
    #[inline]
    fn is_never_written(&self, bytes: &[u8]) -> bool {
        self.header.start_timestamp != 0 && bytes.first_chunk() == Some(&[0; ENTRY_HEADER_BYTES])
    }

    /// Whether a damaged length makes an entry of many: its arguments make no sense, nor does what follows it, but
    /// something inside does.
    fn swallows(&mut self, frame: Frame) -> Result<bool> {
        let left = self.end.saturating_sub(self.window.offset());
        let data_at = self.header_bytes;
        let bytes = self.window.fill(frame.len + data_at)?;
        let follows = bytes.get(frame.len..).and_then(|bytes| bytes.first_chunk()).map(|id| self.header.order.u32(*id));
        let dictionary = self.dictionary.as_ref();
        let is_known = follows.zip(dictionary).is_some_and(|(id, dictionary)| dictionary.find(id).is_some());
        if is_known || frame.len as u64 == left {
            return Ok(false);
        }
        let data = bytes.get(data_at..frame.len).unwrap_or_default();
        let entry = Entry { dictionary, index: frame.index, ..Entry::new(frame.id, None, data) };
        if entry.args().is_some() {
            return Ok(false);
        }
        for at in 1..frame.len {
            if self.chains(at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn emit(&mut self, frame: Frame) -> Result<Option<Located<Record<'_>>>> {
        let checks = self.checks_arguments;
        let offset = self.window.offset();
        let (located, findings) = self.lend(frame);
        if checks && let Record::Entry(entry) = &located.record {
            check_entry(entry, offset, findings)?;
        }
        Ok(Some(located))
    }

    /// Lends an entry that lies whole in the window.
    #[inline]
    fn lend(&mut self, frame: Frame) -> (Located<Record<'_>>, &mut Findings) {
        let Frame { id, len, index } = frame;
        let offset = self.window.offset();
        self.entries += 1;
        self.lent = len;
        let padded = self.window.bytes();
        let timestamp = match self.header_bytes {
            ENTRY_HEADER_BYTES => {
                padded.get(4..12).and_then(|bytes| bytes.first_chunk()).map(|bytes| self.header.order.u64(*bytes))
            }
            _ => None,
        };
        let padded = padded.get(self.header_bytes..).unwrap_or_default();
        let data = padded.get(..len - self.header_bytes).unwrap_or_default();
        let entry = Entry { id, timestamp, data, padded, dictionary: self.dictionary.as_ref(), index };
        (Located { offset, len: len as u64, record: Record::Entry(entry) }, &mut self.findings)
    }

    /// No entry header is left.
    #[cold]
    fn end_entries(&mut self, left: u64) -> Result<Option<Located<Record<'_>>>> {
        if left == 0 {
            self.resume_at = Some(self.window.offset());
            self.state = State::Levels;
            self.check_count()?;
            return self.next();
        }
        let needed = self.header.entry_header_bytes();
        self.report(&ENTRY_CUT, |odd| odd.with("needed", needed).with("left", left))?;
        self.lose(1)
    }

    #[cold]
    fn broken_frame(&mut self, data_len: usize, left: u64) -> Result<Option<Located<Record<'_>>>> {
        let header_bytes = self.header.entry_header_bytes() as u64;
        if left < header_bytes {
            return self.end_entries(left);
        }
        let left = left - header_bytes;
        self.report(&ENTRY_OVERRUN, |odd| odd.with("bytes", data_len).with("left", left))?;
        self.lose(1)
    }

    /// Damage, unless only the id is: then entries that make sense follow at once.
    #[cold]
    fn unknown_id(&mut self, id: u32, len: usize) -> Result<Option<Located<Record<'_>>>> {
        let sites = self.dictionary.as_ref().map_or(0, Dictionary::len);
        self.report(&UNKNOWN_ID, |odd| odd.with("id", id).with("sites", sites))?;
        let offset = self.window.offset();
        if self.chains(len)? && offset + (len as u64) < self.end {
            return self.emit(Frame { id, len, index: None });
        }
        self.lose(1)
    }

    /// Looks for the next place where entries make sense, from `skip` bytes on.
    #[cold]
    fn lose(&mut self, skip: usize) -> Result<Option<Located<Record<'_>>>> {
        self.resume_at.get_or_insert(self.window.offset());
        let left = self.end.saturating_sub(self.window.offset());
        let piece = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
        let piece = piece.min(self.window.fill(piece)?.len());
        let mut at = skip;
        while at < piece && !(self.is_own && self.chains(at)?) {
            at += 1;
        }
        let at = at.min(piece);
        let lost = at as u64 + if let State::Lost(before) = self.state { before } else { 0 };
        if at < piece {
            self.state = State::Entries;
            self.resume_at = None;
            self.report(&RESYNCHRONISED, |odd| odd.with("bytes", lost))?;
        } else if left > piece as u64 && piece > 0 {
            self.state = State::Lost(lost);
        } else {
            self.state = State::Levels;
            self.check_count()?;
        }
        Ok(if at == 0 { return self.next() } else { Some(self.residue(at)) })
    }

    /// Whether entries with known ids and fitting arguments follow `at` bytes from here, up to the end or for a while.
    fn chains(&mut self, at: usize) -> Result<bool> {
        let header_bytes = self.header_bytes;
        let order = self.header.order;
        let limit = usize::try_from(self.end.saturating_sub(self.window.offset())).unwrap_or(usize::MAX);
        let mut at = at;
        for _ in 0..CHAIN {
            if at == limit {
                return Ok(true);
            }
            let wanted = at.saturating_add(header_bytes).min(limit);
            let bytes = self.window.fill(wanted)?;
            let head = bytes.get(at..wanted).unwrap_or_default();
            let Some((id, data_len)) = frame(head, header_bytes, order) else { return Ok(false) };
            if self.header.start_timestamp != 0 && head == [0; ENTRY_HEADER_BYTES] {
                return Ok(false);
            }
            let Some(index) = self.dictionary.as_ref().and_then(|dictionary| dictionary.find(id)) else {
                return Ok(false);
            };
            let end = at.saturating_add(header_bytes).saturating_add(data_len);
            if end > limit {
                return Ok(false);
            }
            let bytes = self.window.fill(end)?;
            let Some(data) = bytes.get(at + header_bytes..end) else { return Ok(false) };
            let dictionary = self.dictionary.as_ref();
            let entry = Entry { dictionary, index: Some(index), ..Entry::new(id, None, data) };
            if entry.args().is_none() {
                return Ok(false);
            }
            at = end;
        }
        Ok(true)
    }

    fn check_count(&mut self) -> Result<()> {
        if self.is_resumed {
            return Ok(());
        }
        let (expected, found) = (self.header.entry_count, self.entries);
        let rule = match count_rule(expected, found) {
            Some(rule) => rule,
            None => return Ok(()),
        };
        let odd = Finding::new(rule, Position::at(48).field("entry_count"));
        self.findings.report(odd.with("expected", expected).with("found", found))
    }

    /// Bytes before a section that nothing explains.
    fn gap(&mut self, until: u64) -> Result<Option<Located<Record<'_>>>> {
        let bytes = until.saturating_sub(self.window.offset());
        self.report(&GAP, |odd| odd.with("bytes", bytes))?;
        let piece = usize::try_from(bytes).map_or(PIECE, |bytes| bytes.min(PIECE));
        let piece = piece.min(self.window.fill(piece)?.len()).max(1);
        Ok(Some(self.residue(piece)))
    }

    fn next_section(&mut self, span: Option<Span>, next: State, after: State) -> Result<Option<Located<Record<'_>>>> {
        let Some(span) = span else {
            self.state = after;
            return self.next();
        };
        if self.window.offset() < span.at {
            return self.gap(span.at);
        }
        let offset = self.window.offset();
        let Some(section) = parse_section(self.window.fill(SECTION_HEADER_BYTES)?, self.header.order) else {
            self.state = State::Trailing { reported: false };
            return self.next();
        };
        self.window.consume(SECTION_HEADER_BYTES);
        self.state = next;
        let record =
            if matches!(next, State::Level(_)) { Record::Levels(section) } else { Record::Dictionary(section) };
        Ok(Some(Located { offset, len: SECTION_HEADER_BYTES as u64, record }))
    }

    fn next_level(&mut self, left: u32) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        // Header and the longest name.
        self.window.fill(4 + 255)?;
        let Some((_, len)) = parse_level(self.window.bytes()) else { return self.shrunk() };
        self.state = State::Level(left - 1);
        match parse_level(self.window.take(len)) {
            Some((level, _)) => Ok(Some(Located { offset, len: len as u64, record: Record::Level(level) })),
            None => Ok(None),
        }
    }

    fn next_site(&mut self, left: u32) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
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
        match parse_site(self.window.take(len), order, slots) {
            Some((site, _)) => Ok(Some(Located { offset, len: len as u64, record: Record::Site(site) })),
            None => Ok(None),
        }
    }

    /// The file is shorter than when it was opened.
    #[cold]
    fn shrunk(&mut self) -> Result<Option<Located<Record<'_>>>> {
        self.state = State::Trailing { reported: false };
        self.next()
    }

    fn next_trailing(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let left = self.window.fill(PIECE)?.len().min(PIECE);
        if left == 0 {
            self.state = State::Done;
            return Ok(None);
        }
        if let State::Trailing { reported: false } = self.state {
            self.state = State::Trailing { reported: true };
            let bytes = self.window.source().len()?.saturating_sub(self.window.offset());
            self.report(&TRAILING, |odd| odd.with("bytes", bytes))?;
        }
        Ok(Some(self.residue(left)))
    }

    fn residue(&mut self, len: usize) -> Located<Record<'_>> {
        let offset = self.window.offset();
        Located { offset, len: len as u64, record: Record::Residue(self.window.take(len)) }
    }
}

impl Records for Reader {
    type Record<'a> = Record<'a>;

    #[inline]
    fn next(&mut self) -> Result<Option<Located<Record<'_>>>> {
        self.window.consume(std::mem::take(&mut self.lent));
        if let State::Entries = self.state
            && let Some(frame) = self.quick_frame()
        {
            return Ok(Some(self.lend(frame).0));
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

impl Reader {
    #[inline(never)]
    fn next_slowly(&mut self) -> Result<Option<Located<Record<'_>>>> {
        match self.state {
            State::Entries => self.next_entry(),
            State::Lost(_) => self.lose(0),
            State::Levels => self.next_section(self.levels, State::Level(items(self.levels)), State::Dictionary),
            State::Level(0) => {
                self.state = State::Dictionary;
                self.next()
            }
            State::Level(left) => self.next_level(left),
            State::Dictionary => {
                let after = State::Trailing { reported: false };
                self.next_section(self.sites, State::Site(items(self.sites)), after)
            }
            State::Site(0) => {
                self.state = State::Trailing { reported: false };
                self.next()
            }
            State::Site(left) => self.next_site(left),
            State::Trailing { .. } => self.next_trailing(),
            State::Done => Ok(None),
        }
    }
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

fn check_entry(entry: &Entry<'_>, offset: u64, findings: &mut Findings) -> Result<()> {
    if entry.index.is_none() {
        return Ok(());
    }
    let rule = match entry.args() {
        None => &ARGUMENTS,
        Some(_) if entry.has_lost_sign() => &SIGN_LOST,
        Some(_) => return Ok(()),
    };
    let odd = Finding::new(rule, Position::at(offset)).with("id", entry.id);
    findings.report(odd.with("bytes", entry.data.len()))
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
