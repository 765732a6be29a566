//! A client in the same process, and traces of every format.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
};
use serde_json::Value as Json;
use tempfile::TempDir;
use traceloom::Trace;
use traceloom_mcp::{Options, Server};

pub(crate) type Client = RunningService<RoleClient, ()>;

/// A client of a server with these options.
pub(crate) async fn connect(options: &Options) -> Client {
    let (server_side, client_side) = tokio::io::duplex(1 << 16);
    let server = Server::new(options).expect("the folders exist");
    tokio::spawn(async move {
        let service = server.serve(server_side).await.expect("the client says hello");
        service.waiting().await.expect("it ends well");
    });
    ().serve(client_side).await.expect("the server answers")
}

/// A folder with a trace of every format, and a client that may read and write there.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) client: Client,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let client = connect(&Options { allowed: vec![folder.path().to_owned()], ..Options::default() }).await;
        Self { folder, client }
    }

    /// The sample of a format.
    pub(crate) fn sample(&self, format: &str) -> PathBuf {
        let sample = Trace::sample(format).expect("every format has a sample");
        let path = self.folder.path().join(sample.path());
        let mut bytes = Vec::new();
        sample.rewrite(&mut bytes).expect("a sample can be written");
        fs::write(&path, bytes).expect("there is room");
        fs::canonicalize(path).expect("it was just written")
    }

    /// Calls a tool, which may fail.
    pub(crate) async fn call(&self, tool: &'static str, arguments: Json) -> CallToolResult {
        let Json::Object(arguments) = arguments else { panic!("arguments are an object") };
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        self.client.call_tool(request).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// The result of a tool.
    pub(crate) async fn ask(&self, tool: &'static str, arguments: Json) -> Json {
        let answer = self.call(tool, arguments).await;
        assert_ne!(answer.is_error, Some(true), "{tool}: {:?}", answer.content);
        answer.structured_content.unwrap_or_else(|| panic!("{tool} has a structured answer"))
    }

    /// The error message of a tool.
    pub(crate) async fn refusal(&self, tool: &'static str, arguments: Json) -> String {
        let answer = self.call(tool, arguments).await;
        assert_eq!(answer.is_error, Some(true), "{tool} does not refuse");
        format!("{:?}", answer.content)
    }
}

pub(crate) fn formats() -> impl Iterator<Item = &'static str> {
    traceloom::formats().map(|format| format.id)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}
