//! `info`, `dump` and `check`.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value as Json;

use crate::{assert_snapshot, fixture, relative, stdout, traceloom};

#[test]
fn info_of_a_real_capture() {
    let output = traceloom(&["info", &fixture("v210_nested_threads.prof")]);
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot("info", &relative(&stdout(&output)));
    let json: Json =
        serde_json::from_str(&stdout(&traceloom(&["info", "--json", &fixture("v210_values.prof")]))).expect("JSON");
    assert_eq!(json["format"], "easyprofiler");
    assert_eq!(json["version"], "2.1.0");
    assert_eq!(json["facts"]["values"].as_u64().zip(json["facts"]["blocks"].as_u64()).map(|(a, b)| a + b), Some(96));
    assert_eq!(json["threads"][0]["name"], "Main");
}

#[test]
fn a_file_alone_is_info() {
    let file = fixture("v210_one_block.prof");
    assert_eq!(stdout(&traceloom(&[&file])), stdout(&traceloom(&["info", &file])));
}

#[test]
fn dump_prints_every_record() {
    let output = traceloom(&["dump", &fixture("syn_freq_10mhz.prof")]);
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot("dump", &stdout(&output));
    let output = traceloom(&["dump", "--json", &fixture("v210_names_non_ascii.prof")]);
    let lines: Vec<Json> = stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["name_hex"].is_string()), "names that are not UTF-8 are given in hex");
    let bytes: u64 = lines.iter().filter_map(|line| line["len"].as_u64()).sum();
    assert_eq!(bytes, fs::metadata(fixture("v210_names_non_ascii.prof")).expect("the fixture").len());
    assert_eq!(stdout(&traceloom(&["dump", "--limit", "2", &fixture("v210_values.prof")])).lines().count(), 2);
}

#[test]
fn check_gives_the_verdict_of_the_original() {
    let good = traceloom(&["check", "--strict", &fixture("v210_one_block.prof")]);
    assert_eq!(good.status.code(), Some(0));
    let bad = traceloom(&["check", "--strict", &fixture("bad_block_count_header.prof")]);
    assert_eq!(bad.status.code(), Some(1));
    let all = traceloom(&["check", &fixture("bad_bookmark_size.prof"), &fixture("bad_zero_length.prof")]);
    assert_eq!(all.status.code(), Some(1));
    assert_snapshot("check", &relative(&(stdout(&good) + &stdout(&bad) + &stdout(&all))));
    let json = traceloom(&["check", "--json", "--strict", &fixture("bad_block_count_header.prof")]);
    let json: Json = serde_json::from_str(&stdout(&json)).expect("JSON");
    assert_eq!(json["accepted"], false);
    assert_eq!(json["findings"][0]["code"], "easyprofiler.count-mismatch");
    assert_eq!(json["findings"][0]["values"]["expected"], 77);
    assert_eq!(json["findings"][0]["offset"], 308);
}

#[test]
fn a_trace_comes_through_a_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceloom"))
        .args(["info", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let bytes = fs::read(fixture("v210_one_block.prof")).expect("the fixture");
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("the pipe takes it");
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success());
    assert!(stdout(&output).starts_with("standard input: EasyProfiler 2.1.0"), "{}", stdout(&output));
}

#[test]
fn compressed_traces_just_open() {
    let plain = stdout(&traceloom(&["dump", &fixture("v210_values.prof")]));
    for ending in ["gz", "zst", "lz4"] {
        let path = format!("{}/tests/data/values.prof.{ending}", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(stdout(&traceloom(&["dump", &path])), plain, "{ending}");
    }
}
