//! WTF's reader loads our output and agrees event by event.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value as Json, json};
use traceloom_core::{Options, Slice, Source, TimeRange};
use traceloom_record::{Flight, Policy, Recorder, bookmark, event, flow, frame, info, range, span, thread_name, value};
use traceloom_testkit::{Case, OriginalWtf, Wtf, cases, default_roots, differences};
use traceloom_wtf::{edit, sample};

fn original() -> Option<OriginalWtf> {
    OriginalWtf::install(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// Every trace by name, each once.
fn traces() -> BTreeMap<String, Case> {
    let cases = cases(&Wtf, &default_roots()).unwrap().into_iter();
    cases.map(|case| (case.input.file_name().unwrap().to_string_lossy().into_owned(), case)).collect()
}

/// Our reading of a file in the form of the loader script.
fn expected(bytes: &[u8]) -> Json {
    let ours = tables(bytes);
    let types = ours["eventTypes"].as_array().unwrap();
    let zones = ours["zones"].as_array().unwrap().iter().map(|zone| {
        let events = zone["events"].as_array().unwrap().iter().map(|event| {
            let kind = &types[event["type"].as_u64().unwrap() as usize - 1];
            json!({
                "name": kind["name"], "flags": kind["flags"], "scope": event.get("end").is_some(),
                "t": event["t"], "end": event.get("end"), "depth": event["depth"],
                "args": event.get("args").map_or(Json::Null, plain),
            })
        });
        json!({"name": zone["name"], "type": zone["type"], "location": zone["location"],
            "events": events.collect::<Vec<_>>()})
    });
    zones.collect()
}

fn tables(bytes: &[u8]) -> Json {
    Wtf::tables(Source::bytes(bytes)).expect("our strict reader accepts what we write")
}

fn plain(value: &Json) -> Json {
    match value {
        Json::Object(map) if map.contains_key("$array") => plain(&map["values"]),
        Json::Object(map) if map.contains_key("$float") => json!({"float": map["$float"]}),
        Json::Object(map) => map.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        Json::Array(list) => list.iter().map(plain).collect(),
        other => other.clone(),
    }
}

/// Loads files that we wrote and compares; returns the number of events that agree.
fn agree(original: &OriginalWtf, name: &str, files: Vec<(String, Vec<u8>)>) -> usize {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("wtf-{name}"));
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| place.join(name)).collect();
    for (path, (_, bytes)) in paths.iter().zip(&files) {
        fs::write(path, bytes).unwrap();
    }
    let answers = original.load(&paths);
    let mut events = 0;
    for (path, (name, bytes)) in paths.iter().zip(&files) {
        let answer = answers.get(path).unwrap_or_else(|| panic!("{name}: the original says nothing"));
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        let expected = expected(bytes);
        assert_eq!(differences(&answer["zones"], &expected, 3), Vec::<String>::new(), "{name}");
        events +=
            expected.as_array().unwrap().iter().map(|zone| zone["events"].as_array().unwrap().len()).sum::<usize>();
    }
    fs::remove_dir_all(&place).unwrap();
    events
}

#[test]
fn the_original_loads_the_sample_and_its_slice() {
    let Some(original) = original() else { return };
    let binary = sample::sample().unwrap().bytes;
    let mut slice = Vec::new();
    let part = Slice { range: TimeRange::between(500_000_000, 1_000_000_000), threads: vec!["Script".to_owned()] };
    edit::slice(&Source::bytes(binary.clone()), &mut slice, &part, &Options::default()).unwrap();
    let mut json = Vec::new();
    edit::canonical(&Source::bytes(binary.clone()), &mut json, Some("json"), &Options::default()).unwrap();
    let mut merged = Vec::new();
    let twice = [Source::bytes(binary.clone()), Source::bytes(slice.clone())];
    edit::merge(&twice, &mut merged, &Options::default()).unwrap();
    let files = vec![
        ("sample.wtf-trace".to_owned(), binary),
        ("sample.wtf-json".to_owned(), json),
        ("slice.wtf-trace".to_owned(), slice),
        ("merged.wtf-trace".to_owned(), merged),
    ];
    assert!(agree(&original, "sample", files) > 5000);
}

#[test]
fn the_original_loads_what_we_lay_out_anew() {
    let Some(original) = original() else { return };
    let options = Options::default();
    let mut files = Vec::new();
    for (name, case) in traces() {
        let source = Source::bytes(case.bytes().unwrap());
        for (variant, end) in [("binary", "wtf-trace"), ("json", "wtf-json")] {
            let mut out = Vec::new();
            if edit::canonical(&source, &mut out, Some(variant), &options).is_ok() {
                files.push((format!("{name}.{end}"), out));
            }
        }
        let mut out = Vec::new();
        if edit::repair(&source, &mut out, &options).is_ok() {
            let end = if out.first() == Some(&b'{') { "wtf-json" } else { "wtf-trace" };
            files.push((format!("{name}.repaired.{end}"), out));
        }
    }
    assert!(files.len() > 230, "{} files", files.len());
    assert!(agree(&original, "canonical", files) > 10_000);
}

/// Everything that a program can record, also with records that were dropped and a dump of a flight recorder.
fn recordings(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let path = |name: &str| folder.join(name);
    let complete = Recorder::new().wtf_trace(path("complete.wtf-trace")).spans(Policy::Block).start().unwrap();
    work(300);
    let _open = span!("still open");
    complete.close().unwrap();
    let small = Recorder::new().wtf_trace(path("dropped.wtf-trace")).ring_bytes(4 << 10).start().unwrap();
    let has_dropped = || traceloom_record::stats().dropped > 0;
    // On a fast machine, the writer may keep up for a while.
    for _ in 0..20 {
        work(3000);
        if has_dropped() {
            break;
        }
    }
    small.close().unwrap();
    assert!(has_dropped());
    let flight = Flight { bytes: 100_000, age: None };
    let flight =
        Recorder::new().wtf_trace(path("flight.wtf-trace")).flight(flight).ring_bytes(4 << 10).start().unwrap();
    work(3000);
    traceloom_record::dump().unwrap();
    flight.close().unwrap();
    let names = ["complete.wtf-trace", "dropped.wtf-trace", "flight.dump-1.wtf-trace"];
    names.iter().map(|name| ((*name).to_owned(), fs::read(path(name)).unwrap())).collect()
}

fn work(frames: u32) {
    thread_name!("Main");
    for number in 0..frames {
        let _frame = frame!("frame");
        let _update = span!("update", text: format!("unit {number}"));
        event!("hit", text: "wall");
        value!("enemies", number);
        value!("matrix", [0.5, -1.0]);
        value!("name", "forest");
        drop(span!("draw"));
        info!("frame %u of %s", number, "many");
    }
    bookmark!("level 2");
    let (request, order) = (range!("request"), flow!("order"));
    std::thread::spawn(move || {
        thread_name!("Worker");
        let _work = request.enter();
        flow!(order, "packed");
        flow!(end order, "sent");
    })
    .join()
    .unwrap();
}

#[test]
fn the_original_loads_what_a_program_records() {
    let Some(original) = original() else { return };
    let folder = tempfile::tempdir().unwrap();
    assert!(agree(&original, "recorded", recordings(folder.path())) > 3000);
}

/// Writing a file in a new layout changes nothing in WTF's result.
#[test]
fn a_new_layout_means_the_same() {
    for (name, case) in traces() {
        // Times before the second header, and events that only we read, are correct in ours and so differ.
        let is_read_better = ["hc-two-headers", "hc-json-events", "up-v2json", "hc-partial-event", "js-timewrap"];
        let Some(golden) = case.golden().unwrap() else { continue };
        if golden["ok"] != true || is_read_better.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let bytes = case.bytes().unwrap();
        let mut out = Vec::new();
        edit::canonical(&Source::bytes(bytes.clone()), &mut out, Some("binary"), &Options::default()).unwrap();
        let (before, after) = (expected(&bytes), expected(&out));
        let filled = |zones: &Json| -> Json {
            let zones = zones.as_array().unwrap().iter().filter(|zone| zone["events"] != json!([]));
            zones.cloned().collect()
        };
        assert_eq!(differences(&filled(&before), &filled(&after), 3), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn merged_files_stay_apart() {
    let bytes = sample::sample().unwrap().bytes;
    let one = Source::bytes(bytes.clone());
    let mut out = Vec::new();
    edit::merge(&[one.clone(), one], &mut out, &Options::default()).unwrap();
    let (merged, single) = (tables(&out), tables(&bytes));
    let zones = merged["zones"].as_array().unwrap();
    assert_eq!(zones.len(), 6);
    let events = |zone: &Json| zone["events"].as_array().unwrap().len();
    let name = |zone: &Json| zone["name"].as_str().unwrap().trim_end_matches(" (2)").to_owned();
    for zone in zones {
        let same = single["zones"].as_array().unwrap().iter().find(|other| name(other) == name(zone)).unwrap();
        assert_eq!(events(zone), events(same));
    }
    assert_eq!(merged["header"]["timebase"], single["header"]["timebase"]);
}
