//! Traces in the browser: the page, and everything that answers it.
//!
//! The page requests the contents of a window at a given width and gets what its pixels can show; it never holds the
//! trace. A [`Router`] answers its requests from a compact form of the traces, without sockets:
//! `traceloom-viewer-server` runs it in a local server, `traceloom-viewer-wasm` in a worker of the browser.

#![forbid(unsafe_code)]

mod api;
mod app;
mod live;
mod load;
mod page;
mod router;
mod scene;
mod work;

pub use crate::{
    live::{Keep, Watching},
    load::Spawn,
    page::{PAGE, PageFile},
    router::{Request, Response, Router, Started},
    work::{Over, Waiting},
};

/// The meaning of a finding code, if the page of its format explains it.
pub fn meaning(code: &str) -> Option<&'static str> {
    api::meanings::of(code)
}
