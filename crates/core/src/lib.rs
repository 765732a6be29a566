//! Safe reading of stored bytes: the foundation of every format crate of Traceloom.
//!
//! A [`Source`] provides positional reads, a [`Window`] moves over it with bounded memory, and a [`Cursor`] splits a
//! slice field by field. A problem that ends the read is an [`Error`]; any other problem is a [`Finding`]. No number
//! from a file is trusted before it has passed [`Limits`].

#![forbid(unsafe_code)]

mod behind;
mod checksum;
pub mod codec;
mod date;
mod error;
mod finding;
pub mod json;
mod limits;
pub mod live;
mod named;
mod notes;
mod position;
mod random;
mod read;
mod spill;
#[cfg(not(target_family = "wasm"))]
pub mod staged;
pub mod text;
mod time;
mod turns;
mod write;

#[cfg(feature = "compression")]
pub use crate::read::{Compression, Peeled, peel};
pub use crate::{
    behind::write_behind,
    checksum::Checksum,
    codec::{
        Access, Amount, Checks, Clock, Codec, Copied, Describe, Descriptor, Edited, Fact, FieldValue, Fields, HeaderOf,
        Info, Listing, Loss, Mode, Options, Order, RecordOf, RecordWriter, Records, Sample, Sibling, Slice, Sniff,
        Text, Variant, checked,
    },
    date::{civil, date_time},
    error::{Error, ErrorKind, Result},
    finding::{Data, Finding, Findings, Rule, Severity, Value},
    limits::{Limits, reserve},
    notes::Notes,
    position::{Located, Position},
    random::Random,
    read::{ByteOrder, Cursor, ReadAt, Source, Window, find_nul},
    spill::{Arena, Merge, Sorted, Sorter, Spill, SpillIter, SpillRow, SpillRow as Entry, Store},
    text::{is_bidi_control, nearest::nearest, visible},
    time::{Hertz, Nanoseconds, TimeRange, parse_duration},
    turns::{Turns, in_turns},
    write::Output,
};
