//! The server for assistants: the cost of each tool on 5 million spans.

use std::{path::Path, time::Duration};

use rmcp::{RoleClient, ServiceExt, model::CallToolRequestParams, service::RunningService};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use traceloom_core::{Error, Result, Source};
use traceloom_mcp::{Options, Server};

use crate::{
    cnanolog, easyprofiler,
    measure::{process_time, row},
    memlyze, nytprof,
};

/// Number of records, of which about five in six are spans.
const RECORDS: u64 = 6_000_000;
/// Number of log entries, events of memory, and records of a line profile.
const OTHER_RECORDS: u64 = 5_000_000;

pub(crate) fn run() -> Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let (spans, source) = easyprofiler::generated(RECORDS)?;
    let mut met = runtime.block_on(measure("easyprofiler", &spans, &source, calls_on_spans(spans.path())))?;
    let (memory, source) = memlyze::generated(|out| memlyze::make(out, OTHER_RECORDS))?;
    met &= runtime.block_on(measure("memlyze", &memory, &source, calls_of("memory", memory.path())))?;
    let (profile, source) = nytprof::generated(OTHER_RECORDS)?;
    met &= runtime.block_on(measure("nytprof", &profile, &source, calls_of("lines", profile.path())))?;
    let (log, source) = cnanolog::generated(OTHER_RECORDS)?;
    met &= runtime.block_on(measure("cnanolog", &log, &source, calls_of("log", log.path())))?;
    Ok(met)
}

/// A call, with the label of its row.
type Call = (&'static str, &'static str, Value);

/// Makes each call of a new server, so that none finds the summary that another one left; a refusal misses the bar.
async fn measure(format: &str, file: &NamedTempFile, source: &Source, calls: Vec<Call>) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    println!("assist: {format}, {} MB", source.len()? / 1_000_000);
    let options = Options { files: vec![file.path().to_owned()], allowed: vec![folder.path().to_owned()] };
    let mut met = true;
    for (label, tool, arguments) in calls {
        let client = connect(&options).await?;
        let before = process_time();
        let refusal = call(&client, tool, &arguments).await.map_err(|error| failed(&error))?;
        let seconds = (process_time() - before).as_secs_f64();
        met &= row(label, seconds, "s of CPU", if tool == "open" { 2.0 } else { 1.0 });
        if let Some(message) = refusal {
            println!("  {label} refuses {arguments}: {message}");
            met = false;
        }
        // The viewer continues loading after its address is known.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(met)
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::internal(error.to_string())
}

/// A client of a new server.
async fn connect(options: &Options) -> Result<RunningService<RoleClient, ()>> {
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let server = Server::new(options)?;
    tokio::spawn(async move {
        if let Ok(service) = server.serve(server_side).await {
            // Exits with the client.
            let _ = service.waiting().await;
        }
    });
    ().serve(client_side).await.map_err(|error| failed(&error))
}

/// One call of each tool that is useful for spans, as an assistant would make it.
fn calls_on_spans(file: &Path) -> Vec<Call> {
    let path = file.display().to_string();
    let trace = json!({ "trace": path });
    let query = "select name, count(*), sum(dur_ns) from spans group by name";
    let convert = |to: &str| json!({ "trace": path, "output": format!("converted.{to}"), "to": to });
    vec![
        ("open", "open", trace.clone()),
        ("summary", "summary", trace.clone()),
        ("stats", "stats", trace.clone()),
        ("tree", "tree", trace.clone()),
        ("spans", "spans", trace.clone()),
        ("span", "span", json!({ "trace": path, "id": 1_000_000 })),
        ("window", "window", json!({ "trace": path, "from_ns": 0, "to_ns": 1_000_000 })),
        ("check", "check", trace.clone()),
        ("schema", "schema", json!({})),
        ("sql", "sql", json!({ "query": query, "traces": [path] })),
        ("diff", "diff", json!({ "before": [path], "after": [path] })),
        ("slice", "slice", json!({ "trace": path, "output": "slice.prof", "from_ns": 0, "to_ns": 1_000_000 })),
        ("convert to folded", "convert", convert("folded")),
        ("convert to perfetto", "convert", convert("perfetto")),
        ("convert to chrome", "convert", convert("chrome")),
        ("report", "report", json!({ "traces": [path], "output": "report.html" })),
        ("link", "link", trace),
    ]
}

/// Calls of the tools that start with a file which has no spans.
fn calls_of(tool: &'static str, file: &Path) -> Vec<Call> {
    let trace = json!({ "trace": file.display().to_string() });
    vec![("open", "open", trace.clone()), (tool, tool, trace)]
}

/// The message of a refused call.
async fn call(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: &Value,
) -> std::result::Result<Option<String>, rmcp::ServiceError> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let answer = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    Ok((answer.is_error == Some(true)).then(|| format!("{:?}", answer.content)))
}
