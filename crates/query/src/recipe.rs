//! How any process opens a trace, with the same place on the axis as in the session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use traceloom_mapping::Trace;
use traceloom_passes::{Placement, Reason};

use crate::location;

/// The description of a trace, which is sent instead of the trace.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Recipe {
    /// URL of the trace.
    pub(crate) url: String,
    /// Name given by the user.
    pub(crate) path: PathBuf,
    /// Id of the format.
    pub(crate) format: String,
    /// Whether evals of one line are merged.
    pub(crate) is_merged: bool,
    /// Placement on the axis.
    pub(crate) shift_ns: i64,
    pub(crate) is_by_counter: bool,
    pub(crate) unix_origin_ns: Option<i64>,
}

impl Recipe {
    /// `None` if no other process can open it, such as standard input.
    pub(crate) fn of(trace: &Trace, placement: &Placement, is_merged: bool) -> Option<Self> {
        Some(Self {
            url: location::url(&trace.path)?,
            path: trace.path.clone(),
            format: trace.format().to_owned(),
            is_merged,
            shift_ns: placement.shift_ns,
            is_by_counter: matches!(placement.reason, Reason::Counter { .. }),
            unix_origin_ns: placement.unix_origin_ns,
        })
    }
}
