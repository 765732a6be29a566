//! Traces with very many threads or series take memory in proportion to the file. Alone in its process, whose memory is counted.

mod support;

use std::{fs, path::Path};

use peak_alloc::PeakAlloc;
use support::{ASKED, ask};
use traceloom_core::{Limits, Source};
use traceloom_mapping::Options;
use traceloom_testkit::made::{write_threads, write_values};
use traceloom_viewer::Router;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Max bytes of memory per byte of the file.
const MAX_FACTOR: usize = 6;
/// Both are the same multiple of a power of two, so that tables that double are equally full.
const SIZES: [u32; 2] = [50_000, 200_000];

/// Writes a trace of a size.
type Write = fn(&Path, u32);

#[test]
fn crowds_cost_six_times_their_file_at_most() {
    let shapes: [(&str, Write); 2] =
        [("threads", |path, size| write_threads(path, size, 1)), ("ids of values", write_values)];
    for (name, write) in shapes {
        let [small, large] = SIZES.map(|size| cost(write, size));
        let (bytes, peak) = (large.0 - small.0, large.1.saturating_sub(small.1));
        assert!(peak <= MAX_FACTOR * bytes, "{name}: {bytes} bytes more take {peak} bytes: {small:?}, {large:?}");
    }
}

/// The size of a file, and the memory that it takes to load it and to open every panel once.
fn cost(write: Write, size: u32) -> (usize, usize) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crowd.prof");
    write(&path, size);
    let bytes = fs::metadata(&path).expect("a file").len() as usize;
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let router = Router::new(Options::default(), |work| work());
    assert_eq!(router.open("name=crowd", || Source::open(&path, &Limits::default())).status, 200);
    for asked in ASKED {
        let answer = ask(&router, asked);
        // Neither shape has allocations.
        let expected = if asked.starts_with("memory") { 404 } else { 200 };
        assert_eq!(answer.status, expected, "{asked}: {}", String::from_utf8_lossy(&answer.body));
    }
    (bytes, MEMORY.peak_usage() - before)
}
