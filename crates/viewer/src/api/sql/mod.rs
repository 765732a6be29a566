//! Queries in SQL; in builds without the engine, the answer that there is none.

#[cfg(any(feature = "sql", test))]
mod answer;
#[cfg(feature = "sql")]
mod ask;
#[cfg(feature = "sql")]
mod examples;

use axum::Router;

#[cfg(test)]
pub(crate) use self::answer::{Schema, SqlAnswer, SqlQuery};
use crate::server::App;

#[cfg(feature = "sql")]
pub(crate) fn routes() -> Router<App> {
    ask::routes()
}

#[cfg(not(feature = "sql"))]
pub(crate) fn routes() -> Router<App> {
    use axum::routing::{get, post};

    use super::{Answer, Done, Refusal};

    async fn absent() -> Answer<axum::Json<Done>> {
        Err(Refusal::absent("this build answers no SQL: it was made without the feature sql"))
    }
    Router::new().route("/sql", post(absent)).route("/sql/schema", get(absent))
}
