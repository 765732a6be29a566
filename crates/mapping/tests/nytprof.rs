//! NYTProf in tables: goldens, damage, ranges.

mod checks;
mod common;
#[path = "nytprof/golden.rs"]
mod golden;
#[path = "nytprof/rows.rs"]
mod rows;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use traceloom_core::{Limits, Source, TimeRange};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Batches, Columns, Filter, Table, Verdict, Wanted};
use traceloom_nytprof::{Header, NewFid, Nv, NvLayout, Pair, PidStart, Record, Str, SubEntry, SubReturn, TimeLine};
use traceloom_nytprof::{create, raw::FidFlags, sample};

use crate::checks::{Counted, OneBatch};

/// The profiles below a folder, except those of the other dialect.
fn profiles(folder: &Path) -> Vec<PathBuf> {
    let mut found = common::below(folder, ".nytprof");
    found.retain(|path| !path.components().any(|part| part.as_os_str() == "pynytprof"));
    found
}

/// Numbers that no profiler writes, such as 1e300 ticks.
fn is_synthetic(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("synth"))
}

fn with_tables(bytes: Vec<u8>) -> (Trace, Batches, Verdict) {
    let path = Path::new("made.nytprof");
    let trace = Trace::new(path, Source::bytes(bytes), Some("nytprof"), &Options::default()).expect("a profile");
    let (batches, verdict) = common::tables(&trace);
    (trace, batches, verdict)
}

#[test]
fn the_tables_say_what_the_goldens_say() {
    for folder in checks::folders("nytprof") {
        let (mut spans, mut folded) = (0, 0);
        for path in profiles(&folder) {
            let (chunks, summary) = (path.with_extension("chunks.json"), path.with_extension("summary.json"));
            if !chunks.exists() {
                continue;
            }
            let (place, trace) = (path.display().to_string(), common::trace(&path));
            let (batches, verdict) = common::tables(&trace);
            assert!(verdict.overlaps.is_empty() || is_synthetic(&path), "{place}: {:?}", verdict.overlaps);
            let chunks = common::json(&chunks);
            // Traceloom reads on where Devel::NYTProf gives up.
            if chunks.get("error").is_none() {
                golden::check_chunks(chunks["chunks"].as_array().expect("records"), &batches, &place);
            }
            let summary = common::json(&summary);
            if summary["raw"].get("error").is_none() {
                golden::check_summary(&summary["raw"], &batches, &place);
            }
            let rows = rows::spans(&batches);
            if path.with_extension("folded.txt").exists() {
                golden::check_folded(&path.with_extension("folded.txt"), &rows, &place);
                folded += 1;
            }
            spans += rows.len();
        }
        assert!(spans > 900 && folded > 40, "{spans} spans, {folded} trees in {}", folder.display());
    }
}

#[test]
fn evals_are_merged_as_the_loader_does_it() {
    let mut merged = 0;
    for folder in checks::folders("nytprof") {
        for path in profiles(&folder) {
            let summary = path.with_extension("summary.json");
            let Some(golden) = summary.exists().then(|| common::json(&summary)["merged_evals"].take()) else {
                continue;
            };
            if golden.is_null() || golden.get("error").is_some() {
                continue;
            }
            let wanted = Wanted::nothing().and(Table::CallsMerged, Columns::ALL).and(Table::LineTimes, Columns::ALL);
            let mut batches = Batches::of(wanted);
            let options = Options { merge_evals: true, ..Options::default() };
            ingest(&common::trace(&path), &options, &mut batches).expect("the profile can be read");
            let place = path.display().to_string();
            golden::check_line_times(&golden, &batches, &place);
            golden::check_calls(&golden, &rows::calls(&batches), &place);
            merged += 1;
        }
    }
    assert!(merged > 3, "{merged} profiles with evals");
}

/// Consecutive calls do not overlap, and all are within the time of the trace.
#[test]
fn calls_follow_each_other() {
    for path in profiles(&common::fixtures().join("nytprof")) {
        let source = Source::open(&path, &Limits::default()).expect("the fixture is there");
        let Some((_, batches)) = checks::tables_if_any(&path, source, "nytprof") else { continue };
        let (_, first, last) = rows::times(&batches);
        let mut spans = rows::spans(&batches);
        spans.sort_by_key(|span| (span.thread_id, span.parent_id, span.ts_ns, span.dur_ns));
        for pair in spans.windows(2).filter(|_| !is_synthetic(&path)) {
            let [before, after] = pair else { continue };
            if (before.thread_id, before.parent_id) == (after.thread_id, after.parent_id) {
                let end = before.ts_ns + before.dur_ns.unwrap_or(0);
                assert!(end <= after.ts_ns, "{before:?} and {after:?} of {}", path.display());
            }
        }
        for span in spans.iter().filter(|_| !is_synthetic(&path)) {
            let end = span.ts_ns + span.dur_ns.unwrap_or(0);
            assert!(first <= Some(span.ts_ns) && Some(end) <= last, "{span:?} of {}", path.display());
        }
    }
}

/// Damaged or not: an error, or consistent tables, whole and in parts.
#[test]
fn every_profile_can_be_read_or_is_refused() {
    let mut read = 0;
    for path in profiles(&common::fixtures().join("nytprof")) {
        let source = Source::open(&path, &Limits::default()).expect("the fixture is there");
        let Some((trace, batches)) = checks::tables_if_any(&path, source, "nytprof") else { continue };
        for table in [Table::Traces, Table::Processes, Table::Threads] {
            assert!(batches.rows(table) > 0, "{} of {}", table.name(), path.display());
        }
        let checked = trace.opened.format.check(&trace.opened.source, &Default::default()).expect("it can be read");
        let told = checked.kept().iter().map(|f| (f.rule.code.to_owned(), Some(f.position.offset), f.message()));
        assert_eq!(rows::findings(&batches), told.collect::<Vec<_>>(), "{}", path.display());
        let (_, verdict) = common::tables(&trace);
        assert!(verdict.overlaps.is_empty() || is_synthetic(&path), "{}: {:?}", path.display(), verdict.overlaps);
        checks::parts_are_those_of_the_whole(&trace, &batches);
        read += 1;
    }
    assert!(read > 90, "{read} profiles");
}

/// Whatever bytes are changed, ids resolve and depths fit; a child may extend beyond its parent if the times are wrong.
#[test]
fn damage_makes_no_tables_that_do_not_fit_together() {
    for name in [
        "devel-nytprof-6.12/recurse-calls2",
        "devel-nytprof-6.12/fork0-merged",
        "devel-nytprof-6.12/evals-blocks1",
        "synthetic/synth-boundaries",
    ] {
        let path = common::fixtures().join("nytprof").join(name).with_extension("nytprof");
        let bytes = std::fs::read(&path).expect("the fixture is there");
        checks::noise_makes_no_odd_tables(&path, &bytes, "nytprof", 0x9e37_79b9_7f4a_7c15);
    }
}

#[test]
fn a_filter_leaves_out_only_what_is_outside() {
    let path = common::fixtures().join("nytprof/devel-nytprof-6.12/fork0-merged.nytprof");
    let trace = common::trace(&path);
    let (all, _) = common::tables(&trace);
    let all = rows::spans(&all);
    let mut times: Vec<_> = all.iter().map(|span| span.ts_ns).collect();
    times.sort_unstable();
    let (from_ns, to_ns) = (times[2], times[times.len() - 3]);
    let threads = Some(vec![0, 2]);
    let filter = Filter { range: TimeRange::including(from_ns, to_ns), threads };
    let wanted = Wanted::nothing().and(Table::Spans, Columns::ALL);
    let found = rows::spans(&common::filtered(&trace, wanted, filter.clone()));
    let inside = |span: &&rows::SpanRow| filter.takes_time(span.ts_ns) && filter.takes_thread(span.thread_id);
    let expected: Vec<_> = all.iter().filter(inside).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(found, expected);
}

/// A file that is not defined has its number as its name.
#[test]
fn what_is_in_an_undefined_file_has_its_number() {
    for (name, fid) in [("fid-undefined-stmt", 2), ("fid-zero", 0)] {
        let path = common::fixtures().join("nytprof/damaged").join(name).with_extension("nytprof");
        let (batches, _) = common::tables(&common::trace(&path));
        let file = rows::files(&batches).remove(&fid).expect("a file is made up");
        assert_eq!(file, (format!("file {fid}"), None, None, None), "{name}");
        let lines = batches.table(Table::LineTimes).flat_map(|batch| {
            let view = traceloom_model::line_times::View::of(batch).unwrap();
            (0..view.rows).map(move |row| (view.file_id.get(row), view.file.get(row).to_owned())).collect::<Vec<_>>()
        });
        assert!(lines.collect::<Vec<_>>().contains(&(Some(fid), format!("file {fid}"))), "{name}");
    }
}

/// A profile with this many source lines.
fn long_profile(lines: u32) -> Vec<u8> {
    let mut writer = create(Vec::new(), &Header::default()).expect("memory takes it");
    let (name, odd_bytes) = (Str::new(b"long.pl"), None);
    let (eval_fid, eval_line, flags, size, mtime) = (0, 0, FidFlags(0), 0, 0);
    let file = NewFid { fid: 1, eval_fid, eval_line, flags, size, mtime, name, odd_bytes };
    writer.write(&Record::NewFid(file)).expect("memory takes it");
    for line in 1..=lines {
        let text = Str::new(b"print 'a line of a program that is long';\n");
        let source = traceloom_nytprof::SrcLine { fid: 1, line, text, odd_bytes: None };
        writer.write(&Record::SrcLine(source)).expect("memory takes it");
    }
    writer.finish().expect("memory takes it")
}

#[test]
fn a_stop_ends_the_walk_and_the_header_needs_none() {
    // Up to seven batches may be read before the reader notices the stop: a quarter of the file is more than that.
    let counted = Counted::new(long_profile(400_000));
    let length = counted.source().len().expect("bytes have a length");
    let path = Path::new("long.nytprof");
    let trace = Trace::new(path, counted.source(), Some("nytprof"), &Options::default()).expect("a profile");
    counted.take();
    let mut sink = OneBatch { table: Table::Sources, batches: Vec::new() };
    ingest(&trace, &Options::default(), &mut sink).expect("a stop is no error");
    assert_eq!(sink.batches.len(), 1);
    let stopped = counted.take();
    let header = common::part(&trace, Table::Traces, &["version", "bytes"]);
    assert_eq!(header.len(), 1);
    let glance = counted.take();
    assert!(stopped < length / 4 && glance < length / 4, "{stopped} and {glance} of {length} bytes");
}

#[test]
fn a_sample_becomes_tables() {
    let (_, batches, verdict) = with_tables(sample::sample().expect("the sample can be made").bytes);
    assert!(verdict.overlaps.is_empty(), "{:?}", verdict.overlaps);
    for table in [Table::Spans, Table::Calls, Table::LineTimes, Table::Definitions, Table::Stacks, Table::Frames] {
        assert!(batches.rows(table) > 0, "{}", table.name());
    }
}

fn nv(value: f64) -> Nv {
    Nv::new(value, NvLayout::COMMON)
}

fn left(depth: u32, incl: f64, excl: f64, name: &[u8]) -> Record<'_> {
    let (incl_ticks, excl_ticks) = (nv(incl), nv(excl));
    Record::SubReturn(SubReturn { depth, incl_ticks, excl_ticks, name: Str::new(name), odd_bytes: None })
}

fn entered<'a>(line: u32) -> Record<'a> {
    Record::SubEntry(SubEntry { caller_fid: 1, caller_line: line, odd_bytes: None })
}

fn time<'a>(ticks: i32) -> Record<'a> {
    Record::TimeLine(TimeLine { ticks, fid: 1, line: 1, odd_bytes: None })
}

fn profile(events: &[Record<'_>]) -> Vec<u8> {
    let mut writer = create(Vec::new(), &Header::default()).expect("memory takes it");
    let start = PidStart { pid: 7, ppid: 1, time: nv(1e9), odd_bytes: None };
    let file = NewFid {
        fid: 1,
        eval_fid: 0,
        eval_line: 0,
        flags: FidFlags(0),
        size: 0,
        mtime: 0,
        name: Str::new(b"a.pl"),
        odd_bytes: None,
    };
    let attribute = Record::Attribute(Pair::new(b"ticks_per_sec", b"10000000"));
    for record in [attribute, Record::PidStart(start), Record::NewFid(file)].iter().chain(events) {
        writer.write(record).expect("memory takes it");
    }
    writer.finish().expect("memory takes it")
}

/// Rows do not depend on how many of the calls are kept in memory.
#[test]
fn calls_that_go_to_a_temporary_file_come_back() {
    let call = |number: u32| [left(2, 3.0, 3.0, b"inner"), time(2), left(1 + number % 2, 5.0, 2.0, b"outer"), time(1)];
    let events: Vec<_> = (0..6000).flat_map(call).collect();
    let (trace, all, _) = with_tables(profile(&events));
    let limits = Limits::with(|limits| limits.tree_bytes = 1 << 10);
    let options = Options { read: traceloom_core::Options::default().with_limits(limits), ..Options::default() };
    let mut spilled = Batches::of(Wanted::nothing().and(Table::Spans, Columns::ALL));
    ingest(&trace, &options, &mut spilled).expect("a profile");
    let all = rows::spans(&all);
    assert!(all.len() >= 12_000);
    assert_eq!(rows::spans(&spilled), all);
}

/// Every path of calls is a stack, once.
#[test]
fn stacks_are_the_paths_of_spans() {
    for name in ["devel-nytprof-6.12/recurse-calls2", "devel-nytprof-6.12/xsops-c0", "devel-nytprof-6.12/fork0-merged"]
    {
        let path = common::fixtures().join("nytprof").join(name).with_extension("nytprof");
        let (batches, _) = common::tables(&common::trace(&path));
        let spans = rows::spans(&batches);
        let by_id: BTreeMap<i64, &rows::SpanRow> = spans.iter().map(|span| (span.id, span)).collect();
        let mut paths = BTreeSet::new();
        for span in &spans {
            let around = std::iter::successors(Some(span), |span| span.parent_id.map(|parent| by_id[&parent]));
            paths.insert(around.map(|span| span.name.clone()).collect::<Vec<_>>());
        }
        let frames: BTreeSet<_> = paths.iter().flatten().collect();
        assert_eq!(rows::stacks(&batches), paths, "{name}");
        assert_eq!(batches.rows(Table::Stacks), paths.len(), "{name}");
        assert_eq!(batches.rows(Table::Frames), frames.len(), "{name}");
    }
}

/// Two calls inside another one, with statements before, between and after.
#[test]
fn calls_lie_where_the_statements_put_them() {
    let events = [
        time(10),
        time(3),
        left(2, 2.0, 2.0, b"inner"),
        time(5),
        left(2, 2.0, 2.0, b"inner"),
        time(2),
        left(1, 12.0, 8.0, b"outer"),
        time(4),
        left(1, 1.0, 1.0, b"later"),
    ];
    let (_, batches, verdict) = with_tables(profile(&events));
    assert!(verdict.overlaps.is_empty(), "{:?}", verdict.overlaps);
    let found: Vec<_> =
        rows::spans(&batches).into_iter().map(|span| (span.ts_ns, span.dur_ns, span.parent_id, span.name)).collect();
    let span = |begin: i64, dur: i64, parent, name: &str| (begin * 100, Some(dur * 100), parent, name.to_owned());
    let expected = [
        span(11, 2, Some(2), "inner"),
        span(16, 2, Some(2), "inner"),
        span(8, 12, None, "outer"),
        span(23, 1, None, "later"),
    ];
    assert_eq!(found, expected);
}

/// A call that was entered and not left has no end, and neither has one that is known only from a call inside it.
#[test]
fn calls_that_never_return_are_there() {
    let events = [entered(4), time(5), entered(9), time(1), entered(12), time(2), left(3, 2.0, 2.0, b"leaf"), time(1)];
    let (_, batches, _) = with_tables(profile(&events));
    let open = rows::spans(&batches).into_iter().filter(|span| span.dur_ns.is_none()).collect::<Vec<_>>();
    let sites = rows::args(&batches, Table::Spans);
    let found: Vec<_> = open
        .iter()
        .map(|span| (span.depth, span.ts_ns, sites[&(span.id, "caller_line".to_owned())].as_str()))
        .collect();
    assert_eq!(found, [(1, 500, "9"), (0, 0, "4")]);

    let (_, batches, _) =
        with_tables(profile(&[time(5), left(40, 2.0, 2.0, b"deep"), left(u32::MAX, 1.0, 1.0, b"deeper")]));
    let found: Vec<_> =
        rows::spans(&batches).into_iter().map(|span| (span.name, span.depth, span.ts_ns, span.parent_id)).collect();
    let row = |name: &str, depth, ts_ns, parent| (name.to_owned(), depth, ts_ns, parent);
    let never = "(never returned)";
    let expected = [
        row("deep", 1, 300, Some(3)),
        row("deeper", 1, 500, Some(2)),
        row(never, 0, 500, None),
        row(never, 0, 300, None),
    ];
    assert_eq!(found, expected);
}
