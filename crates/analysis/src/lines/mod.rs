//! The results of a line profiler: the cost of each line, and the calls of each sub by caller and line.
//!
//! Based on sums stored by a profiler (`line_times`, `calls`), with the files, subs and source text that they refer to.

mod collect;
mod evals;
mod heat;
mod index;
mod json;
mod packages;
mod profile;

use std::collections::BTreeMap;

use arrow_array::{RecordBatch, cast::AsArray, types::UInt64Type};
use traceloom_core::Result;
use traceloom_model::{Columns, Flow, Table, TableSink};

use self::collect::{Args, Attributes, Calls, Collected, Definitions, Files, LineTimes, Sources, Traces};
pub use self::{
    heat::{Heat, Spread},
    index::{CallsByLine, Index, Nested, SubsByLine},
    json::Lists,
    packages::{Package, package_of, packages},
    profile::{CallSite, Caller, Cost, Figures, File, Level, Profile, Sub, SubKind},
};

/// Options of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether string evals of one line that differ only in their number are merged.
    pub merge_evals: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { merge_evals: true }
    }
}

/// A sink that builds profiles, without merged evals; see the module.
#[derive(Debug, Default)]
pub struct Lines {
    options: Options,
    traces: BTreeMap<u64, Collected>,
}

/// The profiles of all traces.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// One profile per trace that has lines, subs or source, sorted by trace id.
    pub profiles: Vec<Profile>,
}

impl Lines {
    /// Nothing yet.
    pub fn new(options: Options) -> Self {
        Self { options, traces: BTreeMap::new() }
    }

    /// The profiles; call after the last batch.
    pub fn finish(self) -> Report {
        let merges = self.options.merge_evals;
        let profiles = self.traces.into_iter().map(|(trace_id, collected)| {
            let mut profile = collected.finish(trace_id);
            if merges {
                evals::merge(&mut profile);
            }
            profile
        });
        Report { profiles: profiles.filter(|profile| !profile.is_empty()).collect() }
    }
}

impl TableSink for Lines {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Args => Args::COLUMNS,
            Table::Attributes => Attributes::COLUMNS,
            Table::Calls => Calls::COLUMNS,
            Table::Definitions => Definitions::COLUMNS,
            Table::Files => Files::COLUMNS,
            Table::LineTimes => LineTimes::COLUMNS,
            Table::Sources => Sources::COLUMNS,
            Table::Traces => Traces::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        for (trace_id, part) in by_trace(&batch) {
            let collected = self.traces.entry(trace_id).or_default();
            match table {
                Table::Args => collected.take_args(&Args::of(&part)?),
                Table::Attributes => collected.take_attributes(&Attributes::of(&part)?),
                Table::Calls => collected.take_calls(&Calls::of(&part)?),
                Table::Definitions => collected.take_definitions(&Definitions::of(&part)?),
                Table::Files => collected.take_files(&Files::of(&part)?),
                Table::LineTimes => collected.take_line_times(&LineTimes::of(&part)?),
                Table::Sources => collected.take_sources(&Sources::of(&part)?),
                _ => collected.take_trace(&Traces::of(&part)?),
            }
        }
        Ok(Flow::Continue)
    }
}

/// The rows of each trace; a batch from a mapper has one trace, a batch from a store may have several.
fn by_trace(batch: &RecordBatch) -> Vec<(u64, RecordBatch)> {
    let column = batch.column_by_name("trace_id").and_then(|column| column.as_primitive_opt::<UInt64Type>());
    let ids: &[u64] = column.map_or(&[], |column| column.values());
    let mut begin = 0;
    let runs = ids.chunk_by(|one, other| one == other).map(|run| {
        let part = batch.slice(begin, run.len());
        begin += run.len();
        (run[0], part)
    });
    runs.collect()
}
