//! Tests only for Memlyze files.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::{Value, json};
use traceloom_core::{Options, Records, Source};
use traceloom_memlyze::{Reader, edit, open, raw::Dialect};
use traceloom_testkit::{Case, Memlyze, cases, default_roots};

fn all() -> Vec<Case> {
    cases(&Memlyze, &default_roots()).unwrap()
}

/// The files that have a golden, with their goldens.
fn with_goldens() -> impl Iterator<Item = (Case, Value)> {
    all().into_iter().filter_map(|case| case.golden().unwrap().map(|golden| (case, golden)))
}

fn opened(bytes: Vec<u8>) -> Reader {
    open(Source::bytes(bytes), &Options::default()).unwrap()
}

/// The events with their times, without their positions in the file.
fn events(bytes: Vec<u8>) -> Vec<String> {
    let mut reader = opened(bytes);
    let mut events = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        events.extend(located.record.time_us().map(|_| format!("{:?}", located.record)));
    }
    events
}

#[test]
fn the_manifest_lists_every_file() {
    for root in default_roots() {
        let folder = root.join("memlyze");
        let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        let listed: BTreeSet<PathBuf> =
            manifest.as_array().unwrap().iter().map(|entry| folder.join(entry["file"].as_str().unwrap())).collect();
        let there = cases(&Memlyze, &[root]).unwrap().into_iter().filter(|case| !case.goldens.is_empty());
        assert_eq!(listed, there.map(|case| case.input).collect());
    }
}

/// The batch times of a real trace add up to our clock at its last event.
#[test]
fn real_traces_are_growth_and_keep_their_time() {
    for (case, golden) in with_goldens() {
        let mut reader = opened(case.bytes().unwrap());
        let is_real = golden["summary"]["all_addresses_zero"] == true
            && golden["summary"]["events"] != 0
            && golden["metadata"]["functions"] == json!({});
        assert_eq!(reader.header().dialect == Dialect::Growth, is_real, "{}", case.name);
        let rule = if is_real { "duration_us_batches" } else { "duration_us_sum" };
        let mut last = 0;
        while let Some(located) = reader.next().unwrap() {
            last = located.record.time_us().unwrap_or(last);
        }
        if golden.get("error").is_none() {
            assert_eq!(last, golden["summary"][rule].as_u64().unwrap(), "{}", case.name);
        }
    }
}

/// `memlyze analyze` counts right, whatever else it gets wrong, as long as there are no markers.
#[test]
fn the_original_counts_the_same_events() {
    let mut compared = 0;
    for (case, golden) in with_goldens() {
        let Ok(printed) = fs::read_to_string(case.input.with_extension("analyze.txt")) else { continue };
        let figure = |label: &str| {
            let line = printed.lines().find(|line| line.contains(label))?;
            line.rsplit(':').next()?.trim().replace(',', "").parse::<u64>().ok()
        };
        let labels =
            [("Allocations", "alloc"), ("Deallocations", "free"), ("GC Events", "gc"), ("Total Events", "events")];
        if golden["summary"]["marker"] == 0 {
            for (label, field) in labels {
                assert_eq!(figure(label), golden["summary"][field].as_u64(), "{}: {label}", case.name);
            }
            compared += 1;
        }
    }
    assert!(compared > 8, "only {compared} files were compared");
}

#[test]
fn packed_files_hold_what_their_plain_ones_hold() {
    let by_name = |name: &str| all().into_iter().find(|case| case.name == name).unwrap().bytes().unwrap();
    let packed = by_name("memlyze/packed/killed.mlyze");
    assert!(events(packed.clone()) == events(by_name("memlyze/memlyze-0.1.0/killed.mlyze")));
    let mut plain = Vec::new();
    edit::canonical(&Source::bytes(packed), &mut plain, Some("1"), &Options::default()).unwrap();
    assert!(plain == by_name("memlyze/memlyze-0.1.0/killed.mlyze"));
    assert!(events(by_name("memlyze/packed/shop.mlyze")) == events(traceloom_memlyze::sample::sample().unwrap().bytes));
}

/// A single damaged block, even the first, does not change the meaning of the events.
#[test]
fn the_dialect_survives_a_damaged_block() {
    let packed = all().into_iter().find(|case| case.name == "memlyze/packed/killed.mlyze").unwrap().bytes().unwrap();
    for place in [400, 18_300] {
        let mut damaged = packed.clone();
        damaged[place] ^= 0x55;
        let mut reader = opened(damaged);
        assert_eq!(reader.header().dialect, Dialect::Growth);
        let mut last = 0;
        while let Some(located) = reader.next().unwrap() {
            last = located.record.time_us().unwrap_or(last);
        }
        assert_eq!(last, 89_695_400);
        assert_eq!(reader.findings().counts().get("memlyze.block-damaged"), Some(&1));
    }
}

/// Every repaired file follows the seven rules, and repairing a good file again changes nothing.
#[test]
fn every_file_can_be_repaired() {
    for case in all() {
        let mut repaired = Vec::new();
        edit::repair(&Source::bytes(case.bytes().unwrap()), &mut repaired, &Options::default()).unwrap();
        let mut reader = open(Source::bytes(repaired.clone()), &Options::strict()).unwrap();
        while reader.next().unwrap().is_some() {}
        let mut again = Vec::new();
        edit::repair(&Source::bytes(repaired.clone()), &mut again, &Options::default()).unwrap();
        assert!(again == repaired, "{}", case.name);
    }
}
