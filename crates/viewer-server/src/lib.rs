//! Traces in the browser, from a local server.
//!
//! [`start`] serves the page of `traceloom-viewer` on the loopback interface and loads the traces in the background.

#![forbid(unsafe_code)]

mod answer;
mod assets;
mod connections;
mod guard;
mod live;
mod served;
mod server;
mod upload;

pub use traceloom_viewer::{Keep, Watching, meaning};

pub use crate::{
    guard::Guard,
    live::{Live, LiveSource, numbered},
    server::{Options, StoreOptions, Viewer, start},
};
