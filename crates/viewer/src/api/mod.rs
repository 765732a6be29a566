//! What the page asks, and the answers.

mod details;
mod log;
mod picture;
mod search;
mod state;

use axum::{
    Json, Router,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use crate::server::App;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/state", get(state::state))
        .route("/names", get(state::names))
        .route("/offset", post(state::offset))
        .route("/open", post(state::open).layer(axum::extract::DefaultBodyLimit::max(UPLOAD_BYTES)))
        .route("/picture", get(picture::picture))
        .route("/extras", get(picture::extras))
        .route("/minimap", get(picture::minimap))
        .route("/span", get(details::span))
        .route("/search", get(search::search))
        .route("/next", get(search::next))
        .route("/log", get(log::log))
}

/// A file that is dropped on the page is held in memory; a larger one can be named on the command line.
const UPLOAD_BYTES: usize = 512 << 20;

/// A question that cannot be answered.
pub(crate) struct Refusal(StatusCode, String);

impl Refusal {
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, message.into())
    }

    pub(crate) fn absent(message: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, message.into())
    }

    pub(crate) fn broken() -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, "the server is in an unknown state; start it again".into())
    }
}

impl From<traceloom_bytes::Error> for Refusal {
    fn from(error: traceloom_bytes::Error) -> Self {
        Self(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

pub(crate) type Answer<T = Json<serde_json::Value>> = Result<T, Refusal>;
