//! EasyProfiler `.prof` files: every version, both byte orders, intact or damaged.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Options, Records, Source};
//! use traceloom_easyprofiler::{Record, sample};
//!
//! let mut reader = traceloom_easyprofiler::open(Source::bytes(sample::sample()?.bytes), &Options::default())?;
//! let mut frames = 0;
//! while let Some(located) = reader.next()? {
//!     if let Record::Block(block) = located.record {
//!         frames += u32::from(block.descriptor == 0);
//!     }
//! }
//! assert_eq!(frames, 120);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic))]

mod clock;
mod describe;
pub mod edit;
mod element;
pub mod findings;
mod info;
pub mod live;
mod nesting;
mod numbers;
mod plausible;
mod probe;
pub mod raw;
mod read;
mod record;
pub mod sample;
mod tree;
mod verdict;
mod write;

use traceloom_core::{Descriptor as Format, Findings, Options, Order, Result, Sniff, Source, Variant};

pub use crate::{
    clock::Clock,
    element::Element,
    nesting::{Knot, Nested, Nestings, Reach, Root, RunNesting},
    read::{Passage, Reader, SkipPlain, TakePlain, open},
    record::{Block, Bookmark, Descriptor, Header, Name, Record, Switch, Thread, Value},
    tree::{Node, Nodes, Tree, TreeBuilder, TreeRun},
    verdict::settled,
    write::{Tally, Writer, create},
};

/// The format's descriptor.
pub static FORMAT: Format = Format::new("easyprofiler", "EasyProfiler")
    .extensions(&["prof"])
    .variants(&[
        Variant::new("2.1.0", "thread count, bookmarks, end marks"),
        Variant::new("2.0.0", "values"),
        Variant::new("1.3.0", "64-bit ids"),
        Variant::new("1.2.0", "32-bit ids"),
        Variant::new("1.0.0", "no process id"),
        Variant::new("0.1.0", "the first"),
    ])
    .order(Order::End);

/// Whether these first bytes look like a `.prof` file.
pub fn sniff(prefix: &[u8]) -> Sniff {
    probe::sniff(prefix)
}

traceloom_core::codec! {
    /// EasyProfiler `.prof`.
    pub struct EasyProfiler;

    fn header_bytes(header: &Header) -> u64 {
        header.stored_bytes as u64
    }

    fn check(source: &Source, options: &Options) -> Result<Findings> {
        verdict::check(source, options)
    }
}
