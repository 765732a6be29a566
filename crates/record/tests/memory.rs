//! A long recording takes disk space, not memory. Alone in its process, because it counts every allocation.

mod common;

use std::{fs::File, path::Path};

use common::Recording;
use peak_alloc::PeakAlloc;
use traceloom_core::{Options, Records, Source};
use traceloom_easyprofiler as prof;
use traceloom_record::{Policy, Recorder, flush, info, span, stats, value};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Each step is two spans, a value and a log entry.
const STEPS: u64 = 30_000;
const LAPS: usize = 6;
/// Max growth of the heap after the first lap: a small part of the 25 MB that are recorded.
const MAX_GROWTH: usize = 1 << 20;

fn lap() {
    for step in 0..STEPS {
        let _outer = span!("outer");
        let _inner = span!("inner");
        value!("step", step);
        info!("step %u", step);
    }
    // A few threads that come and go.
    for _ in 0..20 {
        std::thread::spawn(|| (0..100).for_each(|_| drop(span!("visitor")))).join().unwrap();
    }
    flush().unwrap();
}

#[test]
fn a_long_profile_takes_no_more_memory_than_a_short_one() {
    let recording = Recording::new();
    let path = recording.path("long.prof");
    // How many rings the visitors need depends on how soon the writer returns them, so rings are small.
    let recorder = Recorder::new().prof(&path).spans(Policy::Block).ring_bytes(16 << 10).preallocate(4);
    let guard = recorder.start().unwrap();
    lap();
    let before = MEMORY.current_usage();
    let used: Vec<usize> = (1..LAPS)
        .map(|_| {
            lap();
            MEMORY.current_usage().saturating_sub(before)
        })
        .collect();
    assert!(used.iter().all(|bytes| *bytes < MAX_GROWTH), "{used:?}");
    MEMORY.reset_peak_usage();
    guard.close().unwrap();
    let peak = MEMORY.peak_usage().saturating_sub(before);
    assert!(peak < 2 * MAX_GROWTH, "writing the profile takes {peak} bytes");
    assert_eq!((stats().dropped, stats().lost, stats().errors), (0, 0, 0));
    assert_eq!(blocks(&path), LAPS as u64 * (2 * STEPS + 20 * 100));
}

fn blocks(path: &Path) -> u64 {
    let mut reader = prof::open(Source::file(File::open(path).unwrap()), &Options::default()).unwrap();
    let mut blocks = 0;
    while let Some(located) = reader.next().unwrap() {
        blocks += u64::from(matches!(located.record, prof::Record::Block(block) if block.begin < block.end));
    }
    blocks
}
