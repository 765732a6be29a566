//! A trace described by another process.

use std::path::Path;

use traceloom_core::{Error, Result};
use traceloom_mapping::{Options, Told, Trace, ingest};
use traceloom_model::{Filter, TableSink, TableSource};
use traceloom_passes::{Placement, Reason};

use crate::{location, recipe::Recipe};

/// A trace that the reading process opens each time it reads it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) recipe: Recipe,
    pub(super) trace_id: u64,
    /// Gets the problems of the trace when it is read.
    pub(super) told: Option<Told>,
}

impl Prepared {
    /// On one thread, because a slot of an executor is one core.
    fn options(&self) -> Options {
        let mut options = Options { merge_evals: self.recipe.is_merged, told: self.told.clone(), ..Options::default() };
        options.read.limits.threads = 1;
        options
    }

    fn open(&self, options: &Options) -> Result<Trace> {
        let Recipe { url, path, format, .. } = &self.recipe;
        let mut trace = location::trace(Path::new(url), Some(format), options)?;
        if trace.id != self.trace_id {
            return Err(Error::unrecognized("the trace has changed since the query started").in_file(url));
        }
        trace.path.clone_from(path);
        Ok(trace)
    }
}

impl TableSource for Prepared {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let options = self.options();
        let trace = self.open(&options)?;
        placement(&self.recipe).pour(filter, sink, |filter, sink| {
            ingest(&trace, &Options { filter: filter.clone(), ..options.clone() }, sink)
        })
    }
}

fn placement(recipe: &Recipe) -> Placement {
    // The number of the other trace is only needed for the message, which was already printed.
    let reason = if recipe.is_by_counter { Reason::Counter { with: 0 } } else { Reason::default() };
    Placement { shift_ns: recipe.shift_ns, reason, unix_origin_ns: recipe.unix_origin_ns }
}
