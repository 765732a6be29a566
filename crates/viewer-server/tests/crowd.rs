//! Many concurrent long queries share a few threads. A separate process, because its threads are counted.

#![cfg(target_os = "linux")]

use std::{fs, io::Read, thread, time::Duration};

use traceloom_testkit::client;
use traceloom_viewer_server::{Options, start};

/// Threads of the server: for requests, and for long work.
const MAX_THREADS: usize = 5;

#[test]
fn many_questions_share_a_few_threads() {
    let path = traceloom_testkit::fixture("easyprofiler/v210_values.prof");
    let viewer = start(Options { paths: vec![path], ..Options::default() }).expect("a port is free");
    let url = viewer.url();
    // The trace is small, so it is loaded by then.
    thread::sleep(Duration::from_millis(500));
    let ask = |number: u32| {
        // Each query is different, so that no answer is cached.
        let question = format!("GET /api/stats?from={number}");
        let mut client = client::ask(url, &question, "").expect("the server reads it");
        let mut status = [0; 12];
        client.read_exact(&mut status).expect("it answers");
        assert_eq!(&status, b"HTTP/1.1 200", "{}", String::from_utf8_lossy(&status));
    };
    thread::scope(|scope| {
        let asking: Vec<_> = (0..60).map(|number| scope.spawn(move || ask(number))).collect();
        asking.into_iter().for_each(|client| client.join().expect("it is answered"));
    });
    let threads = server_threads();
    assert!(threads <= MAX_THREADS, "{threads} threads");
    assert!(threads > 2, "the questions were worked on by threads of their own");
}

/// Threads of this process that the server started; idle ones stay for a while.
fn server_threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux has it").flatten();
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.map(name).filter(|name| name.starts_with("tokio")).count()
}
