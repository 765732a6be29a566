//! Header and records: all that a file holds, borrowed and lossless.

use traceloom_core::{ByteOrder, find_nul};

use crate::{
    Clock,
    element::Element,
    raw::{BOOKMARK_COLOR, BlockType, DEFAULT_COLOR, DataType, Layout, Status, Version},
};

/// The file header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Header {
    /// How the bytes are laid out.
    pub layout: Layout,
    /// Stamp of the writing library.
    pub version: Version,
    /// Process id; not stored up to 1.0.0.
    pub pid: Option<u64>,
    /// Ticks per second; 0 means that all times are nanoseconds.
    pub cpu_frequency: i64,
    /// When profiling was switched on; 0 in a capture over the network.
    pub begin_time: u64,
    /// When profiling was switched off.
    pub end_time: u64,
    /// Sum of the sizes of all switches and blocks, without their prefixes.
    pub memory_size: u64,
    /// Sum of the sizes of all descriptors; a hint only.
    pub descriptors_memory_size: u64,
    /// Switches and blocks of all threads.
    pub blocks_count: u32,
    /// Descriptors, holes included.
    pub descriptors_count: u32,
    /// Thread sections; stored since 2.1.0.
    pub threads_count: Option<u32>,
    /// Bookmarks; stored since 2.1.0.
    pub bookmarks_count: Option<u16>,
    /// Zero; stored since 2.1.0.
    pub padding: Option<u16>,
    /// Bytes of the header that the file has; fewer than its layout asks for in a cut file.
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

/// Stored text: what comes before the first NUL, and what comes from there on.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Name<'a> {
    /// The text; it need not be UTF-8.
    pub text: &'a [u8],
    /// The closing NUL and anything behind it; empty where the NUL is missing.
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

    /// Stored bytes.
    pub const fn len(&self) -> usize {
        self.text.len() + self.tail.len()
    }

    /// Whether no byte is stored, not even the NUL.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether exactly one NUL closes it.
    pub fn is_canonical(&self) -> bool {
        self.tail == b"\0"
    }
}

/// Where a block is measured and how it looks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Descriptor<'a> {
    /// Its number; records refer to the position in the list, which real files repeat here.
    pub id: u32,
    /// Source line.
    pub line: i32,
    /// ARGB.
    pub color: u32,
    /// What its records are.
    pub block_type: BlockType,
    /// Whether its records are stored.
    pub status: Status,
    /// Name, or `file:line` where each record brings its own.
    pub name: Name<'a>,
    /// Source file.
    pub file: Name<'a>,
    /// SIZE as stored, where it is not what the fields add up to.
    pub odd_size: Option<u16>,
    /// Name length as stored, where it is not the name's.
    pub odd_name_size: Option<u16>,
}

/// Opens the section of a thread; its context switches follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Thread<'a> {
    /// Thread id of the operating system.
    pub id: u64,
    /// Its name; nothing is stored for a thread that never got one.
    pub name: Name<'a>,
    /// Context switches that follow.
    pub switches: u32,
}

/// A time in which the thread was off the CPU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Switch<'a> {
    /// When it was taken off, in ticks.
    pub begin: u64,
    /// When it was back, in ticks.
    pub end: u64,
    /// The thread that ran next.
    pub target: u64,
    /// The process that ran next, as far as the recorder knew.
    pub name: Name<'a>,
    /// SIZE as stored, where it is not what the fields add up to.
    pub odd_size: Option<u16>,
}

/// A block or event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block<'a> {
    /// When it began, in ticks.
    pub begin: u64,
    /// When it ended, in ticks; an event ends as it begins.
    pub end: u64,
    /// Position of its descriptor in the list.
    pub descriptor: u32,
    /// The type of that descriptor; not stored here.
    pub block_type: BlockType,
    /// Runtime name; mostly empty, then the descriptor's counts.
    pub name: Name<'a>,
    /// SIZE as stored, where it is not what the fields add up to.
    pub odd_size: Option<u16>,
}

/// A value at a point in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Value<'a> {
    /// When it was stored, in ticks.
    pub begin: u64,
    /// The same.
    pub end: u64,
    /// Position of its descriptor in the list.
    pub descriptor: u32,
    /// The empty name and the padding, both zero.
    pub filler: [u8; 2],
    /// Type of the elements.
    pub data_type: DataType,
    /// Zero for a scalar.
    pub is_array: u8,
    /// Which quantity it is: an address or a number of the user's; 0 goes by name.
    pub value_id: u64,
    /// The elements, see [`Value::elements`].
    pub data: &'a [u8],
    /// Byte order of the elements; not stored here.
    pub order: ByteOrder,
    /// Bytes behind the data.
    pub surplus: &'a [u8],
    /// Data size as stored, where it is not the data's.
    pub odd_data_size: Option<u16>,
    /// SIZE as stored, where it is not what the fields add up to.
    pub odd_size: Option<u16>,
}

/// A place that the user marked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bookmark<'a> {
    /// Absolute nanoseconds, never ticks.
    pub position_ns: u64,
    /// ARGB.
    pub color: u32,
    /// What the user wrote.
    pub text: Name<'a>,
    /// SIZE as stored, where it is not what the fields add up to.
    pub odd_size: Option<u16>,
}

/// One piece of a file. A file is
/// `(Descriptor | Hole)* (Thread Switch* Blocks (Block | Value)*)* Mark? (Bookmark* Mark)?`,
/// with `Malformed` in place of any sized record and `Residue` anywhere; among the descriptors each `Residue` takes a place in
/// the list, and may be empty.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A descriptor.
    Descriptor(Descriptor<'a>),
    /// A descriptor of SIZE 0: it takes an index and holds nothing.
    Hole,
    /// Opens a thread's section.
    Thread(Thread<'a>),
    /// A context switch of that thread.
    Switch(Switch<'a>),
    /// That many blocks and values of that thread follow.
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
    /// Bytes that no record explains.
    Residue(&'a [u8]),
}

impl<'a> Descriptor<'a> {
    /// A descriptor that is on and has the color of blocks without one.
    pub const fn new(id: u32, block_type: BlockType, name: &'a [u8]) -> Self {
        let (name, file) = (Name::new(name), Name::new(b""));
        let (color, status) = (DEFAULT_COLOR, Status::ON);
        Self { id, line: 0, color, block_type, status, name, file, odd_size: None, odd_name_size: None }
    }
}

impl Switch<'_> {
    /// A switch to a thread of a process without a name.
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
    /// The bytes of a text up to its NUL; none where the value is not a text.
    #[inline]
    pub fn text(&self) -> Option<&'a [u8]> {
        let is_text = self.data_type == DataType::STRING;
        is_text.then(|| self.data.split(|byte| *byte == 0).next().unwrap_or_default())
    }

    /// Bytes that a single value lacks of what its type needs.
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

    /// The elements in their type, or `None` where the type is unknown or the size does not divide.
    pub fn elements(&self) -> Option<impl Iterator<Item = Element> + use<'a>> {
        Element::all(self.data, self.data_type, self.order)
    }
}

impl<'a> Bookmark<'a> {
    /// A bookmark in the color that the library's viewer gives it.
    pub const fn new(position_ns: u64, text: &'a [u8]) -> Self {
        Self { position_ns, color: BOOKMARK_COLOR, text: Name::new(text), odd_size: None }
    }
}

impl Record<'_> {
    /// Begin and end in ticks, of switches, blocks, events and values.
    #[inline]
    pub fn times(&self) -> Option<(u64, u64)> {
        match self {
            Self::Switch(switch) => Some((switch.begin, switch.end)),
            Self::Block(block) => Some((block.begin, block.end)),
            Self::Value(value) => Some((value.begin, value.end)),
            _ => None,
        }
    }

    /// SIZE as stored, where it is not what the fields add up to.
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
