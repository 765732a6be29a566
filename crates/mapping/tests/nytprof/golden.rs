//! Compares the tables with the output of Devel::NYTProf's reader, loader and nytprofcalls.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value as Json;
use traceloom_model::{Batches, Table};
use traceloom_nytprof::text_of;
use traceloom_testkit::nytprofcalls_name;

use crate::rows::{self, CallSum, CallSums, SpanRow};

/// Text of a golden: plain, or its bytes in hexadecimal.
pub(crate) fn text(value: &Json) -> String {
    let bytes = |hex: &str| {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect()
    };
    match (value["u"].as_str(), value["x"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (_, Some(hex)) => {
            let bytes: Vec<u8> = bytes(hex);
            text_of(&bytes).into_owned()
        }
        _ => value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned(),
    }
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Json) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn ns(seconds: &Json) -> i64 {
    (seconds.as_f64().unwrap_or_else(|| panic!("{seconds} is no time")) * 1e9).round() as i64
}

/// Times summed in a different order may differ by rounding of doubles.
fn assert_near(found: i64, expected: i64, place: &str) {
    let most = 2 + expected.unsigned_abs() / (1 << 50);
    assert!(found.abs_diff(expected) <= most, "{place}: {found} ns, not {expected}");
}

/// `NAME.summary.json`, as loaded without merging.
pub(crate) fn check_summary(summary: &Json, batches: &Batches, place: &str) {
    check_attributes(summary, &rows::attributes(batches), place);
    check_files(summary, batches, place);
    check_line_times(summary, batches, place);
    let calls = rows::calls(batches);
    check_calls(summary, &calls, place);
    check_subs(summary, batches, &calls, place);
}

fn check_attributes(summary: &Json, found: &BTreeMap<String, Option<String>>, place: &str) {
    // Values computed by the loader are not attributes of the file.
    let computed = summary["attributes_num"].as_object().expect("numbers");
    let is_stored = |key: &str| key != "complete" && !computed.contains_key(key);
    for (key, value) in summary["attributes"].as_object().into_iter().flatten().filter(|(key, _)| is_stored(key)) {
        assert_eq!(found.get(key), Some(&Some(text(value))), "{key} of {place}");
    }
    for (key, value) in summary["options"].as_object().into_iter().flatten() {
        assert_eq!(found.get(&format!("option.{key}")), Some(&Some(text(value))), "option {key} of {place}");
    }
}

fn check_files(summary: &Json, batches: &Batches, place: &str) {
    let (found, args) = (rows::files(batches), rows::args(batches, Table::Files));
    let expected: BTreeSet<i64> = list(&summary["files"]).iter().map(|file| number(&file["fid"]) as i64).collect();
    assert_eq!(found.keys().copied().filter(|id| *id != 0).collect::<BTreeSet<_>>(), expected, "{place}");
    for file in list(&summary["files"]) {
        let id = number(&file["fid"]) as i64;
        let parent = (file["eval_fid"].as_i64(), file["eval_line"].as_u64().map(|line| line as u32));
        let expected = (text(&file["name"]), parent.0, parent.1, file["flags"].as_u64());
        assert_eq!(found[&id], expected, "file {id} of {place}");
        for key in ["size", "mtime"] {
            let value = args.get(&(id, key.to_owned())).map_or("0", String::as_str);
            assert_eq!(value, file[key].to_string(), "{key} of file {id} of {place}");
        }
    }
}

pub(crate) fn check_line_times(summary: &Json, batches: &Batches, place: &str) {
    let mut found = rows::line_times(batches);
    for file in list(&summary["files"]) {
        for level in ["line", "block", "sub"] {
            for (line, sums) in file[level].as_object().into_iter().flatten() {
                let key = (file["fid"].as_i64(), level.to_owned(), line.parse().expect("a line"));
                let sum = found.remove(&key).unwrap_or_else(|| panic!("{key:?} of {place} is missing"));
                let time_ns = ns(&sums[0]);
                let count = sums[1].as_i64().expect("a count");
                assert_eq!(sum, (count.max(0) as u64, time_ns, Some(time_ns)), "{key:?} of {place}");
            }
        }
    }
    found.retain(|(file, ..), _| !matches!(file, None | Some(0)));
    assert!(found.is_empty(), "{place} has no {found:?}");
}

pub(crate) fn check_calls(summary: &Json, found: &CallSums, place: &str) {
    let names: BTreeMap<u64, String> =
        list(&summary["files"]).iter().map(|file| (number(&file["fid"]), text(&file["name"]))).collect();
    let mut expected = CallSums::new();
    for sub in list(&summary["subs"]) {
        for calls in list(&sub["callers"]) {
            let file = names.get(&number(&calls["fid"])).cloned();
            let line = Some(number(&calls["line"]) as u32);
            // Files with the same name cannot be distinguished here.
            let sum = expected.entry((text(&sub["name"]), file, line)).or_default();
            sum.count += number(&calls["count"]);
            for (sum, key) in sum.times_ns.iter_mut().zip(["incl", "excl", "reci"]) {
                *sum += ns(&calls[key]);
            }
            sum.max_depth = sum.max_depth.max(number(&calls["depth"]));
            sum.by.extend(list(&calls["by"]).iter().map(text).filter(|name| !name.is_empty()));
        }
    }
    let placed: CallSums =
        found.iter().filter(|((.., line), _)| line.is_some()).map(|(key, sum)| (key.clone(), sum.clone())).collect();
    assert_eq!(placed.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{place}");
    for (key, sum) in &placed {
        assert_same_calls(sum, &expected[key], &format!("{key:?} of {place}"));
        assert_eq!(sum.by, expected[key].by, "{key:?} of {place}");
    }
}

fn assert_same_calls(found: &CallSum, expected: &CallSum, place: &str) {
    assert_eq!((found.count, found.max_depth), (expected.count, expected.max_depth), "{place}");
    for (found, expected) in found.times_ns.iter().zip(expected.times_ns) {
        assert_near(*found, expected, place);
    }
}

fn check_subs(summary: &Json, batches: &Batches, calls: &CallSums, place: &str) {
    let (found, args) = (rows::subs(batches), rows::args(batches, Table::Definitions));
    let files = rows::files(batches);
    assert_eq!(found.len(), list(&summary["subs"]).len(), "{place}");
    for sub in list(&summary["subs"]) {
        let name = text(&sub["name"]);
        let place = format!("{name} of {place}");
        let (id, file, first, last) = &found[&name];
        let line = |key: &str| sub[key].as_u64().filter(|line| *line > 0).map(|line| line as u32);
        let home = sub["fid"].as_i64().and_then(|fid| files.get(&fid)).map(|(name, ..)| name.clone());
        assert_eq!((file, *first, *last), (&home, line("first"), line("last")), "{place}");
        assert_eq!(Some(args[&(*id, "kind".to_owned())].as_str()), sub["kind"].as_str(), "{place}");
        let mut total = CallSum::default();
        for (_, sum) in calls.iter().filter(|((callee, ..), _)| *callee == name) {
            total.count += sum.count;
            total.times_ns.iter_mut().zip(sum.times_ns).for_each(|(total, ns)| *total += ns);
            total.max_depth = total.max_depth.max(sum.max_depth);
        }
        let expected = CallSum {
            count: number(&sub["calls"]),
            times_ns: ["incl", "excl", "reci"].map(|key| ns(&sub[key])),
            max_depth: number(&sub["rec_depth"]),
            by: BTreeSet::new(),
        };
        assert_same_calls(&total, &expected, &place);
    }
}

/// `NAME.chunks.json`: source, processes and calls, record by record.
pub(crate) fn check_chunks(chunks: &[Json], batches: &Batches, place: &str) {
    let of = |tag: &str| chunks.iter().filter(|chunk| chunk[0] == tag).collect::<Vec<_>>();
    let sources = rows::sources(batches);
    let expected = of("SRC_LINE").into_iter().map(|chunk| {
        let line = text(&chunk[3]);
        let line = line.strip_suffix('\n').unwrap_or(&line).to_owned();
        (number(&chunk[1]) as i64, number(&chunk[2]) as u32, line)
    });
    assert_eq!(sources, expected.collect::<Vec<_>>(), "{place}");
    check_processes(&of("PID_START"), &of("PID_END"), batches, place);
    check_returns(chunks, batches, place);
}

fn check_processes(starts: &[&Json], ends: &[&Json], batches: &Batches, place: &str) {
    let found = rows::processes(batches);
    assert_eq!(found.len(), starts.len().max(1), "{place}");
    assert_eq!(batches.rows(Table::Threads), found.len(), "{place}");
    let (origin, ..) = rows::times(batches);
    for ((pid, ppid, start_ns, end_ns), start) in found.iter().zip(starts) {
        assert_eq!((*pid, *ppid), (start[1].as_u64(), start[2].as_u64()), "{place}");
        let unix = |ts_ns: i64| (ts_ns + origin.expect("a start has a time")) as f64 / 1e9;
        let near = |ts_ns: i64, time: &Json| (unix(ts_ns) - time.as_f64().expect("a time")).abs() < 1e-6;
        assert!(near(start_ns.expect("a start"), &start[3]), "{place}");
        let end = ends.iter().find(|end| end[1] == start[1]);
        assert!(end.is_none_or(|end| near(end_ns.expect("an end"), &end[2])), "{place}");
    }
}

/// Every return is a span, in order, with the site of its entry.
fn check_returns(chunks: &[Json], batches: &Batches, place: &str) {
    let (spans, sites) = (rows::spans(batches), rows::args(batches, Table::Spans));
    let subs = rows::subs(batches);
    let mut spans = spans.iter().filter(|span| span.dur_ns.is_some());
    let (mut process, mut entered) = (-1, Vec::new());
    for chunk in chunks {
        match chunk[0].as_str() {
            Some("PID_START") => (process, entered) = (process + 1, Vec::new()),
            Some("SUB_ENTRY") => entered.push((chunk[1].to_string(), chunk[2].to_string())),
            Some("SUB_RETURN") => {
                let span = spans.next().unwrap_or_else(|| panic!("{place} has more calls"));
                let depth = number(&chunk[1]) as usize;
                let ticks = [&chunk[2], &chunk[3]].map(|ticks| (ticks.as_f64().expect("ticks") * 100.0) as i64);
                let name = text(&chunk[4]);
                let expected = (ticks[0].max(0), ticks[1].clamp(0, ticks[0].max(0)), &name, process);
                let found = (span.dur_ns.expect("it has ended"), span.self_ns.expect("it has ended"));
                assert_eq!((found.0, found.1, &span.name, span.thread_id), expected, "span {} of {place}", span.id);
                assert_eq!(span.definition_id, subs.get(&name).map(|(id, ..)| *id), "span {} of {place}", span.id);
                let key = |key: &str| (span.id, key.to_owned());
                let site = sites.get(&key("caller_file_id")).cloned().zip(sites.get(&key("caller_line")).cloned());
                // Calls nested more deeply were never left.
                entered.truncate(depth);
                let made = if entered.len() == depth { entered.pop() } else { None };
                assert_eq!(site, made, "span {} of {place}", span.id);
            }
            _ => {}
        }
    }
    assert_eq!(spans.next(), None, "{place}");
}

/// `NAME.folded.txt`: self ticks by path.
pub(crate) fn check_folded(path: &Path, spans: &[SpanRow], place: &str) {
    let bytes = fs::read(path).expect("the golden is there");
    let mut expected = BTreeMap::new();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let at = line.iter().rposition(|byte| *byte == b' ').expect("a path and a number");
        let names: Vec<_> = line[..at].split(|byte| *byte == b';').map(|name| text_of(name).into_owned()).collect();
        let ticks: i64 = std::str::from_utf8(&line[at + 1..]).expect("digits").parse().expect("ticks");
        *expected.entry(names.join(";")).or_insert(0) += ticks;
    }
    let by_id: BTreeMap<i64, &SpanRow> = spans.iter().map(|span| (span.id, span)).collect();
    let mut found = BTreeMap::new();
    for span in spans {
        let around = std::iter::successors(Some(span), |span| span.parent_id.map(|parent| by_id[&parent]));
        let mut names: Vec<_> = around.map(|span| nytprofcalls_name(&span.name)).collect();
        names.reverse();
        *found.entry(names.join(";")).or_insert(0) += span.self_ns.unwrap_or(0) / 100;
    }
    assert_eq!(found, expected, "{place}");
}
