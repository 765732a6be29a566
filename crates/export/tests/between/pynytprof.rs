//! Conversion to Pynytprof's dialect: sums of lines and of calls.

use std::collections::BTreeMap;

use crate::{Converted, assert_equal, convert, picture::Picture, traces};

/// Calls, and total and self time in ticks of 100 ns, by caller and callee.
type Edges = BTreeMap<(String, String), (u64, [i64; 2])>;

fn ticks(ns: i64) -> i64 {
    ns.max(0).saturating_add(50) / 100
}

/// A name as stored in the dialect.
pub(crate) fn clean(name: &str) -> String {
    match name {
        "" => "(no name)".to_owned(),
        name => {
            let escape = |letter: char| {
                if letter.is_control() { letter.escape_unicode().to_string() } else { letter.to_string() }
            };
            name.chars().map(escape).collect()
        }
    }
}

fn edges(picture: &Picture) -> Edges {
    let mut edges = Edges::new();
    for (caller, callee, _, _, count, [incl_ns, excl_ns, _]) in &picture.calls {
        let caller = caller.as_deref().unwrap_or("main::RUNTIME");
        let (calls, times) = edges.entry((clean(caller), clean(callee))).or_default();
        *calls += count;
        *times = [times[0].saturating_add(ticks(*incl_ns)), times[1].saturating_add(ticks(*excl_ns))];
    }
    edges
}

/// The number of calls by caller and callee.
pub(crate) fn counts(picture: &Picture) -> BTreeMap<(String, String), u64> {
    edges(picture).into_iter().map(|(edge, (calls, _))| (edge, calls)).collect()
}

fn lines(picture: &Picture) -> Vec<(u32, u64, [i64; 2])> {
    let mut sums: BTreeMap<(String, u32), (u64, [i64; 2])> = BTreeMap::new();
    for (file, line, calls, times) in &picture.lines {
        let (sum, all) = sums.entry((file.clone(), *line)).or_default();
        *sum += calls;
        *all = [all[0] + ticks(times[0]), all[1] + ticks(times[1])];
    }
    let mut lines: Vec<_> = sums.into_iter().map(|((_, line), (calls, times))| (line, calls, times)).collect();
    lines.sort_unstable();
    lines
}

fn assert_same(from: &Picture, to: &Converted, what: &str) {
    let (expected, found) = (edges(from), edges(&to.picture));
    // A profile that was cut short has no sums of calls; those of its spans replace them.
    let found = if expected.is_empty() { Edges::new() } else { found };
    assert_equal(&found.into_iter().collect::<Vec<_>>(), &expected.into_iter().collect::<Vec<_>>(), what);
    // Files without names that look the same are counted as one.
    if from.lines.is_empty() {
        return;
    }
    let own: i64 = lines(from).iter().map(|(_, _, times)| times[1]).sum();
    let told: i64 = lines(&to.picture).iter().map(|(_, _, times)| times[1]).sum();
    assert_eq!(told, own, "{what}");
    let visits = |picture: &Picture| picture.lines.iter().map(|(_, _, calls, _)| calls).sum::<u64>();
    assert_eq!(visits(&to.picture), visits(from), "{what}");
}

#[test]
fn profiles_keep_sums_of_lines_and_calls() {
    let mut sums = 0;
    for (name, trace) in traces() {
        let from = Picture::of(&trace);
        let to = convert(&trace, "pynytprof", None, &name);
        if !from.calls.is_empty() || !from.lines.is_empty() {
            assert_same(&from, &to, &name);
            sums += to.picture.calls.len() + to.picture.lines.len();
        }
    }
    assert!(sums > 1_000, "{sums}");
}

#[test]
fn spans_are_added_up_as_in_the_real_stream() {
    let mut sums = 0;
    for (name, trace) in traces() {
        let real = convert(&trace, "nytprof", None, &name);
        if matches!(trace.format(), "nytprof" | "pynytprof") || real.picture.calls.is_empty() {
            continue;
        }
        let to = convert(&trace, "pynytprof", Some("zlib"), &name);
        // One sums by call site, the other by sub, and they round differently; so calls are compared exactly and times
        // approximately.
        let (found, expected) = (edges(&to.picture), edges(&real.picture));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}");
        for (edge, (calls, times)) in &expected {
            let (found_calls, found_times) = &found[edge];
            assert_eq!(found_calls, calls, "{name}: {edge:?}");
            let is_near = |(found, expected): (&i64, &i64)| (found - expected).unsigned_abs() <= *calls;
            assert!(found_times.iter().zip(times).all(is_near), "{name}: {edge:?}: {found_times:?} {times:?}");
        }
        sums += found.len();
    }
    assert!(sums > 50, "{sums}");
}
