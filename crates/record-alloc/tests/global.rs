//! The allocator of a Rust program; a single test, because a process has one recording.

mod common;

use traceloom_record_alloc::{Options, TracingAllocator, marker, start};

#[global_allocator]
static ALLOCATOR: TracingAllocator = TracingAllocator::system();

#[inline(never)]
fn leak_here(count: usize) {
    for number in 0..count {
        std::mem::forget(std::hint::black_box(vec![number as u8; 123]));
    }
}

#[inline(never)]
fn churn_here(count: usize) {
    let mut grown = std::hint::black_box(Vec::<u64>::with_capacity(1));
    for number in 0..count {
        grown.push(number as u64);
    }
}

#[test]
fn allocations_of_a_rust_program_are_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("app.mlyze");
    leak_here(3);
    let recording = start(Options::new(&path)).expect("it starts");
    leak_here(5);
    marker("leaked");
    std::thread::spawn(|| churn_here(1000)).join().expect("it ends");
    recording.finish().expect("it ends");
    leak_here(3);
    let contents = common::read(&path);
    let sites_of = |caller: &str| {
        contents.sites.values().filter(|site| site.callers.iter().any(|name| name.contains(caller))).collect::<Vec<_>>()
    };
    let leaking = sites_of("leak_here");
    assert_eq!(leaking.iter().map(|site| site.leaked).sum::<u64>(), 5, "{:#?}", contents.sites);
    assert!(leaking.iter().all(|site| site.bytes >= 5 * 123));
    assert!(contents.sites.keys().all(|name| !name.contains("traceloom_record_alloc")), "{:?}", contents.sites.keys());
    assert!(sites_of("churn_here").iter().any(|site| site.bytes > 8000));
    assert_eq!((contents.markers.as_slice(), contents.threads), (["leaked".to_owned()].as_slice(), 2));
    assert_eq!((contents.totals.reused, contents.totals.double_frees), (0, 0));
}
