//! Lines, subs and callers of the NYTProf corpus, equal to the results of Devel::NYTProf's loader.

#[allow(dead_code, reason = "each test needs a part of it")]
mod made;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;
use traceloom_analysis::lines::{Cost, Figures, Level, Lines, Options, Profile, packages};
use traceloom_mapping::open;
use traceloom_model::{Filter, TableSource, Tables, files::File, line_times::LineTime};

use crate::made::Made;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nytprof")
}

fn profile(path: &Path, merge_evals: bool) -> Profile {
    let trace = open(path, None, &traceloom_mapping::Options::default()).expect("the fixture opens");
    let mut lines = Lines::new(Options { merge_evals });
    trace.pour(&Filter::default(), &mut lines).expect("the fixture is read");
    lines.finish().profiles.pop().unwrap_or_default()
}

/// Text of a golden: plain, or its bytes in hexadecimal; bytes that are not UTF-8 are read as Latin-1.
fn text(value: &Json) -> String {
    if let Some(hex) = value["x"].as_str() {
        let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal");
        let bytes: Vec<u8> = (0..hex.len() / 2).map(byte).collect();
        return String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().map(|b| char::from(*b)).collect());
    }
    value["u"].as_str().or(value.as_str()).expect("a text").to_owned()
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn ns(seconds: &Json) -> i64 {
    (seconds.as_f64().expect("a time") * 1e9).round() as i64
}

/// The loader sums doubles; the tables hold whole nanoseconds.
fn assert_near(found: i64, expected: i64, rows: usize, place: &str) {
    let most = 2 + rows as u64 + expected.unsigned_abs() / (1 << 50);
    assert!(found.abs_diff(expected) <= most, "{place}: {found} ns, not {expected}");
}

fn check_lines(golden: &Json, profile: &Profile, place: &str) -> usize {
    let mut checked = 0;
    for file in list(&golden["files"]) {
        let id = file["fid"].as_i64().expect("a number");
        let found = profile.files.get(&id).unwrap_or_else(|| panic!("{place}: file {id} is missing"));
        assert_eq!(found.name, text(&file["name"]), "{place}");
        let evals: Vec<i64> = list(&file["evals"]).iter().filter_map(Json::as_i64).collect();
        assert_eq!(
            found.evals.iter().collect::<BTreeSet<_>>(),
            evals.iter().collect(),
            "evals of {} of {place}",
            found.name
        );
        let merged: Vec<i64> = list(&file["merged_fids"]).iter().filter_map(Json::as_i64).collect();
        assert_eq!(found.merged, merged, "merged into {} of {place}", found.name);
        for level in [Level::Block, Level::Line, Level::Sub] {
            let expected: BTreeMap<u32, Cost> = file[level.as_str()]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(line, sums)| {
                    let time_ns = ns(&sums[0]);
                    let count = sums[1].as_i64().expect("a count").max(0) as u64;
                    (line.parse().expect("a line"), Cost { count, incl_ns: time_ns, excl_ns: Some(time_ns) })
                })
                .collect();
            // Merged evals have no blocks: Devel::NYTProf shows evals only by line.
            if level == Level::Line || merged.is_empty() {
                assert_eq!(*found.costs(level), expected, "{} of {} of {place}", level.as_str(), found.name);
            }
            checked += expected.len();
        }
    }
    let known = list(&golden["files"]).iter().filter_map(|file| file["fid"].as_i64()).collect::<BTreeSet<_>>();
    assert!(profile.files.keys().all(|id| *id <= 0 || known.contains(id)), "{place}");
    checked
}

/// Calls by called sub, file and line; files with the same name cannot be distinguished.
type Calls = BTreeMap<(String, Option<String>, u32), (Figures, BTreeSet<String>)>;

fn check_figures(found: &Figures, expected: &Figures, rows: usize, place: &str) {
    assert_eq!((found.count, found.depth), (expected.count, expected.depth), "{place}");
    assert_near(found.incl_ns, expected.incl_ns, rows, place);
    assert_near(found.excl_ns, expected.excl_ns, rows, place);
    assert_near(found.recursive_ns, expected.recursive_ns, rows, place);
}

fn add(sum: &mut Figures, figures: &Figures) {
    sum.count += figures.count;
    sum.incl_ns += figures.incl_ns;
    sum.excl_ns += figures.excl_ns;
    sum.recursive_ns += figures.recursive_ns;
    sum.depth = sum.depth.max(figures.depth);
}

fn figures(golden: &Json, count: &str, depth: &str) -> Figures {
    let number = |key: &str| golden[key].as_u64().unwrap_or_else(|| panic!("{key} of {golden}"));
    Figures {
        count: number(count),
        incl_ns: ns(&golden["incl"]),
        excl_ns: ns(&golden["excl"]),
        recursive_ns: ns(&golden["reci"]),
        depth: number(depth),
    }
}

fn check_subs(golden: &Json, profile: &Profile, place: &str) -> usize {
    let names: BTreeMap<i64, String> = list(&golden["files"])
        .iter()
        .map(|file| (file["fid"].as_i64().expect("a number"), text(&file["name"])))
        .collect();
    let (mut expected, mut found) = (Calls::new(), Calls::new());
    assert_eq!(
        profile.subs.keys().cloned().collect::<BTreeSet<_>>(),
        list(&golden["subs"]).iter().map(|sub| text(&sub["name"])).collect(),
        "{place}"
    );
    for sub in list(&golden["subs"]) {
        let name = text(&sub["name"]);
        let place = format!("{name} of {place}");
        let ours = &profile.subs[&name];
        check_figures(&ours.total, &figures(sub, "calls", "rec_depth"), ours.callers.len(), &place);
        let line = |key: &str| sub[key].as_u64().filter(|line| *line > 0).map(|line| line as u32);
        assert_eq!((ours.first_line, ours.last_line), (line("first"), line("last")), "{place}");
        assert_eq!(Some(ours.kind.as_str()), sub["kind"].as_str(), "{place}");
        let file_name = |id: Option<i64>| id.and_then(|id| profile.files.get(&id)).map(|file| file.name.clone());
        let home = sub["fid"].as_i64().and_then(|fid| names.get(&fid).cloned());
        assert_eq!(file_name(ours.file), home, "{place}");
        let merged: BTreeSet<String> = list(&sub["merged"]).iter().map(text).collect();
        assert_eq!(ours.merged.iter().cloned().collect::<BTreeSet<_>>(), merged, "{place}");
        for calls in list(&sub["callers"]) {
            let file = calls["fid"].as_i64().and_then(|fid| names.get(&fid).cloned());
            let key = (name.clone(), file, calls["line"].as_u64().expect("a line") as u32);
            let sum = expected.entry(key).or_default();
            add(&mut sum.0, &figures(calls, "count", "depth"));
            sum.1.extend(list(&calls["by"]).iter().map(text).filter(|name| !name.is_empty()));
        }
        for calls in ours.places().filter(|calls| calls.line.is_some()) {
            let key = (name.clone(), file_name(calls.file), calls.line.unwrap_or(0));
            let sum = found.entry(key).or_default();
            add(&mut sum.0, &calls.figures);
            sum.1.extend(calls.by.iter().map(|name| (*name).to_owned()));
        }
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{place}");
    for (key, (sum, by)) in &found {
        let place = format!("{key:?} of {place}");
        check_figures(sum, &expected[key].0, by.len(), &place);
        assert_eq!(*by, expected[key].1, "{place}");
    }
    expected.len()
}

/// The same calls, by calling line.
fn check_calls_in_files(golden: &Json, profile: &Profile, place: &str) {
    let index = profile.index();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    list(&golden["files"]).iter().for_each(|file| *names.entry(text(&file["name"])).or_default() += 1);
    for file in list(&golden["files"]).iter().filter(|file| names[&text(&file["name"])] == 1) {
        let id = file["fid"].as_i64().expect("a number");
        let mut found = index.calls_in(id).clone();
        for calls in list(&file["calls"]) {
            let (line, name) = (calls[0].as_u64().expect("a line") as u32, text(&calls[1]));
            let called = found.get_mut(&line).and_then(|called| called.remove(name.as_str()));
            let called = called.unwrap_or_else(|| panic!("{name} in line {line} of file {id} of {place}"));
            let expected = Figures {
                count: calls[2].as_u64().expect("a count"),
                incl_ns: ns(&calls[3]),
                excl_ns: ns(&calls[4]),
                recursive_ns: ns(&calls[5]),
                depth: calls[6].as_u64().expect("a depth"),
            };
            check_figures(&called, &expected, 8, &format!("{name} in line {line} of {place}"));
        }
        assert!(found.values().all(BTreeMap::is_empty), "{found:?} in file {id} of {place}");
    }
}

#[test]
fn figures_are_those_of_the_original() {
    let (mut raw, mut merged, mut lines, mut places) = (0, 0, 0, 0);
    let folders = ["devel-nytprof-6.12", "synthetic"].map(|name| folder().join(name));
    for entry in folders.iter().flat_map(|folder| fs::read_dir(folder).expect("the corpus")) {
        let path = entry.expect("an entry").path();
        let summary = path.with_extension("summary.json");
        if path.extension().is_none_or(|ending| ending != "nytprof") || !summary.exists() {
            continue;
        }
        let golden: Json = serde_json::from_slice(&fs::read(summary).expect("the golden")).expect("JSON");
        for (key, merges) in [("raw", false), ("merged_evals", true)] {
            let golden = &golden[key];
            if golden.is_null() || golden.get("error").is_some() {
                continue;
            }
            let place = format!("{} ({key})", path.display());
            let profile = profile(&path, merges);
            lines += check_lines(golden, &profile, &place);
            places += check_subs(golden, &profile, &place);
            check_calls_in_files(golden, &profile, &place);
            if merges { merged += 1 } else { raw += 1 }
        }
    }
    assert!(raw > 45 && merged > 3, "{raw} profiles, {merged} with evals");
    assert!(lines > 1000 && places > 500, "{lines} lines, {places} places of calls");
}

#[test]
fn evals_belong_to_the_lines_that_ran_them() {
    let profile = profile(&folder().join("devel-nytprof-6.12/evals-c0.nytprof"), true);
    let index = profile.index();
    let evals = index.evals_in(1);
    let found: Vec<_> = evals.iter().map(|(line, nested)| (*line, nested.count, nested.different)).collect();
    assert_eq!(found, [(4, 3, 1), (7, 3, 3), (9, 2, 2), (15, 3, 1), (19, 1, 1)]);
    assert_eq!(evals[&9].time_ns, 36_200 + 5_000);
    assert_eq!((index.outermost(9, 1), index.outermost(8, 3), index.outermost(1, 5)), ((1, 9), (1, 9), (1, 5)));
    let total: i64 = packages(&profile).iter().map(|package| package.excl_ns).sum();
    assert_eq!(total, profile.subs.values().map(|sub| sub.total.excl_ns).sum::<i64>());
}

/// Files that are each other's parents, and evals of a missing file.
#[test]
fn parents_may_lie() {
    let made = Made(|tables: &mut Tables<'_>| {
        for (id, parent) in [(1, 2), (2, 1), (3, 3), (4, 99)] {
            let (name, flags) = ("odd".into(), None);
            tables.push(File { id, name, parent_file_id: Some(parent), parent_line: Some(7), flags })?;
            let level = "line".into();
            let (calls, incl_ns, excl_ns) = (1, 5, Some(5));
            tables.push(LineTime {
                id,
                file_id: Some(id),
                file: name,
                line: u32::MAX,
                level,
                calls,
                incl_ns,
                excl_ns,
            })?;
        }
        Ok(())
    });
    let mut lines = Lines::new(Options::default());
    made.pour(&Filter::default(), &mut lines).expect("it is in memory");
    let profile = lines.finish().profiles.pop().expect("a profile");
    assert_eq!(profile.files.values().map(|file| file.total().count).sum::<u64>(), 4);
    assert_eq!(profile.files[&4].parent, None);
    assert!(profile.index().evals_in(99).is_empty());
}
