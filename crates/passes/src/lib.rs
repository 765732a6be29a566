//! What every consumer of tables needs, once.
//!
//! A consumer says as data which tables it shows ([`Descriptor`]) and pours them ([`pour`]). [`Gathered`] is the usual
//! first pass: who took part ([`Roster`]), spans in the order of their start ([`SpanOrder`]), arguments by owner
//! ([`Args`]). [`Nest`] turns spans into starts and ends that nest, [`CallTree`] adds them up by stack, [`Heap`] does
//! that with allocations; both are [`StackTree`]s. [`MemoryCurve`] is memory in use over time, [`memory_in_use`] the same
//! without a bound. [`Axis`] puts several traces on one time axis, [`Interner`] turns names into numbers, and
//! [`Samples`] gives quantiles.

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
mod memory_curve;
mod names;
mod nest;
mod numbering;
mod order;
mod owned;
mod points;
mod pour;
mod quantile;
mod repeats;
mod roster;
mod row_filter;
mod shift;
mod stack_table;
mod stack_tree;
mod target;
mod timeline;

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;

pub use crate::{
    args::{Arg, ArgStore, Args, Datum},
    axis::{Axis, Counter, Placement, Reason, TraceFacts},
    call_tree::{CallTree, Calls},
    flows::{FlowEnd, Flows},
    frames::{Frame, Frames, check as check_frames},
    gather::{Gathered, Rest},
    heap::{Amount, Heap, MAX_DEPTH, Site},
    looks::{Look, LookId, Looks},
    loss::{add_loss, counted_columns, counts, lose_rows, lose_table, phrase},
    memory::{InUse, memory_in_use},
    memory_curve::{AllocationChanges, MemoryCurve, MemoryStep},
    names::{DictionaryId, Interner, KeyMap, NO_NUMBER, NameId, NamePool, PerEntry, Translation, Words, number_of},
    nest::{Nest, Placed},
    numbering::{NumberedProcess, NumberedThread, Numbering},
    order::{COLORED_SPAN_COLUMNS, Layer, Ordered, SPAN_COLUMNS, SpanIter, SpanOrder, SpanSorter},
    owned::{Owned, OwnedSorter, Owner},
    points::PointSink,
    pour::{pour, span_is_taken},
    quantile::{Budget, Samples, Sums, float_key, quantile},
    repeats::Repeats,
    roster::{Process, Roster, Thread, ThreadIndex, Trace},
    row_filter::RowFilter,
    shift::{Shifted, shift_batch},
    stack_table::{StackRows, StackTable},
    stack_tree::{Parent, StackNode, StackTree},
    target::{Descriptor, Need, Options, Request, Rows, Target, Variant, write},
    timeline::{TIMELINE_NEEDS, Timeline},
};
