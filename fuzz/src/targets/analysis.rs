//! Analysis: every analysis returns a result for any input.

use traceloom_analysis::{
    advise,
    call_tree::{self, call_tree},
    definitions::Definitions,
    diff::{self, Verdict},
    flame::{self, Graph, Weight},
    lines::{self, Lines},
    memory::{self, memory},
    places::Places,
    stats::{self, By},
    summary,
};
use traceloom_core::{Result, TimeRange};
use traceloom_mapping::Trace;
use traceloom_model::{Filter, TableSource};

use super::{edit::may_refuse, tables::trace};
use crate::Choices;

/// Runs one analysis of `bytes`; the input decides which, so that a run is fast.
pub fn analysis(bytes: &[u8]) {
    let Some(trace) = trace(bytes, None) else { return };
    let mut choices = Choices::of(bytes);
    let ask = QUESTIONS[choices.below(QUESTIONS.len())];
    if let Err(error) = ask(&trace, &mut choices) {
        assert!(may_refuse(&error), "a question ends with: {error}");
    }
}

type Question = fn(&Trace, &mut Choices) -> Result<()>;

static QUESTIONS: &[Question] = &[
    statistics,
    stacks,
    |trace, choices| {
        let at_ns = Some(choices.below(1 << 20) as i64);
        memory(trace, &Filter::default(), &memory::Options { at_ns, ..memory::Options::default() }).map(drop)
    },
    |trace, _| {
        let mut lines = Lines::new(lines::Options::default());
        trace.pour(&Filter::default(), &mut lines)?;
        lines.finish();
        Ok(())
    },
    |trace, _| summary::of_trace(trace, &advise::Options::default()).map(drop),
    same,
    |trace, _| {
        let (mut definitions, mut places) = (Definitions::new(MAX_ROWS), Places::default());
        trace.pour(&Filter::default(), &mut definitions)?;
        trace.pour(&Filter::default(), &mut places)?;
        (definitions.finish(), places.finish());
        Ok(())
    },
];

const MAX_ROWS: usize = 100;

/// Everything, or a range.
fn range(choices: &mut Choices) -> TimeRange {
    let from_ns = choices.below(1 << 20) as i64;
    if choices.below(2) == 0 { TimeRange::ALL } else { TimeRange::between(from_ns, from_ns * 2) }
}

fn statistics(trace: &Trace, choices: &mut Choices) -> Result<()> {
    let by = [By::File, By::Frame, By::Parent, By::Thread];
    let by = by.into_iter().filter(|_| choices.below(2) == 0).collect();
    let options = stats::Options { by, range: range(choices), histograms: 2, ..stats::Options::default() };
    stats::of_traces([trace], &options).map(drop)
}

/// A flame graph, and its call tree.
fn stacks(trace: &Trace, choices: &mut Choices) -> Result<()> {
    let weights = [Weight::Bytes, Weight::Count, Weight::SelfTime, Weight::Time];
    let options = flame::Options {
        weight: weights[choices.below(weights.len())],
        is_reversed: choices.below(2) == 0,
        by_thread: choices.below(2) == 0,
        range: range(choices),
        most_stacks: Some(1 + choices.below(1 << 10)),
    };
    let graph = Graph::from(flame::stacks(trace, options)?.tree);
    // No row is heavier than the whole.
    let shape = call_tree::Options { is_bottom_up: choices.below(2) == 0, min_share: 0.001, max_depth: 64 };
    let tree = call_tree(&graph, &shape);
    assert!(tree.rows.iter().all(|row| row.own <= row.total && row.total <= tree.total), "a part exceeds the whole");
    Ok(())
}

/// A trace does not differ from itself.
fn same(trace: &Trace, _choices: &mut Choices) -> Result<()> {
    let report = diff::of_traces(&[trace], &[trace], &diff::Options::default())?;
    assert!(report.rows.iter().all(|row| row.verdict == Verdict::Same), "a trace differs from itself");
    Ok(())
}
