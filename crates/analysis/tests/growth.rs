//! The cost of every result is at most proportional to its trace. A separate process, because its memory is measured.

use peak_alloc::PeakAlloc;
use traceloom_analysis::{
    advise,
    call_tree::{self, call_tree},
    definitions::Definitions,
    diff,
    flame::{self, Graph, Weight},
    lines::{self, Lines},
    memory::{self, memory},
    places::Places,
    stats::{self, By},
    summary,
};
use traceloom_core::Result;
use traceloom_mapping::Trace;
use traceloom_model::{Filter, TableSink, TableSource};
use traceloom_testkit::planted::{Verb, assert_linear};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn answers_cost_in_proportion_to_the_trace() {
    let verbs: Vec<_> = VERBS.iter().map(|(name, run)| -> Verb { (name, Box::new(run)) }).collect();
    assert_linear("answers_cost_in_proportion_to_the_trace", &verbs, &MEMORY);
}

/// An operation on a trace.
type Run = fn(&Trace) -> Result<()>;

static VERBS: &[(&str, Run)] = &[
    ("stats", |trace| statistics(trace, vec![])),
    ("stats by parent and frame", |trace| statistics(trace, vec![By::Parent, By::Frame])),
    ("stats by thread and line", |trace| statistics(trace, vec![By::Thread, By::Line])),
    ("flame", |trace| flame(trace, flame::Options::default())),
    ("flame by thread", |trace| flame(trace, flame::Options { by_thread: true, ..flame::Options::default() })),
    ("flame of memory", |trace| flame(trace, flame::Options { weight: Weight::Bytes, ..flame::Options::default() })),
    ("memory", |trace| memory(trace, &Filter::default(), &memory::Options::default()).map(drop)),
    ("lines", |trace| pour(trace, Lines::new(lines::Options::default()), |lines| drop(lines.finish()))),
    ("advise", |trace| advise::of_trace(trace, &advise::Options::default()).map(drop)),
    ("summary", |trace| summary::of_trace(trace, &advise::Options::default()).map(drop)),
    ("diff", |trace| diff::of_traces(&[trace], &[trace], &diff::Options::default()).map(drop)),
    ("definitions", |trace| pour(trace, Definitions::new(1_000), |sink| drop(sink.finish()))),
    ("places", |trace| pour(trace, Places::default(), |sink| drop(sink.finish()))),
];

fn pour<S: TableSink>(trace: &Trace, mut sink: S, finish: impl FnOnce(S)) -> Result<()> {
    trace.pour(&Filter::default(), &mut sink)?;
    finish(sink);
    Ok(())
}

fn statistics(trace: &Trace, by: Vec<By>) -> Result<()> {
    stats::of_traces([trace], &stats::Options { by, ..stats::Options::default() }).map(drop)
}

/// The graph and its call tree. Inverted graphs and bottom-up trees are not tested: the callers of a deep recursion
/// grow with the square of its depth, and both are limited to a fixed number of frames.
fn flame(trace: &Trace, options: flame::Options) -> Result<()> {
    let graph = Graph::from(flame::stacks(trace, options)?.tree);
    call_tree(&graph, &call_tree::Options::default());
    Ok(())
}
