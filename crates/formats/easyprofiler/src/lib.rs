//! EasyProfiler `.prof` files: every version, both byte orders, healthy or broken.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Options, Records, Source};
//! use traceloom_easyprofiler::{Record, sample};
//!
//! let mut reader = traceloom_easyprofiler::open(Source::bytes(sample::prof()?), &Options::default())?;
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
#![warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic)]

mod clock;
mod decode;
pub mod edit;
mod element;
pub mod findings;
mod frame;
mod probe;
pub mod raw;
mod read;
mod record;
mod resync;
pub mod sample;
mod tree;
mod write;

use traceloom_core::{Access, Clock as ClockKind, Descriptor as Format, Order, Sniff, Variant};

pub use crate::{
    clock::Clock,
    element::Element,
    read::{Reader, open},
    record::{Block, Bookmark, Descriptor, Header, Name, Record, Switch, Thread, Value},
    tree::{Nested, Nesting, Node, Nodes, Tree, TreeBuilder},
    write::{Tally, Writer, create},
};

/// The format as data.
pub static FORMAT: Format = Format {
    id: "easyprofiler",
    name: "EasyProfiler",
    extensions: &["prof"],
    variants: &[
        Variant { id: "2.1.0", about: "thread count, bookmarks, end marks" },
        Variant { id: "2.0.0", about: "values" },
        Variant { id: "1.3.0", about: "64-bit ids" },
        Variant { id: "1.2.0", about: "32-bit ids" },
        Variant { id: "1.0.0", about: "no process id" },
        Variant { id: "0.1.0", about: "the first" },
    ],
    clock: ClockKind::Monotonic,
    access: Access::Sequential,
    order: Order::End,
};

/// Whether these first bytes look like a `.prof` file.
pub fn sniff(prefix: &[u8]) -> Sniff {
    probe::sniff(prefix)
}
