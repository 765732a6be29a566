//! Pynytprof in tables: goldens, damage, ranges.

mod checks;
mod common;
#[path = "nytprof/rows.rs"]
#[allow(dead_code)] // Those of the real stream have more.
mod rows;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;
use traceloom_core::{Limits, Source, TimeRange};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Batches, Columns, Filter, Table, Wanted, calls, definitions, line_times, spans};
use traceloom_nytprof::pynytprof::{
    Chunk, Header, Line, Record, create,
    raw::{FIGURES_BYTES, Form, Tag},
    sample,
};

use crate::checks::{Counted, OneBatch};

fn profiles(root: &Path) -> Vec<PathBuf> {
    common::below(&root.join("pynytprof"), ".nytprof")
}

/// Records of all chunks with this tag that an independent reader could read.
fn records<'g>(golden: &'g Json, tag: &str) -> Vec<&'g [Json]> {
    let chunks = golden["chunks"].as_array().into_iter().flatten();
    let of_tag = chunks.filter(|chunk| chunk["tag"] == tag && chunk.get("error").is_none());
    of_tag.flat_map(|chunk| chunk["records"].as_array().into_iter().flatten()).map(numbers).collect()
}

fn numbers(record: &Json) -> &[Json] {
    record.as_array().expect("a record is a list")
}

fn form<'g>(golden: &'g Json, tag: &str) -> &'g str {
    let chunk = golden["chunks"].as_array().into_iter().flatten().find(|chunk| chunk["tag"] == tag);
    chunk.and_then(|chunk| chunk["form"].as_str()).unwrap_or("")
}

fn number(value: &Json) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn ns(ticks: &Json) -> i64 {
    i64::try_from(u128::from(number(ticks)) * 100).unwrap_or(i64::MAX)
}

/// A damaged file may yield more than the golden has.
fn assert_begins<T: std::fmt::Debug + PartialEq>(found: &[T], expected: &[T], golden: &Json, place: &str) {
    let is_damaged = golden.get("after_end").is_some();
    let shown = if is_damaged { found.get(..expected.len()).unwrap_or(found) } else { found };
    assert_eq!(shown, expected, "{place}");
}

fn check(golden: &Json, batches: &Batches, place: &str) -> usize {
    check_attributes(golden, batches, place);
    check_process(golden, batches, place);
    let files = check_files(golden, batches, place);
    let subs = check_subs(golden, batches, &files, place);
    check_lines(golden, batches, &files, place);
    check_calls(golden, batches, &files, &subs, place);
    check_visits(golden, batches, place);
    batches.rows(Table::LineTimes) + batches.rows(Table::Spans)
}

fn check_attributes(golden: &Json, batches: &Batches, place: &str) {
    let found = rows::attributes(batches);
    for (prefix, pairs) in [("", &golden["attributes"]), ("option.", &golden["options"])] {
        for (key, value) in pairs.as_object().expect("pairs") {
            assert_eq!(found.get(&format!("{prefix}{key}")), Some(&Some(text(value))), "{key} of {place}");
        }
    }
    let comment = golden["comments"].as_array().and_then(|comments| comments.last()).map(text);
    assert_eq!(found.get("comment").cloned().flatten(), comment, "{place}");
}

fn check_process(golden: &Json, batches: &Batches, place: &str) {
    let found = rows::processes(batches);
    assert_eq!((found.len(), batches.rows(Table::Threads)), (1, 1), "{place}");
    let (pid, ppid, start_ns, _) = found[0];
    assert_eq!((pid, ppid), (golden["P"]["pid"].as_u64(), golden["P"]["ppid"].as_u64()), "{place}");
    let (origin, ..) = rows::times(batches);
    if let Some(time) = golden["P"]["time"].as_f64() {
        let origin = origin.expect("a process has a time");
        assert!(start_ns == Some(0) && (origin as f64 / 1e9 - time).abs() < 1e-6, "{place}: {origin} is not {time}");
    }
}

/// Names of files by number.
fn check_files(golden: &Json, batches: &Batches, place: &str) -> BTreeMap<u64, String> {
    let found = rows::files(batches);
    let args = rows::args(batches, Table::Files);
    let is_indexed = form(golden, "F") == "fid-stringindex";
    let mut names = BTreeMap::new();
    for record in records(golden, "F") {
        let id = number(&record[0]);
        let (name, flags) =
            if is_indexed { (format!("file {id}"), None) } else { (text(&record[4]), record[1].as_u64()) };
        assert_eq!(found.get(&(id as i64)), Some(&(name.clone(), None, None, flags)), "file {id} of {place}");
        for (key, value) in ["size", "mtime"].into_iter().zip(record.get(2..4).unwrap_or_default()) {
            let found = args.get(&(id as i64, key.to_owned())).map_or("0", String::as_str);
            assert_eq!(found, value.to_string(), "{key} of file {id} of {place}");
        }
        names.insert(id, name);
    }
    for id in used_files(golden) {
        names.entry(id).or_insert_with(|| format!("file {id}"));
    }
    let named: Vec<_> = found.iter().map(|(id, (name, ..))| (*id as u64, name.clone())).collect();
    let expected: Vec<_> = names.clone().into_iter().collect();
    // A damaged file, or one with records of the real stream, may yield more than the golden has.
    let is_whole = golden.get("after_end").is_none() && golden.get("chunks").is_some();
    assert!(named == expected || !is_whole && expected.iter().all(|file| named.contains(file)), "{place}: {named:?}");
    names
}

/// Numbers of the files with sums; the documented layout has no names for them.
fn used_files(golden: &Json) -> Vec<u64> {
    let lines = records(golden, "S").into_iter().map(|record| number(&record[0]));
    let in_subs = match form(golden, "D") {
        "sid-fid-range-name" => Some(1),
        visits if visits.ends_with("stmt") => Some(0),
        _ => None,
    };
    let subs = records(golden, "D").into_iter().filter_map(|record| in_subs.map(|at: usize| number(&record[at])));
    lines.chain(subs).collect()
}

/// Names of subs by number.
fn check_subs(golden: &Json, batches: &Batches, files: &BTreeMap<u64, String>, place: &str) -> BTreeMap<u64, String> {
    type Row = (String, Option<String>, Option<u32>, Option<u32>, Option<u64>);
    let mut found: BTreeMap<i64, Row> = BTreeMap::new();
    for batch in batches.table(Table::Definitions) {
        let view = definitions::View::of(batch).unwrap();
        found.extend((0..view.rows).map(|row| {
            let file = view.file.get(row).map(str::to_owned);
            let (line, last_line, flags) = (view.line.get(row), view.last_line.get(row), view.flags.get(row));
            (view.id.get(row), (view.name.get(row).to_owned(), file, line, last_line, flags))
        }));
    }
    let mut expected = BTreeMap::new();
    for record in records(golden, "D") {
        let row = match form(golden, "D") {
            "sid-flags-name" => (text(&record[2]), None, None, None, record[1].as_u64()),
            "sid-fid-range-name" => {
                let line = |at: usize| Some(number(&record[at]) as u32);
                (text(&record[4]), files.get(&number(&record[1])).cloned(), line(2), line(3), None)
            }
            _ => continue,
        };
        expected.insert(number(&record[0]) as i64, row);
    }
    let is_damaged = golden.get("after_end").is_some();
    assert!(found == expected || is_damaged && expected.iter().all(|(id, row)| found.get(id) == Some(row)), "{place}");
    found.into_iter().map(|(id, (name, ..))| (id as u64, name)).collect()
}

fn check_lines(golden: &Json, batches: &Batches, files: &BTreeMap<u64, String>, place: &str) {
    let mut found = Vec::new();
    for batch in batches.table(Table::LineTimes) {
        let view = line_times::View::of(batch).unwrap();
        found.extend((0..view.rows).map(|row| {
            assert_eq!(view.level.get(row), "line");
            let file = (view.file_id.get(row), view.file.get(row).to_owned());
            let times = (view.incl_ns.get(row), view.excl_ns.get(row));
            (file, view.line.get(row), view.calls.get(row), times)
        }));
    }
    let expected = records(golden, "S").into_iter().map(|record| {
        let fid = number(&record[0]);
        let id = files.get(&fid).map(|_| fid as i64);
        let file = (id, files.get(&fid).cloned().unwrap_or_default());
        (file, number(&record[1]) as u32, number(&record[2]), (ns(&record[3]), Some(ns(&record[4]))))
    });
    assert_begins(&found, &expected.collect::<Vec<_>>(), golden, place);
}

fn check_calls(
    golden: &Json,
    batches: &Batches,
    files: &BTreeMap<u64, String>,
    subs: &BTreeMap<u64, String>,
    place: &str,
) {
    let mut found = Vec::new();
    for batch in batches.table(Table::Calls) {
        let view = calls::View::of(batch).unwrap();
        found.extend((0..view.rows).map(|row| {
            assert_eq!((view.recursive_ns.get(row), view.max_depth.get(row)), (None, None));
            let who = (view.caller.get(row).map(str::to_owned), view.callee.get(row).to_owned());
            let at = (view.file.get(row).map(str::to_owned), view.line.get(row));
            (who, at, view.count.get(row), view.incl_ns.get(row), view.excl_ns.get(row))
        }));
    }
    let name = |sid: u64| subs.get(&sid).cloned().unwrap_or_else(|| format!("sub {sid}"));
    let has_places = form(golden, "D") == "sid-fid-range-name";
    let expected = records(golden, "C").into_iter().map(|record| {
        let [first, second, third] = [0, 1, 2].map(|at| number(&record[at]));
        let (incl, excl) = (ns(&record[3]), ns(&record[4]));
        if has_places {
            ((None, name(third)), (files.get(&first).cloned(), Some(second as u32)), 1, incl, excl)
        } else {
            ((Some(name(first)), name(second)), (None, None), third, incl, excl)
        }
    });
    assert_begins(&found, &expected.collect::<Vec<_>>(), golden, place);
}

fn check_visits(golden: &Json, batches: &Batches, place: &str) {
    let args = rows::args(batches, Table::Spans);
    let mut found = Vec::new();
    for batch in batches.table(Table::Spans) {
        let view = spans::View::of(batch).unwrap();
        found.extend((0..view.rows).map(|row| {
            assert_eq!((view.category.get(row), view.depth.get(row)), ("range", 0));
            let fid = args[&(view.id.get(row), "file_id".to_owned())].clone();
            (view.ts_ns.get(row), view.dur_ns.get(row), view.line.get(row), fid)
        }));
    }
    let mut now_ns = 0;
    let mut expected = Vec::new();
    for record in records(golden, "D").into_iter().filter(|_| form(golden, "D").ends_with("stmt")) {
        let ns = number(&record[2]) as i64;
        expected.push((now_ns, Some(ns), Some(number(&record[1]) as u32), number(&record[0]).to_string()));
        now_ns += ns;
    }
    assert_begins(&found, &expected, golden, place);
}

#[test]
fn the_tables_say_what_the_goldens_say() {
    for folder in checks::folders("nytprof") {
        let mut seen = 0;
        for path in profiles(&folder) {
            let golden = path.with_extension("pyn.json");
            if !golden.exists() {
                continue;
            }
            let (batches, verdict) = common::tables(&common::trace(&path));
            assert!(verdict.overlaps.is_empty(), "{}: {:?}", path.display(), verdict.overlaps);
            seen += check(&common::json(&golden), &batches, &path.display().to_string());
        }
        assert!(seen > 400, "{seen} rows in {}", folder.display());
    }
}

/// The documented layout has only numbers of files.
#[test]
fn lines_of_files_without_a_name_stay_apart() {
    let mut writer = create(Vec::new(), &Header::default()).expect("memory takes it");
    let length = 3 * FIGURES_BYTES as u32;
    writer.write(&Record::Chunk(Chunk::new(Tag::S, length, Form::Lines))).expect("memory takes it");
    for (fid, calls) in [(1, 5), (9, 6), (0, 7)] {
        let line = Line { fid, line: 10, calls, inc_ticks: 2, exc_ticks: 1 };
        writer.write(&Record::Line(line)).expect("memory takes it");
    }
    writer.write(&Record::Chunk(Chunk::new(Tag::E, 0, Form::Raw))).expect("memory takes it");
    let source = Source::bytes(writer.finish().expect("memory takes it"));
    let trace = Trace::new(Path::new("made"), source, Some("pynytprof"), &Options::default()).expect("a profile");
    let (batches, _) = common::tables(&trace);
    let names: Vec<_> = rows::files(&batches).into_iter().map(|(id, (name, ..))| (id, name)).collect();
    assert_eq!(names, [(0, "file 0".to_owned()), (1, "file 1".to_owned()), (9, "file 9".to_owned())]);
    let mut found = Vec::new();
    for batch in batches.table(Table::LineTimes) {
        let view = line_times::View::of(batch).unwrap();
        found.extend((0..view.rows).map(|row| {
            (view.file_id.get(row), view.file.get(row).to_owned(), view.line.get(row), view.calls.get(row))
        }));
    }
    let row = |fid: i64, calls: u64| (Some(fid), format!("file {fid}"), 10, calls);
    assert_eq!(found, [row(1, 5), row(9, 6), row(0, 7)]);
}

/// The latest writer writes records of the real stream and no sums.
#[test]
fn tokens_of_the_real_stream_are_read() {
    let (batches, _) =
        common::tables(&common::trace(&common::fixtures().join("nytprof/pynytprof/last/head-py.nytprof")));
    let files = rows::files(&batches);
    assert!(!files.is_empty() && files.values().all(|(name, ..)| !name.is_empty()), "{files:?}");
    assert!(rows::processes(&batches)[0].3.is_some(), "the process has ended");
}

/// Damaged or not: an error, or consistent tables.
#[test]
fn every_profile_can_be_read_or_is_refused() {
    let mut read = 0;
    for path in profiles(&common::fixtures().join("nytprof")) {
        let source = Source::open(&path, &Limits::default()).expect("the fixture is there");
        let Some((trace, batches)) = checks::tables_if_any(&path, source, "pynytprof") else { continue };
        assert_eq!(batches.rows(Table::Traces), 1, "{}", path.display());
        let checked = trace.opened.format.check(&trace.opened.source, &Default::default()).expect("it can be read");
        let told = checked.kept().iter().map(|f| (f.rule.code.to_owned(), Some(f.position.offset), f.message()));
        assert_eq!(rows::findings(&batches), told.collect::<Vec<_>>(), "{}", path.display());
        read += 1;
    }
    assert!(read >= 20, "{read} profiles");
}

#[test]
fn damage_makes_no_tables_that_do_not_fit_together() {
    for name in ["a986d58/seed-utf8", "a986d58/tracer-py", "last/head-py", "other/variant-range-defs"] {
        let path = common::fixtures().join("nytprof/pynytprof").join(name).with_extension("nytprof");
        let bytes = std::fs::read(&path).expect("the fixture is there");
        checks::noise_makes_no_odd_tables(&path, &bytes, "pynytprof", 0x2545_f491_4f6c_dd1d);
    }
}

#[test]
fn a_part_is_the_same_as_in_the_whole() {
    for path in profiles(&common::fixtures().join("nytprof")) {
        let trace = common::trace(&path);
        let (all, _) = common::tables(&trace);
        checks::parts_are_those_of_the_whole(&trace, &all);
    }
}

#[test]
fn a_filter_leaves_out_only_what_is_outside() {
    let trace = common::trace(&common::fixtures().join("nytprof/pynytprof/a986d58/tracer-cwriter.nytprof"));
    let (all, _) = common::tables(&trace);
    let all = rows::spans(&all);
    let filter = Filter::in_range(TimeRange::including(all[1].ts_ns, all[all.len() - 2].ts_ns));
    let wanted = || Wanted::nothing().and(Table::Spans, Columns::ALL);
    let found = rows::spans(&common::filtered(&trace, wanted(), filter.clone()));
    let expected: Vec<_> = all.iter().filter(|span| filter.takes_time(span.ts_ns)).cloned().collect();
    assert!(expected.len() + 1 < all.len());
    assert_eq!(found, expected);
    let nobody = Filter { threads: Some(vec![5]), ..Filter::default() };
    assert_eq!(common::filtered(&trace, wanted(), nobody).rows(Table::Spans), 0);
}

#[test]
fn a_stop_ends_the_walk() {
    let lines = 200_000;
    let mut writer = create(Vec::new(), &Header::default()).expect("memory takes it");
    let length = u32::try_from(lines * FIGURES_BYTES).expect("it fits");
    writer.write(&Record::Chunk(Chunk::new(Tag::S, length, Form::Lines))).expect("memory takes it");
    for line in 0..lines as u32 {
        let figures = Line { fid: 1, line, calls: 1, inc_ticks: 2, exc_ticks: 1 };
        writer.write(&Record::Line(figures)).expect("memory takes it");
    }
    writer.write(&Record::Chunk(Chunk::new(Tag::E, 0, Form::Raw))).expect("memory takes it");
    let counted = Counted::new(writer.finish().expect("memory takes it"));
    let length = counted.source().len().expect("bytes have a length");
    let options = Options::default();
    let trace = Trace::new(Path::new("long"), counted.source(), Some("pynytprof"), &options).expect("a profile");
    counted.take();
    let wanted = Wanted::nothing().and(Table::LineTimes, Columns::named(Table::LineTimes, &["line", "incl_ns"]));
    let mut all = Batches::of(wanted);
    ingest(&trace, &options, &mut all).expect("a profile");
    let whole = counted.take();
    assert_eq!((all.rows(Table::LineTimes), whole >= length), (lines, true));
    let mut sink = OneBatch { table: Table::LineTimes, batches: Vec::new() };
    ingest(&trace, &options, &mut sink).expect("a stop is no error");
    assert_eq!(sink.batches.len(), 1);
    // Names of files may come after the sums, so the first read goes to the end; the second one does not.
    assert!(counted.take() < whole + length / 4);
}

#[test]
fn a_sample_becomes_tables() {
    let bytes = sample::sample().expect("the sample can be made").bytes;
    let trace = Trace::new(Path::new("sample"), Source::bytes(bytes), None, &Options::default()).expect("a profile");
    let (batches, _) = common::tables(&trace);
    for table in [Table::Attributes, Table::Calls, Table::Definitions, Table::LineTimes] {
        assert!(batches.rows(table) > 0, "{}", table.name());
    }
}
