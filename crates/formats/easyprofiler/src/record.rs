//! Header and records: everything in a file, borrowed and lossless.

use traceloom_core::{ByteOrder, find_nul};

use crate::{
    Clock,
    element::Element,
    raw::{BOOKMARK_COLOR, BlockType, DEFAULT_COLOR, DataType, Layout, Status, Version},
};

/// The file header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Header {
    /// The layout of the bytes.
    pub layout: Layout,
    /// Stamp of the writing library.
    pub version: Version,
    /// Process id; not stored up to 1.0.0.
    pub pid: Option<u64>,
    /// Ticks per second; 0 means that all times are nanoseconds.
    pub cpu_frequency: i64,
    /// Start of profiling; 0 in a capture over the network.
    pub begin_time: u64,
    /// End of profiling.
    pub end_time: u64,
    /// Sum of the sizes of all switches and blocks, without their prefixes.
    pub memory_size: u64,
    /// Sum of the sizes of all descriptors; only a hint.
    pub descriptors_memory_size: u64,
    /// Number of switches and blocks of all threads.
    pub blocks_count: u32,
    /// Number of descriptors, including holes.
    pub descriptors_count: u32,
    /// Number of thread sections; stored since 2.1.0.
    pub threads_count: Option<u32>,
    /// Number of bookmarks; stored since 2.1.0.
    pub bookmarks_count: Option<u16>,
    /// Zero; stored since 2.1.0.
    pub padding: Option<u16>,
    /// Size of the header in the file; less than its layout requires in a truncated file.
    pub stored_bytes: usize,
}

impl Header {
    /// A header with all counts zero, to be filled in.
    pub fn new(layout: Layout, version: Version) -> Self {
        Self {
            layout,
            version,
            pid: (layout.pid.bytes() > 0).then_some(0),
            cpu_frequency: 0,
            begin_time: 0,
            end_time: 0,
            memory_size: 0,
            descriptors_memory_size: 0,
            blocks_count: 0,
            descriptors_count: 0,
            threads_count: layout.marks.then_some(0),
            bookmarks_count: layout.marks.then_some(0),
            padding: layout.marks.then_some(0),
            stored_bytes: layout.header_bytes(),
        }
    }

    /// The clock of the file's times.
    pub fn clock(&self) -> Clock {
        Clock::new(self)
    }
}

/// Stored text: the part before the first NUL, and the part from there on.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Name<'a> {
    /// The text; it need not be UTF-8.
    pub text: &'a [u8],
    /// The terminating NUL and anything after it; empty if the NUL is missing.
    pub tail: &'a [u8],
}

impl<'a> Name<'a> {
    /// Text with its NUL, as the library writes it.
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text, tail: b"\0" }
    }

    /// Splits stored bytes at the first NUL.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Self {
        let nul = find_nul(bytes).unwrap_or(bytes.len());
        let (text, tail) = bytes.split_at_checked(nul).unwrap_or((bytes, &[]));
        Self { text, tail }
    }

    /// Number of stored bytes.
    pub const fn len(&self) -> usize {
        self.text.len() + self.tail.len()
    }

    /// Whether nothing is stored, not even the NUL.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether exactly one NUL terminates it.
    pub fn is_canonical(&self) -> bool {
        self.tail == b"\0"
    }
}

/// The source location and appearance of blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Descriptor<'a> {
    /// Its number; records refer to the index in the list, which real files repeat here.
    pub id: u32,
    /// Source line.
    pub line: i32,
    /// ARGB.
    pub color: u32,
    /// The kind of its records.
    pub block_type: BlockType,
    /// Whether its records are stored.
    pub status: Status,
    /// Name, or `file:line` if each record has a runtime name.
    pub name: Name<'a>,
    /// Source file.
    pub file: Name<'a>,
    /// SIZE as stored, if it differs from the sum of the fields.
    pub odd_size: Option<u16>,
    /// Name length as stored, if it differs from that of the name.
    pub odd_name_size: Option<u16>,
}

/// The head of a thread's section; its context switches follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Thread<'a> {
    /// Thread id of the operating system.
    pub id: u64,
    /// Its name; nothing is stored for an unnamed thread.
    pub name: Name<'a>,
    /// Number of context switches that follow.
    pub switches: u32,
}

/// A time during which the thread was off the CPU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Switch<'a> {
    /// When it was taken off the CPU, in ticks.
    pub begin: u64,
    /// When it was back on the CPU, in ticks.
    pub end: u64,
    /// The thread that ran next.
    pub target: u64,
    /// The process that ran next, as far as the recorder knew.
    pub name: Name<'a>,
    /// SIZE as stored, if it differs from the sum of the fields.
    pub odd_size: Option<u16>,
}

/// A block or event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block<'a> {
    /// Start, in ticks.
    pub begin: u64,
    /// End, in ticks; the same as the start for an event.
    pub end: u64,
    /// Index of its descriptor in the list.
    pub descriptor: u32,
    /// The type of that descriptor; not stored here.
    pub block_type: BlockType,
    /// Runtime name; usually empty, in which case the descriptor's is used.
    pub name: Name<'a>,
    /// SIZE as stored, if it differs from the sum of the fields.
    pub odd_size: Option<u16>,
}

/// A value at a point in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Value<'a> {
    /// Time, in ticks.
    pub begin: u64,
    /// Time, in ticks; the same as `begin`.
    pub end: u64,
    /// Index of its descriptor in the list.
    pub descriptor: u32,
    /// The empty name and the padding, both zero.
    pub filler: [u8; 2],
    /// Type of the elements.
    pub data_type: DataType,
    /// Zero for a scalar.
    pub is_array: u8,
    /// Identifies the quantity: an address or a number chosen by the user; 0 means by name.
    pub value_id: u64,
    /// The elements, see [`Value::elements`].
    pub data: &'a [u8],
    /// Byte order of the elements; not stored here.
    pub order: ByteOrder,
    /// Bytes after the data.
    pub surplus: &'a [u8],
    /// Data size as stored, if it differs from that of the data.
    pub odd_data_size: Option<u16>,
    /// SIZE as stored, if it differs from the sum of the fields.
    pub odd_size: Option<u16>,
}

/// A position that the user marked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bookmark<'a> {
    /// Absolute nanoseconds, never ticks.
    pub position_ns: u64,
    /// ARGB.
    pub color: u32,
    /// The user's text.
    pub text: Name<'a>,
    /// SIZE as stored, if it differs from the sum of the fields.
    pub odd_size: Option<u16>,
}

/// One piece of a file. A file is `(Descriptor | Hole)* (Thread Switch* Blocks (Block | Value)*)* Mark? (Bookmark*
/// Mark)?`, with `Malformed` in place of any sized record and `Residue` anywhere; among the descriptors, each `Residue`
/// takes an index in the list, and may be empty.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A descriptor.
    Descriptor(Descriptor<'a>),
    /// A descriptor of SIZE 0: it takes an index and has no contents.
    Hole,
    /// The head of a thread's section.
    Thread(Thread<'a>),
    /// A context switch of that thread.
    Switch(Switch<'a>),
    /// The number of blocks and values of that thread that follow.
    Blocks(u32),
    /// A block or event.
    Block(Block<'a>),
    /// A value.
    Value(Value<'a>),
    /// Ends the threads, or the bookmarks.
    Mark(u32),
    /// A bookmark.
    Bookmark(Bookmark<'a>),
    /// A sized record that is too short for its fields, without its prefix.
    Malformed(&'a [u8]),
    /// Bytes that belong to no record.
    Residue(&'a [u8]),
}

impl<'a> Descriptor<'a> {
    /// A descriptor that is on and has the default color.
    pub const fn new(id: u32, block_type: BlockType, name: &'a [u8]) -> Self {
        let (name, file) = (Name::new(name), Name::new(b""));
        let (color, status) = (DEFAULT_COLOR, Status::ON);
        Self { id, line: 0, color, block_type, status, name, file, odd_size: None, odd_name_size: None }
    }
}

impl Switch<'_> {
    /// A switch to a thread of an unnamed process.
    pub const fn new(begin: u64, end: u64, target: u64) -> Self {
        Self { begin, end, target, name: Name::new(b""), odd_size: None }
    }
}

impl Block<'_> {
    /// A block without a runtime name.
    pub const fn new(descriptor: u32, begin: u64, end: u64) -> Self {
        Self { begin, end, descriptor, block_type: BlockType::BLOCK, name: Name::new(b""), odd_size: None }
    }
}

impl<'a> Value<'a> {
    /// The bytes of a text up to its NUL; `None` if the value is not a text.
    #[inline]
    pub fn text(&self) -> Option<&'a [u8]> {
        let is_text = self.data_type == DataType::STRING;
        is_text.then(|| self.data.split(|byte| *byte == 0).next().unwrap_or_default())
    }

    /// Number of bytes that a single value is too short for its type.
    #[inline]
    pub fn missing_bytes(&self) -> usize {
        let needed = self.data_type.width().filter(|_| self.is_array == 0).unwrap_or(0);
        needed.saturating_sub(self.data.len())
    }

    /// A single value whose bytes are little-endian.
    pub const fn new(descriptor: u32, at: u64, data_type: DataType, data: &'a [u8]) -> Self {
        Self {
            begin: at,
            end: at,
            descriptor,
            filler: [0, 0],
            data_type,
            is_array: 0,
            value_id: 0,
            data,
            order: ByteOrder::Little,
            surplus: &[],
            odd_data_size: None,
            odd_size: None,
        }
    }

    /// The decoded elements; `None` if the type is unknown or its width does not divide the size.
    pub fn elements(&self) -> Option<impl Iterator<Item = Element> + use<'a>> {
        Element::all(self.data, self.data_type, self.order)
    }

    /// The number of elements, without decoding them.
    #[inline]
    pub fn element_count(&self) -> Option<usize> {
        Element::count(self.data, self.data_type)
    }
}

impl<'a> Bookmark<'a> {
    /// A bookmark in the default color of the library's viewer.
    pub const fn new(position_ns: u64, text: &'a [u8]) -> Self {
        Self { position_ns, color: BOOKMARK_COLOR, text: Name::new(text), odd_size: None }
    }
}

impl Record<'_> {
    /// Start and end in ticks, of switches, blocks, events and values.
    #[inline]
    pub fn times(&self) -> Option<(u64, u64)> {
        match self {
            Self::Switch(switch) => Some((switch.begin, switch.end)),
            Self::Block(block) => Some((block.begin, block.end)),
            Self::Value(value) => Some((value.begin, value.end)),
            _ => None,
        }
    }

    /// SIZE as stored, if it differs from the sum of the fields.
    pub fn odd_size(&self) -> Option<u16> {
        match self {
            Self::Descriptor(descriptor) => descriptor.odd_size,
            Self::Switch(switch) => switch.odd_size,
            Self::Block(block) => block.odd_size,
            Self::Value(value) => value.odd_size,
            Self::Bookmark(bookmark) => bookmark.odd_size,
            _ => None,
        }
    }
}
