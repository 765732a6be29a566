//! What the page asks, and the answers.

mod definitions;
mod details;
mod findings;
mod flame;
mod histogram;
mod log;
mod logline;
mod meanings;
mod memory;
mod minimap;
mod part;
mod picture;
mod place;
mod search;
mod source;
mod sql;
mod state;
mod stats;
mod totals;
mod upload;
mod work;

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
        .route("/open", post(upload::open))
        .route("/picture", get(picture::picture))
        .route("/extras", get(picture::extras))
        .route("/minimap", get(minimap::minimap))
        .route("/search", get(search::search))
        .route("/next", get(search::next))
        .route("/place", get(place::place))
        .merge(details::routes())
        .merge(definitions::routes())
        .merge(findings::routes())
        .merge(flame::routes())
        .merge(histogram::routes())
        .merge(log::routes())
        .merge(logline::routes())
        .merge(memory::routes())
        .merge(stats::routes())
        .merge(totals::routes())
        .merge(source::routes())
        .merge(sql::routes())
}

/// A question that cannot be answered.
pub(crate) struct Refusal(StatusCode, String);

impl Refusal {
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, message.into())
    }

    pub(crate) fn absent(message: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, message.into())
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self(StatusCode::PAYLOAD_TOO_LARGE, message.into())
    }

    pub(crate) fn broken() -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, "the server is in an unknown state; start it again".into())
    }
}

impl From<traceloom_core::Error> for Refusal {
    fn from(error: traceloom_core::Error) -> Self {
        Self(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

pub(crate) type Answer<T = Json<serde_json::Value>> = Result<T, Refusal>;
