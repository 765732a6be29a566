//! Long calls: progress, and cancellation.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{CallToolRequestParams, ClientRequest, ProgressNotificationParam, Request},
    service::{NotificationContext, PeerRequestOptions},
};
use serde_json::json;
use traceloom_mcp::{Options, Server};

use crate::support::Bench;

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
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let options = Options { files: vec![path], ..Options::default() };
    let server = Server::new(&options).expect("the file exists");
    tokio::spawn(async move { server.serve(server_side).await.expect("a client").waiting().await });
    let counting = Counting::default();
    let client = counting.clone().serve(client_side).await.expect("a server");
    let call = |query: &str| {
        let arguments = json!({ "query": query }).as_object().cloned().expect("an object");
        CallToolRequestParams::new("sql").with_arguments(arguments)
    };
    // More calls than run concurrently: if one of them continued, the last would wait for it.
    for _ in 0..4 {
        counting.0.store(0, Ordering::SeqCst);
        let request = ClientRequest::CallToolRequest(Request::new(call(ENDLESS)));
        let handle = client.send_cancellable_request(request, PeerRequestOptions::default()).await.expect("it is sent");
        while counting.0.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        handle.cancel(Some("enough".to_owned())).await.expect("it is told");
    }
    let answer = client.call_tool(call("select 1 as one")).await.expect("an answer");
    assert_eq!(answer.structured_content.expect("structured")["from_trace"]["rows"], json!([{ "one": 1 }]));
}
