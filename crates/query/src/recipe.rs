//! How any process opens a trace and sees it where a session put it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use traceloom_core::{Error, Result};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Filter, TableSink, TableSource};
use traceloom_passes::{Placement, Reason};

use crate::location;

/// The description of a trace; it travels instead of the trace.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Recipe {
    /// Where its bytes are.
    url: String,
    /// What the user calls it.
    path: PathBuf,
    /// The id of its format.
    format: String,
    /// Whether evals of one place are added together.
    is_merged: bool,
    /// Its place on the axis.
    shift_ns: i64,
    is_by_counter: bool,
    unix_origin_ns: Option<i64>,
}

impl Recipe {
    /// None if no other process can open it, such as standard input.
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

    fn placement(&self) -> Placement {
        // The number of the other trace is for people, who were told already.
        let reason = if self.is_by_counter { Reason::Counter { with: 0 } } else { Reason::default() };
        Placement { shift_ns: self.shift_ns, reason, unix_origin_ns: self.unix_origin_ns }
    }
}

/// A trace that is opened each time it is read, by the process that reads it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) recipe: Recipe,
    pub(crate) trace_id: u64,
}

impl Prepared {
    fn open(&self, options: &Options) -> Result<Trace> {
        let Recipe { url, path, format, .. } = &self.recipe;
        let mut trace = location::trace(Path::new(url), Some(format), options)?;
        if trace.id != self.trace_id {
            return Err(Error::unrecognized("has changed since the query started").in_file(url));
        }
        trace.path.clone_from(path);
        Ok(trace)
    }
}

impl TableSource for Prepared {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let options = Options { merge_evals: self.recipe.is_merged, ..Options::default() };
        let trace = self.open(&options)?;
        self.recipe.placement().pour(filter, sink, |filter, sink| {
            ingest(&trace, &Options { filter: filter.clone(), ..options.clone() }, sink)
        })
    }
}
