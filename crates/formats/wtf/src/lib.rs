//! Web Tracing Framework files: `.wtf-trace`, `.wtf-json`, `.wtf-calls`, old and new, healthy or broken.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Options, Source};
//! use traceloom_wtf::{derive::Tree, sample};
//!
//! let source = Source::bytes(sample::trace()?);
//! let mut reader = traceloom_wtf::open(source.clone(), &Options::default())?;
//! let mut frames = 0;
//! reader.for_each_event(|event| {
//!     frames += u32::from(&*event.kind.name == "wtf.timing#frameStart");
//!     Ok(())
//! })?;
//! let scopes = Tree::build(&source, &Options::default(), true)?;
//! assert_eq!((frames, scopes.levels(), scopes.len()), (120, 4, 1459));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic))]

mod args;
mod base64;
mod calls;
mod chunk;
mod compose;
pub mod derive;
mod document;
pub mod edit;
mod encode;
mod events;
pub mod findings;
mod held;
mod info;
mod json;
mod json_out;
mod legacy;
mod parts;
mod probe;
pub mod raw;
mod read;
mod record;
pub mod sample;
mod script;
mod strings;
mod text_out;
mod transfer;
mod types;
mod write;
mod zones;

use traceloom_core::{Access, Clock, Descriptor, Order, Sniff, Variant};

pub use crate::{
    args::{Args, ArgsIter, Array, Encoding, Value},
    compose::{Composer, Form, TypeId, ZoneId},
    info::{FileInfo, HAS_HIGH_RESOLUTION_TIMES, TIMES_AS_COUNT},
    read::{Reader, open},
    record::{Chunk, Container, Event, Header, Part, Record, Resource},
    strings::{Coding, StringTable, Text},
    types::{Argument, EventType, EventTypes, Role},
    write::{Writer, create},
    zones::Zone,
};

/// The format as data.
pub static FORMAT: Descriptor = Descriptor {
    id: "wtf",
    name: "Web Tracing Framework",
    extensions: &["wtf-trace", "wtf-json", "wtf-calls"],
    variants: &[
        Variant { id: "binary", about: "chunks in binary, the usual form" },
        Variant { id: "json", about: "one JSON document, event buffers in base64" },
        Variant { id: "json-partial", about: "a JSON document per chunk; the original cannot open these" },
        Variant { id: "json-events", about: "JSON with readable events, for editing by hand; only read here" },
    ],
    clock: Clock::Wall,
    access: Access::Sequential,
    order: Order::Begin,
};

/// Whether these first bytes look like a trace.
pub fn sniff(prefix: &[u8]) -> Sniff {
    probe::sniff(prefix)
}
