//! Header and records: everything in a file, borrowed and lossless.

use traceloom_core::{ByteOrder, Describe, Fields};

use crate::{
    encoding::varint,
    raw::{BLOCK_PLAIN_BYTES, BLOCKS_TAG, Dialect, EventType, HEADER_BYTES, MAGIC, Packing, RESERVED_BYTES, Version},
};

/// The file header.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Header {
    /// Byte order of the fixed-width numbers; little-endian in every known file.
    pub order: ByteOrder,
    /// [`MAGIC`], or the bytes in its place.
    pub magic: [u8; 4],
    /// Format version.
    pub version: Version,
    /// Start of the recording, in microseconds since the Unix epoch.
    pub start_us: u64,
    /// Size of the metadata, as stored.
    pub metadata_len: u32,
    /// Zeros, or [`BLOCKS_TAG`] and the size of a block.
    pub reserved: [u8; RESERVED_BYTES],
    /// Size of the header in the file; less than [`HEADER_BYTES`] in a truncated file.
    pub stored_bytes: usize,
    /// The meaning of the events; not stored, detected by [`crate::open`].
    pub dialect: Dialect,
}

impl Header {
    /// A header of version 1 for plain events; the length of the metadata has to be filled in.
    pub const fn new(start_us: u64) -> Self {
        Self {
            order: ByteOrder::Little,
            magic: MAGIC,
            version: Version::V1,
            start_us,
            metadata_len: 0,
            reserved: [0; RESERVED_BYTES],
            stored_bytes: HEADER_BYTES,
            dialect: Dialect::Document,
        }
    }

    /// The same header for events with this packing.
    #[must_use]
    pub fn packed(mut self, packing: Packing) -> Self {
        self.reserved = match packing {
            Packing::Plain => [0; RESERVED_BYTES],
            Packing::Blocks => blocks_mark(self.order),
        };
        self
    }

    /// How the events are stored.
    pub fn packing(&self) -> Packing {
        if self.reserved == blocks_mark(self.order) { Packing::Blocks } else { Packing::Plain }
    }
}

/// The reserved bytes of a file with blocks; other bytes there have no known meaning.
fn blocks_mark(order: ByteOrder) -> [u8; RESERVED_BYTES] {
    let mut reserved = [0; RESERVED_BYTES];
    let mark = BLOCKS_TAG.into_iter().chain(order.put_u32(BLOCK_PLAIN_BYTES as u32));
    for (to, from) in reserved.iter_mut().zip(mark) {
        *to = from;
    }
    reserved
}

/// For each varint of an event, in file order, how many bytes longer than the shortest form it is.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Padding(pub [u8; 3]);

impl Padding {
    /// Whether every varint has its shortest form.
    pub fn is_none(self) -> bool {
        self.0 == [0; 3]
    }

    fn total(self) -> usize {
        self.0.iter().copied().map(usize::from).sum()
    }
}

/// Memory was allocated; in the growth dialect, a source line holds more than at the last snapshot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Alloc {
    /// Microseconds since the previous event, or since the start.
    pub delta_us: u64,
    /// Microseconds since the start, by the rule of the dialect; not stored.
    pub time_us: u64,
    /// Address of the memory; always 0 in the growth dialect.
    pub address: u64,
    /// Size of the memory.
    pub size_bytes: u64,
    /// Id of the stack in the metadata.
    pub stack: u64,
    /// The thread; in the growth dialect, the one that took the snapshot.
    pub thread: u16,
    /// Surplus bytes of delta, size and stack.
    pub padding: Padding,
}

/// Memory was freed; in the growth dialect, a source line holds less, by an unknown amount.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Free {
    /// Microseconds since the previous event, or since the start.
    pub delta_us: u64,
    /// Microseconds since the start, by the rule of the dialect; not stored.
    pub time_us: u64,
    /// Address of the memory; always 0 in the growth dialect.
    pub address: u64,
    /// Surplus bytes of the delta.
    pub padding: Padding,
}

/// The garbage collector ran.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Gc {
    /// Microseconds since the previous event, or since the start.
    pub delta_us: u64,
    /// Microseconds since the start, by the rule of the dialect; not stored.
    pub time_us: u64,
    /// Objects collected.
    pub objects: u64,
    /// Bytes freed; the upstream tracer always writes 0.
    pub size_bytes: u64,
    /// Surplus bytes of delta, objects and bytes.
    pub padding: Padding,
}

/// The program marked a point in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Marker {
    /// Microseconds since the previous event, or since the start.
    pub delta_us: u64,
    /// Microseconds since the start, by the rule of the dialect; not stored.
    pub time_us: u64,
    /// Id of its name among the functions of the metadata.
    pub name: u64,
    /// Surplus bytes of delta and name.
    pub padding: Padding,
}

/// The head of a block; its events follow as separate records.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block<'a> {
    /// Size of its events once unpacked.
    pub plain_len: u32,
    /// Microseconds since the start at the event before its first.
    pub time_us: u64,
    /// Delta of the current run of equal deltas there, or [`crate::raw::NO_RUN`].
    pub run_delta: u64,
    /// The block as stored, including its head.
    pub stored: &'a [u8],
}

/// One piece of a file. A file is `Metadata* (Block? (Alloc | Free | Gc | Marker)*)* Residue*`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// Part of the JSON text; [`crate::Reader::metadata`] has it as tables.
    Metadata(&'a [u8]),
    /// A block of events starts.
    Block(Block<'a>),
    /// Memory was allocated.
    Alloc(Alloc),
    /// Memory was freed.
    Free(Free),
    /// The garbage collector ran.
    Gc(Gc),
    /// A point in time was marked.
    Marker(Marker),
    /// Bytes that belong to no record.
    Residue(&'a [u8]),
}

impl Record<'_> {
    /// The time of an event, in microseconds since the start.
    pub const fn time_us(&self) -> Option<u64> {
        match self {
            Self::Alloc(alloc) => Some(alloc.time_us),
            Self::Free(free) => Some(free.time_us),
            Self::Gc(gc) => Some(gc.time_us),
            Self::Marker(marker) => Some(marker.time_us),
            Self::Metadata(_) | Self::Block(_) | Self::Residue(_) => None,
        }
    }

    /// The first byte of an event.
    pub const fn event_type(&self) -> Option<EventType> {
        match self {
            Self::Alloc(_) => Some(EventType::ALLOC),
            Self::Free(_) => Some(EventType::FREE),
            Self::Gc(_) => Some(EventType::GC),
            Self::Marker(_) => Some(EventType::MARKER),
            Self::Metadata(_) | Self::Block(_) | Self::Residue(_) => None,
        }
    }

    /// Size of an event once unpacked.
    pub(crate) fn event_len(&self) -> Option<usize> {
        let varints = |values: &[u64], padding: Padding| {
            values.iter().map(|value| varint::len(*value)).sum::<usize>() + padding.total()
        };
        match self {
            Self::Alloc(alloc) => Some(11 + varints(&[alloc.delta_us, alloc.size_bytes, alloc.stack], alloc.padding)),
            Self::Free(free) => Some(9 + varints(&[free.delta_us], free.padding)),
            Self::Gc(gc) => Some(1 + varints(&[gc.delta_us, gc.objects, gc.size_bytes], gc.padding)),
            Self::Marker(marker) => Some(1 + varints(&[marker.delta_us, marker.name], marker.padding)),
            Self::Metadata(_) | Self::Block(_) | Self::Residue(_) => None,
        }
    }
}

impl Describe for Header {
    fn kind(&self) -> &'static str {
        "header"
    }

    fn describe(&self, fields: &mut dyn Fields) {
        if self.magic != MAGIC {
            fields.bytes("magic", &self.magic);
        }
        fields.unsigned("version", self.version.0.into());
        if self.order == ByteOrder::Big {
            fields.word("byte_order", self.order.as_str());
        }
        fields.unsigned("start_us", self.start_us);
        fields.unsigned("metadata_length", self.metadata_len.into());
        fields.word("packing", self.packing().as_str());
        fields.word("dialect", self.dialect.as_str());
        if self.packing() == Packing::Plain && self.reserved != [0; RESERVED_BYTES] {
            fields.bytes("reserved", &self.reserved);
        }
        if self.stored_bytes != HEADER_BYTES {
            fields.unsigned("stored_bytes", self.stored_bytes as u64);
        }
    }
}

impl Describe for Record<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Metadata(_) => "metadata",
            Self::Block(_) => "block",
            Self::Alloc(_) => "alloc",
            Self::Free(_) => "free",
            Self::Gc(_) => "gc",
            Self::Marker(_) => "marker",
            Self::Residue(_) => "residue",
        }
    }

    fn describe(&self, fields: &mut dyn Fields) {
        let padding = match self {
            Self::Metadata(text) => return fields.text("text", text),
            Self::Residue(bytes) => return fields.bytes("bytes", bytes),
            Self::Block(block) => {
                fields.unsigned("plain_length", block.plain_len.into());
                fields.unsigned("time_us", block.time_us);
                return fields.bytes("stored", block.stored);
            }
            Self::Alloc(alloc) => {
                describe_times(alloc.delta_us, alloc.time_us, fields);
                fields.hex("address", alloc.address);
                fields.unsigned("size", alloc.size_bytes);
                fields.unsigned("stack", alloc.stack);
                fields.unsigned("thread", alloc.thread.into());
                alloc.padding
            }
            Self::Free(free) => {
                describe_times(free.delta_us, free.time_us, fields);
                fields.hex("address", free.address);
                free.padding
            }
            Self::Gc(gc) => {
                describe_times(gc.delta_us, gc.time_us, fields);
                fields.unsigned("objects", gc.objects);
                fields.unsigned("bytes", gc.size_bytes);
                gc.padding
            }
            Self::Marker(marker) => {
                describe_times(marker.delta_us, marker.time_us, fields);
                fields.unsigned("name", marker.name);
                marker.padding
            }
        };
        if !padding.is_none() {
            fields.list("padding");
            padding.0.iter().for_each(|surplus| fields.unsigned("", (*surplus).into()));
            fields.end();
        }
    }
}

fn describe_times(delta_us: u64, time_us: u64, fields: &mut dyn Fields) {
    fields.unsigned("delta_us", delta_us);
    fields.unsigned("time_us", time_us);
}
