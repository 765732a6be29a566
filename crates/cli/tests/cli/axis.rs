//! Verbs that read several traces put them on the same axis, with the offsets of the user.

use std::fs;

use serde_json::Value as Json;
use traceloom_testkit::made::{LOG_SECOND, SAMPLE_BEGIN, SAMPLE_HZ, log_at};

use crate::{Folder, stderr, stdout, traceloom};

/// A capture and a log whose counter it shares.
fn pair() -> (Folder, [String; 2]) {
    let folder = Folder::new();
    let paths = ["game.prof", "service.clog"].map(|name| folder.path(name));
    let mut capture = Vec::new();
    traceloom_easyprofiler::sample::write(&mut capture, 120).expect("memory takes it");
    fs::write(&paths[0], capture).expect("there is room");
    let log = log_at(LOG_SECOND, SAMPLE_BEGIN + SAMPLE_HZ / 10, SAMPLE_HZ, &[(10_000, 1), (2_345_000, 2)]);
    fs::write(&paths[1], log).expect("there is room");
    (folder, paths)
}

/// The output of a verb over both traces.
fn answer(verb: &[&str], paths: &[String; 2], rest: &[&str]) -> String {
    let output = traceloom(&[verb, &[&paths[0], &paths[1]], rest].concat());
    assert!(output.status.success(), "{verb:?}: {}", stderr(&output));
    stdout(&output)
}

/// The times of the first frame and of the first log line in SQL.
fn queried_ns(paths: &[String; 2], offset: &[&str]) -> [i64; 2] {
    ["spans where name = 'Frame'", "logs"].map(|rows| {
        let sql = format!("select min(ts_ns) as t from {rows}");
        let csv = answer(&[&["query", "--format", "csv"], offset].concat(), paths, &[&sql]);
        csv.lines().nth(1).and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{csv}"))
    })
}

/// The same in what `convert` writes.
fn converted_ns(paths: &[String; 2], offset: &[&str]) -> [i64; 2] {
    let rows = answer(&[&["convert", "--to", "json"], offset].concat(), paths, &["-"]);
    let rows: Vec<Json> = rows.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect();
    let first = |is: &dyn Fn(&Json) -> bool| {
        rows.iter().filter(|row| is(row)).filter_map(|row| row["ts_ns"].as_i64()).min().expect("a time")
    };
    [first(&|row| row["table"] == "spans" && row["name"] == "Frame"), first(&|row| row["table"] == "logs")]
}

/// How often a frame starts in a range, by three verbs.
fn frames(paths: &[String; 2], offset: &[&str], range: &str) -> [u64; 3] {
    let ask = |verb: &[&str]| answer(&[verb, &["--range", range], offset].concat(), paths, &[]);
    let json = |verb: &[&str]| serde_json::from_str::<Json>(&ask(verb)).expect("it is JSON");
    let sum = |rows: &Json, key: &str| {
        let rows = rows.as_array().expect("a list").iter().filter(|row| row["name"] == "Frame");
        rows.filter_map(|row| row[key].as_u64()).sum::<u64>()
    };
    let stats = sum(&json(&["stats", "--json"])["spans"], "calls");
    let tree = sum(&json(&["tree", "--json", "--by", "count", "--min-share", "0%"])["rows"], "self_calls");
    let folded = ask(&["flame", "--format", "folded", "--by", "count"]);
    let own = folded.lines().filter_map(|line| line.rsplit_once(' ')).filter(|(stack, _)| stack.ends_with("Frame"));
    [stats, tree, own.filter_map(|(_, count)| count.parse::<u64>().ok()).sum()]
}

#[test]
fn verbs_agree_about_offsets() {
    let (_folder, paths) = pair();
    let moved = format!("{}=+7s", paths[0]);
    let (none, some) = (&[][..], &["--offset", &moved][..]);
    // Without an offset, the counter puts the capture 0.1 s before the log.
    assert_eq!(queried_ns(&paths, some)[0] - queried_ns(&paths, none)[0], 7_100_000_000);
    for offset in [none, some] {
        let [start_ns, log_ns] = queried_ns(&paths, offset);
        let converted = converted_ns(&paths, offset);
        assert_eq!(converted[0] - converted[1], start_ns - log_ns, "convert {offset:?}");
        // A frame is longer than this range, so that only the first is in it.
        let range = format!("{start_ns}ns..{}ns", start_ns + 1_000);
        assert_eq!(frames(&paths, offset, &range), [1; 3], "{offset:?}");
        let earlier = format!("{}ns..{start_ns}ns", start_ns - 1_000);
        assert_eq!(frames(&paths, offset, &earlier), [0; 3], "{offset:?}");
    }
}

#[test]
fn an_offset_applies_to_a_single_trace_too() {
    let (folder, paths) = pair();
    let offset = format!("{}=-1.5s", paths[0]);
    let copy = folder.path("copy.prof");
    let converted = |offset: &[&str]| {
        let output = traceloom(&[&["convert", "--to", "json:spans", &paths[0], "-"], offset].concat());
        let row: Json = serde_json::from_str(stdout(&output).lines().next().expect("a row")).expect("JSON");
        row["ts_ns"].as_i64().expect("a time")
    };
    assert_eq!(converted(&["--offset", &offset]), converted(&[]) - 1_500_000_000);
    for verb in [&["stats"][..], &["tree"], &["flame"], &["convert", &paths[1], &copy, "--to", "chrome"]] {
        let output = traceloom(&[&verb[..1], &["--offset", "other.prof=1s", &paths[0]], &verb[1..]].concat());
        assert_eq!(output.status.code(), Some(2), "{verb:?}");
        assert!(stderr(&output).contains("other.prof"), "{verb:?}: {}", stderr(&output));
    }
    let store = folder.path("store");
    let output = traceloom(&["convert", "--to", "parquet", "--offset", &offset, &paths[0], &store]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--offset"), "{}", stderr(&output));
}
