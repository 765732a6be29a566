//! Tables to the formats of today's tools.
//!
//! A [`Target`] says as data which tables it needs, pours them as often as it likes, writes to any `Write` and gives
//! a counted `Loss`. What targets have in common stands beside them: [`Gathered`] is the usual first pass (threads,
//! spans in the order of their begin, arguments), [`Nest`] turns spans into begins and ends that nest, [`text`] writes
//! what other programs parse.
//!
//! ```no_run
//! # fn convert(trace: &dyn traceloom_model::TableSource) -> traceloom_bytes::Result<()> {
//! use traceloom_export::{Options, by_path, write};
//!
//! let (target, gzip) = by_path("trace.pftrace".as_ref()).expect("Perfetto's ending is known");
//! let mut out = std::io::BufWriter::new(std::fs::File::create("trace.pftrace")?);
//! let loss = write(target, trace, &Options { gzip, ..Options::default() }, &mut out)?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod args;
mod call_tree;
mod cells;
mod flows;
mod frames;
mod gather;
mod heap;
mod looks;
mod loss;
mod memory;
mod names;
mod nest;
mod numbering;
mod order;
mod owned;
mod points;
mod pour;
mod repeats;
mod roster;
mod sorter;
mod store;
mod target;
mod targets;
pub mod text;
mod timeline;
mod wire;

#[cfg(test)]
mod fixture;

pub use crate::{
    args::{Arg, ArgStore, Args, Datum},
    cells::{AnyColumn, Taken},
    flows::{FlowEnd, Flows},
    gather::{Gathered, Rest},
    looks::{Look, LookId, Looks},
    loss::{lose_table, phrase},
    memory::{InUse, memory_in_use},
    names::{KeyMap, NameId, NamePool},
    nest::{Nest, Placed},
    numbering::{NumberedProcess, NumberedThread, Numbering},
    order::{Layer, Ordered, SpanIter, SpanOrder, SpanSorter},
    pour::{pour, span_is_taken},
    roster::{Process, Roster, Thread, ThreadIndex, Trace},
    sorter::{Merge, Sorted, Sorter},
    store::Store,
    target::{Descriptor, Need, Options, Rows, Target, Variant, write},
    targets::{TARGETS, by_id, by_path},
    timeline::Timeline,
};
