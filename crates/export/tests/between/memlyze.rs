//! Conversion to Memlyze's format.

use std::path::Path;

use traceloom_core::{Options as ReadOptions, Slice, Source, TimeRange};
use traceloom_export::{Options, by_id, write};
use traceloom_mapping::open;

use crate::{Converted, assert_equal, convert, loses, picture::Picture, traces};

/// The points in time that the format holds: time and name, and for collections what they collected.
fn points(picture: &Picture, start_ns: i64) -> Vec<(i64, String, String)> {
    let time = |ts_ns: i64| ts_ns.saturating_sub(start_ns) / 1000 * 1000;
    let mut points: Vec<_> = picture
        .events
        .iter()
        .map(|event| {
            let args = if event.category == "gc" { format!("{:?}", event.args) } else { String::new() };
            (time(event.ts_ns), event.name.clone(), args)
        })
        .collect();
    for log in &picture.logs {
        let name = log.format.clone().unwrap_or_else(|| "log".to_owned());
        points.push((time(log.ts_ns.unwrap_or(0)), name, String::new()));
    }
    points.sort_unstable();
    points
}

pub(crate) fn assert_same(from: &Picture, to: &Converted, what: &str) {
    assert_equal(&points(&to.picture, 0), &points(from, from.start_ns), what);
    let time = |ts_ns: i64| ts_ns.saturating_sub(from.start_ns) / 1000 * 1000;
    let (mut found, mut expected) = (to.picture.allocations.clone(), from.allocations.clone());
    for (ts_ns, _, _, _, _, _, freed_ns) in &mut expected {
        (*ts_ns, *freed_ns) = (time(*ts_ns), freed_ns.map(time));
    }
    if loses(&to.loss, "thread names and numbers") {
        found.iter_mut().chain(&mut expected).for_each(|(_, thread, ..)| *thread = None);
    }
    let has_addresses = !loses(&to.loss, "addresses in a trace that has none");
    expected.iter_mut().for_each(|(_, _, address, ..)| *address *= u64::from(has_addresses));
    found.sort_unstable();
    expected.sort_unstable();
    let free =
        |(ts_ns, address, is_known): &(i64, u64, bool)| (time(*ts_ns), *address * u64::from(has_addresses), *is_known);
    let mut expected_frees: Vec<_> = from.frees.iter().map(free).collect();
    expected_frees.sort_unstable();
    assert_equal(&found, &expected, what);
    assert_equal(&to.picture.frees, &expected_frees, what);
}

#[test]
fn traces_of_every_format_keep_memory_and_points() {
    let (mut allocations, mut points) = (0, 0);
    for (name, trace) in traces() {
        let from = Picture::of(&trace);
        for variant in ["1", "lz4"] {
            let to = convert(&trace, "memlyze", Some(variant), &name);
            assert_same(&from, &to, &name);
            allocations += to.picture.allocations.len();
            points += to.picture.events.len();
        }
    }
    assert!(allocations > 1_000 && points > 3_000, "{allocations} allocations and {points} points");
}

#[test]
fn a_range_of_growth_that_starts_with_an_address_is_still_growth() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/memlyze/found/addresses-in-growth.mlyze");
    let trace = open(&path, None, &Default::default()).unwrap();
    let times: Vec<_> = Picture::of(&trace).allocations.iter().map(|(ts_ns, ..)| *ts_ns).collect();
    assert!(times.len() > 5);
    for from_ns in times {
        let slice = Slice { range: TimeRange::between(from_ns, i64::MAX), threads: Vec::new() };
        let (mut bytes, options) = (Vec::new(), Options { slice, ..Options::default() });
        let loss = write(by_id("memlyze").unwrap(), &trace, &options, &mut bytes).unwrap();
        assert!(loses(&loss, "addresses in a trace that has none"));
        let strict = traceloom_open::by_id("memlyze").unwrap().check(&Source::bytes(bytes), &ReadOptions::strict());
        strict.unwrap_or_else(|error| panic!("from {from_ns} ns: {error}"));
    }
}
