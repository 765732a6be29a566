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
    // No state is kept between requests, so disconnected clients cost nothing.
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
    use serde_json::{Value as Json, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;
    use crate::server::tests::{ENDLESS, serving_samples, until_running};

    /// Sends a call; the connection gets the response.
    async fn send(port: u16, token: &str, query: &str) -> TcpStream {
        let meta = json!({ "progressToken": 1 });
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

    #[tokio::test(flavor = "multi_thread")]
    async fn a_client_that_disconnects_cancels_its_call() {
        let (_folder, server) = serving_samples();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let guard = Arc::new(Guard::new(port).unwrap());
        let token = guard.token().to_owned();
        let app = router(server.clone(), guard);
        tokio::spawn(async move { axum::serve(listener, app).await });
        let waiting = [send(port, &token, ENDLESS).await, send(port, &token, ENDLESS).await];
        until_running(&server, 2).await;
        drop(waiting);
        until_running(&server, 0).await;
        // The response is one JSON object: without a stream, a client that asks for progress gets none.
        let mut response = String::new();
        send(port, &token, "select 1 as one").await.read_to_string(&mut response).await.unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/json"), "{head}");
        let body: Json = serde_json::from_str(body).unwrap();
        assert_eq!(body["result"]["structuredContent"]["from_trace"]["rows"], json!([{ "one": 1 }]));
    }
}
