//! The server on a local port.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio::net::TcpListener;
use traceloom_core::Result;
use traceloom_viewer_server::Guard;

use crate::{ANSWERING, Options, Server};

/// The address of the server and its token.
#[derive(Clone, Debug)]
pub struct Address {
    /// The URL, without the token.
    pub url: String,
    /// Token to send with each request, as `Authorization: Bearer TOKEN`.
    pub token: String,
}

/// Serves local clients on a port, or on any free port if it is 0; `ready` gets the address.
///
/// Every request needs the token, which is new for each run. Requests with another host name or from a page of another
/// site are rejected.
pub fn serve_http(options: &Options, port: u16, ready: impl FnOnce(&Address) -> Result<()>) -> Result<()> {
    let server = Server::new(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(ANSWERING).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let port = listener.local_addr()?.port();
        let guard = Arc::new(Guard::new(port)?);
        ready(&Address { url: format!("http://127.0.0.1:{port}/mcp"), token: guard.token().to_owned() })?;
        Ok(axum::serve(listener, router(server, guard)).await?)
    })
}

fn router(server: Server, guard: Arc<Guard>) -> Router {
    // No state is kept between requests, so disconnected clients cost nothing. A response is one JSON object unless
    // progress comes before it.
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config);
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(Arc::clone(&guard), Guard::check_token))
        .layer(middleware::from_fn_with_state(guard, Guard::check_host))
}

#[cfg(all(test, feature = "sql"))]
mod tests {
    use std::time::Duration;

    use serde_json::{Value as Json, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;
    use crate::server::tests::{ENDLESS, serving_samples, until_running};

    /// Sends a call; the connection gets the response.
    async fn send(port: u16, token: &str, query: &str, meta: Json) -> TcpStream {
        let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "sql", "arguments": { "query": query, "traces": ["game.prof"] }, "_meta": meta,
        } })
        .to_string();
        let headers = format!(
            "host: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\nmcp-protocol-version: 2025-06-18\r\naccept: \
             application/json, text/event-stream\r\ncontent-type: application/json\r\nconnection: close"
        );
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        let request = format!("POST /mcp HTTP/1.1\r\n{headers}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Serves on a port; returns it with the token.
    async fn serve(server: &Server) -> (u16, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let guard = Arc::new(Guard::new(port).unwrap());
        let token = guard.token().to_owned();
        let app = router(server.clone(), guard);
        tokio::spawn(async move { axum::serve(listener, app).await });
        (port, token)
    }

    /// The head and the body of a response.
    async fn response(mut stream: TcpStream) -> (String, String) {
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        (head.to_owned(), body.to_owned())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_client_that_disconnects_cancels_its_call() {
        let (_folder, server) = serving_samples();
        let (port, token) = serve(&server).await;
        let send = |query| send(port, &token, query, json!({}));
        let waiting = [send(ENDLESS).await, send(ENDLESS).await];
        until_running(&server, 2).await;
        drop(waiting);
        until_running(&server, 0).await;
        let (head, body) = response(send("select 1 as one").await).await;
        assert!(head.contains("application/json"), "{head}");
        let body: Json = serde_json::from_str(&body).unwrap();
        assert_eq!(body["result"]["structuredContent"]["from_trace"]["rows"], json!([{ "one": 1 }]));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_slow_call_streams_its_progress_to_a_client_that_asks_for_it() {
        let (_folder, mut server) = serving_samples();
        server.max_time = Duration::from_secs(2);
        let (port, token) = serve(&server).await;
        let (head, body) = response(send(port, &token, ENDLESS, json!({ "progressToken": 7 })).await).await;
        assert!(head.contains("text/event-stream"), "{head}");
        let (progress, result) = body.split_once("took more than 2 s").expect("the result comes last");
        assert!(progress.contains("notifications/progress") && progress.contains("bytes read"), "{body}");
        assert!(!result.contains("notifications/progress"), "{body}");
        // A client that does not ask for progress gets one object, and so does one whose call is quick.
        for (query, meta) in [(ENDLESS, json!({})), ("select 1", json!({ "progressToken": 7 }))] {
            let (head, body) = response(send(port, &token, query, meta).await).await;
            assert!(head.contains("application/json") && body.starts_with('{'), "{head}\n{body}");
        }
        // A client that disconnects from the stream cancels its call, too.
        server.max_time = Duration::from_secs(120);
        let (port, token) = serve(&server).await;
        let mut waiting = send(port, &token, ENDLESS, json!({ "progressToken": 7 })).await;
        let mut start = [0; 15];
        waiting.read_exact(&mut start).await.unwrap();
        assert_eq!(&start, b"HTTP/1.1 200 OK");
        drop(waiting);
        until_running(&server, 0).await;
    }
}
