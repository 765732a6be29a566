//! What every consumer of tables needs, once.
//!
//! A consumer says as data which tables it shows ([`Descriptor`]) and pours them ([`pour`]). [`Gathered`] is the usual
//! first pass: who took part ([`Roster`]), spans in the order of their start ([`SpanOrder`]), arguments by owner
//! ([`Args`]). [`Nest`] turns spans into starts and ends that nest, [`CallTree`] adds them up by stack, [`Heap`] does
//! that with allocations, [`memory_in_use`] is the curve of memory over time, [`Axis`] the one axis of several traces.

#![forbid(unsafe_code)]

mod args;
mod axis;
mod call_tree;
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
mod shift;
mod target;
mod timeline;

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;

pub use crate::{
    args::{Arg, ArgStore, Args, Datum},
    axis::{Axis, Counter, Placement, Reason, TraceFacts},
    call_tree::{Below, CallTree, Node},
    flows::{FlowEnd, Flows},
    frames::{Frame, Frames, check as check_frames},
    gather::{Gathered, Rest},
    heap::{Amount, Heap, MOST_DEEP, Site},
    looks::{Look, LookId, Looks},
    loss::{add_loss, counted_columns, counts, lose_rows, lose_table, phrase},
    memory::{InUse, memory_in_use},
    names::{KeyMap, NameId, NamePool},
    nest::{Nest, Placed},
    numbering::{NumberedProcess, NumberedThread, Numbering},
    order::{COLORED_SPAN_COLUMNS, Layer, Ordered, SPAN_COLUMNS, SpanIter, SpanOrder, SpanSorter},
    owned::{Owned, OwnedSorter, Owner},
    points::PointSink,
    pour::{pour, span_is_taken},
    repeats::Repeats,
    roster::{Process, Roster, Thread, ThreadIndex, Trace},
    shift::{Shifted, shift_batch},
    target::{Descriptor, Need, Options, Request, Rows, Target, Variant, write},
    timeline::{TIMELINE_NEEDS, Timeline},
};
