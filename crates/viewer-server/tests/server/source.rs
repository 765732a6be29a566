//! Lines and places, compared with the analysis of lines and the tables.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use traceloom_analysis::lines::{Level, Lines, Options as LineOptions, Profile};
use traceloom_mapping::{Options, Trace, open};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, select};

use crate::support::{Server, fixture, sample};

fn trace(path: &Path) -> Trace {
    open(path, None, &Options::default()).expect("it opens")
}

fn profile(path: &Path) -> Profile {
    let mut lines = Lines::new(LineOptions::default());
    trace(path).pour(&Filter::default(), &mut lines).expect("it can be read");
    lines.finish().profiles.pop().expect("it has lines")
}

fn profiled() -> Vec<PathBuf> {
    let names = [
        "devel-nytprof-6.12/inventory-blocks1.nytprof",
        "devel-nytprof-6.12/evals-c0.nytprof",
        "devel-nytprof-6.12/anon-c6.nytprof",
        "pynytprof/last/head-cwriter.nytprof",
        "pynytprof/a986d58/seed-many.nytprof",
    ];
    names.iter().map(|name| fixture("nytprof", name)).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn files_have_the_totals_of_their_lines() {
    for path in profiled() {
        let (profile, server) = (profile(&path), Server::of_one(&path));
        let answer = server.get("source").json();
        let files = list(&answer["traces"][0]["files"]);
        assert_eq!(files.len(), profile.files.len(), "{}", path.display());
        for file in files {
            let known = &profile.files[&file["id"].as_i64().expect("a number")];
            assert_eq!(file["name"], known.name);
            assert_eq!(
                (&file["count"], &file["time_ns"]),
                (&json!(known.total().count), &json!(known.total().self_ns()))
            );
        }
        assert!(files.is_sorted_by_key(|file| std::cmp::Reverse(file["time_ns"].as_i64())));
        let called = profile.subs.values().filter(|sub| sub.is_called()).count();
        assert_eq!(answer["traces"][0]["all_subs"], called);
    }
}

#[test]
fn lines_have_their_costs_at_every_level() {
    for path in profiled() {
        let (profile, server) = (profile(&path), Server::of_one(&path));
        for level in [Level::Line, Level::Block, Level::Sub] {
            for (id, file) in &profile.files {
                let answer = server.get(&format!("source/file?trace=0&file={id}&level={}", level.as_str())).json();
                let lines = list(&answer["lines"]);
                for line in lines {
                    let number = line[0].as_u64().expect("a line") as u32;
                    let cost = file.costs(level).get(&number);
                    assert_eq!(line[1], json!(cost.map(|cost| cost.count)));
                    assert_eq!(line[2], json!(cost.map(|cost| cost.self_ns())));
                    let text = file.source.get(&number).map(|text| text.trim_end_matches(['\r', '\n']));
                    assert_eq!(
                        line[7].as_str().map(|text| text.chars().count()),
                        text.map(|text| text.chars().count().min(1_000))
                    );
                }
                let costs = lines.iter().filter(|line| !line[1].is_null()).count();
                assert_eq!(costs, file.costs(level).len(), "every cost has its line");
                let calls: u64 = lines.iter().filter_map(|line| line[4].as_u64()).sum();
                let of_file =
                    profile.subs.values().flat_map(|sub| &sub.callers).filter(|caller| caller.file == Some(*id));
                assert_eq!(calls, of_file.map(|caller| caller.figures.count).sum::<u64>());
            }
        }
    }
}

#[test]
fn a_sub_has_its_callers_and_callees() {
    let path = fixture("nytprof", "devel-nytprof-6.12/inventory-c0.nytprof");
    let (profile, server) = (profile(&path), Server::of_one(&path));
    for (name, sub) in profile.subs.iter().filter(|(_, sub)| sub.is_called()) {
        let answer = server.get(&format!("source/sub?trace=0&name={}", escaped(name))).json();
        assert_eq!(answer["figures"]["excl_ns"], sub.total.excl_ns, "{name}");
        assert_eq!(list(&answer["callers"]).len(), sub.callers.len());
        let calls: u64 = list(&answer["callers"]).iter().filter_map(|caller| caller["figures"]["count"].as_u64()).sum();
        assert_eq!(calls, sub.total.count);
        for callee in list(&answer["callees"]) {
            let other = &profile.subs[callee["name"].as_str().expect("a name")];
            let own = other.callers.iter().filter(|caller| caller.by.as_deref() == Some(name));
            assert_eq!(callee["figures"]["incl_ns"], own.map(|caller| caller.figures.incl_ns).sum::<i64>());
        }
    }
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

select! { struct SpanPlaces of spans { file, self_ns } }
select! { struct LogPlaces of logs { file } }
select! { struct AllocationPlaces of allocations { stack_id, size_bytes } }

/// Rows of a table that name a file, and their weight.
fn placed(path: &Path) -> (u64, i64, u64) {
    let wanted = Wanted::nothing()
        .and(Table::Spans, SpanPlaces::COLUMNS)
        .and(Table::Logs, LogPlaces::COLUMNS)
        .and(Table::Allocations, AllocationPlaces::COLUMNS);
    let mut batches = Batches::of(wanted);
    trace(path).pour(&Filter::default(), &mut batches).expect("it can be read");
    let (mut count, mut self_ns, mut bytes) = (0, 0, 0);
    for batch in batches.table(Table::Spans) {
        let view = SpanPlaces::of(batch).expect("the columns were asked for");
        for row in (0..view.rows).filter(|row| view.file.get(*row).is_some()) {
            (count, self_ns) = (count + 1, self_ns + view.self_ns.get(row).unwrap_or(0));
        }
    }
    for batch in batches.table(Table::Logs) {
        let view = LogPlaces::of(batch).expect("the columns were asked for");
        count += (0..view.rows).filter(|row| view.file.get(*row).is_some()).count() as u64;
    }
    for batch in batches.table(Table::Allocations) {
        let view = AllocationPlaces::of(batch).expect("the columns were asked for");
        for row in (0..view.rows).filter(|row| view.stack_id.get(*row).is_some()) {
            (count, bytes) = (count + 1, bytes + view.size_bytes.get(row));
        }
    }
    (count, self_ns, bytes)
}

#[test]
fn places_add_up_to_the_rows_that_name_them() {
    let samples = ["easyprofiler", "cnanolog", "memlyze"].map(sample);
    for sample in &samples {
        let server = Server::of_one(&sample.path);
        let answer = server.get("source").json();
        let found = &answer["traces"][0];
        assert_eq!(found["kind"], "places");
        let (count, self_ns, bytes) = placed(&sample.path);
        assert!(count > 0);
        let sum = |key: &str| list(&found["files"]).iter().filter_map(|file| file[key].as_u64()).sum::<u64>();
        assert_eq!(
            (sum("count"), sum("time_ns") as i64, sum("bytes")),
            (count, self_ns, bytes),
            "{}",
            sample.path.display()
        );
        for file in list(&found["files"]) {
            let lines = server.get(&format!("source/file?trace=0&file={}", file["id"])).json();
            let sum =
                |column: usize| list(&lines["lines"]).iter().filter_map(|line| line[column].as_u64()).sum::<u64>();
            assert_eq!((sum(3), sum(5)), (file["count"].as_u64().unwrap_or(0), file["time_ns"].as_u64().unwrap_or(0)));
        }
    }
}

#[test]
fn what_names_no_place_has_none() {
    let (_trace, server) = Server::of_sample("wtf");
    assert_eq!(server.get("source").json()["traces"][0]["files"], json!([]));
    server.refuses(&[
        "source/file?trace=0&file=0",
        "source/file?trace=9&file=0",
        "source/sub?trace=0&name=a",
        "source/file?trace=0&file=x",
        "source/file?trace=0&file=0&level=word",
        "source/sub?trace=0",
    ]);
}
