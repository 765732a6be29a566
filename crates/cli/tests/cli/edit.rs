//! `convert`, `repair`, `slice` and `merge`.

use std::fs;

use serde_json::Value as Json;

use crate::{Folder, fixture, fixture_of, stderr, stdout, traceloom};

#[test]
fn convert_copies_byte_for_byte_and_unpacks() {
    let folder = Folder::new();
    let (input, output) = (fixture("v210_gui_saved_bookmarks.prof"), folder.path("copy.prof"));
    assert!(traceloom(&["convert", &input, &output]).status.success());
    assert_eq!(fs::read(&input).expect("the input"), fs::read(&output).expect("the output"));
    let piped = traceloom(&["convert", &input, "-"]);
    assert_eq!(piped.stdout, fs::read(&input).expect("the input"));
    assert_eq!(folder.names(), ["copy.prof"], "no temporary file stays behind");
}

#[test]
fn convert_restamps_and_says_what_is_lost() {
    let folder = Folder::new();
    let output = folder.path("old.prof");
    let done =
        traceloom(&["convert", "--to", "easyprofiler:1.0.0", &fixture("v210_gui_saved_bookmarks.prof"), &output]);
    assert!(done.status.success());
    assert!(stderr(&done).contains("lost: bookmarks: 2"), "{}", stderr(&done));
    assert!(stderr(&done).contains("lost: the process id"), "{}", stderr(&done));
    assert!(traceloom(&["check", "--strict", &output]).status.success());
    let unknown = traceloom(&["convert", "--to", "easyprofiler:0.0.1", &fixture("v210_values.prof"), &output]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn convert_writes_the_variant_that_is_named_from_any_format() {
    let folder = Folder::new();
    let input = fixture_of("wtf", "wtf-js/js-mix.wtf-trace");
    for version in ["2.1.0", "2.0.0", "1.3.0", "1.2.0", "1.0.0", "0.1.0"] {
        let output = folder.path("versioned.prof");
        let done = traceloom(&["convert", "--to", &format!("easyprofiler:{version}"), &input, &output]);
        assert!(done.status.success(), "{}", stderr(&done));
        let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &output]))).expect("JSON");
        assert_eq!((&info["format"], &info["version"]), (&Json::from("easyprofiler"), &Json::from(version)));
        assert!(traceloom(&["check", "--strict", &output]).status.success(), "{version}");
    }
    let output = folder.path("packed.nytprof");
    let done = traceloom(&["convert", "--to", "nytprof:zlib9", &fixture("v210_nested_threads.prof"), &output]);
    assert!(done.status.success(), "{}", stderr(&done));
    let bytes = fs::read(&output).expect("a file");
    assert!(bytes.windows(20).any(|window| window == b"Compressed at level "), "it is compressed");
    // The extension determines the format, regardless of the input.
    let output = folder.path("text.wtf-json");
    assert!(traceloom(&["convert", &fixture("v210_nested_threads.prof"), &output]).status.success());
    let _: Json = serde_json::from_slice(&fs::read(&output).expect("a file")).expect("JSON");
}

#[test]
fn convert_refuses_variants_that_the_target_does_not_have() {
    let folder = Folder::new();
    for (to, file, known) in [
        ("perfetto:nonsense", "out.pftrace", "it has no variants"),
        ("parquet:nonsense", "out", "it has no variants"),
        ("memlyze:2", "out.mlyze", "it has: 1, lz4"),
        ("pprof:nonsense", "out.pb.gz", "best, allocations, time"),
        ("nytprof:zlib10", "out.nytprof", "plain, zlib, zlib0"),
        ("wtf:nonsense", "out.wtf-trace", "binary, json, json-partial, json-events"),
        ("easyprofiler:2.1.1", "out.prof", "2.1.0, 2.0.0, 1.3.0, 1.2.0, 1.0.0, 0.1.0"),
    ] {
        let output = folder.path(file);
        let refused = traceloom(&["convert", "--to", to, &fixture("v210_nested_threads.prof"), &output]);
        assert_eq!(refused.status.code(), Some(2), "{to}");
        assert!(stderr(&refused).contains(known), "{}", stderr(&refused));
    }
    assert!(folder.names().is_empty(), "nothing is written: {:?}", folder.names());
}

#[test]
fn repair_makes_refused_files_load() {
    let folder = Folder::new();
    let output = folder.path("good.prof");
    for name in ["bad_block_count_header", "bad_threads_mark", "v210_deep_256_refused", "syn_null_descriptor_used"] {
        let input = fixture(&format!("{name}.prof"));
        assert_eq!(traceloom(&["check", "--strict", &input]).status.code(), Some(1));
        assert!(traceloom(&["repair", &input, &output]).status.success(), "{name}");
        assert_eq!(traceloom(&["check", "--strict", &output]).status.code(), Some(0), "{name}");
    }
    let empty = traceloom(&["repair", &fixture("v210_empty_enabled.prof"), &output]);
    assert_eq!(empty.status.code(), Some(1));
    assert!(stderr(&empty).contains("nothing to repair"), "{}", stderr(&empty));
}

#[test]
fn slice_keeps_time_and_threads() {
    let folder = Folder::new();
    assert!(traceloom(&["demo", &folder.path("demo")]).status.success());
    let (input, output) = (folder.path("demo/game.prof"), folder.path("part.prof"));
    let sliced = traceloom(&["slice", "--range", "0.5s..1s", "--thread", "Main", &input, &output]);
    assert!(sliced.status.success(), "{}", stderr(&sliced));
    let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &output]))).expect("JSON");
    assert_eq!(info["facts"]["capture"]["ns"], 500_000_000);
    assert_eq!(info["threads"].as_array().map(Vec::len), Some(1));
    let nothing = traceloom(&["slice", "--range", "100s..", &input, &output]);
    assert!(nothing.status.success(), "{}", stderr(&nothing));
    let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &output]))).expect("JSON");
    assert_eq!(info["facts"]["blocks"], 0, "a range without blocks is an empty trace");
    let backwards = traceloom(&["slice", "--range", "2s..1s", &input, &output]);
    assert_eq!(backwards.status.code(), Some(2));
}

#[test]
fn merge_puts_two_captures_of_a_process_together() {
    let folder = Folder::new();
    let (one, two) = (fixture("v210_two_dumps_first.prof"), fixture("v210_two_dumps_second.prof"));
    let (forwards, backwards) = (folder.path("forwards.prof"), folder.path("backwards.prof"));
    assert!(traceloom(&["merge", &one, &two, &forwards]).status.success());
    assert!(traceloom(&["merge", &two, &one, &backwards]).status.success());
    assert_eq!(fs::read(&forwards).expect("a file"), fs::read(&backwards).expect("a file"));
    assert_eq!(traceloom(&["check", "--strict", &forwards]).status.code(), Some(0));
    let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &forwards]))).expect("JSON");
    let count = |name: &str| info["facts"][name].as_u64().unwrap_or(0);
    assert_eq!(count("blocks") + count("events") + count("values"), 39);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_said_of_the_output() {
    let full = traceloom(&["convert", &fixture("v210_values.prof"), "/dev/full"]);
    assert_eq!(full.status.code(), Some(2));
    assert!(stderr(&full).contains("/dev/full: No space left"), "{}", stderr(&full));
}

#[test]
fn nobody_overwrites_his_input() {
    let folder = Folder::new();
    let file = folder.path("a.prof");
    fs::copy(fixture("v210_one_block.prof"), &file).expect("a copy");
    let refused = traceloom(&["convert", &file, &file]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(fs::read(&file).expect("a file"), fs::read(fixture("v210_one_block.prof")).expect("a file"));
}

#[test]
fn repair_takes_the_dictionary_of_another_log() {
    let folder = Folder::new();
    let (whole, crashed, repaired) =
        (fixture_of("cnanolog", "head_server.clog"), folder.path("crashed.clog"), folder.path("repaired.clog"));
    let mut bytes = fs::read(&whole).expect("the fixture");
    let dictionary_at = u64::from_le_bytes(bytes[40..48].try_into().expect("eight bytes")) as usize;
    bytes.truncate(dictionary_at);
    bytes[40..52].fill(0);
    fs::write(&crashed, bytes).expect("a file");
    let done = traceloom(&["repair", "--dictionary", &whole, &crashed, &repaired]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    assert!(!stderr(&done).contains("lost:"), "{}", stderr(&done));
    assert!(stderr(&done).contains(" more than were read"), "the dictionary is new: {}", stderr(&done));
    assert_eq!(traceloom(&["check", "--strict", &repaired]).status.code(), Some(0));
    for arguments in [&["log"][..], &["log", "--compat"]] {
        let text = |path: &str| stdout(&traceloom(&[arguments, &[path]].concat()));
        assert!(text(&repaired) == text(&whole));
    }
    let without = traceloom(&["repair", &crashed, &repaired]);
    assert!(stderr(&without).contains("lost: types of unreadable arguments"), "{}", stderr(&without));
    let other = traceloom(&["repair", "--dictionary", &whole, &fixture("v210_values.prof"), &repaired]);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("this is a trace of EasyProfiler"), "{}", stderr(&other));
    let own = traceloom(&["repair", "--dictionary", &whole, &crashed, &whole]);
    assert_eq!(own.status.code(), Some(2), "the dictionary is an input, too");
}

#[test]
fn an_output_that_ends_in_gz_is_compressed() {
    let folder = Folder::new();
    let (copy, unpacked) = (folder.path("copy.prof.gz"), folder.path("copy.prof"));
    let input = fixture("v210_values.prof");
    assert!(traceloom(&["convert", &input, &copy]).status.success());
    let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &copy]))).expect("JSON");
    assert_eq!(info["compression"], serde_json::json!(["gzip"]));
    assert!(traceloom(&["convert", &copy, &unpacked]).status.success());
    assert!(fs::read(&unpacked).expect("a file") == fs::read(&input).expect("a file"), "byte for byte");
}
