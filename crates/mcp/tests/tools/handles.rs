//! Handles, which are short names of files.

use std::fs;

use serde_json::json;

use crate::{
    crafted::trace_of,
    support::{Bench, text},
};

/// Writes a trace of about 180 kB that has this letter in the middle; the others are the same, as is the size.
fn write(bench: &Bench, name: &str, letter: u8) -> String {
    let mut middle = vec![b'm'; 60_000];
    middle[30_000] = letter;
    let bytes = trace_of(&[&[b'a'; 60_000], &middle, &[b'z'; 60_000]]);
    let differs = bytes.windows(3).position(|three| three == [b'm', letter, b'm']).expect("the letter");
    assert!((64 << 10..bytes.len() - (64 << 10)).contains(&differs), "neither end has the letter");
    let path = bench.folder.path().join(name);
    fs::write(&path, bytes).expect("there is room");
    text(&path).to_owned()
}

async fn open(bench: &Bench, path: &str) -> String {
    let opened = bench.ask("open", json!({ "trace": path })).await;
    opened["from_trace"]["handle"].as_str().expect("a handle").to_owned()
}

#[tokio::test]
async fn a_handle_of_several_files_that_differ_is_refused() {
    let bench = Bench::new().await;
    let good = write(&bench, "good.prof", b'1');
    let handle = open(&bench, &good).await;
    let by_handle = bench.ask("check", json!({ "trace": handle })).await;
    // The same bytes in another file are the same trace.
    let copy = write(&bench, "copy.prof", b'1');
    assert_eq!(open(&bench, &copy).await, handle);
    let names = bench.ask("stats", json!({ "trace": handle })).await;
    assert_eq!(names, bench.ask("stats", json!({ "trace": good })).await);

    let evil = write(&bench, "evil.prof", b'2');
    assert_eq!(open(&bench, &evil).await, handle, "both ends and the length are the same");
    for tool in ["open", "stats", "check", "summary"] {
        let refused = bench.refusal(tool, json!({ "trace": handle })).await;
        assert!(refused.contains("several open files that differ; pass the path instead"), "{tool}: {refused}");
    }
    for path in [&good, &evil] {
        let found = bench.ask("check", json!({ "trace": path })).await;
        assert!(found["from_trace"]["file"].as_str().is_some_and(|file| file.ends_with(path.as_str())), "{found}");
    }
    assert!(by_handle["from_trace"]["file"].as_str().is_some_and(|file| file.ends_with("good.prof")));
}

#[tokio::test]
async fn a_file_is_found_by_any_name_that_is_not_a_handle() {
    let bench = Bench::new().await;
    let names = ["trace-loader.prof", "trace-0", "trace-0123456789abcdef0", "trace-0123456789ABCDEF"];
    for name in names {
        fs::write(bench.folder.path().join(name), trace_of(&[b"x"])).expect("there is room");
        bench.ask("check", json!({ "trace": name })).await;
    }
    let name = "trace-0123456789abcdef";
    fs::write(bench.folder.path().join(name), trace_of(&[b"x"])).expect("there is room");
    let refused = bench.refusal("check", json!({ "trace": name })).await;
    assert!(refused.contains("no open trace has the handle trace-0123456789abcdef; call `open` first"), "{refused}");
    bench.ask("check", json!({ "trace": format!("./{name}") })).await;
}
