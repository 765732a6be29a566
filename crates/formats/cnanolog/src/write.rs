//! Writes a header and records; a file that was read is written back byte for byte.

use std::io::Write;

use traceloom_core::{Error, Output, Result};

use crate::{
    Block, Entry, Header, Level, Record, Section, Site,
    blocks::Packer,
    raw::{
        CNANOLOG_MAX_ENTRY_SIZE, HEADER_BYTES, LEVEL_FIXED, SECTION_HEADER_BYTES, SITE_FIXED, SLOTS_DOCUMENT,
        SLOTS_LIBRARY,
    },
};

/// Starts a file with its header; see [`Tally`] for the numbers that the header needs.
pub fn create<W: Write>(out: W, header: &Header) -> Result<Writer<W>> {
    let output = Output::new(Packer::new(out), header.order);
    let has_timestamps = header.has_timestamps;
    let mut writer = Writer { output, has_timestamps, is_copy: false, tally: Tally::new(header) };
    writer.put_header(header);
    writer.output.flush()?;
    writer.output.out_mut().begin(header);
    Ok(writer)
}

/// Writes one file, record by record, in the order that [`Record`] describes.
#[derive(Debug)]
pub struct Writer<W> {
    output: Output<Packer<W>>,
    has_timestamps: bool,
    /// Whole blocks are written as they were stored, and the records in them are not written again.
    is_copy: bool,
    tally: Tally,
}

/// The numbers that a header needs, which are known only after the file is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tally {
    entry_header_bytes: u64,
    /// Number of entries.
    pub entries: u64,
    /// Size so far, including the header.
    pub bytes: u64,
    /// Where the levels or the dictionary start.
    pub dictionary_offset: Option<u64>,
}

impl Tally {
    /// A file with only a header.
    pub fn new(header: &Header) -> Self {
        let entry_header_bytes = header.entry_header_bytes() as u64;
        Self { entry_header_bytes, entries: 0, bytes: header.stored_bytes as u64, dictionary_offset: None }
    }

    /// Counts a record as [`Writer`] would write it, without writing it.
    pub fn count(&mut self, record: &Record<'_>) {
        let bytes = match record {
            Record::Entry(entry) => {
                self.entries += 1;
                self.entry_header_bytes + entry.data.len() as u64
            }
            Record::Levels(_) | Record::Dictionary(_) => {
                self.dictionary_offset.get_or_insert(self.bytes);
                SECTION_HEADER_BYTES as u64
            }
            Record::Level(level) => (LEVEL_FIXED + level.name.len()) as u64,
            Record::Site(site) => site_bytes(site),
            Record::Residue(bytes) => bytes.len() as u64,
            // Offsets are those of a file without blocks.
            Record::Block(_) => 0,
        };
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Puts the numbers into a header; fails if there are more entries than its 32 bits can count.
    pub fn fill(&self, header: &mut Header) -> Result<()> {
        header.dictionary_offset = self.dictionary_offset.unwrap_or(0);
        header.entry_count = u32::try_from(self.entries).map_err(|_| {
            let entries = self.entries;
            Error::unsupported(format!(
                "{entries} entries do not fit: a file counts them in 32 bits; slice it into several files"
            ))
        })?;
        Ok(())
    }
}

/// Size of a site in the dictionary.
pub(crate) fn site_bytes(site: &Site<'_>) -> u64 {
    (SITE_FIXED + site.arg_types.len() + site.file.len() + site.format.len()) as u64
}

impl<W: Write> Writer<W> {
    /// Writes one record.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        self.tally.count(record);
        match record {
            Record::Block(block) => return self.copy(block),
            _ if self.is_copy => return Ok(()),
            Record::Entry(entry) => self.put_entry(entry)?,
            Record::Levels(section) | Record::Dictionary(section) => self.put_section(section),
            Record::Level(level) => self.put_level(level)?,
            Record::Site(site) => self.put_site(site)?,
            Record::Residue(bytes) => self.output.put(bytes),
        }
        self.output.end_record()
    }

    /// The numbers so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Passes on everything written so far; returns the underlying output.
    pub fn flush(&mut self) -> Result<&mut W> {
        self.output.flush()?;
        Ok(self.output.out_mut().out_mut())
    }

    /// Ends the file and returns the output.
    pub fn finish(self) -> Result<W> {
        Ok(self.output.finish()?.into_out())
    }

    fn copy(&mut self, block: &Block<'_>) -> Result<()> {
        self.is_copy = true;
        Ok(self.flush()?.write_all(block.stored)?)
    }

    fn put_header(&mut self, header: &Header) {
        self.output.put_u32(header.magic);
        self.output.put_u16(header.version_major);
        self.output.put_u16(header.version_minor);
        self.output.put_u64(header.timestamp_frequency);
        self.output.put_u64(header.start_timestamp);
        self.output.put_i64(header.start_time_sec);
        self.output.put_i32(header.start_time_nsec);
        self.output.put_u32(header.endianness);
        self.output.put_u64(header.dictionary_offset);
        self.output.put_u32(header.entry_count);
        self.output.put_u32(header.flags);
        self.output.put(&header.reserved);
        self.output.buffer().truncate(header.stored_bytes.min(HEADER_BYTES));
    }

    #[inline]
    fn put_entry(&mut self, entry: &Entry<'_>) -> Result<()> {
        let len = entry.data.len();
        let data_length = u16::try_from(len).map_err(|_| {
            Error::unsupported(format!(
                "an entry of {len} argument bytes does not fit; the maximum is {CNANOLOG_MAX_ENTRY_SIZE}"
            ))
        })?;
        self.output.put_u32(entry.id);
        match (entry.timestamp, self.has_timestamps) {
            (Some(timestamp), true) => self.output.put_u64(timestamp),
            (None, false) => {}
            (Some(_), false) => {
                return Err(Error::usage("an entry has a timestamp, but the header says that entries have none"));
            }
            (None, true) => {
                return Err(Error::usage("an entry has no timestamp, but the header says that all have one"));
            }
        }
        self.output.put_u16(data_length);
        self.output.put(entry.data);
        Ok(())
    }

    fn put_section(&mut self, section: &Section) {
        for number in [section.magic, section.count, section.total_size, section.reserved] {
            self.output.put_u32(number);
        }
    }

    fn put_level(&mut self, level: &Level<'_>) -> Result<()> {
        let len =
            u8::try_from(level.name.len()).map_err(|_| too_long("level's name", level.name.len(), u8::MAX.into()))?;
        self.output.put(&[level.level, len]);
        self.output.put(&level.padding);
        self.output.put(level.name);
        Ok(())
    }

    fn put_site(&mut self, site: &Site<'_>) -> Result<()> {
        let length =
            |what, text: &[u8]| u16::try_from(text.len()).map_err(|_| too_long(what, text.len(), u16::MAX.into()));
        let (file, format) = (length("file name", site.file)?, length("format", site.format)?);
        if !matches!(site.arg_types.len(), SLOTS_DOCUMENT | SLOTS_LIBRARY) {
            let slots = site.arg_types.len();
            return Err(Error::usage(format!("a type table of {slots} slots does not fit; expected 16 or 50")));
        }
        self.output.put_u32(site.id);
        self.output.put(&[site.level, site.num_args]);
        self.output.put_u16(file);
        self.output.put_u16(format);
        self.output.put_u32(site.line);
        for part in [site.arg_types, site.file, site.format] {
            self.output.put(part);
        }
        Ok(())
    }
}

fn too_long(what: &str, len: usize, max: usize) -> Error {
    Error::unsupported(format!("a {what} of {len} bytes does not fit; the maximum is {max}"))
}
