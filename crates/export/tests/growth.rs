//! The cost of every edit and conversion is at most proportional to its trace. Runs alone in its process, because it
//! measures the memory of the process.

use std::io;

use peak_alloc::PeakAlloc;
use traceloom_core::{Error, Options, Result, Slice, Source, TimeRange};
use traceloom_export::{Target, targets, write};
use traceloom_mapping::Trace;
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, select};
use traceloom_open::Format;
use traceloom_testkit::planted::{Verb, assert_linear};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn edits_and_conversions_cost_in_proportion_to_the_trace() {
    let own = VERBS.iter().map(|(name, run)| -> Verb { (name, Box::new(run)) });
    let convert = |target: &'static Target| -> Verb { (target.id, Box::new(move |trace| convert(target, trace))) };
    let verbs: Vec<_> = own.chain(targets().map(convert)).collect();
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
    // A line of folded stacks is a whole stack, up to a limit, so deep ones take the square of their depth.
    if target.id == "folded" && is_deep(trace)? {
        return Err(Error::unsupported("deep stacks are not measured"));
    }
    write(target, trace, &traceloom_export::Options::default(), &mut io::sink()).map(drop)
}

select! { struct Spans of spans { depth } }
select! { struct Stacks of stacks { depth } }

/// Whether a stack is deeper than those of ordinary programs.
fn is_deep(trace: &Trace) -> Result<bool> {
    let is_deep = |depth: u32| depth > 100;
    let wanted = Wanted::nothing().and(Table::Spans, Spans::COLUMNS).and(Table::Stacks, Stacks::COLUMNS);
    let mut batches = Batches::of(wanted);
    trace.pour(&Filter::default(), &mut batches)?;
    for batch in batches.table(Table::Spans) {
        let spans = Spans::of(batch)?;
        if (0..spans.rows).any(|row| is_deep(spans.depth.get(row))) {
            return Ok(true);
        }
    }
    for batch in batches.table(Table::Stacks) {
        let stacks = Stacks::of(batch)?;
        if (0..stacks.rows).any(|row| is_deep(stacks.depth.get(row))) {
            return Ok(true);
        }
    }
    Ok(false)
}
