//! Problems of traces that other processes read, on their way back.
//!
//! Tasks return rows only. What engines do return besides are the metrics of each operator, so the problems travel as names of
//! counters.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use serde::{Deserialize, Serialize};
use traceloom_core::{Findings, Severity};
use traceloom_mapping::Told;

/// The problems of a trace that one process found.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceProblems {
    /// Name given by the user.
    pub path: PathBuf,
    /// Whether data of the trace is missing.
    pub is_data_missing: bool,
    /// The first warning or error of each kind.
    pub problems: Vec<TraceProblem>,
}

/// The first problem of a kind.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TraceProblem {
    /// Code of the rule.
    pub code: String,
    /// Position, severity, message and code.
    pub text: String,
    /// Number of problems of this kind.
    pub count: u64,
}

/// Prefix of the counters, to distinguish them from those of the engine.
const COUNTER: &str = "traceloom/1 problems ";

impl TraceProblems {
    /// `None` if there is nothing to report.
    fn of(path: &Path, findings: &Findings) -> Option<Self> {
        let mut codes = BTreeSet::new();
        let severe = findings.kept().iter().filter(|finding| finding.rule.severity >= Severity::Warning);
        let first = severe.filter(|finding| codes.insert(finding.rule.code));
        let problem = |finding: &traceloom_core::Finding| TraceProblem {
            code: finding.rule.code.to_owned(),
            text: finding.to_string(),
            count: findings.counts().get(finding.rule.code).copied().unwrap_or(1),
        };
        let problems: Vec<_> = first.map(problem).collect();
        let is_data_missing = findings.is_data_missing();
        (is_data_missing || !problems.is_empty()).then(|| Self { path: path.to_owned(), is_data_missing, problems })
    }

    /// The problems that a counter of an operator names; `None` if it is another counter.
    pub fn of_counter(name: &str) -> Option<Self> {
        serde_json::from_str(name.strip_prefix(COUNTER)?).ok()
    }
}

/// Counts problems in the metrics of an operator.
pub(super) fn counted(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Told {
    let metrics = metrics.clone();
    Told::new(move |path, findings| {
        let Some(problems) = TraceProblems::of(path, findings) else { return };
        // A path that is not UTF-8 cannot be written; such a trace has no URL and is not read by other processes.
        let Ok(text) = serde_json::to_string(&problems) else { return };
        MetricBuilder::new(&metrics).counter(format!("{COUNTER}{text}"), partition).add(1);
    })
}

#[cfg(test)]
mod tests {
    use traceloom_core::{Finding, Limits, Mode, Position};

    use super::*;

    traceloom_core::rules! { "example":
        ODD "odd" Warning "is odd";
        HOLE "hole" Note Missing "has a hole";
    }

    #[test]
    fn problems_come_back_as_they_were_found() {
        let mut findings = Findings::new(Mode::Lenient, &Limits::default());
        assert_eq!(TraceProblems::of(Path::new("a"), &findings), None);
        for rule in [&ODD, &HOLE, &ODD] {
            findings.report(Finding::new(rule, Position::at(7))).expect("lenient");
        }
        let found = TraceProblems::of(Path::new("a"), &findings).expect("it has problems");
        assert!(found.is_data_missing && found.problems.len() == 1 && found.problems[0].count == 2, "{found:?}");
        let name = format!("{COUNTER}{}", serde_json::to_string(&found).expect("text"));
        assert_eq!(TraceProblems::of_counter(&name), Some(found));
        assert_eq!(TraceProblems::of_counter("output_rows"), None);
    }
}
