//! Long calls: progress, and cancellation.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{CallToolRequestParams, ClientRequest, ProgressNotificationParam, Request},
    service::{NotificationContext, PeerRequestOptions},
};
use serde_json::{Value as Json, json};
use traceloom_mcp::{Options, Server};

use crate::support::{Bench, text};

/// Counts progress notifications.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicU64>);

impl ClientHandler for Counting {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let before = self.0.swap(progress.progress as u64, Ordering::SeqCst);
        assert!(progress.progress as u64 > before, "progress grows");
    }
}

/// A query that would run for days.
const ENDLESS: &str =
    "select count(*) from spans a, spans b, spans c, spans d, spans e where a.id + b.id + c.id + d.id > e.id";

#[tokio::test(flavor = "multi_thread")]
async fn a_call_reports_its_progress_and_ends_when_it_is_canceled() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    // Without SQL, only reading can be interrupted; comparing that many runs takes minutes.
    let runs = vec![text(&path); 20_000];
    for (tool, arguments) in
        [("sql", json!({ "query": ENDLESS })), ("diff", json!({ "before": runs, "after": [text(&path)] }))]
    {
        cancel_often(&path, tool, arguments).await;
    }
}

async fn cancel_often(path: &Path, tool: &'static str, arguments: Json) {
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let options = Options { files: vec![path.to_owned()], ..Options::default() };
    let server = Server::new(&options).expect("the file exists");
    tokio::spawn(async move { server.serve(server_side).await.expect("a client").waiting().await });
    let counting = Counting::default();
    let client = counting.clone().serve(client_side).await.expect("a server");
    let call = |tool: &'static str, arguments: &Json| {
        CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().expect("an object"))
    };
    // More calls than run concurrently: if one of them continued, the last would wait for it.
    for _ in 0..4 {
        counting.0.store(0, Ordering::SeqCst);
        let request = ClientRequest::CallToolRequest(Request::new(call(tool, &arguments)));
        let handle = client.send_cancellable_request(request, PeerRequestOptions::default()).await.expect("it is sent");
        while counting.0.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        handle.cancel(Some("enough".to_owned())).await.expect("it is told");
    }
    let last = client.call_tool(call("sql", &json!({ "query": "select 1 as one" })));
    let answer = tokio::time::timeout(Duration::from_secs(30), last).await.expect("its turn").expect("an answer");
    assert_eq!(answer.structured_content.expect("structured")["from_trace"]["rows"], json!([{ "one": 1 }]), "{tool}");
}
