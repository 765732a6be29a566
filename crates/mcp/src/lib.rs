//! Traces for assistants: a server of the Model Context Protocol.
//!
//! Answers come from the same functions as the program's `--json`. Whatever comes from a trace is inert data: control
//! characters are written out, lists and texts are cut with their totals, and only files below allowed folders are touched.

#![forbid(unsafe_code)]

mod access;
mod http;
mod inert;
mod job;
mod prompts;
mod resources;
mod server;
mod shape;
mod shelf;
mod tools;

use rmcp::ServiceExt;
use traceloom_core::{Error, Result};

pub use crate::{
    http::{Address, serve_http},
    server::{Options, Server},
};

/// Threads that answer; the work runs on others.
const ANSWERING: usize = 2;

/// Serves the client at standard input and output until it goes away.
pub fn serve_stdio(options: &Options) -> Result<()> {
    let server = Server::new(options)?;
    let failed = |error: &dyn std::fmt::Display| Error::from(std::io::Error::other(error.to_string()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(ANSWERING).enable_all().build()?;
    let outcome = runtime.block_on(async {
        let service = server.serve(rmcp::transport::stdio()).await.map_err(|error| failed(&error))?;
        service.waiting().await.map(drop).map_err(|error| failed(&error))
    });
    // A thread that still waits for standard input must not hold up the end.
    runtime.shutdown_background();
    outcome
}
