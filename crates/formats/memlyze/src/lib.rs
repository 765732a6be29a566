//! Memlyze `.mlyze` files: plain and packed, from the tracer and by the documentation, intact or damaged.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Limits, Options, Records, Source};
//! use traceloom_memlyze::{Record, allocations::Allocations, sample};
//!
//! let mut reader = traceloom_memlyze::open(Source::bytes(sample::sample()?.bytes), &Options::default())?;
//! let mut allocations = Allocations::new(reader.header().dialect, &Limits::default());
//! while let Some(located) = reader.next()? {
//!     match located.record {
//!         Record::Alloc(alloc) => drop(allocations.alloc(&alloc)?),
//!         Record::Free(free) => drop(allocations.free(&free)),
//!         _ => {}
//!     }
//! }
//! // The sample leaks one entry of a cache for every third of its 400 requests.
//! assert_eq!(allocations.live().len(), 134);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic))]

pub mod allocations;
mod clock;
pub mod edit;
mod encoding;
pub mod findings;
mod info;
mod metadata;
mod probe;
pub mod raw;
mod read;
mod record;
pub mod sample;
mod write;

use traceloom_core::{Clock as ClockKind, Descriptor as Format, Sniff, Variant};

pub use crate::{
    clock::Clock,
    metadata::{Frame, Metadata, MetadataBuilder, Threads},
    read::{Index, Reader, build_index, open},
    record::{Alloc, Block, Free, Gc, Header, Marker, Padding, Record},
    write::{Allocated, Call, Composer, Writer, create, create_with_metadata},
};

/// The format's descriptor.
pub static FORMAT: Format = Format::new("memlyze", "Memlyze")
    .extensions(&["mlyze", "mtrace"])
    .variants(&[
        Variant::new("1", "plain events, as every Memlyze tool reads them"),
        Variant::new("lz4", "events in LZ4 blocks, for Traceloom only"),
    ])
    .clock(ClockKind::Wall);

/// Whether these first bytes look like a `.mlyze` file.
pub fn sniff(prefix: &[u8]) -> Sniff {
    probe::sniff(prefix)
}

traceloom_core::codec! {
    /// Memlyze `.mlyze`.
    pub struct Memlyze;

    fn header_bytes(header: &Header) -> u64 {
        header.stored_bytes as u64
    }
}
