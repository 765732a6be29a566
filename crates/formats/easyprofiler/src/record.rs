//! Header and records: all that a file holds, borrowed and lossless.

use traceloom_core::{ByteOrder, Describe, Fields, find_nul};

use crate::{
    Clock,
    element::Element,
    raw::{BlockType, DataType, Layout, Status, Version},
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

    fn describe(&self, name: &'static str, tail: &'static str, fields: &mut dyn Fields) {
        fields.text(name, self.text);
        if !self.is_canonical() {
            fields.bytes(tail, self.tail);
        }
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
/// with `Malformed` in place of any sized record and `Residue` anywhere.
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

impl Block<'_> {
    /// A block without a runtime name.
    pub const fn new(descriptor: u32, begin: u64, end: u64) -> Self {
        Self { begin, end, descriptor, block_type: BlockType::BLOCK, name: Name::new(b""), odd_size: None }
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

impl Describe for Header {
    fn kind(&self) -> &'static str {
        "header"
    }

    fn describe(&self, fields: &mut dyn Fields) {
        fields.word("version", &self.version.to_string());
        fields.word("byte_order", self.layout.order.as_str());
        if let Some(pid) = self.pid {
            fields.unsigned("pid", pid);
        }
        fields.signed("cpu_frequency", self.cpu_frequency);
        fields.unsigned("begin_time", self.begin_time);
        fields.unsigned("end_time", self.end_time);
        fields.unsigned("memory_size", self.memory_size);
        fields.unsigned("descriptors_memory_size", self.descriptors_memory_size);
        fields.unsigned("blocks_count", self.blocks_count.into());
        fields.unsigned("descriptors_count", self.descriptors_count.into());
        let counted = [
            ("threads_count", self.threads_count),
            ("bookmarks_count", self.bookmarks_count.map(u32::from)),
            ("padding", self.padding.map(u32::from)),
        ];
        for (name, value) in counted {
            if let Some(value) = value {
                fields.unsigned(name, value.into());
            }
        }
    }
}

impl Describe for Record<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Descriptor(_) => "descriptor",
            Self::Hole => "hole",
            Self::Thread(_) => "thread",
            Self::Switch(_) => "switch",
            Self::Blocks(_) => "blocks",
            Self::Block(block) if block.block_type == BlockType::EVENT => "event",
            Self::Block(_) => "block",
            Self::Value(_) => "value",
            Self::Mark(_) => "mark",
            Self::Bookmark(_) => "bookmark",
            Self::Malformed(_) => "malformed",
            Self::Residue(_) => "residue",
        }
    }

    fn describe(&self, fields: &mut dyn Fields) {
        match self {
            Self::Descriptor(descriptor) => descriptor.describe(fields),
            Self::Hole => {}
            Self::Thread(thread) => {
                fields.unsigned("id", thread.id);
                thread.name.describe("name", "name_tail", fields);
                fields.unsigned("switches", thread.switches.into());
            }
            Self::Switch(switch) => {
                fields.unsigned("begin", switch.begin);
                fields.unsigned("end", switch.end);
                fields.unsigned("target", switch.target);
                switch.name.describe("name", "name_tail", fields);
                describe_odd("size", switch.odd_size, fields);
            }
            Self::Blocks(count) => fields.unsigned("count", (*count).into()),
            Self::Block(block) => {
                fields.unsigned("begin", block.begin);
                fields.unsigned("end", block.end);
                fields.unsigned("descriptor", block.descriptor.into());
                block.name.describe("name", "name_tail", fields);
                describe_odd("size", block.odd_size, fields);
            }
            Self::Value(value) => value.describe(fields),
            Self::Mark(mark) => fields.hex("value", (*mark).into()),
            Self::Bookmark(bookmark) => {
                fields.unsigned("position_ns", bookmark.position_ns);
                fields.hex("color", bookmark.color.into());
                bookmark.text.describe("text", "text_tail", fields);
                describe_odd("size", bookmark.odd_size, fields);
            }
            Self::Malformed(bytes) | Self::Residue(bytes) => fields.bytes("bytes", bytes),
        }
    }
}

impl Descriptor<'_> {
    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("id", self.id.into());
        fields.signed("line", self.line.into());
        fields.hex("color", self.color.into());
        fields.word("type", &self.block_type.to_string());
        fields.word("status", &self.status.to_string());
        self.name.describe("name", "name_tail", fields);
        self.file.describe("file", "file_tail", fields);
        describe_odd("size", self.odd_size, fields);
        describe_odd("name_size", self.odd_name_size, fields);
    }
}

impl<'a> Value<'a> {
    /// The elements in their type, or `None` where the type is unknown or the size does not divide.
    pub fn elements(&self) -> Option<impl Iterator<Item = Element> + use<'a>> {
        Element::all(self.data, self.data_type, self.order)
    }

    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("begin", self.begin);
        if self.end != self.begin {
            fields.unsigned("end", self.end);
        }
        fields.unsigned("descriptor", self.descriptor.into());
        fields.word("type", &self.data_type.to_string());
        fields.flag("array", self.is_array != 0);
        fields.hex("value_id", self.value_id);
        match self.data_type {
            DataType::STRING => fields.text("data", self.data),
            _ if self.elements().is_none() => fields.bytes("data", self.data),
            _ => {
                fields.list("data");
                self.elements().into_iter().flatten().for_each(|element| element.describe(fields));
                fields.end();
            }
        }
        if self.filler != [0, 0] {
            fields.bytes("filler", &self.filler);
        }
        if self.is_array > 1 {
            fields.unsigned("is_array", self.is_array.into());
        }
        if !self.surplus.is_empty() {
            fields.bytes("surplus", self.surplus);
        }
        describe_odd("data_size", self.odd_data_size, fields);
        describe_odd("size", self.odd_size, fields);
    }
}

fn describe_odd(name: &'static str, size: Option<u16>, fields: &mut dyn Fields) {
    if let Some(size) = size {
        fields.unsigned(name, size.into());
    }
}
