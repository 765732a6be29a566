//! Numbers and layouts of the format, shared by the reader and the writer.

use std::fmt;

use traceloom_core::{ByteOrder, named_number};

/// The signature: the file's first number, and the mark that ends a section.
pub const EASY_PROFILER_SIGNATURE: u32 = 0x4561_7379;
/// The mark after the bookmarks as misspelled in the circulating documentation.
pub const DOCUMENT_BOOKMARKS_MARK: u32 = 0x4561_7329;

/// Size of a descriptor before its name.
pub const DESCRIPTOR_FIXED: usize = 16;
/// Size of a block before its name.
pub const BLOCK_FIXED: usize = 20;
/// Size of a value before its data.
pub const VALUE_FIXED: usize = 34;
/// Size of a bookmark before its text.
pub const BOOKMARK_FIXED: usize = 12;
/// The library's color for blocks without one: ARGB.
pub const DEFAULT_COLOR: u32 = 0xffff_ecb3;
/// The color of bookmarks in the library's viewer: ARGB.
pub const BOOKMARK_COLOR: u32 = 0xffaa_8773;
/// Maximum nesting depth that easy_profiler accepts.
pub const MAX_LEVELS: u32 = 255;

/// A version stamp: major in the top byte, minor in the next, patch in the lower half.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Version(pub u32);

impl Version {
    /// The first version with a signature, and the oldest that easy_profiler accepts.
    pub const V0_1_0: Self = Self::new(0, 1, 0);
    /// The last version without a process id.
    pub const V1_0_0: Self = Self::new(1, 0, 0);
    /// Process and thread ids became 64 bits wide.
    pub const V1_3_0: Self = Self::new(1, 3, 0);
    /// The header was reordered.
    pub const V2_0_0: Self = Self::new(2, 0, 0);
    /// Thread count, bookmarks and end marks were added.
    pub const V2_1_0: Self = Self::new(2, 1, 0);

    /// Builds a stamp.
    pub const fn new(major: u8, minor: u8, patch: u16) -> Self {
        Self((major as u32) << 24 | (minor as u32) << 16 | patch as u32)
    }

    /// Parses `2.1.0`; the patch may be left out.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        let patch = parts.next().map_or(Some(0), |patch| patch.parse().ok())?;
        parts.next().is_none().then(|| Self::new(major, minor, patch))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0 >> 24, self.0 >> 16 & 0xff, self.0 & 0xffff)
    }
}

named_number! {
    /// The kind of a descriptor's records.
    pub BlockType(u8) {
        /// A point in time.
        EVENT = 0 "event",
        /// A range of time.
        BLOCK = 1 "block",
        /// A value at a point in time.
        VALUE = 2 "value",
    }
}

named_number! {
    /// Whether a descriptor's records are stored; bits 1 on, 2 forced, 4 without children.
    pub Status(u8) {
        /// Not stored.
        OFF = 0 "off",
        /// Stored.
        ON = 1 "on",
        /// Stored even below a descriptor that is without children.
        FORCE_ON = 3 "force-on",
        /// Not stored, nor anything below.
        OFF_RECURSIVE = 4 "off-recursive",
        /// Stored, but nothing below.
        ON_WITHOUT_CHILDREN = 5 "on-without-children",
        /// Stored even below a descriptor that is without children, but nothing below it.
        FORCE_ON_WITHOUT_CHILDREN = 7 "force-on-without-children",
    }
}

named_number! {
    /// The type of a value's elements.
    pub DataType(u8) {
        /// One byte, zero is false.
        BOOL = 0 "bool",
        /// One byte of text.
        CHAR = 1 "char",
        /// Signed, one byte.
        INT8 = 2 "int8",
        /// Unsigned, one byte.
        UINT8 = 3 "uint8",
        /// Signed, two bytes.
        INT16 = 4 "int16",
        /// Unsigned, two bytes.
        UINT16 = 5 "uint16",
        /// Signed, four bytes.
        INT32 = 6 "int32",
        /// Unsigned, four bytes.
        UINT32 = 7 "uint32",
        /// Signed, eight bytes.
        INT64 = 8 "int64",
        /// Unsigned, eight bytes.
        UINT64 = 9 "uint64",
        /// Four bytes.
        FLOAT = 10 "float",
        /// Eight bytes.
        DOUBLE = 11 "double",
        /// Text, with or without a terminating NUL.
        STRING = 12 "string",
    }
}

impl DataType {
    /// Size of one element; `None` for an unknown type.
    pub const fn width(self) -> Option<usize> {
        match self {
            Self::BOOL | Self::CHAR | Self::INT8 | Self::UINT8 | Self::STRING => Some(1),
            Self::INT16 | Self::UINT16 => Some(2),
            Self::INT32 | Self::UINT32 | Self::FLOAT => Some(4),
            Self::INT64 | Self::UINT64 | Self::DOUBLE => Some(8),
            _ => None,
        }
    }
}

/// The stored width of an id.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Width {
    /// Not stored.
    Absent,
    /// Four bytes.
    U32,
    /// Eight bytes.
    U64,
}

impl Width {
    /// Size in the file.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Absent => 0,
            Self::U32 => 4,
            Self::U64 => 8,
        }
    }
}

/// What the SIZE prefix of a record counts.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SizeRule {
    /// The bytes after the prefix: every real file.
    Payload,
    /// Including the prefix: the documentation's text.
    WithPrefix,
    /// Unreliable; strings end at their NUL: the documentation's examples.
    Unreliable,
}

/// The order of the fields of a context switch.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SwitchOrder {
    /// begin, end, target: every real file.
    TimesFirst,
    /// target (eight bytes), begin, end: the documentation.
    TargetFirst,
}

/// Everything about the bytes that depends on version, byte order or dialect.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Layout {
    /// Byte order of every number.
    pub order: ByteOrder,
    /// Whether the signature is in the other byte order than the rest, as in the documentation.
    pub swapped_signature: bool,
    /// Width of the process id.
    pub pid: Width,
    /// Whether sizes come before counts in the header.
    pub sizes_first: bool,
    /// Whether the header counts threads and bookmarks, and marks end the sections.
    pub marks: bool,
    /// Width of a thread id.
    pub thread_id: Width,
    /// Fields of a context switch.
    pub switch: SwitchOrder,
    /// What SIZE counts.
    pub size: SizeRule,
}

impl Layout {
    /// The layout that easy_profiler writes for this version.
    pub fn real(version: Version, order: ByteOrder) -> Self {
        let wide = version >= Version::V1_3_0;
        Self {
            order,
            swapped_signature: false,
            pid: match version {
                _ if wide => Width::U64,
                _ if version > Version::V1_0_0 => Width::U32,
                _ => Width::Absent,
            },
            sizes_first: version >= Version::V2_0_0,
            marks: version >= Version::V2_1_0,
            thread_id: if wide { Width::U64 } else { Width::U32 },
            switch: SwitchOrder::TimesFirst,
            size: SizeRule::Payload,
        }
    }

    /// Layouts that the documentation describes for this version, the closest to the real one first.
    pub fn document(version: Version, real: Self) -> impl Iterator<Item = Self> {
        let pids = [real.pid, Width::U32];
        let pids = if version <= Version::V1_0_0 { &pids[..] } else { &pids[..1] }.to_vec();
        let ids = [real.thread_id, Width::U64];
        let ids = if version < Version::V1_3_0 { &ids[..] } else { &ids[..1] }.to_vec();
        let sizes = [SizeRule::Payload, SizeRule::WithPrefix, SizeRule::Unreliable];
        let all = sizes.into_iter().flat_map(move |size| {
            let ids = ids.clone();
            pids.clone().into_iter().flat_map(move |pid| {
                ids.clone().into_iter().map(move |thread_id| Self { size, pid, thread_id, ..real })
            })
        });
        all.filter(move |layout| *layout != real)
    }

    /// Size of the header.
    pub fn header_bytes(&self) -> usize {
        self.header_fields().map(|(_, width)| width).sum()
    }

    /// Offset of a header field.
    pub fn header_offset(&self, field: &str) -> usize {
        self.header_fields().take_while(|(name, _)| *name != field).map(|(_, width)| width).sum()
    }

    /// The fields of the header and their widths, in file order.
    fn header_fields(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let head = [("signature", 4), ("version", 4), ("pid", self.pid.bytes())];
        let times = [("cpu_frequency", 8), ("begin_time", 8), ("end_time", 8)];
        let (memory, blocks) = (("memory_size", 8), ("blocks_count", 4));
        let (descriptors_memory, descriptors) = (("descriptors_memory_size", 8), ("descriptors_count", 4));
        let sums = if self.sizes_first {
            [memory, descriptors_memory, blocks, descriptors]
        } else {
            [blocks, memory, descriptors, descriptors_memory]
        };
        let counts = [("threads_count", 4), ("bookmarks_count", 2), ("padding", 2)];
        let counts = counts.into_iter().filter(|_| self.marks);
        head.into_iter().chain(times).chain(sums).chain(counts)
    }

    /// Size of a context switch before its name.
    pub const fn switch_fixed(&self) -> usize {
        match self.switch {
            SwitchOrder::TimesFirst => 16 + self.thread_id.bytes(),
            SwitchOrder::TargetFirst => 24,
        }
    }

    /// The SIZE that declares a payload of `len` bytes.
    pub const fn size_of_payload(&self, len: usize) -> usize {
        match self.size {
            SizeRule::WithPrefix => len + 2,
            SizeRule::Payload | SizeRule::Unreliable => len,
        }
    }
}
