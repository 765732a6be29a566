//! Memory stays bounded over many calls.

#[path = "tools/crafted.rs"]
#[allow(dead_code)]
mod crafted;
#[path = "tools/support.rs"]
#[allow(dead_code)]
mod support;

use std::{collections::BTreeSet, fs};

use peak_alloc::PeakAlloc;
use serde_json::json;

use self::{
    crafted::trace_of,
    support::{Bench, formats, text},
};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

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
