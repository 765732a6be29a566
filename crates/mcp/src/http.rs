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
