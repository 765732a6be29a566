//! callgrind_annotate reads our output and computes the same sums.

mod support;

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    process::Command,
};

use traceloom_export::by_id;
use traceloom_mapping::Trace;
use traceloom_model::{
    Batches, Filter, Integrity, Table, TableSource, Wanted, calls, definitions, spans, threads, traces as trace_table,
};

use support::{place, traces, write};

/// Time by function, written `file:name`.
type Times = BTreeMap<String, i64>;

fn annotate_or_skip(arguments: &[&str], file: &Path) -> Option<String> {
    match Command::new("callgrind_annotate").args(arguments).arg(file).output() {
        Ok(out) => {
            let errors = String::from_utf8_lossy(&out.stderr);
            assert!(out.status.success() && !errors.contains("WARNING"), "{}: {errors}", file.display());
            Some(String::from_utf8(out.stdout).unwrap())
        }
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "callgrind_annotate: {error}");
            eprintln!("skipped: callgrind_annotate is not installed");
            None
        }
    }
}

/// The functions of a listing; those without cost may be missing.
fn listed(text: &str) -> Times {
    let body = text.split("file:function").nth(1).unwrap_or("");
    let lines = body.lines().filter_map(|line| {
        let (number, name) = line.trim_start().split_once(' ')?;
        let number = number.replace(',', "").parse::<i64>().ok()?;
        let name = name.trim_start();
        // A percentage comes before the name, unless the cost is zero.
        let name = name.split_once("%)").map_or(name, |(_, name)| name).trim();
        Some((name.to_owned(), number))
    });
    lines.filter(|(_, number)| *number != 0).collect()
}

struct Expected {
    own: Times,
    inclusive: Times,
}

fn expected(batches: &Batches) -> Expected {
    if batches.rows(Table::Calls) > 0 { expected_of_calls(batches) } else { expected_of_spans(batches) }
}

/// Names as the tools show them.
fn shown(file: Option<&str>, name: &str) -> String {
    let is_blank = |letter: char| letter.is_whitespace() || letter.is_control();
    let clean = |text: &str| text.trim_matches(is_blank).replace(char::is_control, " ");
    let name = Some(clean(name)).filter(|name| !name.is_empty()).unwrap_or_else(|| "(no name)".to_owned());
    format!("{}:{name}", file.map_or("???".to_owned(), clean))
}

fn expected_of_calls(batches: &Batches) -> Expected {
    let mut files: HashMap<&str, Option<&str>> = HashMap::new();
    for view in batches.table(Table::Definitions).map(|batch| definitions::View::of(batch).unwrap()) {
        let subs = (0..view.rows).filter(|row| view.kind.get(*row) == "sub");
        files.extend(subs.map(|row| (view.name.get(row), view.file.get(row))));
    }
    let (mut own, mut called) = (Times::new(), Times::new());
    let mut below = Times::new();
    for view in batches.table(Table::Calls).map(|batch| calls::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let callee = view.callee.get(row);
            let callee = shown(files.get(callee).copied().flatten(), callee);
            *own.entry(callee.clone()).or_default() += view.excl_ns.get(row).max(0);
            let Some(caller) = view.caller.get(row) else { continue };
            let incl_ns = view.incl_ns.get(row).max(0);
            *called.entry(callee).or_default() += incl_ns;
            let file = files.get(caller).copied().unwrap_or(view.file.get(row));
            *below.entry(shown(file, caller)).or_default() += incl_ns;
        }
    }
    // A function that no one calls has the time of its calls plus its self time.
    let mut inclusive = own.clone();
    below.into_iter().for_each(|(name, ns)| *inclusive.entry(name).or_default() += ns);
    inclusive.extend(called);
    Expected { own, inclusive }
}

#[derive(Clone)]
struct Span {
    parent: Option<i64>,
    thread: i64,
    name: String,
    dur_ns: i64,
}

fn expected_of_spans(batches: &Batches) -> Expected {
    let last = batches
        .table(Table::Traces)
        .map(|batch| trace_table::View::of(batch).unwrap())
        .find_map(|view| view.last_ts_ns.get(0));
    let mut all: BTreeMap<i64, Span> = BTreeMap::new();
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        for row in (0..view.rows).filter(|row| !matches!(view.category.get(*row), "frame" | "range")) {
            let dur_ns = view.dur_ns.get(row).unwrap_or_else(|| (last.unwrap_or(0) - view.ts_ns.get(row)).max(0));
            let name = shown(view.file.get(row), view.name.get(row));
            let span = Span { parent: view.parent_id.get(row), thread: view.thread_id.get(row), name, dur_ns };
            all.insert(view.id.get(row), span);
        }
    }
    let (mut own, mut inclusive) = (Times::new(), Times::new());
    let threads = thread_names(batches);
    for span in all.values() {
        *own.entry(span.name.clone()).or_default() += span.dur_ns;
        let mut around = span.parent.and_then(|parent| all.get(&parent));
        match around {
            Some(parent) => *own.entry(parent.name.clone()).or_default() -= span.dur_ns,
            None => *inclusive.entry(threads[&span.thread].clone()).or_default() += span.dur_ns,
        }
        while let Some(outer) = around.filter(|outer| outer.name != span.name) {
            around = outer.parent.and_then(|parent| all.get(&parent));
        }
        if around.is_none() {
            *inclusive.entry(span.name.clone()).or_default() += span.dur_ns;
        }
    }
    Expected { own, inclusive }
}

fn thread_names(batches: &Batches) -> BTreeMap<i64, String> {
    let mut names = BTreeMap::new();
    for view in batches.table(Table::Threads).map(|batch| threads::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let label = match (view.name.get(row).filter(|name| !name.is_empty()), view.tid.get(row)) {
                (Some(name), _) => name.to_owned(),
                (None, Some(tid)) => format!("thread {tid}"),
                (None, None) => format!("thread #{}", view.id.get(row)),
            };
            names.insert(view.id.get(row), shown(Some("(threads)"), &label));
        }
    }
    names
}

/// Whether the spans nest and there is one process, so that threads are identified by name.
fn is_plain(trace: &Trace, batches: &Batches) -> bool {
    let mut integrity = Integrity::default();
    trace.pour(&Filter::default(), &mut integrity).unwrap();
    integrity.finish().overlaps.is_empty() && batches.rows(Table::Processes) <= 1
}

#[test]
fn times_of_functions_are_ours() {
    let place = place("callgrind");
    let target = by_id("callgrind").unwrap();
    let (mut compared, mut of_calls, mut wrong) = (0, 0, Vec::new());
    for (name, trace) in traces() {
        let mut batches = Batches::of(Wanted::everything());
        trace.pour(&Filter::default(), &mut batches).unwrap();
        if batches.rows(Table::Spans) + batches.rows(Table::Calls) == 0 || !is_plain(&trace, &batches) {
            continue;
        }
        let file = place.join(format!("{name}.callgrind"));
        write(target, &trace, false, &file);
        let expected = expected(&batches);
        for (inclusive, mut times) in [("no", expected.own), ("yes", expected.inclusive)] {
            times.retain(|_, ns| *ns != 0);
            let options = ["--threshold=100", "--auto=no", &format!("--inclusive={inclusive}")];
            if times.is_empty() {
                continue;
            }
            let Some(text) = annotate_or_skip(&options, &file) else { return };
            let found = listed(&text);
            if found != times {
                wrong.push(format!("{name}, inclusive={inclusive}:\n  found {found:?}\n  expected {times:?}"));
            }
            compared += 1;
            of_calls += usize::from(batches.rows(Table::Calls) > 0);
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        compared > 20 && of_calls > 4,
        "only {compared} listings were compared, {of_calls} of them of sums of calls"
    );
}
