//! Tools that every consumer of tables needs.
//!
//! A target declares as data which tables it shows ([`Target`]) and works on them in a [`Pass`]: traces, processes and
//! threads ([`Roster`]), spans in the order of their start ([`SpanOrder`]), arguments by owner ([`Args`]). [`Nest`]
//! turns spans into nested starts and ends, [`CallTree`] sums them by stack, and [`Heap`] does the same for
//! allocations; both are [`StackTree`]s. [`MemoryCurve`] is memory in use over time, and [`memory_in_use`] is the same
//! without a bound. [`Axis`] puts several traces on one time axis, [`Interner`] turns names into numbers, and
//! [`Samples`] computes quantiles. [`Together`] lets several sinks share one walk.

#![forbid(unsafe_code)]

mod args;
mod attributes;
mod axis;
mod call_tree;
mod flows;
mod folded;
mod frames;
mod heap;
mod looks;
mod loss;
mod memory;
mod memory_curve;
mod names;
mod needs;
mod nest;
mod numbering;
mod order;
mod owned;
mod pass;
mod points;
mod pour;
mod quantile;
mod repeats;
mod roster;
mod row_filter;
mod shift;
mod span_sorter;
mod stack_table;
mod stack_tree;
mod target;
mod timeline;
mod together;

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;

pub use crate::{
    args::{Arg, ArgRows, Args, Datum, lose_arg},
    attributes::{Attribute, AttributeRows},
    axis::{Axis, Counter, Placement, Reason, TraceFacts},
    call_tree::{CallTree, Calls},
    flows::{FlowEnd, Flows, LINK_TO_HIDDEN_SPAN, Link, LinkRows},
    folded::{push_folded_cost, push_folded_frame},
    frames::{Frame, Frames, check as check_frames},
    heap::{AllocationSites, Amount, FrameRows, Heap, MAX_DEPTH, Site, lose_outer_frames},
    looks::{COLORS, ColorLoss, Look, LookId, Looks},
    loss::{add_loss, columns_among, counted_columns, counts, lose_table, phrase},
    memory::{AllocationTimes, FreeRows, InUse, memory_in_use},
    memory_curve::{AllocationChanges, MemoryCurve, MemoryStep},
    names::{DictionaryId, Interner, KeyMap, NO_NUMBER, NameId, NamePool, PerEntry, Translation, Words, number_of},
    needs::{HEAP, LAYERS, MEMORY, Need, POINTS, ROSTER, TIMELINE},
    nest::{Nest, Placed},
    numbering::{NumberedProcess, NumberedThread, Numbering},
    order::{FRAMES_AND_RANGES, Layer, NEVER_CLOSED, Ordered, SpanIter, SpanOrder, TOO_FAR, TOO_MANY_OVERLAP},
    owned::{Owned, OwnedSorter, Owner},
    pass::{Pass, Rest},
    points::{COUNTERS, CounterRows, EVENTS, EventRows, Found, LOGS, LogRows, Point, PointSink},
    pour::{pour, span_is_taken},
    quantile::{Budget, Samples, Sums, coarse_middle, float_key, quantile},
    repeats::Repeats,
    roster::{Process, Roster, Thread, ThreadIndex, Trace},
    row_filter::RowFilter,
    shift::{Shifted, shift_batch},
    span_sorter::{SpanDefinitions, SpanRows, SpanSites, SwitchRows},
    stack_table::{StackRows, StackTable},
    stack_tree::{Parent, StackNode, StackTree},
    target::{Options, Request, Target, Variant, Writer, write},
    timeline::Timeline,
    together::Together,
};
