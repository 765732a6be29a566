//! `go tool pprof` reads our output and computes the same sums.

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use traceloom_export::by_id;
use traceloom_mapping::Trace;
use traceloom_model::{
    Batches, Filter, Integrity, Table, TableSource, Wanted, allocations, frames, spans, stacks, traces as trace_table,
};

use support::{place, traces, write};

/// Self and total value of a function.
type Values = BTreeMap<String, (i64, i64)>;

fn is_installed() -> bool {
    let is_there = Command::new("go").args(["tool", "-n", "pprof"]).output().is_ok_and(|out| out.status.success());
    assert!(is_there || std::env::var("CI").as_deref() != Ok("true"), "go tool pprof is not installed");
    if !is_there {
        eprintln!("skipped: go tool pprof is not installed");
    }
    is_there
}

/// The listing of one kind of values.
fn top(file: &Path, index: &str, unit: &str) -> Values {
    let arguments = ["tool", "pprof", "-top", "-symbolize=none", "-nodecount=1000000", "-nodefraction=0"];
    let out = Command::new("go")
        .args(arguments)
        .args([format!("-sample_index={index}"), format!("-unit={unit}")])
        .arg(file)
        .env("PPROF_TMPDIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let lines = text.lines().skip_while(|line| !line.trim_start().starts_with("flat")).skip(1);
    let number = |text: &str| text.trim_end_matches(unit).trim_end_matches("ns").parse::<i64>().ok();
    let mut values = Values::new();
    for line in lines {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [flat, _, _, cum, _, name @ ..] = columns.as_slice() else { continue };
        let [flat, cum] = [flat, cum].map(|text| number(text).unwrap_or_else(|| panic!("{text} in {line}")));
        let entry = values.entry(name.join(" ")).or_default();
        *entry = (entry.0 + flat, entry.1 + cum);
    }
    values.retain(|_, (_, cum)| *cum != 0);
    values
}

/// Adds a stack, innermost first: a function that occurs twice counts once.
fn add(values: &mut Values, stack: &[String], value: i64) {
    let distinct: BTreeSet<&String> = stack.iter().collect();
    distinct.into_iter().for_each(|name| values.entry(name.clone()).or_default().1 += value);
    if let Some(innermost) = stack.first() {
        values.entry(innermost.clone()).or_default().0 += value;
    }
}

fn shown(name: &str) -> String {
    let name = if name.is_empty() { "(no name)" } else { name };
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Time and calls.
fn expected_of_spans(batches: &Batches) -> (Values, Values) {
    let last = batches
        .table(Table::Traces)
        .map(|batch| trace_table::View::of(batch).unwrap())
        .find_map(|view| view.last_ts_ns.get(0));
    let mut all: BTreeMap<i64, (Option<i64>, String, i64)> = BTreeMap::new();
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        for row in (0..view.rows).filter(|row| !matches!(view.category.get(*row), "frame" | "range")) {
            let dur_ns = view.dur_ns.get(row).unwrap_or_else(|| (last.unwrap_or(0) - view.ts_ns.get(row)).max(0));
            all.insert(view.id.get(row), (view.parent_id.get(row), shown(view.name.get(row)), dur_ns));
        }
    }
    let mut own: BTreeMap<i64, i64> = all.iter().map(|(id, (_, _, dur_ns))| (*id, *dur_ns)).collect();
    for (parent, _, dur_ns) in all.values() {
        if let Some(own_ns) = parent.and_then(|parent| own.get_mut(&parent)) {
            *own_ns -= dur_ns;
        }
    }
    let (mut time, mut calls) = (Values::new(), Values::new());
    for (id, own_ns) in own {
        let mut stack = Vec::new();
        let mut next = Some(id);
        while let Some((parent, name, _)) = next.and_then(|id| all.get(&id)) {
            stack.push(name.clone());
            next = *parent;
        }
        add(&mut time, &stack, own_ns);
        add(&mut calls, &stack, 1);
    }
    (time, calls)
}

/// Bytes allocated, and bytes still in use.
fn expected_of_allocations(batches: &Batches) -> (Values, Values) {
    let mut names = BTreeMap::new();
    for view in batches.table(Table::Frames).map(|batch| frames::View::of(batch).unwrap()) {
        names.extend((0..view.rows).map(|row| (view.id.get(row), shown(view.function.get(row)))));
    }
    let mut paths: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for view in batches.table(Table::Stacks).map(|batch| stacks::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let mut path = vec![names[&view.frame_id.get(row)].clone()];
            path.extend(view.parent_id.get(row).map(|parent| paths[&parent].clone()).unwrap_or_default());
            paths.insert(view.id.get(row), path);
        }
    }
    let (mut allocated, mut live) = (Values::new(), Values::new());
    let unknown = vec!["(unknown stack)".to_owned()];
    for view in batches.table(Table::Allocations).map(|batch| allocations::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let path = view.stack_id.get(row).map_or(&unknown, |stack| &paths[&stack]);
            let bytes = view.size_bytes.get(row) as i64;
            add(&mut allocated, path, bytes);
            if view.fate.get(row) == "live" {
                add(&mut live, path, bytes);
            }
        }
    }
    (allocated, live)
}

/// The tool prints sums as floating-point numbers, which are exact up to 2⁵³.
fn has_huge_sizes(batches: &Batches) -> bool {
    let views = batches.table(Table::Allocations).map(|batch| allocations::View::of(batch).unwrap());
    views.flat_map(|view| view.size_bytes.values().iter().copied()).any(|size| size > 1 << 43)
}

fn nests(trace: &Trace) -> bool {
    let mut integrity = Integrity::default();
    trace.pour(&Filter::default(), &mut integrity).unwrap();
    integrity.finish().overlaps.is_empty()
}

#[test]
fn values_of_functions_are_ours() {
    if !is_installed() {
        return;
    }
    let (target, place) = (by_id("pprof").unwrap(), place("pprof"));
    let (mut of_spans, mut of_allocations, mut wrong) = (0, 0, Vec::new());
    for (name, trace) in traces() {
        let mut batches = Batches::of(Wanted::everything());
        trace.pour(&Filter::default(), &mut batches).unwrap();
        let has_spans = batches.rows(Table::Spans) > 0;
        if !has_spans && batches.rows(Table::Allocations) == 0 || !nests(&trace) || has_huge_sizes(&batches) {
            continue;
        }
        let (kinds, unit) = if has_spans {
            ([("time", "ns"), ("calls", "count")], expected_of_spans(&batches))
        } else {
            ([("alloc_space", "B"), ("inuse_space", "B")], expected_of_allocations(&batches))
        };
        let file = place.join(format!("{name}.pb.gz"));
        write(target, &trace, false, &file);
        for ((index, symbol), mut expected) in kinds.into_iter().zip([unit.0, unit.1]) {
            expected.retain(|_, (_, cum)| *cum != 0);
            let found = top(&file, index, symbol);
            if found != expected {
                wrong.push(format!("{name}, {index}:\n  found {found:?}\n  expected {expected:?}"));
            }
        }
        of_spans += usize::from(has_spans);
        of_allocations += usize::from(!has_spans);
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(of_spans > 10 && of_allocations > 4, "{of_spans} with spans, {of_allocations} with allocations");
}
