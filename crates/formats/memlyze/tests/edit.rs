//! Canonical files, repairs, slices and merges.

mod support;

use std::collections::BTreeSet;

use support::{Noise, contents, events, sample, walk};
use traceloom_core::{Limits, Options, Records, Slice, Source, TimeRange};
use traceloom_memlyze::{
    Index, Record,
    allocations::Allocations,
    build_index, edit,
    raw::{Dialect, Packing},
};

fn source(bytes: &[u8]) -> Source {
    Source::bytes(bytes)
}

fn without_delta(line: &str) -> String {
    let (before, after) = line.split_once(" delta_us").unwrap();
    format!("{before} {}", after.split_once(' ').unwrap().1)
}

#[test]
fn canonical_is_stable_and_keeps_every_event() {
    for (name, bytes) in contents() {
        let mut once = Vec::new();
        edit::canonical(&source(&bytes), &mut once, None, &Options::default()).unwrap();
        assert!(events(&once) == events(&bytes), "{name}");
        let mut twice = Vec::new();
        let edited = edit::canonical(&source(&once), &mut twice, None, &Options::default()).unwrap();
        assert!(once == twice && edited.loss.is_empty(), "{name}");
    }
    let unknown = edit::canonical(&source(&sample(Packing::Plain)), Vec::new(), Some("zip"), &Options::default());
    assert!(unknown.unwrap_err().to_string().contains("1, lz4"));
}

/// Real files and those of the upstream encoder are already canonical: nothing changes.
#[test]
fn canonical_leaves_real_files_alone() {
    for (name, bytes) in contents().filter(|(name, _)| !name.contains("/spec_") && !name.contains("/invalid/")) {
        let mut again = Vec::new();
        edit::canonical(&source(&bytes), &mut again, None, &Options::default()).unwrap();
        assert!(again == bytes, "{name}");
    }
}

#[test]
fn what_is_repaired_keeps_the_rules() {
    let mut noise = Noise(99);
    for (name, bytes) in contents().chain([("sample".to_owned(), sample(Packing::Blocks))]) {
        for round in 0..20 {
            let mut changed = bytes.clone();
            for _ in 0..round {
                let place = noise.below(changed.len());
                changed[place] = noise.below(256) as u8;
            }
            let mut repaired = Vec::new();
            let Ok(edited) = edit::repair(&source(&changed), &mut repaired, &Options::default()) else { continue };
            let walked = walk(&repaired, &Options::strict()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(walked.rewritten, repaired);
            // If a block was lost, deltas differ so that times do not.
            let timed = |bytes| events(bytes).iter().map(|line| without_delta(line)).collect::<Vec<_>>();
            let lost_address = edited.loss.entries().any(|(what, ..)| what == "addresses in a trace that has none");
            assert!(lost_address || timed(&repaired) == timed(&changed), "{name}");
            let is_sound = round == 0 && !name.contains("/invalid/") && !name.contains("/spec_");
            assert!(!is_sound || edited.loss.is_empty(), "{name}: {:?}", edited.loss);
        }
    }
}

/// For any bytes, an edit ends, and its output can be read.
#[test]
fn edits_survive_damage() {
    let mut noise = Noise(5);
    let options = Options::default();
    let slice = Slice { range: TimeRange::between(100_000, 5_000_000_000), threads: vec!["1".to_owned()] };
    let packed = sample(Packing::Blocks);
    for (name, bytes) in contents().filter(|(_, bytes)| bytes.len() < 10_000).chain([("sample".to_owned(), packed)]) {
        for _ in 0..30 {
            let mut changed = bytes.clone();
            for _ in 0..=noise.below(6) {
                let place = noise.below(changed.len());
                changed[place] = noise.below(256) as u8;
            }
            let changed = source(&changed);
            let mut outs = [Vec::new(), Vec::new(), Vec::new()];
            let [packed, sliced, merged] = &mut outs;
            if edit::canonical(&changed, packed, Some("lz4"), &options).is_err() {
                continue;
            }
            edit::slice(&changed, sliced, &slice, &options).unwrap();
            edit::merge(&[changed.clone(), source(&bytes), changed.clone()], merged, &options).unwrap();
            for out in &outs {
                let walked = walk(out, &options).unwrap();
                assert!(walked.rewritten == *out, "{name}");
            }
            let mut index = Vec::new();
            build_index(&changed, &mut index, &options).unwrap();
            let index = Index::open(source(&index), &Limits::default()).unwrap();
            let mut reader = traceloom_memlyze::open(changed, &options).unwrap();
            for time_us in [0, 5_000, u64::MAX] {
                reader.seek(time_us, Some(&index)).unwrap();
                while let Some(located) = reader.next().unwrap() {
                    assert!(located.record.time_us().is_none_or(|time| time >= time_us), "{name}");
                }
            }
        }
    }
}

fn sliced(bytes: &[u8], range: TimeRange, threads: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    let slice = Slice { range, threads: threads.iter().map(|&thread| thread.to_owned()).collect() };
    edit::slice(&source(bytes), &mut out, &slice, &Options::default()).unwrap();
    assert!(walk(&out, &Options::strict()).is_ok() || walk(bytes, &Options::strict()).is_err());
    out
}

fn time_us(line: &str) -> i64 {
    line.split("time_us=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

/// The time of a free in the middle of a request: something that is live then is freed soon after.
fn a_moment_us(bytes: &[u8]) -> i64 {
    time_us(events(bytes).iter().skip(2_500).find(|line| line.starts_with("free")).unwrap())
}

#[test]
fn a_slice_keeps_times() {
    let bytes = sample(Packing::Plain);
    let from = a_moment_us(&bytes);
    let to = from + 2_000_000;
    let slice = Slice { range: TimeRange::between(from * 1000, to * 1000), threads: Vec::new() };
    for packing in [Packing::Plain, Packing::Blocks] {
        let mut out = Vec::new();
        let bytes = sample(packing);
        edit::slice(&source(&bytes), &mut out, &slice, &Options::default()).unwrap();
        let mut reader = traceloom_memlyze::open(source(&out), &Options::strict()).unwrap();
        let mut tracker = Allocations::new(Dialect::Document, &Limits::default());
        while let Some(located) = reader.next().unwrap() {
            if let Some(time_us) = located.record.time_us() {
                assert!((from as u64..to as u64).contains(&time_us));
            }
            match located.record {
                Record::Alloc(alloc) => assert_eq!(tracker.alloc(&alloc).unwrap(), None),
                Record::Free(free) => drop(tracker.free(&free)),
                _ => {}
            }
        }
        assert!(tracker.totals().allocs > 300);
        let unmatched = tracker.totals().unmatched_frees;
        assert!((1..30).contains(&unmatched), "what was live at the start is freed: {unmatched}");
    }
    assert!(sliced(&bytes, TimeRange::ALL, &[]) == bytes);
}

#[test]
fn a_slice_of_threads_has_their_frees() {
    let bytes = sample(Packing::Plain);
    let out = sliced(&bytes, TimeRange::ALL, &["1"]);
    let allocs: Vec<String> = events(&out).into_iter().filter(|line| line.starts_with("alloc")).collect();
    assert!(allocs.len() > 300 && allocs.iter().all(|line| line.ends_with("thread=1")));
    let mut reader = traceloom_memlyze::open(source(&out), &Options::strict()).unwrap();
    let mut tracker = Allocations::new(Dialect::Document, &Limits::default());
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            Record::Alloc(alloc) => assert_eq!(tracker.alloc(&alloc).unwrap(), None),
            Record::Free(free) => drop(tracker.free(&free)),
            _ => {}
        }
    }
    assert_eq!(tracker.totals().unmatched_frees, 0);
    assert!(tracker.totals().frees > 300);
}

/// Every event is in exactly one of two adjacent ranges, wherever they meet.
#[test]
fn adjacent_slices_partition_a_trace() {
    let without_deltas = |bytes: &[u8]| events(bytes).iter().map(|line| without_delta(line)).collect::<Vec<_>>();
    let moment_ns = a_moment_us(&sample(Packing::Plain)) * 1000;
    for packing in [Packing::Plain, Packing::Blocks] {
        let bytes = sample(packing);
        for threads in [&[][..], &["1"]] {
            let all = without_deltas(&sliced(&bytes, TimeRange::ALL, threads));
            for edge_ns in [i64::MIN, 0, moment_ns - 1, moment_ns, moment_ns + 1, i64::MAX] {
                let [before, after] = [TimeRange::new(None, Some(edge_ns)), TimeRange::new(Some(edge_ns), None)]
                    .map(|range| without_deltas(&sliced(&bytes, range, threads)));
                let first_after = all.iter().position(|line| time_us(line) * 1000 >= edge_ns).unwrap_or(all.len());
                assert!(
                    before == all[..first_after] && after == all[first_after..],
                    "{packing:?} {edge_ns} {threads:?}"
                );
            }
        }
    }
    for (name, bytes) in contents().filter(|(name, _)| name.contains("/snaps") || name.contains("/spec_")) {
        let count = |from_ns, to_ns| events(&sliced(&bytes, TimeRange::new(from_ns, to_ns), &[])).len();
        let edge_ns = Some(700_000_000);
        assert_eq!(count(None, edge_ns) + count(edge_ns, None), events(&bytes).len(), "{name}");
    }
}

#[test]
fn an_empty_range_gives_an_empty_valid_file() {
    for (name, bytes) in contents().chain([("sample".to_owned(), sample(Packing::Blocks))]) {
        for (from_ns, to_ns) in [(0, 0), (5_000_000_000, 5_000_000_000), (7, 5), (i64::MAX, i64::MAX), (-9, -1)] {
            let mut out = Vec::new();
            let slice = Slice { range: TimeRange::between(from_ns, to_ns), threads: Vec::new() };
            edit::slice(&source(&bytes), &mut out, &slice, &Options::default()).unwrap();
            let walked = walk(&out, &Options::strict()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(events(&out).is_empty(), "{name}");
            assert!(walked.findings.is_empty(), "{name}: {:?}", walked.findings);
        }
    }
}

#[test]
fn a_slice_brings_the_metadata_that_it_needs() {
    let bytes = sample(Packing::Plain);
    let slice = Slice { range: TimeRange::new(None, Some(400_000)), ..Slice::default() };
    let mut out = Vec::new();
    let edited = edit::slice(&source(&bytes), &mut out, &slice, &Options::default()).unwrap();
    let reader = traceloom_memlyze::open(source(&out), &Options::strict()).unwrap();
    assert_eq!(reader.metadata().stacks().count(), 0);
    assert_eq!(reader.metadata().functions().map(|(_, name)| name).collect::<Vec<_>>(), [b"startup"]);
    assert!(edited.loss.entries().any(|(what, ..)| what.starts_with("stacks that the slice")));
}

#[test]
fn slices_of_real_traces_keep_the_batch_times() {
    for (name, bytes) in contents().filter(|(name, _)| name.contains("/snaps") || name.contains("/threads")) {
        let all = events(&bytes);
        let half = Slice { range: TimeRange::new(Some(700_000_000), None), ..Slice::default() };
        let mut out = Vec::new();
        edit::slice(&source(&bytes), &mut out, &half, &Options::default()).unwrap();
        let part: Vec<String> = events(&out).iter().map(|line| without_delta(line)).collect();
        let tail: Vec<String> = all[all.len() - part.len()..].iter().map(|line| without_delta(line)).collect();
        assert!(!part.is_empty() && part.len() < all.len() && part == tail, "{name}");
    }
}

#[test]
fn a_merge_is_in_order_and_keeps_processes_apart() {
    let bytes = sample(Packing::Plain);
    let mut later = bytes.clone();
    later[8] = later[8].wrapping_add(100);
    let mut out = Vec::new();
    let edited = edit::merge(&[source(&bytes), source(&later)], &mut out, &Options::default()).unwrap();
    assert!(edited.loss.entries().any(|(what, ..)| what.starts_with("addresses, now tagged")));
    let mut reader = traceloom_memlyze::open(source(&out), &Options::strict()).unwrap();
    assert_eq!(reader.metadata().stacks().count(), 4);
    let mut tracker = Allocations::new(Dialect::Document, &Limits::default());
    let (mut last, mut threads) = (0, BTreeSet::new());
    while let Some(located) = reader.next().unwrap() {
        let time_us = located.record.time_us().unwrap_or(last);
        assert!(time_us >= last);
        last = time_us;
        match located.record {
            Record::Alloc(alloc) => {
                threads.insert(alloc.thread);
                assert_eq!(tracker.alloc(&alloc).unwrap(), None);
            }
            Record::Free(free) => drop(tracker.free(&free)),
            _ => {}
        }
    }
    assert_eq!(threads, (0..6).collect());
    assert_eq!(tracker.totals().unmatched_frees, 0);
    assert_eq!(
        tracker.totals().allocs as usize * 2,
        2 * events(&out).iter().filter(|line| line.starts_with("alloc")).count()
    );
    assert!(edit::merge(&[], Vec::new(), &Options::default()).is_err());
}

#[test]
fn merged_real_traces_stay_growth() {
    let files: Vec<Vec<u8>> = contents()
        .filter(|(name, _)| name.contains("/leak") || name.contains("/snaps"))
        .map(|(_, bytes)| bytes)
        .collect();
    let sources: Vec<Source> = files.iter().map(|bytes| source(bytes)).collect();
    let mut out = Vec::new();
    edit::merge(&sources, &mut out, &Options::default()).unwrap();
    let reader = traceloom_memlyze::open(source(&out), &Options::default()).unwrap();
    assert_eq!(reader.header().dialect, Dialect::Growth);
    assert_eq!(events(&out).len(), files.iter().map(|bytes| events(bytes).len()).sum::<usize>());
}

/// No merged trace has dangling ids.
#[test]
fn every_merge_of_two_keeps_the_rules() {
    let files: Vec<_> = contents().filter(|(_, bytes)| bytes.len() < 4000).collect();
    let (mut merged, mut completed) = (0, 0);
    for (first, pair) in files.windows(2).map(|pair| (&pair[0], pair)) {
        let names = format!("{} and {}", first.0, pair[1].0);
        let sources: Vec<Source> = pair.iter().map(|(_, bytes)| source(bytes)).collect();
        let mut out = Vec::new();
        let Ok(edited) = edit::merge(&sources, &mut out, &Options::default()) else { continue };
        merged += 1;
        completed += usize::from(edited.loss.entries().any(|(what, ..)| what.ends_with("not in the metadata")));
        let mut reader = traceloom_memlyze::open(source(&out), &Options::strict()).unwrap();
        while reader.next().unwrap_or_else(|error| panic!("{names}: {error}")).is_some() {}
    }
    assert!(merged > 20 && completed > 0, "{merged} pairs merged, {completed} with ids that lead nowhere");
}
