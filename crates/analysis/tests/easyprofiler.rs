//! Statistics of the EasyProfiler corpus, equal to those of easy_profiler.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use traceloom_core::TimeRange;

use serde_json::Value as Json;
use traceloom_analysis::stats::{self, By, Options, Report, SpanRow};
use traceloom_mapping::open;

fn fixture(name: &str) -> PathBuf {
    traceloom_testkit::fixture(Path::new("easyprofiler").join(name))
}

fn report(name: &str, options: &Options) -> Report {
    let how = traceloom_mapping::Options::default();
    let trace = open(&fixture(name), None, &how).expect("the fixture opens");
    stats::of_traces(&[trace], options).expect("the fixture is read")
}

fn by_thread() -> Options {
    Options { by: vec![By::Thread], ..Options::default() }
}

/// The goldens of files that easy_profiler accepts.
fn goldens() -> Vec<(String, Json)> {
    let mut goldens = Vec::new();
    for path in traceloom_testkit::files(&fixture("")).expect("the corpus") {
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let golden: Json = serde_json::from_slice(&fs::read(&path).expect("a golden")).expect("JSON");
        let file = path.with_extension("prof");
        if golden["upstream_reader"]["accepted"] == true && file.exists() {
            goldens.push((file.file_name().expect("a name").to_string_lossy().into_owned(), golden));
        }
    }
    assert!(goldens.len() > 30, "{} goldens", goldens.len());
    goldens
}

fn text(json: &Json, key: &str) -> String {
    match json[format!("{key}_hex")].as_str() {
        Some(hex) => {
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
            String::from_utf8_lossy(&(0..hex.len()).step_by(2).map(byte).collect::<Vec<_>>()).into_owned()
        }
        None => json[key].as_str().unwrap_or_default().to_owned(),
    }
}

#[derive(Debug, Default, PartialEq)]
struct Figures {
    calls: u64,
    total: u64,
    children: u64,
    min: u64,
    max: u64,
}

/// Sums the figures of all ids with the same name, of blocks or events.
fn expected(thread: &Json, kind: &str) -> BTreeMap<String, Figures> {
    let nodes = thread["tree"].as_array().expect("a tree");
    let mut named: BTreeMap<u64, String> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node["kind"] == kind) {
        named.insert(node["id"].as_u64().expect("an id"), text(node, "name"));
    }
    let mut all: BTreeMap<String, Figures> = BTreeMap::new();
    for row in thread["stats"].as_array().expect("statistics") {
        let number = |key: &str| row[key].as_u64().expect("a number");
        let Some(name) = named.get(&number("id")) else { continue };
        let fresh = Figures { min: u64::MAX, ..Figures::default() };
        let figures = all.entry(name.clone()).or_insert(fresh);
        figures.calls += number("calls");
        figures.total += number("total");
        figures.children += number("children");
        figures.min = figures.min.min(number("min"));
        figures.max = figures.max.max(number("max"));
    }
    all
}

fn found(row: &SpanRow) -> Figures {
    Figures {
        calls: row.calls,
        total: row.total_ns,
        children: row.total_ns - row.self_ns,
        min: row.min_ns,
        max: row.max_ns,
    }
}

/// Blocks whose children take longer than they do, for which easy_profiler computes a negative self time.
fn overfull(thread: &Json) -> Vec<String> {
    let tree = thread["tree"].as_array().expect("a tree");
    let duration = |node: &Json| node["end"].as_u64().zip(node["begin"].as_u64()).map_or(0, |(end, begin)| end - begin);
    let mut inside: BTreeMap<usize, u64> = BTreeMap::new();
    for node in tree {
        if let Some(parent) = node["parent"].as_i64().and_then(|parent| usize::try_from(parent).ok()) {
            *inside.entry(parent).or_default() += duration(node);
        }
    }
    let exceeding = inside.into_iter().filter(|(parent, inside)| *inside > duration(&tree[*parent]));
    exceeding.map(|(parent, _)| text(&tree[parent], "name")).collect()
}

#[test]
fn statistics_are_those_of_the_original() {
    let mut names = 0;
    for (file, golden) in goldens() {
        let report = report(&file, &by_thread());
        for thread in golden["threads"].as_array().expect("threads") {
            let tid = thread["id"].as_u64();
            let overfull = overfull(thread);
            for (name, expected) in expected(thread, "block") {
                let row = report.spans.iter().find(|row| row.tid == tid && row.name == name);
                let mut found = found(row.unwrap_or_else(|| panic!("{file}: {tid:?} {name} is missing")));
                if overfull.contains(&name) {
                    assert!(found.children < expected.children, "{file}: {name}");
                    found.children = expected.children;
                }
                assert_eq!(found, expected, "{file}: {tid:?} {name}");
                names += 1;
            }
            for (name, expected) in expected(thread, "event") {
                let row = report.events.iter().find(|row| row.tid == tid && row.name == name);
                assert_eq!(row.map(|row| row.count), Some(expected.calls), "{file}: {tid:?} {name}");
            }
        }
    }
    assert!(names > 200, "{names} names compared");
}

#[test]
fn threads_are_as_busy_and_as_often_off_as_the_original_says() {
    for (file, golden) in goldens() {
        let report = report(&file, &Options::default());
        for thread in golden["threads"].as_array().expect("threads") {
            let row = report.threads.iter().find(|row| row.tid == thread["id"].as_u64()).expect("the thread");
            if overfull(thread).is_empty() {
                assert_eq!(Some(row.busy_ns), thread["profiled_ns"].as_u64(), "{file}: {}", row.name);
            }
            assert_eq!(Some(row.off_cpu_ns.unwrap_or(0)), thread["wait_ns"].as_u64(), "{file}: {}", row.name);
            let switches = thread["context_switches"].as_array().map(Vec::len);
            assert_eq!(Some(row.switches.unwrap_or(0) as usize), switches, "{file}: {}", row.name);
        }
    }
}

/// Durations and parents of all blocks of one name, from the tree.
fn blocks<'g>(golden: &'g Json, name: &'g str) -> impl Iterator<Item = (u64, Option<&'g Json>, &'g Json)> {
    let threads = golden["threads"].as_array().expect("threads").iter();
    threads.flat_map(move |thread| {
        let tree = thread["tree"].as_array().expect("a tree");
        let of_name = tree.iter().filter(move |node| node["name"] == name && node["kind"] == "block");
        of_name.map(move |node| {
            let number = |key: &str| node[key].as_u64().expect("a number");
            let parent = node["parent"].as_i64().and_then(|parent| usize::try_from(parent).ok());
            (number("end") - number("begin"), parent.and_then(|parent| tree.get(parent)), node)
        })
    })
}

fn golden_of(file: &str) -> Json {
    let golden = goldens().into_iter().find(|(name, _)| name == file);
    golden.expect("the golden").1
}

#[test]
fn medians_are_true() {
    let golden = golden_of("v210_nested_threads.prof");
    let report = report("v210_nested_threads.prof", &Options::default());
    for row in &report.spans {
        let mut durations: Vec<u64> = blocks(&golden, &row.name).map(|(duration, ..)| duration).collect();
        durations.sort_unstable();
        let (low, high) = (durations[(durations.len() - 1) / 2], durations[durations.len() / 2]);
        assert_eq!(row.p50_ns, Some((low + high) as f64 / 2.0), "{}", row.name);
        assert!(row.is_exact);
    }
    let share: f64 = report.spans.iter().filter_map(|row| row.share).sum();
    assert!((share - 1.0).abs() < 1e-9, "shares add up to {share}");
}

#[test]
fn parents_and_frames_tell_calls_apart() {
    let file = "v210_nested_threads.prof";
    let golden = golden_of(file);
    let parents = report(file, &Options { by: vec![By::Parent], ..Options::default() });
    for row in &parents.spans {
        let of_parent =
            blocks(&golden, &row.name).filter(|(_, parent, _)| parent.map(|parent| text(parent, "name")) == row.parent);
        assert_eq!(
            row.total_ns,
            of_parent.map(|(duration, ..)| duration).sum::<u64>(),
            "{} in {:?}",
            row.name,
            row.parent
        );
    }
    let frames = report(file, &Options { by: vec![By::Thread, By::Frame], ..Options::default() });
    let roots = golden["threads"].as_array().expect("threads").iter().flat_map(|thread| {
        thread["tree"].as_array().expect("a tree").iter().filter(|node| node["depth"] == 0 && node["kind"] == "block")
    });
    let mut count = 0;
    for root in roots {
        let (begin, end) = (root["begin"].as_u64(), root["end"].as_u64());
        let ts_ns = begin.zip(golden["begin_ns"].as_u64()).map(|(begin, origin)| begin as i64 - origin as i64);
        let mut of_frame = frames
            .spans
            .iter()
            .filter(|row| row.name == text(root, "name") && row.frame.as_ref().map(|frame| frame.ts_ns) == ts_ns);
        let row = of_frame.next().expect("the frame has a row of its own");
        assert_eq!(Some(row.total_ns), end.zip(begin).map(|(end, begin)| end - begin));
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn adjoining_stretches_add_up_to_the_whole() {
    let file = "v210_nested_threads.prof";
    let whole = report(file, &Options::default());
    let middle = 2_200_000;
    let before = report(file, &Options { range: TimeRange::new(None, Some(middle)), ..Options::default() });
    let after = report(file, &Options { range: TimeRange::new(Some(middle), None), ..Options::default() });
    let calls = |report: &Report| report.spans.iter().map(|row| row.calls).sum::<u64>();
    assert_eq!(calls(&before) + calls(&after), calls(&whole));
    assert!(calls(&before) > 0 && calls(&after) > 0, "{} and {}", calls(&before), calls(&after));
}
