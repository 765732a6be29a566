//! `diff`: compares two traces, or two sets of runs.

mod collect;
mod compare;
mod json;
mod names;
mod report;
pub(crate) mod student;

use traceloom_core::Result;
use traceloom_model::{Filter, TableSource};
use traceloom_passes::{Interner, NO_NUMBER};

use crate::choice::choice;

use self::{
    collect::{Key, Run},
    compare::Sets,
};
pub use self::{
    names::{NameFigures, NameSink},
    report::{Kind, Noise, Report, Row, Side, Verdict},
};

/// How to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// The metric to compare.
    pub metric: Metric,
    /// Treat smaller changes as equal, such as 0.01 for 1 %.
    pub min_change: f64,
    /// Omit names with a smaller share in both sets.
    pub min_share: f64,
    /// Significance level for differences between sets of runs.
    pub alpha: f64,
    /// Memory limit for the samples of one run, in bytes.
    pub sample_bytes: usize,
    /// Max number of names that are distinguished in one run.
    pub groups: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            metric: Metric::Mean,
            min_change: 0.01,
            min_share: 0.0,
            alpha: 0.05,
            sample_bytes: 512 << 20,
            groups: 1 << 20,
        }
    }
}

choice! {
    /// The metric to compare. Memory is compared in bytes for every metric except calls.
    pub enum Metric {
        /// Number of calls.
        Calls "calls",
        /// Mean time per call.
        Mean "mean",
        /// Median.
        P50 "p50",
        /// 95th percentile.
        P95 "p95",
        /// 99th percentile.
        P99 "p99",
        /// Self time of all calls.
        SelfTime "self",
        /// Total time of all calls.
        Total "total",
    }
}

/// Compares two sets of traces, one run each. Spans are matched by name, across formats.
pub fn of_traces<S: TableSource>(before: &[S], after: &[S], options: &Options) -> Result<Report> {
    let mut names = Interner::default();
    let mut sets: Sets = Default::default();
    for (set, traces) in sets.iter_mut().zip([before, after]) {
        for trace in traces {
            let mut run = Run::new(&mut names, options.groups, options.sample_bytes);
            trace.pour(&Filter::default(), &mut run)?;
            set.push(run.finish());
        }
    }
    Ok(compare::compare(&sets, &names, options))
}

/// Compares two sets of runs whose names were already collected.
pub fn of_figures(runs: [Vec<Vec<NameFigures>>; 2], options: &Options) -> Report {
    let mut names = Interner::default();
    let mut key = |name: &str| Key { kind: Kind::Name, name: names.number(name), line: NO_NUMBER };
    let mut of_run = |run: Vec<NameFigures>| run.iter().map(|one| (key(&one.name), one.figures())).collect();
    let sets: Sets = runs.map(|runs| runs.into_iter().map(&mut of_run).collect());
    compare::compare(&sets, &names, options)
}
