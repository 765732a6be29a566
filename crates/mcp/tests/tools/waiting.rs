//! Long calls: progress, and cancellation.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, RoleClient, ServiceExt,
    model::{CallToolRequestParams, ClientRequest, ProgressNotificationParam, ProgressToken, Request},
    service::{NotificationContext, PeerRequestOptions},
};
use serde_json::json;
use traceloom_mcp::{Options, Server};

use crate::support::Bench;

/// Records progress notifications: their tokens and values.
#[derive(Clone, Default)]
struct Recording(Arc<Mutex<Vec<(ProgressToken, f64)>>>);

impl Recording {
    fn all(&self) -> Vec<(ProgressToken, f64)> {
        self.0.lock().expect("nothing panics while it is held").clone()
    }
}

impl ClientHandler for Recording {
    // A panic in here would go unnoticed.
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut all = self.0.lock().expect("nothing panics while it is held");
        all.push((progress.progress_token, progress.progress));
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
    let recording = Recording::default();
    let client = recording.clone().serve(client_side).await.expect("a server");
    let call = |query: &str| {
        let arguments = json!({ "query": query }).as_object().cloned().expect("an object");
        CallToolRequestParams::new("sql").with_arguments(arguments)
    };
    // More calls than run concurrently: if one of them continued, the last would wait for it.
    for _ in 0..4 {
        let before = recording.all().len();
        let request = ClientRequest::CallToolRequest(Request::new(call(ENDLESS)));
        let handle = client.send_cancellable_request(request, PeerRequestOptions::default()).await.expect("it is sent");
        while recording.all().len() == before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        handle.cancel(Some("enough".to_owned())).await.expect("it is told");
    }
    let all = recording.all();
    assert!(all.iter().all(|(_, bytes)| *bytes > 0.0), "{all:?}");
    for ((token, before), (next, bytes)) in all.iter().zip(all.iter().skip(1)) {
        assert!(token != next || bytes > before, "progress grows: {all:?}");
    }
    let answer = client.call_tool(call("select 1 as one")).await.expect("an answer");
    assert_eq!(answer.structured_content.expect("structured")["from_trace"]["rows"], json!([{ "one": 1 }]));
}
