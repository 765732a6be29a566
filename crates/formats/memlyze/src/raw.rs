//! Numbers and layouts of the format, shared by the reader and the writer.

use traceloom_core::named_number;

/// The first four bytes of every file.
pub const MAGIC: [u8; 4] = *b"MTRC";
/// Size of the header.
pub const HEADER_BYTES: usize = 256;
/// Offset of the header's reserved bytes.
pub const RESERVED_OFFSET: usize = 20;
/// Size of the header after its last field.
pub const RESERVED_BYTES: usize = HEADER_BYTES - RESERVED_OFFSET;
/// The metadata that the upstream tracer writes: always these bytes, because it never fills them in.
pub const EMPTY_METADATA: &[u8; 50] = b"{\"stack_traces\": {}, \"files\": {}, \"functions\": {}}";

/// Maximum size of a varint: 64 bits in groups of seven.
pub const VARINT_BYTES: usize = 10;
/// Maximum size of an event: an ALLOC with three varints of full length.
pub const EVENT_BYTES: usize = 1 + VARINT_BYTES + 8 + 2 * VARINT_BYTES + 2;

/// The first reserved bytes if the events are packed in LZ4 blocks.
pub const BLOCKS_TAG: [u8; 4] = *b"LZ4B";
/// The first bytes of a block, so that a reader can verify its position.
pub const BLOCK_MAGIC: [u8; 4] = *b"MLZB";
/// Size of a block's head.
pub const BLOCK_HEADER_BYTES: usize = 32;
/// Maximum size of the events in a block.
pub const BLOCK_PLAIN_BYTES: usize = 64 << 10;
/// Set in a block's length if its events are stored uncompressed because compression did not make them smaller.
pub const BLOCK_STORED: u32 = 1 << 31;

/// The first bytes of an index file.
pub const INDEX_MAGIC: [u8; 4] = *b"MLIX";
/// The version of the index file.
pub const INDEX_VERSION: u32 = 1;
/// Size of the header of an index file.
pub const INDEX_HEADER_BYTES: usize = 32;
/// Size of an entry of an index file.
pub const INDEX_ENTRY_BYTES: usize = 32;
/// In a block or an index entry: there is no current run of equal deltas.
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
        /// The program marked a point in time.
        MARKER = 3 "marker",
    }
}

/// The meaning of the events; the file does not state it, see [`crate::open`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Dialect {
    /// As documented: one event per allocation or free.
    #[default]
    Document,
    /// As the upstream tracer writes it: an ALLOC is the growth of one source line between two snapshots, a FREE is a
    /// decrease by an unknown size, and all events of a snapshot repeat one delta.
    Growth,
}

impl Dialect {
    /// The word that the program prints for the dialect.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Growth => "growth",
        }
    }
}

/// How the events are stored.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Packing {
    /// One after the other.
    #[default]
    Plain,
    /// In LZ4 blocks of at most [`BLOCK_PLAIN_BYTES`].
    Blocks,
}

impl Packing {
    /// The word that the program prints for the packing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Blocks => "lz4",
        }
    }
}
