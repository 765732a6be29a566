//! The server for assistants: the cost of each tool on 5 million spans.

use std::{ops::Range, path::Path, time::Duration};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use traceloom_core::{Error, Result, Source};
use traceloom_mcp::{Options, Server};

use crate::{
    cnanolog, easyprofiler,
    measure::{process_time, row},
    memlyze, nytprof, wtf,
};

/// Number of rounds of a call; the best one counts, because other programs only ever add time.
const ROUNDS: usize = 3;
/// Number of records, of which about five in six are spans.
const RECORDS: u64 = 6_000_000;
/// Number of events, of which about two in five are spans.
const EVENTS: u64 = 13_000_000;
/// The id of a span in the middle of these traces.
const MIDDLE_SPAN: u64 = 2_500_000;
/// The duration of a range in the middle of a trace.
const RANGE_NS: u64 = 1_000_000;
/// Number of log entries, events of memory, and records of a line profile.
const OTHER_RECORDS: u64 = 5_000_000;

pub(crate) fn run() -> Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let (spans, source) = easyprofiler::generated(RECORDS)?;
    let mut met = runtime.block_on(measure_spans("easyprofiler", &spans, &source))?;
    let (spans, source) = wtf::generated(EVENTS)?;
    met &= runtime.block_on(measure_spans("wtf", &spans, &source))?;
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

/// Makes the calls that are useful for spans.
async fn measure_spans(format: &str, file: &NamedTempFile, source: &Source) -> Result<bool> {
    let options = Options { files: vec![file.path().to_owned()], ..Options::default() };
    let trace = json!({ "trace": file.path().display().to_string() });
    let opened = call(&connect(&options).await?, "open", &trace).await?;
    let duration_ns = opened.structured_content.and_then(|found| found["from_trace"]["duration_ns"].as_u64());
    let middle_ns = duration_ns.ok_or_else(|| failed(&"the trace has no duration"))? / 2;
    measure(format, file, source, calls_on_spans(file.path(), middle_ns..middle_ns + RANGE_NS)).await
}

/// Makes each call of a new server, so that none finds the summary that another one left; a refusal misses the bar.
async fn measure(format: &str, file: &NamedTempFile, source: &Source, calls: Vec<Call>) -> Result<bool> {
    println!("assist: {format}, {} MB", source.len()? / 1_000_000);
    let mut met = true;
    for (label, tool, arguments) in calls {
        let (mut best, mut refusal) = (Duration::MAX, None);
        for _ in 0..ROUNDS {
            // A new folder, because no file is overwritten.
            let folder = tempfile::tempdir()?;
            let options = Options { files: vec![file.path().to_owned()], allowed: vec![folder.path().to_owned()] };
            let client = connect(&options).await?;
            let before = process_time();
            let answer = call(&client, tool, &arguments).await?;
            best = best.min(process_time() - before);
            refusal = (answer.is_error == Some(true)).then(|| format!("{:?}", answer.content)).or(refusal);
            // The viewer continues loading after its address is known.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        met &= row(label, best.as_secs_f64(), "s of CPU", if tool == "open" { 2.0 } else { 1.0 });
        if let Some(message) = refusal {
            println!("  {label} refuses {arguments}: {message}");
            met = false;
        }
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
fn calls_on_spans(file: &Path, middle_ns: Range<u64>) -> Vec<Call> {
    let path = file.display().to_string();
    let trace = json!({ "trace": path });
    let query = "select name, count(*), sum(dur_ns) from spans group by name";
    let Range { start: from_ns, end: to_ns } = middle_ns;
    let slice =
        |from_ns: u64, to_ns: u64| json!({ "trace": path, "output": "slice", "from_ns": from_ns, "to_ns": to_ns });
    let convert = |to: &str| json!({ "trace": path, "output": format!("converted.{to}"), "to": to });
    vec![
        ("open", "open", trace.clone()),
        ("summary", "summary", trace.clone()),
        ("stats", "stats", trace.clone()),
        ("tree", "tree", trace.clone()),
        ("spans", "spans", trace.clone()),
        ("span", "span", json!({ "trace": path, "id": MIDDLE_SPAN })),
        ("window", "window", json!({ "trace": path, "from_ns": 0, "to_ns": RANGE_NS })),
        ("window in the middle", "window", json!({ "trace": path, "from_ns": from_ns, "to_ns": to_ns })),
        ("check", "check", trace.clone()),
        ("schema", "schema", json!({})),
        ("sql", "sql", json!({ "query": query, "traces": [path] })),
        ("diff", "diff", json!({ "before": [path], "after": [path] })),
        ("slice", "slice", slice(0, RANGE_NS)),
        ("slice in the middle", "slice", slice(from_ns, to_ns)),
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

async fn call(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: &Value,
) -> Result<CallToolResult> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    client.call_tool(request).await.map_err(|error| failed(&error))
}
