//! Traces in the browser.
//!
//! [`start`] serves a page on the loopback interface and loads the traces meanwhile. The page asks for pictures of a
//! window at a width and gets what its pixels can show; it never holds the trace.

#![forbid(unsafe_code)]

mod api;
mod assets;
mod connections;
mod guard;
mod load;
mod scene;
mod server;

pub use crate::{
    guard::Guard,
    server::{Options, Viewer, start},
};

/// What the code of a finding means, if the page of its format says so.
pub fn meaning(code: &str) -> Option<&'static str> {
    api::meanings::of(code)
}
