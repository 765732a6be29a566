//! Finds the levels and the dictionary, which come after the entries.

use traceloom_core::{ByteOrder, Error, Finding, Findings, Limits, Position, Result, Rule, Source, reserve};

use crate::{
    Dictionary, Extra, Header, Section, Site,
    dictionary::{parse_level, parse_section, parse_site},
    findings::*,
    probe,
    raw::{
        ArgType, CNANOLOG_DICT_MAGIC, CNANOLOG_LEVEL_DICT_MAGIC, HEADER_BYTES, MAX_LEVEL_NAME, SECTION_HEADER_BYTES,
        SITE_FIXED, SLOTS_DOCUMENT, SLOTS_LIBRARY,
    },
};

/// How far back from the end to search for a lost dictionary.
const SEARCH_BYTES: u64 = 256 << 20;
const SEARCH_CHUNK: u64 = 1 << 20;
/// How many bytes of false dictionaries may be read.
const MAX_CANDIDATE_BYTES: u64 = 2 * SEARCH_BYTES;
/// The level section has at most 255 valid levels, with names of at most 255 bytes.
const MAX_LEVELS_BYTES: u64 = (SECTION_HEADER_BYTES + 255 * 259) as u64;

/// The position of a section, and how much of it can be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) at: u64,
    pub(super) items: u32,
    pub(super) len: u64,
}

impl Span {
    fn end(&self) -> u64 {
        self.at.saturating_add(self.len)
    }

    /// Reports the differences to the section's header.
    fn report(
        &self,
        section: &Section,
        (size, what): (&'static Rule, &'static str),
        found: &mut Findings,
    ) -> Result<()> {
        if u64::from(section.total_size) != self.len {
            let odd = Finding::new(size, Position::at(self.at).field("total_size"));
            found.report(odd.with("declared", section.total_size).with("found", self.len))?;
        }
        if section.reserved != 0 {
            found.report(Finding::new(&RESERVED, Position::at(self.at).field("reserved")).with("what", what))?;
        }
        Ok(())
    }
}

/// The sections after the entries.
#[derive(Debug)]
pub(super) struct Trailer {
    pub(super) levels: Option<Span>,
    pub(super) sites: Span,
    pub(super) dictionary: Dictionary,
    /// Whether all announced sites can be read.
    pub(super) is_whole: bool,
}

impl Trailer {
    /// Where the entries end.
    pub(super) fn at(&self) -> u64 {
        self.levels.map_or(self.sites.at, |levels| levels.at)
    }
}

/// Finds the sections after the entries.
pub(super) struct Locator<'a> {
    source: &'a Source,
    header: &'a Header,
    order: ByteOrder,
    bytes: u64,
    limits: &'a Limits,
    /// Whether bytes before the dictionary are missing, so that its offset is unreliable.
    is_shifted: bool,
}

/// A section header that may start a dictionary.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    at: u64,
    section: Section,
    /// Whether the magic is where a dictionary should be: then it is believed even if it is damaged.
    is_marked: bool,
}

/// The sites that could be read.
struct Walk {
    slots: usize,
    starts: Vec<u32>,
    end: usize,
    /// Whether every site looks plausible.
    is_plausible: bool,
}

impl<'a> Locator<'a> {
    pub(super) fn new(source: &'a Source, header: &'a Header, limits: &'a Limits, is_shifted: bool) -> Result<Self> {
        Ok(Self { source, header, order: header.order, bytes: source.len()?, limits, is_shifted })
    }

    /// Finds the dictionary where the header says it is, or else at the end of the file, after the entries that were
    /// already read.
    pub(super) fn trailer(&self, extra: &Extra, found: &mut Findings) -> Result<Option<Trailer>> {
        let offset = self.header.dictionary_offset;
        let at_header = Position::at(40).field("dictionary_offset");
        let mut why = &DICTIONARY_OFFSET_ZERO;
        if offset != 0 {
            if !self.is_shifted
                && let Some(trailer) = self.at(offset, found)?
            {
                return Ok(Some(trailer));
            }
            why = &DICTIONARY_FOUND;
        }
        let floor = extra.resume_at.unwrap_or(0).max(HEADER_BYTES as u64);
        match self.search(floor, found)? {
            Some(trailer) => {
                found.report(Finding::new(why, at_header).with("offset", trailer.sites.at))?;
                Ok(Some(trailer))
            }
            None => {
                let reason =
                    if offset == 0 { "the program did not close the log" } else { "the file is truncated or damaged" };
                let consequence = match extra.dictionary {
                    Some(_) => "the supplied one is used",
                    None => "entries show their raw bytes; use --dictionary FILE with another log of the same program",
                };
                let none = Finding::new(&NO_DICTIONARY, at_header).with("reason", reason);
                found.report(none.with("consequence", consequence))?;
                Ok(None)
            }
        }
    }

    fn at(&self, offset: u64, found: &mut Findings) -> Result<Option<Trailer>> {
        let Some(mut section) = self.section(offset)?.filter(|_| offset >= HEADER_BYTES as u64) else {
            let odd = Finding::new(&DICTIONARY_OFFSET, Position::at(40).field("dictionary_offset"));
            found.report(odd.with("offset", offset).with("bytes", self.bytes))?;
            return Ok(None);
        };
        let mut dictionary = Dictionary::empty(self.order, SLOTS_LIBRARY, probe::guess_numbering(self.header));
        let mut levels = None;
        let mut at = offset;
        if is_magic(section.magic, CNANOLOG_LEVEL_DICT_MAGIC) {
            let span = self.levels(offset, &section, &mut dictionary, found)?;
            at = self.dictionary_after(&span, &section)?;
            levels = Some(span);
            let Some(next) = self.section(at)? else {
                let odd = Finding::new(&DICTIONARY_MAGIC, Position::at(at)).with("offset", at);
                found.report(odd.with("found", "nothing"))?;
                return Ok(None);
            };
            section = next;
        }
        let candidate = Candidate { at, section, is_marked: is_magic(section.magic, CNANOLOG_DICT_MAGIC) };
        if !candidate.is_marked {
            let odd = Finding::new(&DICTIONARY_MAGIC, Position::at(at).field("magic")).with("offset", at);
            found.report(odd.with("found", format!("0x{:08x}", section.magic)))?;
        }
        let Some(sites) = self.sites(&candidate, &mut dictionary, found)? else { return Ok(None) };
        let is_whole = sites.items == section.count;
        Ok(Some(Trailer { levels, sites, dictionary, is_whole }))
    }

    /// The last dictionary that ends the file.
    fn search(&self, floor: u64, found: &mut Findings) -> Result<Option<Trailer>> {
        let mut candidate_bytes = 0;
        let mut end = self.bytes;
        let floor = self.bytes.saturating_sub(SEARCH_BYTES).max(floor);
        while end > floor {
            let start = end.saturating_sub(SEARCH_CHUNK).max(floor);
            // Three additional bytes, for a magic across the boundary.
            let chunk = self.read(start, end - start + 3)?;
            for index in places(&chunk, [b"TCID", b"DICT"]) {
                let at = start + index as u64;
                let Some(section) = self.section(at)? else { continue };
                if !is_magic(section.magic, CNANOLOG_DICT_MAGIC)
                    || at.checked_add(section.total_size.into()) != Some(self.bytes)
                {
                    continue;
                }
                candidate_bytes += self.bytes - at;
                let numbering = probe::guess_numbering(self.header);
                let mut dictionary = Dictionary::empty(self.order, SLOTS_LIBRARY, numbering);
                let candidate = Candidate { at, section, is_marked: false };
                if let Some(sites) = self.sites(&candidate, &mut dictionary, found)? {
                    let levels = self.levels_before(at, &mut dictionary, found)?;
                    return Ok(Some(Trailer { levels, sites, dictionary, is_whole: true }));
                }
                if candidate_bytes > MAX_CANDIDATE_BYTES {
                    return Ok(None);
                }
            }
            end = start;
        }
        Ok(None)
    }

    fn levels_before(&self, end: u64, dictionary: &mut Dictionary, found: &mut Findings) -> Result<Option<Span>> {
        let start = end.saturating_sub(MAX_LEVELS_BYTES).max(HEADER_BYTES as u64);
        let bytes = self.read(start, end.saturating_sub(start))?;
        for index in places(&bytes, [b"SLVL", b"LVLS"]) {
            let tail = bytes.get(index..).unwrap_or_default();
            let fits = parse_section(tail, self.order).is_some_and(|section| {
                section.total_size as usize == tail.len() && walk_levels(tail, section.count).1 == tail.len()
            });
            if fits && let Some(section) = parse_section(tail, self.order) {
                return self.levels(start + index as u64, &section, dictionary, found).map(Some);
            }
        }
        Ok(None)
    }

    fn levels(&self, at: u64, section: &Section, dictionary: &mut Dictionary, found: &mut Findings) -> Result<Span> {
        let bytes = self.read(at, MAX_LEVELS_BYTES)?;
        let (items, len) = walk_levels(&bytes, section.count);
        let position = Position::at(at);
        let mut left = bytes.get(SECTION_HEADER_BYTES..).unwrap_or_default();
        for _ in 0..items {
            let Some((level, taken)) = parse_level(left) else { break };
            let here = Position::at(at + (bytes.len() - left.len()) as u64);
            if level.name.len() > MAX_LEVEL_NAME {
                let odd = Finding::new(&LEVEL_NAME, here).with("level", level.level);
                found.report(odd.with("bytes", level.name.len()))?;
            }
            if level.level < 4 {
                found.report(Finding::new(&LEVEL_NUMBER, here).with("level", level.level))?;
            }
            dictionary.push_level(level);
            left = left.get(taken..).unwrap_or_default();
        }
        if items < section.count {
            found.report(Finding::new(&LEVELS_CUT, position).with("expected", section.count).with("found", items))?;
        }
        let span = Span { at, items, len: len as u64 };
        span.report(section, (&LEVELS_SIZE, "level section"), found)?;
        Ok(span)
    }

    /// The dictionary follows the levels, or else is where the level section claims to end.
    fn dictionary_after(&self, levels: &Span, section: &Section) -> Result<u64> {
        let declared = levels.at.saturating_add(section.total_size.into());
        let is_there = |at| -> Result<bool> {
            Ok(self.section(at)?.is_some_and(|section| is_magic(section.magic, CNANOLOG_DICT_MAGIC)))
        };
        Ok(if declared > levels.end() && !is_there(levels.end())? && is_there(declared)? {
            declared
        } else {
            levels.end()
        })
    }

    /// Reads the sites; without the magic, only an exact dictionary is believed.
    fn sites(&self, candidate: &Candidate, dictionary: &mut Dictionary, found: &mut Findings) -> Result<Option<Span>> {
        let Candidate { at, section, is_marked } = *candidate;
        let body = at + SECTION_HEADER_BYTES as u64;
        let declared = u64::from(section.total_size).saturating_sub(SECTION_HEADER_BYTES as u64);
        let mut bytes = self.read(body, declared.min(self.bytes.saturating_sub(body)))?;
        let is_exact =
            |walk: &Walk, bytes: &[u8]| walk.starts.len() as u64 == u64::from(section.count) && walk.end == bytes.len();
        let mut walk = best_walk(&bytes, self.order, section.count, &is_exact);
        let is_good = is_exact(&walk, &bytes)
            && bytes.len() as u64 == declared
            && (section.count > 0 || is_magic(section.magic, CNANOLOG_DICT_MAGIC));
        if !is_good {
            if !is_marked {
                return Ok(None);
            }
            // The size is unreliable: everything after the header may belong to the sites.
            bytes = self.read(body, self.bytes.saturating_sub(body))?;
            walk = best_walk(&bytes, self.order, section.count, &is_exact);
        }
        let (items, len) = (walk.starts.len() as u32, (SECTION_HEADER_BYTES + walk.end) as u64);
        if items < section.count {
            let cut = Finding::new(&DICTIONARY_CUT, Position::at(at));
            found.report(cut.with("expected", section.count).with("found", items))?;
        }
        let span = Span { at, items, len };
        span.report(&section, (&DICTIONARY_SIZE, "dictionary"), found)?;
        bytes.truncate(walk.end);
        dictionary.fill(bytes, walk.slots, &walk.starts, self.limits)?;
        report_sites(dictionary, at, found)?;
        Ok(Some(span))
    }

    fn section(&self, at: u64) -> Result<Option<Section>> {
        let mut bytes = [0; SECTION_HEADER_BYTES];
        let filled = self.source.read_full(at, &mut bytes)?;
        Ok(bytes.get(..filled).and_then(|bytes| parse_section(bytes, self.order)))
    }

    fn read(&self, at: u64, wanted: u64) -> Result<Vec<u8>> {
        let wanted = wanted.min(self.bytes.saturating_sub(at));
        let most = (self.limits.record_bytes as u64).min(u32::MAX.into());
        if wanted > most {
            return Err(Error::limit("bytes in the dictionary", wanted, most).at(Position::at(at)));
        }
        let mut bytes = Vec::new();
        reserve(&mut bytes, wanted as usize)?;
        bytes.resize(wanted as usize, 0);
        let filled = self.source.read_full(at, &mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// The offsets of a magic in either spelling, the last one first.
fn places(bytes: &[u8], spellings: [&'static [u8; 4]; 2]) -> impl Iterator<Item = usize> {
    let is_one = move |place: &(usize, &[u8])| spellings.iter().any(|spelling| place.1 == *spelling);
    bytes.windows(4).enumerate().rev().filter(is_one).map(|(index, _)| index)
}

/// Whether a number is a magic in either spelling: the documentation's dump has the bytes of the magics in reading
/// order.
fn is_magic(found: u32, magic: u32) -> bool {
    found == magic || found == magic.swap_bytes()
}

/// Whether the supposed id of an entry starts the levels or the dictionary.
pub(super) fn is_section(id: u32) -> bool {
    is_magic(id, CNANOLOG_DICT_MAGIC) || is_magic(id, CNANOLOG_LEVEL_DICT_MAGIC)
}

/// Walks with both widths of the type table; the one that ends in the right place wins.
fn best_walk(bytes: &[u8], order: ByteOrder, count: u32, is_exact: &dyn Fn(&Walk, &[u8]) -> bool) -> Walk {
    let [wide, narrow] = [SLOTS_LIBRARY, SLOTS_DOCUMENT].map(|slots| walk_sites(bytes, order, count, slots));
    let rank = |walk: &Walk| (is_exact(walk, bytes), walk.is_plausible, walk.starts.len());
    if rank(&narrow) > rank(&wide) { narrow } else { wide }
}

fn walk_sites(bytes: &[u8], order: ByteOrder, count: u32, slots: usize) -> Walk {
    let mut walk = Walk { slots, starts: Vec::new(), end: 0, is_plausible: true };
    for _ in 0..count {
        let Some((site, taken)) = bytes.get(walk.end..).and_then(|left| parse_site(left, order, slots)) else { break };
        walk.is_plausible &= is_plausible(&site);
        walk.starts.push(walk.end as u32);
        walk.end += taken;
    }
    walk
}

/// Whether a site looks plausible: C strings contain no NUL, and unused slots of the wide table are zero.
fn is_plausible(site: &Site<'_>) -> bool {
    let args = usize::from(site.num_args);
    let unused = site.arg_types.get(args..);
    let is_narrow = site.arg_types.len() == SLOTS_DOCUMENT;
    unused.is_some_and(|slots| is_narrow || slots.iter().all(|code| *code == 0))
        && site.stored_types().all(|code| code <= ArgType::CHAR)
        && !site.file.contains(&0)
        && !site.format.contains(&0)
}

/// Levels that can be read, and where they end.
fn walk_levels(bytes: &[u8], count: u32) -> (u32, usize) {
    let (mut items, mut end) = (0, SECTION_HEADER_BYTES.min(bytes.len()));
    while items < count {
        let Some((_, taken)) = bytes.get(end..).and_then(parse_level) else { break };
        (items, end) = (items + 1, end + taken);
    }
    (items, end)
}

fn report_sites(dictionary: &Dictionary, at: u64, found: &mut Findings) -> Result<()> {
    let mut site_at = at + SECTION_HEADER_BYTES as u64;
    for site in dictionary.sites() {
        if usize::from(site.num_args) > site.arg_types.len() {
            let odd = Finding::new(&TOO_MANY_ARGUMENTS, Position::at(site_at).field("num_args")).with("id", site.id);
            found.report(odd.with("found", site.num_args).with("most", site.arg_types.len()))?;
        }
        site_at += (SITE_FIXED + site.arg_types.len() + site.file.len() + site.format.len()) as u64;
    }
    if dictionary.has_dense_ids() {
        return Ok(());
    }
    let mut ids: Vec<u32> = dictionary.ids().collect();
    ids.sort_unstable();
    let total = ids.len();
    ids.dedup();
    if ids.len() < total {
        found.report(Finding::new(&DUPLICATE_ID, Position::at(at)).with("count", total - ids.len()))?;
    }
    found.report(Finding::new(&SPARSE_IDS, Position::at(at)))
}
