//! A Model Context Protocol server that gives assistants access to traces.
//!
//! Results come from the same functions as the program's `--json`. Data from a trace is inert: control characters are
//! escaped, lists and texts are truncated with their totals, and only files in allowed folders are accessed.

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

/// Number of threads that serve requests; the work runs on other threads.
const ANSWERING: usize = 2;

/// Serves the client at standard input and output until it disconnects.
pub fn serve_stdio(options: &Options) -> Result<()> {
    let server = Server::new(options)?;
    let failed = |error: &dyn std::fmt::Display| Error::from(std::io::Error::other(error.to_string()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(ANSWERING).enable_all().build()?;
    let outcome = runtime.block_on(async {
        let service = server.serve(rmcp::transport::stdio()).await.map_err(|error| failed(&error))?;
        service.waiting().await.map(drop).map_err(|error| failed(&error))
    });
    // A thread that still waits for standard input must not delay the exit.
    runtime.shutdown_background();
    outcome
}
