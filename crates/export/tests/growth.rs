//! The cost of every edit and conversion is at most proportional to its trace. Runs alone in its process, because it
//! measures the memory of the process.

use std::io;

use peak_alloc::PeakAlloc;
use traceloom_core::{Options, Result, Slice, Source, TimeRange};
use traceloom_export::{Target, targets, write};
use traceloom_mapping::Trace;
use traceloom_model::{Batches, Filter, TableSource, Wanted};
use traceloom_open::Format;
use traceloom_testkit::planted::{Verb, assert_linear};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn edits_and_conversions_cost_in_proportion_to_the_trace() {
    let own = VERBS.iter().map(|(name, run)| -> Verb { (name, Box::new(run)) });
    let convert = |target: &'static Target| -> Verb { (target.id, Box::new(move |trace| convert(target, trace))) };
    // A line of folded stacks is a whole stack, up to a limit, so deep ones take the square of their depth.
    let others = targets().filter(|target| target.id != "folded");
    let verbs: Vec<_> = own.chain(others.map(convert)).collect();
    assert_linear("edits_and_conversions_cost_in_proportion_to_the_trace", &verbs, &MEMORY);
}

/// An operation on a trace.
type Run = fn(&Trace) -> Result<()>;

static VERBS: &[(&str, Run)] = &[
    ("info", |trace| format(trace).info(source(trace), &Options::default()).map(drop)),
    ("check", |trace| format(trace).check(source(trace), &Options::default()).map(drop)),
    ("dump", |trace| format(trace).dump(source(trace), &Options::default(), &mut |_, _, _| Ok(true)).map(drop)),
    ("repair", |trace| format(trace).repair(source(trace), &mut io::sink(), &Options::default()).map(drop)),
    ("slice", |trace| {
        let slice = Slice { range: TimeRange::new(Some(1_000), None), threads: Vec::new() };
        format(trace).slice(source(trace), &mut io::sink(), &slice, &Options::default()).map(drop)
    }),
    ("merge", |trace| {
        let twice = [source(trace).clone(), source(trace).clone()];
        format(trace).merge(&twice, &mut io::sink(), &Options::default()).map(drop)
    }),
    ("canonical", |trace| format(trace).canonical(source(trace), &mut io::sink(), None, &Options::default()).map(drop)),
    ("tables", |trace| trace.pour(&Filter::default(), &mut Batches::of(Wanted::everything()))),
];

fn format(trace: &Trace) -> &'static dyn Format {
    trace.opened.format
}

fn source(trace: &Trace) -> &Source {
    &trace.opened.source
}

fn convert(target: &'static Target, trace: &Trace) -> Result<()> {
    write(target, trace, &traceloom_export::Options::default(), &mut io::sink()).map(drop)
}
