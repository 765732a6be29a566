//! Numbers and layouts of the format, shared by the reader and the writer.

use std::fmt;

use traceloom_core::{named_flags, named_number};

/// Characters that end a line, and with it a comment, in JavaScript.
pub(crate) const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];
/// First word of a file; little-endian in the chunked format, big-endian in the older one.
pub const MAGIC: u32 = 0xDEAD_BEEF;
/// Size of the file header before the first chunk.
pub const FILE_HEADER_BYTES: usize = 12;
/// The only version of the chunked format.
pub const FORMAT_VERSION: u32 = 10;
/// The only readable version of the older, packed, big-endian format.
pub const LEGACY_VERSION: u32 = 3;
/// The version of the text format that chunks replaced.
pub const SCRIPT_VERSION: u32 = 2;
/// Writer version of the last release: a build date in milliseconds.
pub const WTF_VERSION: u64 = 1_436_947_200_000;
/// WTF assumes that the header is 12 words instead of 12 bytes, so a shorter file fails.
pub const MIN_FILE_BYTES: u64 = 48;
/// Size of a chunk before its part table.
pub const CHUNK_FIXED: usize = 24;
/// Size of an entry of the part table.
pub const PART_ENTRY: usize = 12;
/// The value of unknown chunk times.
pub const NO_TIME: u32 = u32::MAX;
/// The wire id of `wtf.event#define`, the only event that needs no definition.
pub const DEFINE_WIRE_ID: u32 = 1;
/// A null string; any other ordinal outside the table also reads as null.
pub const NULL_STRING: u32 = u32::MAX;
/// An empty string.
pub const EMPTY_STRING: u32 = u32::MAX - 1;
/// A null array.
pub const NULL_ARRAY: u32 = u32::MAX;
/// Maximum number of open scopes; beyond it, WTF stops nesting.
pub const MAX_LEVELS: u32 = 1024;
/// Number of event bytes after which our writer starts a new chunk.
pub const CHUNK_EVENT_BYTES: usize = 1 << 20;

named_number! {
    /// The contents of a chunk.
    pub ChunkType(u32, |value, f| write!(f, "{value:#x}")) {
        /// One part of JSON about the whole file.
        FILE_HEADER = 1 "file_header",
        /// Events and what they refer to.
        EVENT_DATA = 2 "event_data",
    }
}

named_number! {
    /// The contents of a part of a chunk.
    pub PartType(u32, |value, f| write!(f, "{value:#x}")) {
        /// JSON about the whole file.
        FILE_HEADER = 0x10000 "file_header",
        /// Events as JSON; WTF never reads them.
        JSON_EVENT_BUFFER = 0x20000 "json_event_buffer",
        /// Events in the older, packed, big-endian encoding.
        LEGACY_EVENT_BUFFER = 0x20001 "legacy_event_buffer",
        /// Events in words.
        BINARY_EVENT_BUFFER = 0x20002 "binary_event_buffer",
        /// Strings, each terminated by a NUL.
        STRING_TABLE = 0x30000 "string_table",
        /// Any bytes.
        BINARY_RESOURCE = 0x40000 "binary_resource",
        /// UTF-8 text.
        STRING_RESOURCE = 0x40001 "string_resource",
    }
}

impl PartType {
    /// Whether the part holds events.
    pub const fn is_events(self) -> bool {
        matches!(self, Self::JSON_EVENT_BUFFER | Self::LEGACY_EVENT_BUFFER | Self::BINARY_EVENT_BUFFER)
    }

    /// Whether the part is a resource.
    pub const fn is_resource(self) -> bool {
        matches!(self, Self::BINARY_RESOURCE | Self::STRING_RESOURCE)
    }
}

named_number! {
    /// Whether an event opens a scope.
    pub EventClass(u16, |value, f| write!(f, "{value:#x}")) {
        /// A point in time.
        INSTANCE = 0 "instance",
        /// Opens a scope that a leave event closes.
        SCOPE = 1 "scope",
    }
}

named_flags! {
    /// Properties of an event type.
    pub EventFlags(u32, "|") {
        /// Occurs very often.
        HIGH_FREQUENCY = 2 "high_frequency",
        /// Its time is that of the system, not of the program.
        SYSTEM_TIME = 4 "system_time",
        /// Not shown.
        INTERNAL = 8 "internal",
        /// Its arguments belong to the open scope.
        APPEND_SCOPE_DATA = 16 "append_scope_data",
        /// The loader handles it.
        BUILTIN = 32 "builtin",
        /// Its arguments belong to a flow.
        APPEND_FLOW_DATA = 64 "append_flow_data",
    }
}

impl EventFlags {
    /// Whether events of the type are not for people.
    pub const fn is_hidden(self) -> bool {
        self.0 & (Self::INTERNAL.0 | Self::APPEND_SCOPE_DATA.0 | Self::APPEND_FLOW_DATA.0) != 0
    }
}

/// The type of array elements.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Element {
    /// Signed, one byte.
    Int8,
    /// Unsigned, one byte.
    Uint8,
    /// Signed, two bytes.
    Int16,
    /// Unsigned, two bytes.
    Uint16,
    /// Signed, four bytes.
    Int32,
    /// Unsigned, four bytes.
    Uint32,
    /// IEEE single.
    Float32,
    /// A code point up to 255.
    Char,
    /// One UTF-16 unit.
    Wchar,
}

impl Element {
    /// Size of one element.
    pub const fn width(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 | Self::Char => 1,
            Self::Int16 | Self::Uint16 | Self::Wchar => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
        }
    }
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ArgumentType {
    /// Zero is false.
    Bool,
    /// A number or character.
    Number(Element),
    /// A string, meant to be ASCII but stored as UTF-8.
    Ascii,
    /// A string.
    Utf8,
    /// A JSON text.
    Any,
    /// The id of a flow; 0 for none.
    FlowId,
    /// Microseconds.
    Time32,
    /// An array of numbers or characters.
    Array(Element),
}

impl ArgumentType {
    const SCALARS: [(&'static str, Self); 15] = [
        ("bool", Self::Bool),
        ("int8", Self::Number(Element::Int8)),
        ("uint8", Self::Number(Element::Uint8)),
        ("int16", Self::Number(Element::Int16)),
        ("uint16", Self::Number(Element::Uint16)),
        ("int32", Self::Number(Element::Int32)),
        ("uint32", Self::Number(Element::Uint32)),
        ("float32", Self::Number(Element::Float32)),
        ("char", Self::Number(Element::Char)),
        ("wchar", Self::Number(Element::Wchar)),
        ("ascii", Self::Ascii),
        ("utf8", Self::Utf8),
        ("any", Self::Any),
        ("flowId", Self::FlowId),
        ("time32", Self::Time32),
    ];
    const ALIASES: [(&'static str, &'static str); 8] = [
        ("byte", "int8"),
        ("octet", "uint8"),
        ("short", "int16"),
        ("unsigned short", "uint16"),
        ("long", "int32"),
        ("unsigned long", "uint32"),
        ("float", "float32"),
        ("DOMString", "utf8"),
    ];

    /// Parses the word of a signature, under all its names.
    pub fn parse(word: &str) -> Option<Self> {
        let element = word.strip_suffix("[]");
        let element = element.or_else(|| word.strip_prefix("sequence<").and_then(|rest| rest.strip_suffix('>')));
        if let Some(element) = element {
            return match Self::scalar(element)? {
                Self::Number(element) => Some(Self::Array(element)),
                _ => None,
            };
        }
        Self::scalar(word)
    }

    fn scalar(word: &str) -> Option<Self> {
        let word = Self::ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word, |(_, word)| word);
        Self::SCALARS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind)
    }

    /// Whether the stored word is the ordinal of a string.
    pub const fn is_string(self) -> bool {
        matches!(self, Self::Ascii | Self::Utf8 | Self::Any)
    }
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scalar, suffix) = match self {
            Self::Array(element) => (Self::Number(*element), "[]"),
            scalar => (*scalar, ""),
        };
        let word = Self::SCALARS.iter().find(|(_, kind)| *kind == scalar).map_or("", |(word, _)| word);
        write!(f, "{word}{suffix}")
    }
}

/// The next multiple of four.
pub const fn padded(len: usize) -> usize {
    len.saturating_add(3) & !3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_go_by_all_their_names() {
        for (word, canonical) in
            [("octet", "uint8"), ("sequence<unsigned short>", "uint16[]"), ("float[]", "float32[]")]
        {
            assert_eq!(ArgumentType::parse(word).unwrap().to_string(), canonical);
        }
        for word in ["uint64", "bool[]", "ascii[]", "any[]", "uint8[][]", " uint8", "uint8 ", ""] {
            assert_eq!(ArgumentType::parse(word), None, "{word}");
        }
    }

    #[test]
    fn numbers_print_their_names() {
        assert_eq!(PartType::STRING_TABLE.to_string(), "string_table");
        assert_eq!(PartType(0x50000).to_string(), "0x50000");
        assert_eq!(EventFlags(40).to_string(), "internal|builtin");
        assert_eq!(EventFlags(0).to_string(), "0x0");
        assert_eq!(EventFlags(0x109).to_string(), "internal|0x101");
    }
}
