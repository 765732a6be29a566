//! Passes HTTP requests to the router.

use std::sync::Arc;

use axum::{
    body::to_bytes,
    extract::{Path, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use tokio::{task::spawn_blocking, time::timeout};
use traceloom_viewer::{self as viewer, Request, Started, Waiting};

use crate::{connections::PATIENCE, served::Served};

/// Max size of a body; longer than the path to the deepest frame of a flame graph.
const MAX_BODY: usize = 2 << 20;

/// Answers a request; long work runs on a separate thread, and ends if the client disconnects.
pub(crate) async fn answer(
    State(served): State<Arc<Served>>,
    Path(path): Path<String>,
    asked: axum::extract::Request,
) -> Response {
    let (Parts { method, uri, headers, .. }, body) = asked.into_parts();
    let body = match timeout(PATIENCE, to_bytes(body, MAX_BODY)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return refused(StatusCode::PAYLOAD_TOO_LARGE, format!("the query is larger than {} MiB", MAX_BODY >> 20));
        }
        Err(_) => return refused(StatusCode::REQUEST_TIMEOUT, "timed out while receiving the query"),
    };
    let request = Request { method: method.as_str(), path: &path, query: uri.query().unwrap_or_default(), body: &body };
    let router = match served.router(&headers).await {
        Ok(router) => router,
        Err(refusal) => return shown(refusal),
    };
    match router.start(&request) {
        Started::Done(response) => shown(response),
        Started::Work(work) => {
            let waiting = Waiting::default();
            let over = waiting.over();
            shown(spawn_blocking(move || work(&over)).await.unwrap_or_else(|_| viewer::Response::failed()))
        }
    }
}

pub(crate) fn refused(status: StatusCode, reason: impl Into<String>) -> Response {
    shown(viewer::Response::refused(status.as_u16(), reason))
}

pub(crate) fn shown(viewer::Response { status, content_type, body }: viewer::Response) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, content_type)], body).into_response()
}
