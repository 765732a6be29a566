//! Memory stays bounded over many calls.

#[path = "tools/support.rs"]
#[allow(dead_code)]
mod support;

use peak_alloc::PeakAlloc;
use serde_json::json;

use self::support::{Bench, formats, text};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Max memory growth after a thousand calls.
const MAX_GROWTH: usize = 16 << 20;

#[tokio::test]
async fn a_thousand_calls_leave_nothing_behind() {
    let bench = Bench::new().await;
    let paths: Vec<_> = formats().map(|format| bench.sample(format)).collect();
    let tools =
        ["open", "stats", "summary", "check", "spans", "log", "schema", "sql", "tree", "memory", "span", "window"];
    let mut warm = 0;
    for round in 0..1000 {
        let path = text(&paths[round % paths.len()]);
        let arguments = match tools[round / paths.len() % tools.len()] {
            "schema" => json!({}),
            "span" => json!({ "trace": path, "id": 1 }),
            "window" => json!({ "trace": path, "from_ns": 0, "to_ns": 1_000_000_000 }),
            "sql" => json!({ "query": "select name, count(*) from spans group by name", "traces": [path] }),
            _ => json!({ "trace": path }),
        };
        // A tool may not support a format.
        bench.call(tools[round / paths.len() % tools.len()], arguments).await;
        if round == 99 {
            warm = MEMORY.current_usage();
        }
    }
    let grown = MEMORY.current_usage().saturating_sub(warm);
    assert!(grown < MAX_GROWTH, "{grown} bytes more after a thousand calls");
}
