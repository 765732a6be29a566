//! CNanoLog `.clog` files: every dialect, both byte orders, closed cleanly or not.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Options, Records, Source};
//! use traceloom_cnanolog::{Record, sample, text};
//!
//! let mut reader = traceloom_cnanolog::open(Source::bytes(sample::sample()?.bytes), &Options::default())?;
//! let mut lines = text::Lines::new(text::Pattern::library(b"%l %f:%n %m"), reader.clock(), text::utc);
//! let mut out = Vec::new();
//! while let Some(located) = reader.next()? {
//!     if let Record::Entry(entry) = located.record {
//!         lines.put(&entry, &mut out);
//!     }
//! }
//! assert!(out.starts_with(b"INFO src/main.c:41 service orders starting, 8 workers\n"));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic))]

mod args;
mod blocks;
mod clock;
mod dictionary;
pub mod edit;
pub mod findings;
mod info;
pub mod journal;
mod printf;
mod probe;
pub mod raw;
mod read;
mod record;
pub mod sample;
pub mod text;
mod write;

use traceloom_core::{Access, Clock as ClockKind, Descriptor as Format, Order, Sniff, Variant};

pub use crate::{
    args::{Arg, Args, Form, Types, put_packed, put_raw},
    clock::{Clock, Moment},
    dictionary::Dictionary,
    printf::Program,
    raw::Numbering,
    read::{Extra, Passage, Reader, open, open_with},
    record::{Block, Entry, Header, Level, Record, Section, Site},
    write::{Tally, Writer, create},
};

/// The format's descriptor.
pub static FORMAT: Format = Format::new("cnanolog", "CNanoLog")
    .extensions(&["clog"])
    .variants(&[
        Variant::new("1.0.7", "the library's latest layout: flags, 50 argument types, packed arguments"),
        Variant::new("document", "the layout of the specification: 16 argument types, raw arguments"),
    ])
    .clock(ClockKind::Wall)
    .access(Access::TrailerFirst)
    .order(Order::None);

/// Whether these first bytes look like a `.clog` file.
pub fn sniff(prefix: &[u8]) -> Sniff {
    probe::sniff(prefix)
}

traceloom_core::codec! {
    /// CNanoLog `.clog`.
    pub struct CNanoLog;

    const COMPANION: Option<&'static str> = Some(journal::SUFFIX);

    fn header_bytes(header: &Header) -> u64 {
        header.stored_bytes as u64
    }
}
