//! How often each verb reads a file: a walk that a change adds by accident costs as much as the verb.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use traceloom_analysis::{
    advise, diff, flame,
    memory::{self, memory},
    stats::{self, By},
    summary,
};
use traceloom_core::{Limits, Result};
use traceloom_mapping::Trace;
use traceloom_model::Filter;
use traceloom_testkit::planted::{Block, Scene};

type Run = fn(&Trace) -> Result<()>;

/// Verbs on a file with spans, whose tree takes one more walk.
static ON_SPANS: &[(&str, u64, Run)] = &[
    ("stats", 1, |trace| statistics(trace, vec![])),
    ("stats by parent", 3, |trace| statistics(trace, vec![By::Parent])),
    ("flame", 2, |trace| flame::stacks(trace, flame::Options::default()).map(drop)),
    ("diff", 2, |trace| diff::of_traces(&[trace], &[trace], &diff::Options::default()).map(drop)),
    ("advise", 3, |trace| advise::of_trace(trace, &advise::Options::default()).map(drop)),
    ("summary", 3, |trace| summary::of_trace(trace, &advise::Options::default()).map(drop)),
];

static ON_MEMORY: &[(&str, u64, Run)] = &[
    ("memory", 1, |trace| memory(trace, &Filter::default(), &memory::Options::default()).map(drop)),
    ("summary", 1, |trace| summary::of_trace(trace, &advise::Options::default()).map(drop)),
];

fn statistics(trace: &Trace, by: Vec<By>) -> Result<()> {
    stats::of_traces([trace], &stats::Options { by, ..stats::Options::default() }).map(drop)
}

#[test]
fn verbs_read_a_file_as_often_as_they_have_to() {
    assert_walks(&game().written("easyprofiler").unwrap(), ON_SPANS);
    assert_walks(&blocks().written("memlyze").unwrap(), ON_MEMORY);
}

/// Frames with a part each, a few of them slow, so that `advise` has to look at them; longer than the part of a file that
/// a reader looks at to recognize its layout.
fn game() -> Scene {
    let mut scene = Scene::new(&["Main"]);
    for frame in 0..40_000 {
        let (ts_ns, dur_ns) = (frame * 20_000_000, if frame % 1_000 == 500 { 18_000_000 } else { 5_000_000 });
        scene.span(0, "Frame", ts_ns, dur_ns);
        scene.span(0, "Draw", ts_ns + 1_000, dur_ns - 2_000);
    }
    scene
}

fn blocks() -> Scene {
    let block = |number: i64| Block {
        ts_ns: number * 10_000,
        freed_ns: Some(number * 10_000 + 5_000),
        bytes: 64,
        stack: vec![("work".to_owned(), "work.c".to_owned(), 7)],
    };
    Scene { blocks: (0..20_000).map(block).collect(), ..Scene::new(&["Main"]) }
}

/// Counts how often reading reaches the end of the file.
fn assert_walks(trace: &Trace, verbs: &[(&str, u64, Run)]) {
    let mut trace = trace.clone();
    trace.options.read.limits = Limits::with(|limits| (limits.threads, limits.window_bytes) = (1, 4 << 10));
    let len = trace.opened.source.len().unwrap();
    let (walks, last) = (Arc::new(AtomicU64::new(0)), AtomicU64::new(0));
    let count = Arc::clone(&walks);
    trace.opened.source = trace.opened.source.guarded(move |end| {
        let is_first_at_end = last.swap(end, Ordering::Relaxed) < len && end == len;
        count.fetch_add(is_first_at_end.into(), Ordering::Relaxed);
        Ok(())
    });
    for (verb, expected, run) in verbs {
        walks.store(0, Ordering::Relaxed);
        run(&trace).unwrap();
        assert_eq!(walks.load(Ordering::Relaxed), *expected, "{verb} of {}", trace.format());
    }
}
