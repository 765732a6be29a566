//! Traces in the browser: everything that answers the page, and the page.
//!
//! The page asks for pictures of a window at a width and gets what its pixels can show; it never holds the trace. A
//! [`Router`] answers its requests from a compact form of the traces. It knows no sockets: `traceloom-viewer-server` puts
//! it behind a local server, `traceloom-viewer-wasm` into a worker of the browser.

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

/// What the code of a finding means, if the page of its format says so.
pub fn meaning(code: &str) -> Option<&'static str> {
    api::meanings::of(code)
}
