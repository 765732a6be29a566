//! Memory stays bounded over many calls.

#[path = "tools/support.rs"]
#[allow(dead_code)]
mod support;

use std::collections::BTreeSet;

use peak_alloc::PeakAlloc;
use serde_json::json;

use self::support::{Bench, formats, text};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Max memory growth after a thousand calls.
const MAX_GROWTH: usize = 16 << 20;

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
        }
    }
    assert_eq!(answered.len(), TOOLS.len(), "{answered:?}");
    let grown = MEMORY.current_usage().saturating_sub(warm);
    assert!(grown < MAX_GROWTH, "{grown} bytes more after a thousand calls");
}
