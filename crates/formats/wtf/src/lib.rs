//! Web Tracing Framework files: `.wtf-trace`, `.wtf-json`, `.wtf-calls`, old and new, intact or damaged.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Error, Options, Records, Source};
//! use traceloom_wtf::{Record, Role, derive::Tree, sample};
//!
//! let source = Source::bytes(sample::sample()?.bytes);
//! let mut reader = traceloom_wtf::open(source.clone(), &Options::default())?;
//! let mut frames = 0;
//! reader.walk(|located| {
//!     if let Record::Event(event) = located.record {
//!         frames += u32::from(event.kind.role == Role::FrameStart);
//!     }
//!     Ok::<_, Error>(())
//! })?;
//! let scopes = Tree::build(&source, &Options::default(), true)?;
//! assert_eq!((frames, scopes.levels(), scopes.len()), (120, 4, 1459));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic))]

mod containers;
pub mod derive;
pub mod edit;
mod event;
mod file_info;
pub mod findings;
mod info;
mod probe;
pub mod raw;
mod read;
mod record;
pub mod recorded;
pub mod sample;
mod write;

use traceloom_core::{Clock, Descriptor, Sniff, Variant};

pub use crate::{
    event::{Args, ArgsIter, Argument, Array, Coding, Encoding, EventType, EventTypes, Role, StringTable, Text, Value},
    file_info::{FileInfo, HAS_HIGH_RESOLUTION_TIMES, TIMES_AS_COUNT},
    read::{Reader, Zone, open, whole_chunks},
    record::{Chunk, Container, Event, Header, Part, Record, Resource},
    write::{Builtins, Composer, Form, TypeId, Writer, ZoneId, create},
};

/// The format's descriptor.
pub static FORMAT: Descriptor = Descriptor::new("wtf", "Web Tracing Framework")
    .extensions(&["wtf-trace", "wtf-json", "wtf-calls"])
    .variants(&[
        Variant::new("binary", "chunks in binary, the usual form"),
        Variant::new("json", "one JSON document, event buffers in base64"),
        Variant::new("json-partial", "one JSON document per chunk; the WTF reader cannot open these"),
        Variant::new("json-events", "JSON with readable events, for editing by hand; only read here"),
    ])
    .clock(Clock::Wall);

/// Whether these first bytes look like a trace.
pub fn sniff(prefix: &[u8]) -> Sniff {
    probe::sniff(prefix)
}

traceloom_core::codec! {
    /// Web Tracing Framework `.wtf-trace`.
    pub struct Wtf;

    fn header_bytes(header: &Header) -> u64 {
        (header.stored_bytes + header.head.len()) as u64
    }
}
