//! The examples, run on the built-in sample.
//!
//! They are compiled into this test instead of being run as programs, which avoids a second build and stale binaries.

#![cfg(all(feature = "easyprofiler", feature = "tables"))]
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::{fs, path::Path};

#[cfg(feature = "export")]
#[path = "../examples/convert.rs"]
mod convert;
#[path = "../examples/read_prof.rs"]
mod read_prof;
#[cfg(feature = "sql")]
#[path = "../examples/sql.rs"]
mod sql;
#[path = "../examples/sum_by_name.rs"]
mod sum_by_name;
#[path = "../examples/table_sink.rs"]
mod table_sink;
#[path = "../examples/write_trace.rs"]
mod write_trace;

/// The output of an example.
fn printed(run: impl FnOnce(&mut dyn std::io::Write) -> traceloom::Result<()>) -> String {
    let mut out = Vec::new();
    run(&mut out).expect("the example succeeds");
    String::from_utf8(out).expect("it prints text")
}

#[test]
fn every_example_is_run_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(
        names,
        ["convert.rs", "read_prof.rs", "sql.rs", "sum_by_name.rs", "table_sink.rs", "write_trace.rs"],
        "a new example needs a test in this file"
    );
}

#[test]
fn read_prof() {
    let text = printed(|out| read_prof::run(None, out));
    assert_eq!(
        text,
        "Main: 2040 blocks, the longest took 3540700 ns\nLoader: 60 blocks, the longest took 3486400 ns\n"
    );
}

#[test]
fn a_path_is_read_instead_of_the_sample() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("own.prof");
    printed(|out| write_trace::run(Some(path.clone().into()), out));
    let text = printed(|out| read_prof::run(Some(path.into()), out));
    assert_eq!(text, "Main: 2 blocks, the longest took 16000000 ns\n");
}

#[test]
fn sum_by_name() {
    let text = printed(|out| sum_by_name::run(None, out));
    assert_eq!(text.lines().count(), 10, "{text}");
    assert!(text.starts_with("     244.948 ms      120  Frame\n     134.010 ms      120  Update\n"), "{text}");
}

#[test]
fn table_sink() {
    let text = printed(|out| table_sink::run(None, out));
    assert_eq!(text, "threads: Main, Loader\nCollide at 10000 ns\nCollide at 235000 ns\nCollide at 475300 ns\n");
}

#[test]
fn write_trace() {
    let text = printed(|out| write_trace::run(None, out));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 9, "{text}");
    assert!(lines[0].starts_with("   0 header version=2.1.0 "), "{text}");
    assert_eq!(lines[6], " 181 block begin=1000000 end=17000000 descriptor=0 name=\"\"");
}

#[cfg(feature = "export")]
#[test]
fn convert() {
    let text = printed(|out| convert::run(None, None, out));
    assert!(text.starts_with("lost: "), "{text}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spike.trace.json");
    let text = printed(|out| convert::run(None, Some(path.clone().into()), out));
    let bytes = fs::read(path).expect("the file is written");
    assert!(text.ends_with(&format!("\n{} bytes\n", bytes.len())), "{text}");
    let json: serde_json::Value = serde_json::from_slice(&bytes).expect("the output is JSON");
    let events = json["traceEvents"].as_array().expect("Chrome's events");
    assert!(events.iter().any(|event| event["name"] == "Frame"), "a slow frame is in the range");
}

#[cfg(feature = "sql")]
#[test]
fn sql() {
    let text = printed(|out| sql::run(None, None, out));
    assert!(text.starts_with("name\tcalls\tlongest_ns\nFrame\t120\t"), "{text}");
    assert_eq!(text.lines().count(), 6, "{text}");
    let text = printed(|out| sql::run(None, Some("select count(*) as threads from threads".into()), out));
    assert_eq!(text, "threads\n2\n");
}
