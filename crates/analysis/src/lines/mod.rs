//! What each line cost, who called which sub, and from where: what a line profiler knows.
//!
//! Works from sums that a profiler stored (`line_times`, `calls`), with the files, subs and source text that they refer to.

mod collect;
mod evals;
mod heat;
mod packages;
mod profile;

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use traceloom_model::{
    Columns, Flow, Table, TableSink, attributes, calls, definitions, files, line_times, sources, traces,
};

use self::collect::Collected;
pub use self::{
    heat::{Heat, Spread},
    packages::{Package, package_of, packages},
    profile::{Caller, Cost, File, Figures, Level, Place, Profile, Sub, SubKind},
};

/// How to show a profile.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether string evals of one place that are the same but for their number are added together.
    pub merge_evals: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { merge_evals: true }
    }
}

/// Tables are poured into it, raw, without evals merged; see the module.
#[derive(Debug, Default)]
pub struct Lines {
    options: Options,
    traces: BTreeMap<u64, Collected>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    /// One for each trace that has lines, subs or source, in the order of the ids of the traces.
    pub profiles: Vec<Profile>,
}

impl Lines {
    /// Nothing yet.
    pub fn new(options: Options) -> Self {
        Self { options, traces: BTreeMap::new() }
    }

    /// The profiles, after the last batch.
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
            Table::Attributes | Table::Calls | Table::Files | Table::LineTimes | Table::Sources => Columns::ALL,
            Table::Definitions => Columns::named(table, &["trace_id", "kind", "name", "file", "line", "last_line"]),
            Table::Traces => Columns::named(table, &["trace_id", "path", "format"]),
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Flow {
        match table {
            Table::Attributes => {
                let view = attributes::View::of(&batch);
                self.of(view.trace_id.get_first(view.rows)).take_attributes(&view);
            }
            Table::Calls => {
                let view = calls::View::of(&batch);
                self.of(view.trace_id.get_first(view.rows)).take_calls(&view);
            }
            Table::Definitions => {
                let view = definitions::View::of(&batch);
                self.of(view.trace_id.get_first(view.rows)).take_definitions(&view);
            }
            Table::Files => {
                let view = files::View::of(&batch);
                self.of(view.trace_id.get_first(view.rows)).take_files(&view);
            }
            Table::LineTimes => {
                let view = line_times::View::of(&batch);
                self.of(view.trace_id.get_first(view.rows)).take_line_times(&view);
            }
            Table::Sources => {
                let view = sources::View::of(&batch);
                self.of(view.trace_id.get_first(view.rows)).take_sources(&view);
            }
            _ => {
                let view = traces::View::of(&batch);
                self.of(view.trace_id.get_first(view.rows)).take_trace(&view);
            }
        }
        Flow::Continue
    }
}
