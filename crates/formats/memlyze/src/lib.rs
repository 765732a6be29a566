//! Memlyze `.mlyze` files: plain and packed, of the tracer and by the document, healthy or broken.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Limits, Options, Records, Source};
//! use traceloom_memlyze::{Record, allocations::Allocations, sample};
//!
//! let mut reader = traceloom_memlyze::open(Source::bytes(sample::mlyze()?), &Options::default())?;
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
mod block;
mod checksum;
mod clock;
mod compose;
mod decode;
pub mod edit;
pub mod findings;
mod frames;
mod ids;
mod index;
mod json;
mod metadata;
mod metadata_read;
mod metadata_write;
mod probe;
mod quick;
pub mod raw;
mod read;
mod record;
pub mod sample;
mod seek;
mod varint;
mod write;

use traceloom_core::{Access, Clock as ClockKind, Descriptor as Format, Order, Sniff, Variant};

pub use crate::{
    clock::Clock,
    compose::{Call, Composer},
    index::{Index, build_index},
    metadata::{Frame, Metadata},
    metadata_write::{MetadataBuilder, Threads},
    read::{Reader, open},
    record::{Alloc, Block, Free, Gc, Header, Marker, Padding, Record},
    write::{Writer, create, create_with_metadata},
};

/// The format as data.
pub static FORMAT: Format = Format {
    id: "memlyze",
    name: "Memlyze",
    extensions: &["mlyze", "mtrace"],
    variants: &[
        Variant { id: "1", about: "plain events, as every Memlyze tool reads them" },
        Variant { id: "lz4", about: "events in LZ4 blocks, for Traceloom only" },
    ],
    clock: ClockKind::Wall,
    access: Access::Sequential,
    order: Order::Begin,
};

/// Whether these first bytes look like a `.mlyze` file.
pub fn sniff(prefix: &[u8]) -> Sniff {
    probe::sniff(prefix)
}
