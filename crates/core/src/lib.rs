//! Bytes at rest, read safely: every format crate of Traceloom stands on this one.
//!
//! A [`Source`] gives positional reads, a [`Window`] moves over it with bounded memory, a [`Cursor`]
//! takes a slice apart field by field. What cannot be survived is an [`Error`], what can is a
//! [`Finding`]. No number that comes from a file is trusted before it has passed [`Limits`].

#![forbid(unsafe_code)]

pub mod codec;
mod cursor;
mod date;
mod describe;
mod edit;
mod error;
mod finding;
mod format;
mod info;
mod limits;
mod named;
mod position;
mod sorter;
mod source;
mod spill;
mod store;
pub mod text;
mod time;
mod window;

#[cfg(feature = "compression")]
mod compression;

pub use crate::{
    codec::{Codec, HeaderOf, RecordOf, RecordWriter, Records},
    cursor::{ByteOrder, Cursor, find_nul},
    date::{civil, date_time},
    describe::{Describe, Fields, Text},
    edit::{Edited, Loss, Slice},
    error::{Error, ErrorKind, Result},
    finding::{Finding, Findings, Rule, Severity, Value},
    format::{Access, Checks, Clock, Descriptor, Mode, Options, Order, Sniff, Variant},
    info::{Amount, Fact, Info, Listing, Sample},
    limits::{Limits, reserve},
    position::{Located, Position},
    sorter::{Merge, Sorted, Sorter},
    source::{ReadAt, Source},
    spill::{Arena, Entry, Iter as SpillIter, Spill},
    store::Store,
    time::{Nanoseconds, TimeRange, parse_duration},
    window::Window,
};

#[cfg(feature = "compression")]
pub use crate::compression::{Compression, Peeled, peel};
