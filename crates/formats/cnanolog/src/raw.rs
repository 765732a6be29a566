//! Numbers and layouts of the format, shared by the reader and the writer.

use traceloom_core::named_number;

/// First number of a file, "NANO" when written big-endian.
pub const CNANOLOG_MAGIC: u32 = 0x4E41_4E4F;
/// First number of the dictionary, "DICT" when written big-endian.
pub const CNANOLOG_DICT_MAGIC: u32 = 0x4449_4354;
/// First number of the custom levels, "LVLS" when written big-endian.
pub const CNANOLOG_LEVEL_DICT_MAGIC: u32 = 0x4C56_4C53;
/// First number of a block, "BLCK" when written big-endian.
pub const CNANOLOG_BLOCK_MAGIC: u32 = 0x424C_434B;
/// The byte order marker.
pub const CNANOLOG_ENDIANNESS: u32 = 0x0102_0304;
/// The only major version.
pub const CNANOLOG_VERSION_MAJOR: u16 = 1;
/// The minor version of every release of the library.
pub const CNANOLOG_VERSION_MINOR: u16 = 0;
/// The minor version that stores the ids of the process and the thread; planned in the documentation.
pub const CNANOLOG_VERSION_MINOR_IDS: u16 = 1;
/// The minor version whose entries and dictionary may be in compressed blocks; planned in the documentation.
pub const CNANOLOG_VERSION_MINOR_LZ4: u16 = 2;
/// The minor version whose blocks may have checksums; planned in the documentation.
pub const CNANOLOG_VERSION_MINOR_CRC32: u16 = 3;
/// Flag: entries have timestamps; written since 1.0.3.
pub const CNANOLOG_FLAG_HAS_TIMESTAMPS: u32 = 1;
/// Flag: everything after the header is in blocks, compressed with LZ4 if that makes them smaller; since 1.2.
pub const CNANOLOG_FLAG_LZ4: u32 = 2;
/// Flag: everything after the header is in blocks, each with the CRC-32 of its plain bytes; since 1.3.
pub const CNANOLOG_FLAG_CRC32: u32 = 4;
/// Maximum number of argument bytes in an entry: the length is stored in 16 bits.
pub const CNANOLOG_MAX_ENTRY_SIZE: usize = 65_535;

/// Size of the file header.
pub const HEADER_BYTES: usize = 64;
/// Size of an entry header with its timestamp.
pub const ENTRY_HEADER_BYTES: usize = 14;
/// Size of an entry header without a timestamp.
pub const ENTRY_HEADER_NO_TIME_BYTES: usize = 6;
/// Size of the header of the dictionary, and of the levels.
pub const SECTION_HEADER_BYTES: usize = 16;
/// Size of a block's head.
pub const BLOCK_HEADER_BYTES: usize = 16;
/// Maximum number of plain bytes in a block.
pub const MAX_BLOCK_BYTES: usize = 1 << 20;
/// Size of a level without its name.
pub const LEVEL_FIXED: usize = 4;
/// Size of a dictionary entry before its type table.
pub const SITE_FIXED: usize = 14;
/// Slots of the type table in the documentation, and in the library up to 1.0.4.
pub const SLOTS_DOCUMENT: usize = 16;
/// Slots of the type table in the library since 1.0.5.
pub const SLOTS_LIBRARY: usize = 50;
/// Maximum length of a level name that CNanoLog reads.
pub const MAX_LEVEL_NAME: usize = 31;
/// Maximum number of custom levels that the library registers.
pub const MAX_LEVELS: usize = 64;

/// Offsets of the header's fields.
pub mod header_offset {
    /// `magic`
    pub const MAGIC: usize = 0;
    /// `version_major`
    pub const VERSION_MAJOR: usize = 4;
    /// `version_minor`
    pub const VERSION_MINOR: usize = 6;
    /// `timestamp_frequency`
    pub const TIMESTAMP_FREQUENCY: usize = 8;
    /// `start_timestamp`
    pub const START_TIMESTAMP: usize = 16;
    /// `start_time_sec`
    pub const START_TIME_SEC: usize = 24;
    /// `start_time_nsec`
    pub const START_TIME_NSEC: usize = 32;
    /// `endianness`
    pub const ENDIANNESS: usize = 36;
    /// `dictionary_offset`
    pub const DICTIONARY_OFFSET: usize = 40;
    /// `entry_count`
    pub const ENTRY_COUNT: usize = 48;
    /// `flags`; part of `reserved` in the documentation
    pub const FLAGS: usize = 52;
    /// `reserved`
    pub const RESERVED: usize = 56;
}

named_number! {
    /// The type of an argument, as stored.
    pub ArgType(u8) {
        /// An unused slot.
        NONE = 0 "none",
        /// Signed, four bytes.
        INT32 = 1 "i32",
        /// Signed, eight bytes.
        INT64 = 2 "i64",
        /// Unsigned, four bytes.
        UINT32 = 3 "u32",
        /// Unsigned, eight bytes.
        UINT64 = 4 "u64",
        /// Eight bytes.
        DOUBLE = 5 "f64",
        /// A length of four bytes, then text.
        STRING = 6 "str",
        /// Eight bytes.
        POINTER = 7 "ptr",
        /// One byte; since 1.0.7.
        CHAR = 8 "char",
    }
}

impl ArgType {
    /// Whether an argument can have this type.
    pub const fn is_argument(self) -> bool {
        matches!(self.0, 1..=8)
    }

    /// Size in the raw form; `None` for strings and invalid types.
    pub const fn width(self) -> Option<usize> {
        match self {
            Self::INT32 | Self::UINT32 => Some(4),
            Self::INT64 | Self::UINT64 | Self::DOUBLE | Self::POINTER => Some(8),
            Self::CHAR => Some(1),
            _ => None,
        }
    }
}

/// How the four built-in levels are numbered.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Numbering {
    /// As in the documentation: 0 DEBUG, 1 INFO, 2 WARN, 3 ERROR.
    Document,
    /// As in the library: 0 INFO, 1 WARN, 2 ERROR, 3 DEBUG.
    Library,
}

impl Numbering {
    /// The value of the command-line option.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Library => "library",
        }
    }

    /// The name of a built-in level.
    pub const fn name(self, level: u8) -> Option<&'static str> {
        match (self, level) {
            (Self::Document, 0) | (Self::Library, 3) => Some("DEBUG"),
            (Self::Document, 1) | (Self::Library, 0) => Some("INFO"),
            (Self::Document, 2) | (Self::Library, 1) => Some("WARN"),
            (Self::Document, 3) | (Self::Library, 2) => Some("ERROR"),
            _ => None,
        }
    }

    /// The number that a built-in level of this numbering has in another; custom levels keep theirs.
    pub const fn translate(self, level: u8, to: Self) -> u8 {
        match (self, to, level) {
            (Self::Document, Self::Library, 0..=3) => (level + 3) % 4,
            (Self::Library, Self::Document, 0..=3) => (level + 1) % 4,
            _ => level,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translated_levels_keep_their_names() {
        for level in 0..=255 {
            for (from, to) in [(Numbering::Document, Numbering::Library), (Numbering::Library, Numbering::Document)] {
                assert_eq!(from.name(level), to.name(from.translate(level, to)));
            }
        }
    }
}
