//! A query that nobody waits for is canceled. A separate process, because its CPU time is measured.

#![cfg(all(feature = "sql", target_os = "linux"))]

use std::{thread, time::Duration};

use traceloom_testkit::client;
use traceloom_viewer_server::{Options, start};

/// Takes the engine hours.
const ENDLESS: &str = r#"{"sql": "select count(*) from generate_series(1, 3000000) a, generate_series(1, 3000000) b where a.value * b.value % 7 = 3"}"#;

#[test]
fn a_question_ends_when_nobody_waits() {
    let path = traceloom_testkit::fixture("easyprofiler/v210_one_block.prof");
    let viewer = start(Options { paths: vec![path], ..Options::default() }).expect("a port is free");
    // The trace is small, so it is loaded by then.
    thread::sleep(Duration::from_millis(500));
    let client = client::ask(viewer.url(), "POST /api/sql", ENDLESS).expect("the server reads it");
    assert!(until(|used| used > Duration::from_millis(100)), "the engine is at work");
    drop(client);
    assert!(until(|used| used < Duration::from_millis(20)), "nobody waits, and the engine works on");
}

/// Waits until the CPU time in one second is as wanted, with a limit for busy machines.
fn until(is_wanted: impl Fn(Duration) -> bool) -> bool {
    (0..30).any(|_| {
        let before = used();
        thread::sleep(Duration::from_millis(1_000));
        is_wanted(used() - before)
    })
}

/// CPU time of this process.
fn used() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
