//! Every verb with a range treats it the same way: adjacent ranges add up to the whole, and an empty range is empty.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Output,
};

use serde_json::Value as Json;

use crate::{Folder, stderr, stdout, traceloom};

/// The samples that `demo` writes and that have times.
const SAMPLES: [&str; 5] = ["game.prof", "game.wtf-trace", "nytprof.out", "service.clog", "shop.mlyze"];
/// A sample with sums but without times.
const TIMELESS: &str = "pynytprof.out";
/// Tables whose rows have one timestamp.
const MOMENTS: [&str; 5] = ["allocations", "counters", "events", "frees", "logs"];

/// Counts by key.
type Counts = BTreeMap<String, u64>;

fn samples() -> Folder {
    let folder = Folder::new();
    assert!(traceloom(&["demo", &folder.path("")]).status.success());
    folder
}

/// Runs a verb on a sample, with a range if there is one.
fn run(verb: &[&str], file: &str, range: Option<&str>) -> Output {
    let range: Vec<&str> = range.map_or(Vec::new(), |range| vec!["--range", range]);
    // EasyProfiler rejects an empty capture, but that is not a failure here.
    traceloom(&[&verb[..1], &["--allow-damaged"], &range, &[file], &verb[1..]].concat())
}

/// Runs a verb that must succeed.
fn answer(verb: &[&str], file: &str, range: Option<&str>) -> String {
    let output = run(verb, file, range);
    assert!(output.status.success(), "{verb:?} {file} {range:?}: {}", stderr(&output));
    stdout(&output)
}

/// The median of all timestamps and starts, so that one is exactly on the edge.
fn middle_ns(file: &str) -> i64 {
    let rows = |table: &str| answer(&["convert", "-", "--to", &format!("json:{table}")], file, None);
    let times = |text: String| {
        let rows = text.lines().map(|line| serde_json::from_str::<Json>(line).expect("a row is JSON"));
        rows.filter_map(|row| row["ts_ns"].as_i64()).collect::<Vec<_>>()
    };
    let mut times: Vec<i64> = MOMENTS.iter().chain(&["spans"]).flat_map(|table| times(rows(table))).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// The counts of both halves of a sample, and of the whole.
fn halves_and_whole(file: &str, count: impl Fn(Option<&str>) -> Counts) -> [Counts; 3] {
    let cut = middle_ns(file);
    let [before, after] = [format!("..{cut}ns"), format!("{cut}ns..")];
    [count(Some(&before)), count(Some(&after)), count(None)]
}

fn assert_adds_up(what: &str, [before, after, whole]: [Counts; 3]) {
    let mut sum = before.clone();
    for (key, count) in &after {
        *sum.entry(key.clone()).or_default() += count;
    }
    assert_eq!(sum, whole, "{what}: {before:?} and {after:?}");
}

fn calls(file: &str, range: Option<&str>) -> Counts {
    let report: Json = serde_json::from_str(&answer(&["stats", "--json"], file, range)).expect("stats prints JSON");
    let rows = |list: &'static str, number: &'static str| {
        let rows = report[list].as_array().expect("there is a list").clone();
        rows.into_iter().map(move |row| (format!("{list} {} {}", row["name"], row["category"]), row[number].clone()))
    };
    let mut counts = Counts::new();
    for (key, count) in rows("spans", "calls").chain(rows("events", "count")) {
        *counts.entry(key).or_default() += count.as_u64().expect("a count");
    }
    counts
}

#[test]
fn calls_of_adjacent_ranges_add_up() {
    let folder = samples();
    for sample in SAMPLES {
        let file = folder.path(sample);
        assert_adds_up(sample, halves_and_whole(&file, |range| calls(&file, range)));
    }
}

/// Calls by the innermost frame, because outer frames may start in the previous range.
fn frames(file: &str, range: Option<&str>) -> Counts {
    let mut counts = Counts::new();
    for line in answer(&["flame", "--format", "folded", "--by", "count"], file, range).lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a stack and a count");
        let frame = stack.rsplit(';').next().unwrap_or_default();
        *counts.entry(frame.to_owned()).or_default() += count.parse::<u64>().expect("a count");
    }
    counts
}

/// The same of the call tree, top down or bottom up.
fn tree_frames(direction: &[&str], file: &str, range: Option<&str>) -> Counts {
    let verb = [&["tree", "--json", "--by", "count", "--min-share", "0%"], direction].concat();
    let tree: Json = serde_json::from_str(&answer(&verb, file, range)).expect("tree prints JSON");
    let mut counts = Counts::new();
    for row in tree["rows"].as_array().expect("there is a list") {
        // Bottom up, the outermost row has all of the weight.
        let key = if direction.is_empty() { "self_calls" } else { "total_calls" };
        let count = row[key].as_u64().expect("a count");
        if count > 0 && (direction.is_empty() || row["depth"] == 0) {
            *counts.entry(row["name"].as_str().expect("a name").to_owned()).or_default() += count;
        }
    }
    counts
}

#[test]
fn frames_of_adjacent_ranges_add_up() {
    let folder = samples();
    // A log has no stacks.
    for sample in SAMPLES.iter().filter(|sample| **sample != "service.clog") {
        let file = folder.path(sample);
        let parts = halves_and_whole(&file, |range| frames(&file, range));
        assert!(parts.iter().all(|part| !part.is_empty()), "{sample}");
        for direction in [&[][..], &["--bottom-up"]] {
            let trees = halves_and_whole(&file, |range| tree_frames(direction, &file, range));
            assert_eq!(trees, parts, "{sample} {direction:?}: the tree has the frames of the flame graph");
        }
        assert_adds_up(sample, parts);
    }
}

/// Number of rows with one timestamp, by table.
fn moments(file: &str, range: Option<&str>) -> Counts {
    let mut counts = Counts::new();
    for line in answer(&["convert", "-", "--to", "json"], file, range).lines() {
        let row: Json = serde_json::from_str(line).expect("a row is JSON");
        let table = row["table"].as_str().expect("a row names its table");
        // A mark lasts until the next one, so a slice starts with the previous one.
        if MOMENTS.contains(&table) && row["category"] != "mark" {
            *counts.entry(table.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn rows_of_adjacent_ranges_add_up_in_json_and_in_csv() {
    let folder = samples();
    for sample in SAMPLES {
        let file = folder.path(sample);
        assert_adds_up(sample, halves_and_whole(&file, |range| moments(&file, range)));
        for table in MOMENTS {
            let target = format!("csv:{table}");
            let rows = |range: Option<&str>| {
                let csv = answer(&["convert", "-", "--to", &target], &file, range);
                // The first line names the columns; a text may contain line breaks.
                let rows = csv.lines().skip(1).filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
                rows.map(|line| (line.to_owned(), 1)).collect()
            };
            assert_adds_up(&format!("{sample} {table}"), halves_and_whole(&file, rows));
        }
    }
}

#[test]
fn slices_of_adjacent_ranges_add_up() {
    let folder = samples();
    for sample in SAMPLES {
        let file = folder.path(sample);
        let part = folder.path(&format!("part-{sample}"));
        let count = |range: Option<&str>| {
            let Some(range) = range else { return moments(&file, None) };
            let sliced = traceloom(&["slice", "--range", range, &file, &part]);
            assert!(sliced.status.success(), "{sample} {range}: {}", stderr(&sliced));
            moments(&part, None)
        };
        assert_adds_up(sample, halves_and_whole(&file, count));
    }
}

#[test]
fn an_empty_range_is_an_empty_answer_of_every_verb() {
    let folder = samples();
    let empty = Some("1s..1s");
    for sample in SAMPLES {
        let file = folder.path(sample);
        assert_eq!(calls(&file, empty), Counts::new(), "{sample}");
        let report: Json = serde_json::from_str(&answer(&["stats", "--json"], &file, empty)).unwrap();
        assert_eq!(report["functions"], Json::Array(Vec::new()), "{sample}: sums of the whole are not of a range");
        answer(&["stats"], &file, empty);
        if sample != "service.clog" {
            assert_eq!(frames(&file, empty), Counts::new(), "{sample}");
            assert_eq!(tree_frames(&[], &file, empty), Counts::new(), "{sample}");
            answer(&["tree"], &file, empty);
            let picture = answer(&["flame", "--format", "svg"], &file, empty);
            assert!(picture.contains("<svg"), "{sample}: {picture}");
        }
        assert_eq!(moments(&file, empty), Counts::new(), "{sample}");
        for table in MOMENTS {
            let rows = answer(&["convert", "-", "--to", &format!("csv:{table}")], &file, empty);
            assert_eq!(rows.lines().count(), 1, "{sample}: the names of the columns alone: {rows}");
        }
        let part = folder.path(&format!("part-{sample}"));
        answer(&["slice", &part], &file, empty);
        assert_eq!(moments(&part, None), Counts::new(), "{sample}");
        // Some of the formats' own tools reject files without contents, which `check` reports; we open them anyway.
        let opened = traceloom(&["info", "--json", &part]);
        let info: Json = serde_json::from_str(&stdout(&opened)).expect("it opens");
        assert!(info["format"].is_string(), "{sample}: {info}");
    }
}

#[test]
fn an_exported_range_has_no_arguments_of_rows_outside() {
    let folder = samples();
    let mut kept = 0;
    for sample in SAMPLES {
        let file = folder.path(sample);
        let cut = format!("{}ns..", middle_ns(&file));
        for range in ["1s..1s", &cut] {
            let rows = answer(&["convert", "-", "--to", "json"], &file, Some(range));
            let rows: Vec<Json> = rows.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect();
            let key = |table: &Json, id: &Json| (table.as_str().unwrap_or_default().to_owned(), id.as_i64());
            let known: BTreeSet<_> = rows.iter().map(|row| key(&row["table"], &row["id"])).collect();
            let args: Vec<&Json> = rows.iter().filter(|row| row["table"] == "args").collect();
            let dangling = args.iter().filter(|row| !known.contains(&key(&row["owner_table"], &row["owner_id"])));
            assert_eq!(dangling.count(), 0, "{sample} {range}: arguments of rows that are not there");
            let alone = answer(&["convert", "-", "--to", "json:args"], &file, Some(range));
            assert_eq!(alone.lines().count(), args.len(), "{sample} {range}: the table alone has the same rows");
            let csv = answer(&["convert", "-", "--to", "csv:args"], &file, Some(range));
            assert!(
                csv.lines().count() > args.len() && (csv.lines().count() == 1) == args.is_empty(),
                "{sample} {range}"
            );
            kept += args.len();
        }
    }
    assert!(kept > 0, "arguments of rows inside stay");
}

#[test]
fn sums_without_times_are_refused_or_left_out() {
    let folder = samples();
    let file = folder.path(TIMELESS);
    let part = folder.path("part.out");
    for verb in [&["stats"][..], &["flame"], &["tree"], &["slice", &part]] {
        let output = run(verb, &file, Some("0s..1s"));
        let is_clear = stderr(&output).contains("times");
        assert!(output.status.success() || is_clear, "{verb:?}: {}", stderr(&output));
        assert!(!stdout(&output).contains("line_price"), "{verb:?}: sums of the whole are not of a range");
    }
}

#[test]
fn a_range_that_cannot_be_is_refused_by_every_verb() {
    let folder = samples();
    let file = folder.path("game.prof");
    let part = folder.path("part.prof");
    for verb in [&["stats"][..], &["flame"], &["tree"], &["convert", "-", "--to", "json"], &["slice", &part]] {
        for range in ["2s..1s", "1s", "a..b"] {
            let output = run(verb, &file, Some(range));
            assert_eq!(output.status.code(), Some(2), "{verb:?} {range}: {}", stderr(&output));
            assert!(stderr(&output).contains(range), "{verb:?} {range}: {}", stderr(&output));
        }
    }
}
