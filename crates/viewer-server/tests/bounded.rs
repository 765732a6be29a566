//! Traces that are made to need much memory do not get it. A separate process, because its memory is measured.

use std::{fs, io::Read, path::Path, thread, time::Duration};

use peak_alloc::PeakAlloc;
use traceloom_testkit::{
    client,
    made::{write_bare_threads, write_named_blocks, write_threads, write_values},
};
use traceloom_viewer_server::{Options, start};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Number of threads, names or values; each would take kilobytes as a separate track.
const MANY: u32 = 400_000;

/// Max memory for serving a file.
fn allowed_bytes(path: &Path) -> usize {
    let file = fs::metadata(path).expect("it was written").len() as usize;
    (64 << 20) + 6 * file
}

/// An answer of the server.
fn ask(url: &str, path: &str) -> String {
    let mut client = client::ask(url, &format!("GET /api/{path}"), "").expect("the server reads it");
    let mut answer = String::new();
    #[expect(clippy::disallowed_methods, reason = "the server is our own")]
    client.read_to_string(&mut answer).expect("it answers");
    answer
}

/// Writes a trace of one shape.
type WriteShape = fn(&Path);

/// Peak memory until a file is loaded and its first panel is shown.
fn peak_bytes(path: &Path) -> usize {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let viewer = start(Options { paths: vec![path.to_owned()], ..Options::default() }).expect("a port is free");
    while !ask(viewer.url(), "state").contains(r#""state":"ready""#) {
        thread::sleep(Duration::from_millis(20));
    }
    let overview = ask(viewer.url(), "overview");
    assert!(overview.contains(r#""badge":"fine""#), "{overview}");
    MEMORY.peak_usage() - before
}

#[test]
fn memory_follows_the_file_and_not_its_threads_names_or_series() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("many.prof");
    let shapes: [(&str, WriteShape); 4] = [
        ("threads", |path| write_threads(path, MANY, 1)),
        ("threads of one block", |path| write_bare_threads(path, MANY)),
        ("threads of one block with its own name", |path| write_named_blocks(path, MANY)),
        ("values", |path| write_values(path, MANY)),
    ];
    for (name, write) in shapes {
        write(&path);
        let (peak, allowed) = (peak_bytes(&path), allowed_bytes(&path));
        assert!(peak <= allowed, "{name}: {peak} bytes, {allowed} allowed");
    }
}
