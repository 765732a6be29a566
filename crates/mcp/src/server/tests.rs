//! How calls end: after their time, when they are canceled, and when the client disconnects.

use std::{fs, path::Path};

use rmcp::{
    ServiceExt,
    model::{ClientRequest, Request},
    service::PeerRequestOptions,
};
use serde_json::json;
use tempfile::TempDir;
use traceloom::Trace;

use super::*;

/// A query that would run for days.
#[cfg(feature = "sql")]
pub(crate) const ENDLESS: &str =
    "select count(*) from spans a, spans b, spans c, spans d, spans e where a.id + b.id + c.id + d.id > e.id";

/// A server that may read and write a folder with the sample of each format.
pub(crate) fn serving_samples() -> (TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    for format in traceloom::formats() {
        let sample = Trace::sample(format.id).unwrap();
        sample.rewrite(&mut fs::File::create(folder.path().join(sample.path())).unwrap()).unwrap();
    }
    let server = serving(folder.path());
    (folder, server)
}

fn serving(folder: &Path) -> Server {
    Server::new(&Options { allowed: vec![folder.to_owned()], ..Options::default() }).unwrap()
}

/// Waits until that many calls run.
pub(crate) async fn until_running(server: &Server, calls: usize) {
    until(|| server.running.available_permits() == MAX_RUNNING - calls).await;
}

/// Waits until something is so.
async fn until(is_so: impl Fn() -> bool) {
    let all = async {
        while !is_so() {
            time::sleep(Duration::from_millis(10)).await;
        }
    };
    time::timeout(Duration::from_secs(60), all).await.expect("it is so within a minute");
}

#[cfg(feature = "sql")]
#[tokio::test(flavor = "multi_thread")]
async fn a_call_ends_after_its_time() {
    let (_folder, mut server) = serving_samples();
    assert_eq!(server.max_time, Duration::from_secs(120), "the guide says two minutes");
    server.max_time = Duration::from_secs(1);
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let serving = server.clone();
    tokio::spawn(async move { serving.serve(server_side).await.unwrap().waiting().await });
    let client = ().serve(client_side).await.unwrap();
    let arguments = json!({ "query": ENDLESS, "traces": ["game.prof"] });
    let request = CallToolRequestParams::new("sql").with_arguments(arguments.as_object().cloned().unwrap());
    let answer = client.call_tool(request).await.unwrap();
    assert_eq!(answer.is_error, Some(true));
    assert!(format!("{:?}", answer.content).contains("took more than 1 s; ask for less"), "{:?}", answer.content);
    until_running(&server, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_others_ends_when_it_is_canceled_and_after_its_time() {
    let (_folder, mut server) = serving_samples();
    server.max_time = Duration::from_secs(1);
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let mut patient = server.clone();
    patient.max_time = MAX_TIME;
    tokio::spawn(async move { patient.serve(server_side).await.unwrap().waiting().await });
    let client = ().serve(client_side).await.unwrap();
    let _others = Arc::clone(&server.running).acquire_many_owned(MAX_RUNNING as u32).await.unwrap();
    // A call that waits holds a reference.
    let references = || Arc::strong_count(&server.running);
    let idle = references();
    let request = ClientRequest::CallToolRequest(Request::new(CallToolRequestParams::new("schema")));
    let call = client.send_cancellable_request(request, PeerRequestOptions::default()).await.unwrap();
    until(|| references() > idle).await;
    call.cancel(None).await.unwrap();
    until(|| references() == idle).await;

    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(server_side).await.unwrap().waiting().await });
    let client = ().serve(client_side).await.unwrap();
    let answer = client.call_tool(CallToolRequestParams::new("schema"));
    let answer = time::timeout(Duration::from_secs(60), answer).await.expect("it does not wait longer").unwrap();
    assert!(format!("{:?}", answer.content).contains("took more than 1 s"), "{:?}", answer.content);
}

#[test]
fn every_tool_that_reads_a_trace_stops_when_nobody_waits() {
    let (folder, _) = serving_samples();
    for tool in tools::all().filter(|tool| !["schema", "link"].contains(&tool.name)) {
        let trace = match tool.name {
            "lines" => "nytprof.out",
            "log" => "service.clog",
            "memory" => "shop.mlyze",
            _ => "game.prof",
        };
        // A new one, because a summary is kept.
        let server = serving(folder.path());
        let output = format!("{}.json", tool.name);
        let arguments = match tool.name {
            "convert" => json!({ "trace": trace, "output": output, "to": "chrome" }),
            "diff" => json!({ "before": [trace], "after": [trace] }),
            "report" => json!({ "traces": [trace], "output": output }),
            "slice" => json!({ "trace": trace, "output": output, "from_ns": 0, "to_ns": 1_000_000 }),
            "span" => json!({ "trace": trace, "id": 1 }),
            "sql" => json!({ "query": "select count(*) from spans", "traces": [trace] }),
            "window" => json!({ "trace": trace, "from_ns": 0, "to_ns": 1_000_000 }),
            _ => json!({ "trace": trace }),
        };
        let call = |job: Job| tool.call(&Call { state: &server.state, arguments: arguments.clone(), job });
        let canceled = Job::default();
        canceled.cancel();
        let answer = call(canceled);
        assert_eq!(answer.is_error, Some(true), "{}", tool.name);
        assert!(format!("{:?}", answer.content).contains("canceled"), "{}: {:?}", tool.name, answer.content);
        assert!(!folder.path().join(&output).exists(), "{} leaves no file", tool.name);
        let answer = call(Job::default());
        assert_ne!(answer.is_error, Some(true), "{}: {:?}", tool.name, answer.content);
    }
}

#[test]
fn roots_are_addresses_of_files() {
    let path = |uri: &str| local_path(uri).map(|path| path.display().to_string());
    assert_eq!(path("file:///home/a%20b"), Some("/home/a b".to_owned()));
    for wrong in ["http://example.org/x", "file://host/x", "file:///%", "/home"] {
        assert_eq!(path(wrong), None, "{wrong}");
    }
}
