//! Queries of the page, and their answers.
//!
//! Each module holds one endpoint: its query, its answer, and its handler. The page knows the types from
//! `web/src/wire.ts`, which [`wire`] writes.

mod around;
mod changes;
mod counterparts;
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
pub(crate) mod open;
mod overview;
mod picture;
mod place;
mod range;
mod search;
mod source;
mod sql;
mod state;
mod stats;
pub(crate) mod store;
mod totals;

mod wire;

use serde::Serialize;

pub(crate) use crate::{
    router::{Bytes, Routes},
    work,
};

pub(crate) fn routes(routes: &mut Routes) {
    for add in [
        around::routes,
        changes::routes,
        counterparts::routes,
        definitions::routes,
        details::routes,
        findings::routes,
        flame::routes,
        frames::routes,
        histogram::routes,
        log::routes,
        logline::routes,
        memory::routes,
        minimap::routes,
        notes::routes,
        overview::routes,
        picture::routes,
        place::routes,
        search::routes,
        source::routes,
        sql::routes,
        state::routes,
        stats::routes,
        totals::routes,
    ] {
        add(routes);
    }
}

/// An answer, or the reason why there is none.
pub(crate) type Answer<T> = Result<T, Refusal>;

/// The answer to a command: that it is done.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Done {}

/// A query that cannot be answered: an HTTP status and a sentence.
pub(crate) struct Refusal(pub(crate) u16, pub(crate) String);

/// Why a query was refused.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Refused {
    pub(crate) error: String,
}

impl Refusal {
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self(400, message.into())
    }

    pub(crate) fn absent(message: impl Into<String>) -> Self {
        Self(404, message.into())
    }

    pub(crate) fn broken() -> Self {
        Self(500, "the server is in an unknown state; start it again".into())
    }
}

impl From<traceloom_core::Error> for Refusal {
    fn from(error: traceloom_core::Error) -> Self {
        Self(422, error.to_string())
    }
}
