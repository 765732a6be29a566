//! Working folders of the client.

#![expect(deprecated, reason = "clients of older revisions have roots")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, ListRootsResult, Root,
    },
    service::{RequestContext, RunningService},
};
use serde_json::json;
use traceloom_mcp::{Options, Server};

use crate::support::{Bench, text};

/// A client with these working folders, if any.
#[derive(Clone)]
struct Working {
    folders: Arc<Mutex<Vec<PathBuf>>>,
    has_roots: bool,
}

impl ClientHandler for Working {
    fn get_info(&self) -> ClientConfig {
        let with_roots = ClientCapabilities::builder().enable_roots().enable_roots_list_changed().build();
        let capabilities = if self.has_roots { with_roots } else { ClientCapabilities::default() };
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        assert!(self.has_roots, "a client without roots is not asked");
        let root = |folder: &PathBuf| Root::new(format!("file://{}", text(folder)));
        Ok(ListRootsResult::new(self.folders.lock().expect("no test failed").iter().map(root).collect()))
    }
}

async fn connect(client: Working) -> RunningService<RoleClient, Working> {
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let server = Server::new(&Options::default()).expect("nothing is allowed");
    tokio::spawn(async move { server.serve(server_side).await.expect("a client").waiting().await });
    client.serve(client_side).await.expect("a server")
}

async fn check(client: &RunningService<RoleClient, Working>, trace: &str) -> CallToolResult {
    let arguments = json!({ "trace": trace }).as_object().cloned().expect("an object");
    client.call_tool(CallToolRequestParams::new("check").with_arguments(arguments)).await.expect("an answer")
}

/// Retries until the result is this one, because a notification has no reply.
async fn until(client: &RunningService<RoleClient, Working>, trace: &str, is_refused: bool) {
    for _ in 0..200 {
        if check(client, trace).await.is_error.unwrap_or(false) == is_refused {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{trace} is {} refused", if is_refused { "never" } else { "always" });
}

#[tokio::test(flavor = "multi_thread")]
async fn files_below_the_roots_of_the_client_are_read_until_the_roots_change() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let folder = fs::canonicalize(bench.folder.path()).expect("a folder");
    let folders = Arc::new(Mutex::new(vec![folder]));
    let client = connect(Working { folders: Arc::clone(&folders), has_roots: true }).await;
    // Two concurrent calls: neither is refused because the other is still asking.
    let (one, other) = tokio::join!(check(&client, text(&path)), check(&client, text(&path)));
    for answer in [&one, &other] {
        assert_ne!(answer.is_error, Some(true), "{:?}", answer.content);
    }
    assert_eq!(check(&client, "/etc/passwd").await.is_error, Some(true));
    let handle = format!("trace-{:016x}", traceloom::Trace::open(&path).expect("opens").id());
    assert_ne!(check(&client, &handle).await.is_error, Some(true), "it is open");

    folders.lock().expect("no test failed").clear();
    client.notify_roots_list_changed().await.expect("a server");
    until(&client, text(&path), true).await;
    until(&client, &handle, true).await;

    folders.lock().expect("no test failed").push(path.parent().map(Path::to_owned).expect("a folder"));
    client.notify_roots_list_changed().await.expect("a server");
    until(&client, text(&path), false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_roots_is_not_asked_for_them() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let client = connect(Working { folders: Arc::default(), has_roots: false }).await;
    assert_eq!(check(&client, text(&path)).await.is_error, Some(true));
}
