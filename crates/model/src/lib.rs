//! One set of tables for all traces.
//!
//! A mapper pushes typed rows into [`Tables`]; batches of the columns that the sink wants go to a [`TableSink`].
//! Consumers read batches through the `View` of the table's module, never by column index.

#![forbid(unsafe_code)]

mod define;
mod halt;
mod integrity;
mod kind;
mod list;
mod name;
mod number;
mod reference;
mod select;
mod sink;
mod steady;
mod tables;
pub mod trackers;
mod vocabulary;

/// The types that [`select!`] uses, so that its users need no additional dependency.
#[doc(hidden)]
pub mod select_uses {
    pub use arrow_array::RecordBatch;
    pub use traceloom_core::Result;
}

pub use crate::{
    halt::Halt,
    integrity::{Integrity, Verdict},
    kind::{
        Blob, Blobs, Float, Int, Kind, Maybe, MaybeBlobs, MaybeNumbers, MaybeTexts, Name, Numbers, Text, Texts,
        Unsigned, Word,
    },
    list::{TextList, TextLists},
    name::{MaybeNames, Named, Names},
    reference::reference,
    select::{ReaderOf, SelectColumn, Selection, read_column},
    sink::{Batches, Columns, Filter, Flow, Kept, TableSink, TableSource, Wanted},
    steady::Steady,
    tables::*,
    vocabulary::{ClockKind, EventCategory, Fate, LineLevel, SpanCategory},
};
