//! Numbers and layouts of the format, shared by reading and writing.

use traceloom_core::named_number;

/// The first four bytes of every file.
pub const MAGIC: [u8; 4] = *b"MTRC";
/// Bytes of the header.
pub const HEADER_BYTES: usize = 256;
/// Where the header's reserved bytes begin.
pub const RESERVED_OFFSET: usize = 20;
/// Bytes of the header after its last field.
pub const RESERVED_BYTES: usize = HEADER_BYTES - RESERVED_OFFSET;
/// The metadata that the upstream tracer writes: always these bytes, since it never comes back to fill them in.
pub const EMPTY_METADATA: &[u8; 50] = b"{\"stack_traces\": {}, \"files\": {}, \"functions\": {}}";

/// Most bytes of a varint: 64 bits in groups of seven.
pub const VARINT_BYTES: usize = 10;
/// Most bytes of an event: an ALLOC with three varints of full length.
pub const EVENT_BYTES: usize = 1 + VARINT_BYTES + 8 + 2 * VARINT_BYTES + 2;

/// What the first reserved bytes hold where the events are packed in LZ4 blocks.
pub const BLOCKS_TAG: [u8; 4] = *b"LZ4B";
/// The first bytes of a block, so that a reader can check where it is.
pub const BLOCK_MAGIC: [u8; 4] = *b"MLZB";
/// Bytes in front of the packed events of a block.
pub const BLOCK_HEADER_BYTES: usize = 32;
/// Most bytes of events in a block.
pub const BLOCK_PLAIN_BYTES: usize = 64 << 10;
/// Set in a block's length where its events are stored as they are because packing made them no shorter.
pub const BLOCK_STORED: u32 = 1 << 31;

/// The first bytes of an index file.
pub const INDEX_MAGIC: [u8; 4] = *b"MLIX";
/// The version of the index file.
pub const INDEX_VERSION: u32 = 1;
/// Bytes in front of the entries of an index file.
pub const INDEX_HEADER_BYTES: usize = 32;
/// Bytes of one entry of an index file.
pub const INDEX_ENTRY_BYTES: usize = 32;
/// In a block or an index entry: no run of equal deltas is under way.
pub const NO_RUN: u64 = u64::MAX;

named_number! {
    /// The format version of the header.
    pub Version(u32) {
        /// The only version that exists.
        V1 = 1 "1",
    }
}

named_number! {
    /// The first byte of an event.
    pub EventType(u8) {
        /// Memory was allocated.
        ALLOC = 0 "alloc",
        /// Memory was freed.
        FREE = 1 "free",
        /// The garbage collector ran.
        GC = 2 "gc",
        /// The program marked a moment.
        MARKER = 3 "marker",
    }
}

/// What the events mean; the file does not say, see [`crate::open`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Dialect {
    /// As the document has it: one event for one allocation or free.
    #[default]
    Document,
    /// As the upstream tracer writes it: an ALLOC is the growth of one source line between two
    /// snapshots, a FREE its shrinking by an unknown size, and all events of a snapshot repeat one delta.
    Growth,
}

impl Dialect {
    /// The word that the program prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Growth => "growth",
        }
    }
}

/// How the events lie in the file.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Packing {
    /// One after the other.
    #[default]
    Plain,
    /// In LZ4 blocks of at most [`BLOCK_PLAIN_BYTES`].
    Blocks,
}

impl Packing {
    /// The word that the program prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Blocks => "lz4",
        }
    }
}
