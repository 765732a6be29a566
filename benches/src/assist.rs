//! The server for assistants: the cost of each tool on 5 million spans.

use std::{path::Path, time::Duration};

use rmcp::{RoleClient, ServiceExt, model::CallToolRequestParams, service::RunningService};
use serde_json::{Value, json};
use traceloom_core::{Error, Result};
use traceloom_mcp::{Options, Server};

use crate::{
    easyprofiler,
    measure::{process_time, row},
};

/// Number of records, of which about five in six are spans.
const RECORDS: u64 = 6_000_000;

pub(crate) fn run() -> Result<bool> {
    let (file, source) = easyprofiler::generated(RECORDS)?;
    let folder = tempfile::tempdir()?;
    println!("assist: easyprofiler, {} MB", source.len()? / 1_000_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(measure(file.path(), folder.path()))
}

async fn measure(file: &Path, folder: &Path) -> Result<bool> {
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let server = Server::new(&Options { files: vec![file.to_owned()], allowed: vec![folder.to_owned()] })?;
    let failed = |error: &dyn std::fmt::Display| Error::internal(error.to_string());
    tokio::spawn(async move {
        if let Ok(service) = server.serve(server_side).await {
            // Exits with the client.
            let _ = service.waiting().await;
        }
    });
    let client = ().serve(client_side).await.map_err(|error| failed(&error))?;
    let mut met = true;
    for (tool, arguments) in calls(file) {
        let before = process_time();
        let answer = call(&client, tool, &arguments).await.map_err(|error| failed(&error))?;
        let seconds = (process_time() - before).as_secs_f64();
        if !answer {
            println!("  {tool} refuses {arguments}");
        }
        met &= row(tool, seconds, "s of CPU", if tool == "open" { 2.0 } else { 1.0 });
        // The viewer continues loading after its address is known.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(met)
}

/// One call of each tool that is useful for spans, as an assistant would make it.
fn calls(file: &Path) -> Vec<(&'static str, Value)> {
    let path = file.display().to_string();
    let trace = json!({ "trace": path });
    let window = json!({ "trace": path, "from_ns": 0, "to_ns": 1_000_000 });
    vec![
        ("open", trace.clone()),
        ("summary", trace.clone()),
        ("stats", trace.clone()),
        ("tree", trace.clone()),
        ("spans", trace.clone()),
        ("span", json!({ "trace": path, "id": 1_000_000 })),
        ("window", window),
        ("check", trace.clone()),
        ("schema", json!({})),
        ("sql", json!({ "query": "select name, count(*), sum(dur_ns) from spans group by name", "traces": [path] })),
        ("diff", json!({ "before": [path], "after": [path] })),
        ("slice", json!({ "trace": path, "output": "slice.prof", "from_ns": 0, "to_ns": 1_000_000 })),
        ("convert", json!({ "trace": path, "output": "folded.txt", "to": "folded" })),
        ("report", json!({ "traces": [path], "output": "report.html" })),
        ("link", trace),
    ]
}

/// Whether a call was answered.
async fn call(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: &Value,
) -> std::result::Result<bool, rmcp::ServiceError> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let answer = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    Ok(answer.is_error != Some(true))
}
