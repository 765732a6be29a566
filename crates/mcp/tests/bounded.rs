//! Memory stays bounded over many calls.

#[path = "tools/crafted.rs"]
#[allow(dead_code)]
mod crafted;
#[path = "tools/support.rs"]
#[allow(dead_code)]
mod support;

use std::{collections::BTreeSet, fs, iter};

use peak_alloc::PeakAlloc;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;
use traceloom::wtf::{
    Builtins, Composer, FileInfo, Form,
    raw::{EventClass, EventFlags},
};
use traceloom_testkit::recorded::{LogEntry, wtf_log};

use self::{
    crafted::trace_of,
    support::{Bench, formats, text},
};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Held by a test while it measures memory.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Max memory growth after a thousand calls.
const MAX_GROWTH: usize = 16 << 20;
/// Max memory of a call beyond what stays.
const MAX_PEAK: usize = 32 << 20;
/// Max number of open traces.
const MAX_OPEN: usize = 32;

const TOOLS: [&str; 18] = [
    "open", "stats", "summary", "check", "spans", "log", "schema", "sql", "tree", "memory", "span", "window", "lines",
    "diff", "slice", "convert", "report", "link",
];

#[tokio::test]
async fn a_thousand_calls_leave_nothing_behind() {
    let _alone = ALONE.lock().await;
    let bench = Bench::new().await;
    let paths: Vec<_> = formats().map(|format| bench.sample(format)).collect();
    let (mut warm, mut answered) = (0, BTreeSet::new());
    for round in 0..1000 {
        let (path, tool) = (text(&paths[round % paths.len()]), TOOLS[round / paths.len() % TOOLS.len()]);
        let output = format!("{round}.{}", if tool == "slice" { "part" } else { "json" });
        let arguments = match tool {
            "schema" => json!({}),
            "span" => json!({ "trace": path, "id": 1 }),
            "window" => json!({ "trace": path, "from_ns": 0, "to_ns": 1_000_000_000 }),
            "sql" => json!({ "query": "select name, count(*) from spans group by name", "traces": [path] }),
            "diff" => json!({ "before": [path], "after": [path] }),
            "slice" => json!({ "trace": path, "output": output, "from_ns": 0, "to_ns": 1_000_000_000 }),
            "convert" => json!({ "trace": path, "output": output, "to": "chrome" }),
            "report" => json!({ "traces": [path], "output": format!("{round}.html") }),
            _ => json!({ "trace": path }),
        };
        // A tool may not support a format.
        if bench.call(tool, arguments).await.is_error != Some(true) {
            answered.insert(tool);
        }
        // Every tool was called with every format, and the viewers of the first links have loaded their traces.
        if round + 1 == (2 * TOOLS.len() - 1) * paths.len() {
            warm = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
        }
    }
    assert_eq!(answered.len(), TOOLS.len(), "{answered:?}");
    let [grown, peak] = [MEMORY.current_usage(), MEMORY.peak_usage()].map(|bytes| bytes.saturating_sub(warm));
    assert!(grown < MAX_GROWTH, "{grown} bytes more after a thousand calls");
    assert!(peak < MAX_PEAK, "{peak} bytes more at the peak of a thousand calls");

    let handles = open_many(&bench).await;
    let [grown, peak] = [MEMORY.current_usage(), MEMORY.peak_usage()].map(|bytes| bytes.saturating_sub(warm));
    assert!(grown < MAX_GROWTH, "{grown} bytes more after {} traces", handles.len());
    assert!(peak < MAX_PEAK, "{peak} bytes more at the peak of {} traces", handles.len());
    let (closed, open) = handles.split_at(handles.len() - MAX_OPEN);
    for handle in [&closed[0], &closed[closed.len() - 1]] {
        let refused = bench.refusal("stats", json!({ "trace": handle })).await;
        assert!(refused.contains("no open trace has the handle"), "{refused}");
    }
    for handle in open {
        bench.ask("stats", json!({ "trace": handle })).await;
    }
}

/// Number of spans in each other.
const DEPTH: usize = 200_000;

#[tokio::test]
async fn deep_and_unclosed_spans_and_long_texts_take_little_memory() {
    let _alone = ALONE.lock().await;
    let bench = Bench::new().await;
    let write = |name: &str, bytes: Vec<u8>| {
        let path = bench.folder.path().join(name);
        fs::write(&path, bytes).expect("there is room");
        text(&path).to_owned()
    };
    let (enters, leaves) = (iter::repeat_n(Step::Enter, DEPTH), iter::repeat_n(Step::Leave, DEPTH));
    let deep = write("deep.wtf-trace", scopes_of("deep", enters.clone().chain(leaves)));
    let unclosed = write("unclosed.wtf-trace", scopes_of("unclosed", enters));
    let long = "x".repeat(1 << 20);
    let children = (0..1000).flat_map(|_| [Step::Enter, Step::Leave]);
    let wide = write("wide.wtf-trace", scopes_of(&long, iter::once(Step::Enter).chain(children)));
    let log = write("long.wtf-trace", log_of(&long));
    for path in [&deep, &unclosed] {
        let found = small(&bench, "span", json!({ "trace": path, "id": DEPTH - 1 })).await;
        let cuts = found["truncated"].as_array().expect("a list");
        assert!(cuts.contains(&json!({ "list": "ancestors", "shown": 20, "total": DEPTH - 1 })), "{cuts:?}");
        let ids: Vec<_> =
            found["from_trace"]["ancestors"].as_array().expect("a list").iter().map(|row| &row["id"]).collect();
        assert_eq!(ids, (DEPTH - 21..DEPTH - 1).rev().collect::<Vec<_>>());
    }
    let columns: Vec<String> = (0..200).map(|number| format!("name as c{number}")).collect();
    let columns = format!("select {} from spans", columns.join(", "));
    for (tool, path, list) in [
        ("spans", &wide, "spans"),
        ("span", &wide, "children"),
        ("window", &wide, "spans"),
        ("sql", &wide, "rows"),
        ("sql of many columns", &wide, "rows"),
        ("log", &log, "lines"),
        ("window", &log, "logs"),
    ] {
        let arguments = match tool {
            "span" => json!({ "trace": path, "id": 0, "limit": 1000 }),
            "window" => json!({ "trace": path, "from_ns": 0, "to_ns": 1_000_000_000, "limit": 1000 }),
            "sql" => json!({ "query": "select * from spans", "traces": [path], "limit": 1000 }),
            "sql of many columns" => json!({ "query": columns, "traces": [path], "limit": 1000 }),
            _ => json!({ "trace": path, "limit": 1000 }),
        };
        let tool = tool.split(' ').next().unwrap_or(tool);
        let found = small(&bench, tool, arguments).await["from_trace"][list].to_string();
        assert!(found.contains("x… (1048576 bytes in all)"), "{tool} {path}: {found:.1000}");
    }
}

/// The result of a call that takes little memory.
async fn small(bench: &Bench, tool: &'static str, arguments: Json) -> Json {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let found = bench.ask(tool, arguments.clone()).await;
    let peak = MEMORY.peak_usage().saturating_sub(before);
    assert!(peak < MAX_PEAK, "{peak} bytes more at the peak of {tool} {arguments}");
    found
}

/// A WTF trace with scopes of one name: each step, a microsecond after the previous one, enters or leaves one.
fn scopes_of(name: &str, steps: impl IntoIterator<Item = Step>) -> Vec<u8> {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).expect("a header");
    let leave = Builtins::define(&mut composer).expect("types").leave;
    let scope = composer.define(name, EventClass::SCOPE, EventFlags(0), "").expect("a type");
    let zone = composer.zone(Some("main"), Some("native_thread"), None).expect("a zone");
    for (time_us, step) in (1000..).zip(steps) {
        let kind = if step == Step::Enter { scope } else { leave };
        composer.event(zone, kind, time_us, []).expect("an event");
    }
    composer.finish().expect("an end")
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Step {
    Enter,
    Leave,
}

/// A log with this message in each of 48 lines.
fn log_of(message: &str) -> Vec<u8> {
    let entry = |time_us| LogEntry {
        time_us,
        level: "INFO".to_owned(),
        file: "main.rs".to_owned(),
        line: 1,
        message: message.to_owned(),
    };
    wtf_log(1_700_000_000_000, &(0..48).map(entry).collect::<Vec<_>>()).expect("a trace")
}

/// Opens many traces that differ; returns their handles.
async fn open_many(bench: &Bench) -> Vec<String> {
    let mut handles = Vec::new();
    for number in 0..200 {
        let path = bench.folder.path().join(format!("{number}.prof"));
        let names: Vec<String> = (0..100).map(|name| format!("{number} {name} {}", "x".repeat(1000))).collect();
        let names: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        fs::write(&path, trace_of(&names)).expect("there is room");
        let opened = bench.ask("open", json!({ "trace": text(&path) })).await;
        let handle = opened["from_trace"]["handle"].as_str().expect("a handle").to_owned();
        bench.ask("stats", json!({ "trace": handle })).await;
        handles.push(handle);
    }
    assert_eq!(handles.iter().collect::<BTreeSet<_>>().len(), handles.len(), "each trace has a handle");
    handles
}
