//! Reports the traces of a session whose times were shifted onto one axis.

use std::{path::PathBuf, sync::Arc};

use traceloom_mapping::{Trace, TraceSet};
use traceloom_passes::{Placement, Reason};

/// A trace whose times were shifted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Alignment {
    /// `traces.trace_id`.
    pub trace_id: u64,
    /// The path of the trace.
    pub path: PathBuf,
    /// Offset added to all of its times.
    pub shift_ns: i64,
    /// The reason for the shift.
    pub reason: Reason,
    /// The trace whose axis it is on now; `None` if the user set the offset.
    pub with: Option<PathBuf>,
}

/// The shifted traces.
pub(crate) fn alignments(set: &TraceSet) -> Vec<Alignment> {
    let path = |number: usize| set.traces().get(number).map(|trace| trace.path.clone());
    let with = |placement: &Placement| match placement.reason {
        Reason::Counter { with } => path(with),
        Reason::TimeOfDay => set.axis().reference().and_then(path),
        Reason::Alone | Reason::UserOffset => None,
    };
    let moved = set.traces().iter().zip(set.axis().placements()).filter(|(_, placement)| placement.is_moved());
    let alignment = |(trace, placement): (&Arc<Trace>, &Placement)| Alignment {
        trace_id: trace.id,
        path: trace.path.clone(),
        shift_ns: placement.shift_ns,
        reason: placement.reason,
        with: with(placement),
    };
    moved.map(alignment).collect()
}
