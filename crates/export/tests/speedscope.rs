//! The output for speedscope matches its schema, and its sums match the tables.

mod support;

use std::{collections::BTreeMap, fs};

use serde_json::Value as Json;
use traceloom_export::by_id;
use traceloom_mapping::Trace;
use traceloom_model::{
    Batches, Filter, Table, TableSource, Wanted, allocations, frames, spans, stacks, switches, traces as trace_table,
};

use support::{check_speedscope, place, traces, write};

/// Number and total duration of the spans with a name.
type Times = BTreeMap<String, (u64, i128)>;

fn poured(trace: &Trace) -> Batches {
    let mut batches = Batches::of(Wanted::everything());
    trace.pour(&Filter::default(), &mut batches).unwrap();
    batches
}

fn key(name: &str, file: Option<&str>, line: Option<u64>) -> String {
    let name = if name.is_empty() { "(no name)" } else { name };
    format!("{name} at {file:?}:{line:?}")
}

fn expected_times(batches: &Batches) -> Times {
    let last = batches
        .table(Table::Traces)
        .map(|batch| trace_table::View::of(batch).unwrap())
        .find_map(|view| view.last_ts_ns.get(0));
    let mut times = Times::new();
    let mut add = |key: String, dur_ns: i64| {
        let entry = times.entry(key).or_default();
        *entry = (entry.0 + 1, entry.1 + i128::from(dur_ns));
    };
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let dur_ns = view.dur_ns.get(row).unwrap_or_else(|| (last.unwrap_or(0) - view.ts_ns.get(row)).max(0));
            add(key(view.name.get(row), view.file.get(row), view.line.get(row).map(u64::from)), dur_ns);
        }
    }
    for view in batches.table(Table::Switches).map(|batch| switches::View::of(batch).unwrap()) {
        (0..view.rows).for_each(|row| add(key(view.name.get(row), None, None), view.dur_ns.get(row)));
    }
    times
}

/// Replays the events of all threads; they have to match and times must not decrease.
fn found_times(json: &Json) -> Times {
    let mut times = Times::new();
    let keys = frame_keys(json);
    for profile in profiles(json, "evented") {
        let mut open: Vec<(u64, i64)> = Vec::new();
        let mut now = profile["startValue"].as_i64().unwrap();
        for event in profile["events"].as_array().unwrap() {
            let (frame, at) = (event["frame"].as_u64().unwrap(), event["at"].as_i64().unwrap());
            assert!(now <= at && at <= profile["endValue"].as_i64().unwrap(), "{event} comes at {now}");
            now = at;
            if event["type"] == "O" {
                open.push((frame, at));
                continue;
            }
            let (begun, begin) = open.pop().expect("what ends has begun");
            assert_eq!(begun, frame, "what ends is what began last");
            let entry = times.entry(keys[frame as usize].clone()).or_default();
            *entry = (entry.0 + 1, entry.1 + i128::from(at - begin));
        }
        assert!(open.is_empty(), "what begins ends");
    }
    times
}

fn profiles<'a>(json: &'a Json, kind: &'a str) -> impl Iterator<Item = &'a Json> {
    json["profiles"].as_array().unwrap().iter().filter(move |profile| profile["type"] == kind)
}

fn frame_keys(json: &Json) -> Vec<String> {
    let frames = json["shared"]["frames"].as_array().unwrap().iter();
    frames.map(|frame| key(frame["name"].as_str().unwrap(), frame["file"].as_str(), frame["line"].as_u64())).collect()
}

/// Bytes by stack, outermost frame first.
type Weights = BTreeMap<Vec<String>, u64>;

fn found_weights(json: &Json, name: &str) -> Weights {
    let keys = frame_keys(json);
    let mut weights = Weights::new();
    for profile in profiles(json, "sampled").filter(|profile| profile["name"] == name) {
        let (samples, values) = (profile["samples"].as_array().unwrap(), profile["weights"].as_array().unwrap());
        assert_eq!(samples.len(), values.len());
        for (sample, weight) in samples.iter().zip(values) {
            let stack = sample.as_array().unwrap().iter().map(|frame| keys[frame.as_u64().unwrap() as usize].clone());
            *weights.entry(stack.collect()).or_default() += weight.as_u64().unwrap();
        }
    }
    weights
}

fn expected_weights(batches: &Batches, live_only: bool) -> Weights {
    let mut places = BTreeMap::new();
    for view in batches.table(Table::Frames).map(|batch| frames::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let line = view.line.get(row).map(u64::from);
            places.insert(view.id.get(row), key(view.function.get(row), view.file.get(row), line));
        }
    }
    let mut paths: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for view in batches.table(Table::Stacks).map(|batch| stacks::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let mut path = view.parent_id.get(row).map_or_else(Vec::new, |parent| paths[&parent].clone());
            path.push(places[&view.frame_id.get(row)].clone());
            paths.insert(view.id.get(row), path);
        }
    }
    let mut weights = Weights::new();
    for view in batches.table(Table::Allocations).map(|batch| allocations::View::of(batch).unwrap()) {
        for row in (0..view.rows).filter(|row| !live_only || view.fate.get(*row) == "live") {
            let path = match view.stack_id.get(row) {
                Some(stack) => paths[&stack].clone(),
                None => vec![key("(unknown stack)", None, None)],
            };
            *weights.entry(path).or_default() += view.size_bytes.get(row);
        }
    }
    weights.retain(|_, bytes| *bytes > 0);
    weights
}

#[test]
fn events_and_weights_add_up_to_the_tables() {
    let (target, place) = (by_id("speedscope").unwrap(), place("speedscope"));
    let (mut files, mut with_spans, mut with_allocations, mut wrong) = (Vec::new(), 0, 0, Vec::new());
    for (name, trace) in traces() {
        let file = place.join(format!("{name}.speedscope.json"));
        write(target, &trace, false, &file);
        let json: Json = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let batches = poured(&trace);
        let (mut found, mut expected) = (found_times(&json), expected_times(&batches));
        // Times that the tables could not hold either are cut, and counted as lost.
        for (key, (_, ns)) in expected.iter_mut().filter(|(_, (_, ns))| *ns > i128::from(i64::MAX / 2)) {
            *ns = 0;
            found.entry(key.clone()).and_modify(|(_, ns)| *ns = 0);
        }
        if found != expected {
            wrong.push(format!("{name}: found {found:?}, expected {expected:?}"));
        }
        with_spans += usize::from(!expected.is_empty());
        for (profile, live_only) in [("allocated bytes", false), ("live bytes", true)] {
            // The page uses floating-point numbers.
            let (found, expected) = (found_weights(&json, profile), expected_weights(&batches, live_only));
            if found != expected {
                wrong.push(format!("{name}, {profile}: found {found:?}, expected {expected:?}"));
            }
            with_allocations += usize::from(!expected.is_empty());
        }
        if json["profiles"].as_array().is_some_and(|profiles| !profiles.is_empty()) {
            files.push(file);
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(with_spans > 20 && with_allocations > 10, "{with_spans} with spans, {with_allocations} with allocations");
    check_speedscope(&files);
}
