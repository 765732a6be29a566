//! The layout of a file that a clean writer makes: dense ids, exact sizes, one form of arguments.

use std::{collections::HashMap, io::Write};

use traceloom_core::{ByteOrder, Error, Limits, Loss, Result, Text, text::push_hex};

use crate::{
    Arg, Args, Dictionary, Entry, FORMAT, Header, Level, Numbering, Record, Section, Site, Writer,
    args::packing::{original_takes_for_packed, put_packed, put_raw, survives_packing},
    probe,
    raw::{
        ArgType, CNANOLOG_DICT_MAGIC, CNANOLOG_FLAG_HAS_TIMESTAMPS, CNANOLOG_LEVEL_DICT_MAGIC, CNANOLOG_MAX_ENTRY_SIZE,
        LEVEL_FIXED, MAX_LEVEL_NAME, SECTION_HEADER_BYTES, SLOTS_DOCUMENT, SLOTS_LIBRARY,
    },
    write::site_bytes,
};

/// A layout that can be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dialect {
    Document,
    Library,
}

impl Dialect {
    pub(super) fn parse(variant: Option<&str>) -> Result<Self> {
        match variant {
            None | Some("1.0.7") => Ok(Self::Library),
            Some("document") => Ok(Self::Document),
            Some(other) => Err(FORMAT.unknown_variant(other)),
        }
    }

    const fn slots(self) -> usize {
        match self {
            Self::Document => SLOTS_DOCUMENT,
            Self::Library => SLOTS_LIBRARY,
        }
    }
}

/// Maximum number of argument bytes that a synthetic site can hold as hexadecimal text.
const MAX_SHOWN: usize = 30_000;

/// Sites, levels and header of the output file.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) header: Header,
    dialect: Dialect,
    sites: Vec<PlannedSite>,
    /// Ids of the sites that have been added.
    ids: HashMap<PlannedSite, u32>,
    levels: Vec<(u8, Vec<u8>)>,
    max_sites: usize,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct PlannedSite {
    level: u8,
    line: u32,
    types: Vec<ArgType>,
    file: Vec<u8>,
    format: Vec<u8>,
}

impl Plan {
    /// A file with the clock of `like`.
    pub(super) fn new(dialect: Dialect, order: ByteOrder, like: &Header, limits: &Limits) -> Self {
        let is_library = dialect == Dialect::Library;
        let has_timestamps = like.has_timestamps || !is_library;
        let header = Header {
            timestamp_frequency: if has_timestamps && !like.has_timestamps {
                1_000_000_000
            } else {
                like.timestamp_frequency
            },
            start_timestamp: like.start_timestamp,
            start_time_sec: like.start_time_sec,
            start_time_nsec: like.start_time_nsec,
            flags: if is_library && has_timestamps { CNANOLOG_FLAG_HAS_TIMESTAMPS } else { 0 },
            has_timestamps,
            ..Header::new(order)
        };
        let max_sites = limits.entries;
        Self { header, dialect, sites: Vec::new(), ids: HashMap::new(), levels: Vec::new(), max_sites }
    }

    /// Adds a level, under another number if its number is taken; returns the number.
    pub(super) fn add_level(&mut self, level: u8, name: &[u8], loss: &mut Loss) -> u8 {
        if self.dialect == Dialect::Document {
            loss.lose("names of custom levels", || format!("level {level} {}", Text(name)));
            return level;
        }
        let name = match name.get(..MAX_LEVEL_NAME) {
            Some(cut) if name.len() > MAX_LEVEL_NAME => {
                loss.lose("ends of long level names", || Text(name).to_string());
                cut
            }
            _ => name,
        };
        if self.levels.iter().any(|(number, known)| *number == level && known == name) {
            return level;
        }
        let is_free = |number: &u8| *number >= 4 && !self.levels.iter().any(|(taken, _)| taken == number);
        match std::iter::once(level).chain(4..=255).find(is_free) {
            Some(number) => {
                self.levels.push((number, name.to_vec()));
                number
            }
            None => {
                loss.lose("names of custom levels", || format!("level {level} {}", Text(name)));
                level
            }
        }
    }

    /// Adds the sites of a dictionary; returns the new id of each.
    pub(super) fn add_sites(&mut self, dictionary: &Dictionary, shared: bool, loss: &mut Loss) -> Result<Vec<u32>> {
        let numbering = probe::guess_numbering(&self.header);
        let mut levels: Vec<u8> = (0..=255).map(|level| dictionary.numbering().translate(level, numbering)).collect();
        for (level, name) in dictionary.levels().filter(|(level, _)| *level >= 4) {
            let number = self.add_level(level, name, loss);
            if let Some(slot) = levels.get_mut(usize::from(level)) {
                *slot = number;
            }
        }
        let mut ids = Vec::new();
        for (index, site) in dictionary.sites().enumerate() {
            let level = levels.get(usize::from(site.level)).copied().unwrap_or(site.level);
            ids.push(self.add_site(&site, level, dictionary.arg_types(index), shared)?);
        }
        Ok(ids)
    }

    fn add_site(&mut self, site: &Site<'_>, level: u8, types: &[ArgType], shared: bool) -> Result<u32> {
        // A table that could not be repaired is useless for decoding; its site is kept for its text.
        let types = if types.iter().all(|code| code.is_argument()) { types } else { &[] };
        if types.len() > self.dialect.slots() {
            let (id, args, slots) = (site.id, types.len(), self.dialect.slots());
            return Err(Error::unsupported(format!(
                "site {id} has {args} arguments, but the layout of the specification holds {slots}; choose 1.0.7"
            )));
        }
        let is_document = self.dialect == Dialect::Document;
        let stored = types.iter().map(|code| match *code {
            // The library stored characters as integers before it had a type for them.
            ArgType::CHAR if is_document => ArgType::INT32,
            code => code,
        });
        let (file, format) = (site.file.to_vec(), site.format.to_vec());
        self.push(PlannedSite { level, line: site.line, types: stored.collect(), file, format }, shared)
    }

    /// A site for entries that cannot be decoded: its only argument is their bytes in hexadecimal.
    pub(super) fn add_unreadable(&mut self, entry: &Entry<'_>) -> Result<u32> {
        let numbering = probe::guess_numbering(&self.header);
        let (level, line, file, mut format) = match entry.dictionary().zip(entry.site()) {
            Some((dictionary, site)) => {
                let level = dictionary.numbering().translate(site.level, numbering);
                (level, site.line, site.file.to_vec(), escape(site.format))
            }
            None => {
                let error = Numbering::Library.translate(2, numbering);
                (error, 0, b"unknown".to_vec(), format!("id {}", entry.id).into_bytes())
            }
        };
        let note: &[u8] = b" [unreadable arguments: %s]";
        format.truncate(usize::from(u16::MAX) - note.len());
        format.extend_from_slice(note);
        self.push(PlannedSite { level, line, types: vec![ArgType::STRING], file, format }, true)
    }

    fn push(&mut self, site: PlannedSite, shared: bool) -> Result<u32> {
        if shared && let Some(id) = self.ids.get(&site) {
            return Ok(*id);
        }
        let id = self.sites.len();
        if id >= self.max_sites {
            return Err(Error::limit("log sites", id as u64 + 1, self.max_sites as u64));
        }
        self.ids.entry(site.clone()).or_insert(id as u32);
        self.sites.push(site);
        Ok(id as u32)
    }

    /// Appends arguments as this file stores them.
    pub(super) fn put_args(&self, id: u32, args: Args<'_>, data: &mut Vec<u8>, loss: &mut Loss) -> Result<()> {
        let order = self.header.order;
        if self.dialect == Dialect::Document {
            put_raw(args.map(without_char), order, data);
        } else if order == ByteOrder::Big {
            put_raw(args, order, data);
        } else if args.into_iter().all(|arg| survives_packing(&arg)) {
            put_packed(args, data);
        } else {
            put_raw(args, order, data);
            let codes = self.sites.get(id as usize).map_or(&[][..], |site| &site.types);
            if original_takes_for_packed(codes, data) {
                loss.lose("64-bit numbers that CNanoLog's decompressor misreads in either form", || {
                    format!("site {id}")
                });
            }
        }
        if data.len() > CNANOLOG_MAX_ENTRY_SIZE {
            let len = data.len();
            return Err(Error::unsupported(format!(
                "an entry of {len} argument bytes does not fit; the maximum is 65535"
            )));
        }
        Ok(())
    }

    /// Appends bytes as the argument of a site made by [`Plan::add_unreadable`].
    pub(super) fn put_unreadable(&self, bytes: &[u8], data: &mut Vec<u8>, loss: &mut Loss) {
        let shown = bytes.get(..MAX_SHOWN).unwrap_or(bytes);
        if shown.len() < bytes.len() {
            loss.lose("ends of unreadable arguments", || format!("{} bytes", bytes.len()));
        }
        let mut hex = Vec::new();
        push_hex(&mut hex, shown);
        put_raw(std::iter::once(Arg::String(&hex)), self.header.order, data);
    }

    /// Everything after the entries, in order.
    pub(super) fn trailer(&self, mut each: impl FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
        if !self.levels.is_empty() {
            let size = self.levels.iter().map(|(_, name)| (LEVEL_FIXED + name.len()) as u64).sum();
            each(&Record::Levels(section(CNANOLOG_LEVEL_DICT_MAGIC, self.levels.len(), size)?))?;
            for (level, name) in &self.levels {
                each(&Record::Level(Level { level: *level, name, padding: [0; 2] }))?;
            }
        }
        let mut size = 0;
        self.each_site(|site| {
            size += site_bytes(site);
            Ok(())
        })?;
        each(&Record::Dictionary(section(CNANOLOG_DICT_MAGIC, self.sites.len(), size)?))?;
        self.each_site(|site| each(&Record::Site(*site)))
    }

    fn each_site(&self, mut each: impl FnMut(&Site<'_>) -> Result<()>) -> Result<()> {
        for (id, site) in self.sites.iter().enumerate() {
            let mut table = [0; SLOTS_LIBRARY];
            for (slot, code) in table.iter_mut().zip(&site.types) {
                *slot = code.0;
            }
            let arg_types = table.get(..self.dialect.slots()).unwrap_or_default();
            let (id, num_args) = (id as u32, site.types.len() as u8);
            let (file, format) = (&site.file, &site.format);
            each(&Site { id, level: site.level, num_args, line: site.line, arg_types, file, format })?;
        }
        Ok(())
    }

    /// Writes everything after the entries and ends the file.
    pub(super) fn finish<W: Write>(&self, mut writer: Writer<W>) -> Result<()> {
        self.trailer(|record| writer.write(record))?;
        writer.finish()?;
        Ok(())
    }
}

fn section(magic: u32, count: usize, items: u64) -> Result<Section> {
    let size = items + SECTION_HEADER_BYTES as u64;
    let total_size = u32::try_from(size).map_err(|_| Error::limit("bytes in the dictionary", size, u32::MAX.into()))?;
    Ok(Section { magic, count: count as u32, total_size, reserved: 0 })
}

fn without_char(arg: Arg<'_>) -> Arg<'_> {
    match arg {
        Arg::Char(value) => Arg::Int32((value as i8).into()),
        arg => arg,
    }
}

/// A format that prints as this text.
fn escape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        out.push(*byte);
        if *byte == b'%' {
            out.push(b'%');
        }
    }
    out
}
