//! Header and records: everything in a file, borrowed and lossless.

use traceloom_core::{ByteOrder, Describe, Fields};

use crate::{
    Clock, Dictionary,
    args::{Arg, Args, Padded, Types, has_lost_sign},
    dictionary::Run,
    raw::{
        ArgType, CNANOLOG_ENDIANNESS, CNANOLOG_FLAG_CRC32, CNANOLOG_FLAG_HAS_TIMESTAMPS, CNANOLOG_FLAG_LZ4,
        CNANOLOG_MAGIC, CNANOLOG_VERSION_MAJOR, CNANOLOG_VERSION_MINOR, CNANOLOG_VERSION_MINOR_CRC32,
        CNANOLOG_VERSION_MINOR_IDS, CNANOLOG_VERSION_MINOR_LZ4, ENTRY_HEADER_BYTES, ENTRY_HEADER_NO_TIME_BYTES,
        HEADER_BYTES,
    },
};

/// The file header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Header {
    /// Byte order of every number.
    pub order: ByteOrder,
    /// The magic as a number in that order: swapped if it is spelled NANO before little-endian numbers.
    pub magic: u32,
    /// Major version.
    pub version_major: u16,
    /// Minor version.
    pub version_minor: u16,
    /// Ticks per second; 0 without timestamps.
    pub timestamp_frequency: u64,
    /// Ticks when the log was started; 0 without timestamps.
    pub start_timestamp: u64,
    /// Unix seconds when the log was started.
    pub start_time_sec: i64,
    /// Additional nanoseconds.
    pub start_time_nsec: i32,
    /// The byte order marker, as a number in the file's order.
    pub endianness: u32,
    /// Where the levels or the dictionary start; 0 until the log is closed.
    pub dictionary_offset: u64,
    /// Number of entries, modulo 2^32; 0 until the log is closed.
    pub entry_count: u32,
    /// Written since 1.0.3; zero before.
    pub flags: u32,
    /// Zeros; since 1.1, the ids of [`Header::ids`].
    pub reserved: [u8; 8],
    /// Whether entries have timestamps; not stored before 1.0.3.
    pub has_timestamps: bool,
    /// Size of the header in the file.
    pub stored_bytes: usize,
}

impl Header {
    /// A header of the library's 1.0.7 with timestamps in nanoseconds; counts and offsets are zero.
    pub fn new(order: ByteOrder) -> Self {
        Self {
            order,
            magic: CNANOLOG_MAGIC,
            version_major: CNANOLOG_VERSION_MAJOR,
            version_minor: CNANOLOG_VERSION_MINOR,
            timestamp_frequency: 1_000_000_000,
            start_timestamp: 0,
            start_time_sec: 0,
            start_time_nsec: 0,
            endianness: CNANOLOG_ENDIANNESS,
            dictionary_offset: 0,
            entry_count: 0,
            flags: CNANOLOG_FLAG_HAS_TIMESTAMPS,
            reserved: [0; 8],
            has_timestamps: true,
            stored_bytes: HEADER_BYTES,
        }
    }

    /// The clock of the file's timestamps.
    pub fn clock(&self) -> Clock {
        Clock::new(self)
    }

    /// Whether another file was written by the same process, which numbers its sites the same way.
    pub fn is_same_run(&self, other: &Self) -> bool {
        self.run().is_some() && self.run() == other.run()
    }

    /// The run, unless the header was never filled in.
    pub(crate) fn run(&self) -> Option<Run> {
        let run = (self.start_timestamp, self.start_time_sec, self.start_time_nsec);
        (run != Run::default()).then_some(run)
    }

    /// The process and the thread that started the log; stored since 1.1.
    pub fn ids(&self) -> Option<(u32, u32)> {
        let [a, b, c, d, e, f, g, h] = self.reserved;
        let has_ids = self.version_minor >= CNANOLOG_VERSION_MINOR_IDS;
        has_ids.then(|| (self.order.u32([a, b, c, d]), self.order.u32([e, f, g, h])))
    }

    /// Makes it a 1.1 header, with the ids of the process and the thread that started the log.
    pub fn set_ids(&mut self, process: u32, thread: u32) {
        let ([a, b, c, d], [e, f, g, h]) = (self.order.put_u32(process), self.order.put_u32(thread));
        self.reserved = [a, b, c, d, e, f, g, h];
        self.version_minor = self.version_minor.max(CNANOLOG_VERSION_MINOR_IDS);
    }

    /// Flags that have a meaning in its version.
    pub(crate) const fn known_flags(&self) -> u32 {
        match self.version_minor {
            _ if self.version_major != CNANOLOG_VERSION_MAJOR => CNANOLOG_FLAG_HAS_TIMESTAMPS,
            ..CNANOLOG_VERSION_MINOR_LZ4 => CNANOLOG_FLAG_HAS_TIMESTAMPS,
            CNANOLOG_VERSION_MINOR_LZ4 => CNANOLOG_FLAG_HAS_TIMESTAMPS | CNANOLOG_FLAG_LZ4,
            CNANOLOG_VERSION_MINOR_CRC32.. => CNANOLOG_FLAG_HAS_TIMESTAMPS | CNANOLOG_FLAG_LZ4 | CNANOLOG_FLAG_CRC32,
        }
    }

    /// Whether blocks may be compressed with LZ4; since 1.2.
    pub const fn is_compressed(&self) -> bool {
        self.flags & self.known_flags() & CNANOLOG_FLAG_LZ4 != 0
    }

    /// Whether blocks have checksums; since 1.3.
    pub const fn has_checksums(&self) -> bool {
        self.flags & self.known_flags() & CNANOLOG_FLAG_CRC32 != 0
    }

    /// Makes it a 1.2 header, with LZ4-compressed blocks.
    pub fn set_compressed(&mut self) {
        self.flags |= CNANOLOG_FLAG_LZ4;
        self.version_minor = self.version_minor.max(CNANOLOG_VERSION_MINOR_LZ4);
    }

    /// Makes it a 1.3 header, with checksums in blocks.
    pub fn set_checksums(&mut self) {
        self.flags |= CNANOLOG_FLAG_CRC32;
        self.version_minor = self.version_minor.max(CNANOLOG_VERSION_MINOR_CRC32);
    }

    /// Whether everything after the header is in blocks.
    pub(crate) const fn has_blocks(&self) -> bool {
        self.is_compressed() || self.has_checksums()
    }

    /// Size of an entry before its arguments.
    pub const fn entry_header_bytes(&self) -> usize {
        if self.has_timestamps { ENTRY_HEADER_BYTES } else { ENTRY_HEADER_NO_TIME_BYTES }
    }

    /// Whether the magic is in the other byte order than the rest, as in the documentation's dump.
    pub const fn has_swapped_magic(&self) -> bool {
        self.magic == CNANOLOG_MAGIC.swap_bytes()
    }
}

/// One call of a log statement.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The id of the site that logged it.
    pub id: u32,
    /// Ticks; absent in builds without timestamps.
    pub timestamp: Option<u64>,
    /// The arguments, see [`Entry::args`].
    pub data: &'a [u8],
    /// The arguments and the bytes that happen to follow them.
    pub(crate) padded: &'a [u8],
    pub(crate) dictionary: Option<&'a Dictionary>,
    pub(crate) index: Option<u32>,
}

impl<'a> Entry<'a> {
    /// An entry to be written.
    pub fn new(id: u32, timestamp: Option<u64>, data: &'a [u8]) -> Self {
        Self { id, timestamp, data, padded: data, dictionary: None, index: None }
    }

    /// The site, if it is in the dictionary.
    #[inline]
    pub fn site(&self) -> Option<Site<'a>> {
        self.dictionary?.site(self.index? as usize)
    }

    /// Index of the site in the dictionary.
    #[inline]
    pub fn site_index(&self) -> Option<usize> {
        Some(self.index? as usize)
    }

    /// The dictionary that describes it.
    pub fn dictionary(&self) -> Option<&'a Dictionary> {
        self.dictionary
    }

    /// The arguments; `None` if the site is unknown or the bytes do not fit its types.
    #[inline]
    pub fn args(&self) -> Option<Args<'a>> {
        let dictionary = self.dictionary?;
        let types = dictionary.types(self.index? as usize)?;
        let bytes = Padded { data: self.data, padded: self.padded };
        types.decode_padded(bytes, dictionary.order(), dictionary.prefers())
    }

    /// Whether both forms fit and the file's other entries decided.
    pub fn is_ambiguous(&self) -> bool {
        self.with_types(|dictionary, types| types.is_ambiguous(self.data, dictionary.order()))
    }

    /// Whether an argument's sign was lost when the library packed it; the positive number is shown.
    pub fn has_lost_sign(&self) -> bool {
        self.with_types(|_, types| self.args().is_some_and(|args| has_lost_sign(&types, &args)))
    }

    fn with_types(&self, ask: impl FnOnce(&Dictionary, Types<'_>) -> bool) -> bool {
        let types = self.dictionary.and_then(|dictionary| Some((dictionary, dictionary.types(self.index? as usize)?)));
        types.is_some_and(|(dictionary, types)| ask(dictionary, types))
    }
}

/// Compares what is stored, not the dictionary.
impl PartialEq for Entry<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.timestamp, self.data) == (other.id, other.timestamp, other.data)
    }
}

/// The header of the custom levels or the dictionary.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Section {
    /// The magic as a number in the file's order; swapped in the documentation's spelling.
    pub magic: u32,
    /// Number of items that follow.
    pub count: u32,
    /// Size of the section including this header.
    pub total_size: u32,
    /// Zero.
    pub reserved: u32,
}

/// A custom level.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Level<'a> {
    /// Its number, 4 or more.
    pub level: u8,
    /// Its name, truncated to 31 bytes by the library; it need not be UTF-8.
    pub name: &'a [u8],
    /// Zeros.
    pub padding: [u8; 2],
}

/// A log statement in the source code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Site<'a> {
    /// The id that entries refer to.
    pub id: u32,
    /// Built-in or custom level.
    pub level: u8,
    /// Number of arguments.
    pub num_args: u8,
    /// Source line.
    pub line: u32,
    /// The type table as stored, 16 or 50 slots; see [`Dictionary::types`] for the valid types.
    pub arg_types: &'a [u8],
    /// Source file.
    pub file: &'a [u8],
    /// Format string.
    pub format: &'a [u8],
}

impl Site<'_> {
    /// The stored types of its arguments, as many as the table has room for.
    pub fn stored_types(&self) -> impl Iterator<Item = ArgType> {
        self.arg_types.iter().take(self.num_args.into()).map(|code| ArgType(*code))
    }
}

/// A block of a 1.2 or 1.3 log, or bytes between blocks: its entries, levels and sites follow one by one, as if there
/// were no blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block<'a> {
    /// Plain bytes of the records in it; 0 if it cannot be read.
    pub plain_bytes: u32,
    /// The block as stored, including its head.
    pub stored: &'a [u8],
}

/// One piece of a file. A file is `Entry* (Levels Level*)? (Dictionary Site*)?`, with `Residue` anywhere, and in 1.2
/// and 1.3 logs with a `Block` before the first record of each block.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// Represents the records that start in it: a writer that gets blocks writes nothing else.
    Block(Block<'a>),
    /// An entry.
    Entry(Entry<'a>),
    /// The header of the custom levels.
    Levels(Section),
    /// A custom level.
    Level(Level<'a>),
    /// The header of the dictionary.
    Dictionary(Section),
    /// A site.
    Site(Site<'a>),
    /// Bytes that belong to no record.
    Residue(&'a [u8]),
}

impl Describe for Header {
    fn kind(&self) -> &'static str {
        "header"
    }

    fn describe(&self, fields: &mut dyn Fields) {
        fields.hex("magic", self.magic.into());
        fields.word("version", &format!("{}.{}", self.version_major, self.version_minor));
        fields.word("byte_order", self.order.as_str());
        fields.unsigned("timestamp_frequency", self.timestamp_frequency);
        fields.unsigned("start_timestamp", self.start_timestamp);
        fields.signed("start_time_sec", self.start_time_sec);
        fields.signed("start_time_nsec", self.start_time_nsec.into());
        fields.hex("endianness", self.endianness.into());
        fields.unsigned("dictionary_offset", self.dictionary_offset);
        fields.unsigned("entry_count", self.entry_count.into());
        fields.hex("flags", self.flags.into());
        fields.bytes("reserved", &self.reserved);
        fields.flag("has_timestamps", self.has_timestamps);
    }
}

impl Describe for Record<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Block(_) => "block",
            Self::Entry(_) => "entry",
            Self::Levels(_) => "levels",
            Self::Level(_) => "level",
            Self::Dictionary(_) => "dictionary",
            Self::Site(_) => "site",
            Self::Residue(_) => "residue",
        }
    }

    fn describe(&self, fields: &mut dyn Fields) {
        match self {
            Self::Block(block) => {
                fields.unsigned("plain_bytes", block.plain_bytes.into());
                fields.unsigned("stored_bytes", block.stored.len() as u64);
            }
            Self::Entry(entry) => entry.describe(fields),
            Self::Levels(section) | Self::Dictionary(section) => {
                fields.hex("magic", section.magic.into());
                fields.unsigned("count", section.count.into());
                fields.unsigned("total_size", section.total_size.into());
                fields.unsigned("reserved", section.reserved.into());
            }
            Self::Level(level) => {
                fields.unsigned("level", level.level.into());
                fields.text("name", level.name);
                if level.padding != [0; 2] {
                    fields.bytes("padding", &level.padding);
                }
            }
            Self::Site(site) => site.describe(fields),
            Self::Residue(bytes) => fields.bytes("bytes", bytes),
        }
    }
}

impl Entry<'_> {
    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("id", self.id.into());
        if let Some(timestamp) = self.timestamp {
            fields.unsigned("timestamp", timestamp);
        }
        let Some(args) = self.args() else { return fields.bytes("data", self.data) };
        fields.word("form", args.form().as_str());
        fields.list("args");
        for arg in args {
            describe_arg(arg, fields);
        }
        fields.end();
    }
}

impl Site<'_> {
    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("id", self.id.into());
        fields.unsigned("level", self.level.into());
        fields.unsigned("num_args", self.num_args.into());
        fields.text("file", self.file);
        fields.unsigned("line", self.line.into());
        fields.text("format", self.format);
        fields.list("arg_types");
        // The contents of unused slots are part of the record; trailing zeros carry no information.
        let used = self.arg_types.iter().rposition(|code| *code != 0).map_or(0, |last| last + 1);
        for code in self.arg_types.iter().take(used.max(self.num_args.into())) {
            fields.word("type", &ArgType(*code).to_string());
        }
        fields.end();
    }
}

fn describe_arg(arg: Arg<'_>, fields: &mut dyn Fields) {
    match arg {
        Arg::Char(value) => fields.text("char", &[value]),
        Arg::Double(value) => fields.float("f64", value),
        Arg::Int32(value) => fields.signed("i32", value.into()),
        Arg::Int64(value) => fields.signed("i64", value),
        Arg::Pointer(value) => fields.hex("ptr", value),
        Arg::String(text) => fields.text("str", text),
        Arg::Uint32(value) => fields.unsigned("u32", value.into()),
        Arg::Uint64(value) => fields.unsigned("u64", value),
    }
}
