//! `diff`: what changed between two traces, or two sets of runs.

mod collect;
mod compare;
mod json;
mod names;
mod report;
pub(crate) mod student;

use traceloom_core::Result;
use traceloom_model::{Filter, TableSource};
use traceloom_passes::{Interner, NO_NUMBER};

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
    /// What is compared.
    pub metric: Metric,
    /// What changes by less stays the same, such as 0.01 for 1 %.
    pub least_change: f64,
    /// What is a smaller part of the whole in both sets is left out.
    pub least_share: f64,
    /// How likely a difference by chance may be to count as one, between sets of runs.
    pub alpha: f64,
    /// Bytes that the samples of one run may take.
    pub sample_bytes: usize,
    /// Names that are told apart in one run.
    pub groups: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            metric: Metric::Mean,
            least_change: 0.01,
            least_share: 0.0,
            alpha: 0.05,
            sample_bytes: 512 << 20,
            groups: 1 << 20,
        }
    }
}

/// What is compared. Memory is compared in bytes, whatever is chosen but calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Metric {
    /// How often.
    Calls,
    /// Time of one call: right where runs are of different length.
    Mean,
    /// The median.
    P50,
    /// 95 of 100 calls are not longer.
    P95,
    /// 99 of 100 calls are not longer.
    P99,
    /// Time of all calls, without what is inside.
    SelfTime,
    /// Time of all calls: right where all runs do the same work.
    Total,
}

/// Compares two sets of traces, one run each; equal names are the same thing, whatever the formats.
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

/// Compares two sets of runs whose names are known already, each run once.
pub fn of_figures(runs: [Vec<Vec<NameFigures>>; 2], options: &Options) -> Report {
    let mut names = Interner::default();
    let mut key = |name: &str| Key { kind: Kind::Name, name: names.number(name), line: NO_NUMBER };
    let mut of_run = |run: Vec<NameFigures>| run.iter().map(|one| (key(&one.name), one.figures())).collect();
    let sets: Sets = runs.map(|runs| runs.into_iter().map(&mut of_run).collect());
    compare::compare(&sets, &names, options)
}
