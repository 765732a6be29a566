//! Queries of the page, and their answers.
//!
//! Each module holds one endpoint: its query, its answer, and the way from one to the other. The page knows the types from
//! `web/src/wire.ts`, which [`wire`] writes.

mod around;
mod changes;
mod definitions;
mod details;
mod findings;
mod flame;
mod frames;
mod histogram;
mod log;
mod logline;
pub(crate) mod meanings;
mod memory;
mod minimap;
mod notes;
mod overview;
mod picture;
mod place;
mod range;
mod search;
mod source;
mod sql;
mod state;
mod stats;
mod totals;
mod upload;
mod wire;
mod work;

use axum::{
    Json, Router,
    body::to_bytes,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout;

use crate::{connections::PATIENCE, server::App};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/state", get(state::state))
        .route("/names", get(state::names))
        .route("/offset", post(state::offset))
        .route("/close", post(state::close))
        .route("/open", post(upload::open))
        .route("/picture", get(picture::picture))
        .route("/extras", get(picture::extras))
        .route("/minimap", get(minimap::minimap))
        .route("/notes", get(notes::read).post(notes::write))
        .route("/search", get(search::search))
        .route("/next", get(search::next))
        .route("/place", get(place::place))
        .merge(around::routes())
        .merge(changes::routes())
        .merge(details::routes())
        .merge(definitions::routes())
        .merge(findings::routes())
        .merge(flame::routes())
        .merge(frames::routes())
        .merge(histogram::routes())
        .merge(log::routes())
        .merge(logline::routes())
        .merge(memory::routes())
        .merge(overview::routes())
        .merge(stats::routes())
        .merge(totals::routes())
        .merge(source::routes())
        .merge(sql::routes())
}

/// An answer, or why there is none.
pub(crate) type Answer<T> = Result<T, Refusal>;

/// The answer to a command: that it is done.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Done {}

/// A query that cannot be answered.
pub(crate) struct Refusal(StatusCode, String);

/// Why a query was refused.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Refused {
    error: String,
}

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

    /// The work on one query panicked; the others go on.
    pub(crate) fn failed() -> Self {
        let reason = "this query failed because of a bug in Traceloom; please report it";
        Self(StatusCode::INTERNAL_SERVER_ERROR, reason.into())
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
        (self.0, Json(Refused { error: self.1 })).into_response()
    }
}

/// A query from the address; one that does not fit is refused in a sentence.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let asked = Query::<T>::from_request_parts(parts, state).await;
        asked.map(|Query(asked)| Self(asked)).map_err(|rejection| Refusal::bad(rejection.body_text()))
    }
}

/// A query from the body, as JSON: for those that are too long for an address.
pub(crate) struct Posted<T>(pub(crate) T);

/// Longer than the path to the deepest frame of a flame graph.
const MAX_BODY: usize = 2 << 20;

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Posted<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let body = timeout(PATIENCE, to_bytes(request.into_body(), MAX_BODY)).await;
        let body =
            body.map_err(|_| Refusal(StatusCode::REQUEST_TIMEOUT, "the rest of the query did not come".into()))?;
        let body = body.map_err(|_| Refusal::too_large(format!("a query has at most {MAX_BODY} bytes")))?;
        serde_json::from_slice(&body).map(Self).map_err(|error| Refusal::bad(format!("this is not a query: {error}")))
    }
}
