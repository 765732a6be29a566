//! The program `traceloom-cluster`: Traceloom's SQL on many machines.
//!
//! Apache DataFusion Ballista distributes the work. This crate adds the codecs of `traceloom-query`, settings with
//! which a lost executor costs only seconds, and the program.

#![forbid(unsafe_code)]

mod args;
mod client;
mod engine;
mod executor;
mod local;
mod log;
mod problems;
mod scheduler;

use std::{io::Read, process::ExitCode, thread};

use clap::Parser;
use traceloom_core::{Error, ErrorKind, Result};

use crate::args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // A client prints a result or one sentence; the engine would print the same error before it, at length.
    if arguments.verbose > 0 || !matches!(arguments.command, Command::Query(_)) {
        log::start(arguments.verbose);
    }
    match run(&arguments.command) {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        // Without an error on standard error, so that a caller can distinguish the two.
        Ok(Outcome::DataMissing) => ExitCode::FAILURE,
        Ok(Outcome::InputMissing) => ExitCode::from(2),
        Err(error) => {
            eprintln!("error: {error}");
            // As in every verb of `traceloom`.
            ExitCode::from(if matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Usage(_)) { 2 } else { 1 })
        }
    }
}

/// The outcome of a command that did its work.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Outcome {
    Fine,
    /// The result is incomplete, because a trace is damaged or is not one.
    DataMissing,
    /// The result is incomplete, because an input is missing or cannot be reached.
    InputMissing,
}

fn run(command: &Command) -> Result<Outcome> {
    match command {
        Command::Executor(arguments) => serve(arguments.with_parent, executor::run(arguments))?,
        Command::Local(arguments) => local::run(arguments)?,
        Command::Query(arguments) => return client::run(arguments),
        Command::Scheduler(arguments) => serve(arguments.with_parent, scheduler::run(arguments))?,
    }
    Ok(Outcome::Fine)
}

/// Serves until the process is asked to end.
fn serve(with_parent: bool, service: impl Future<Output = ballista_core::error::Result<()>>) -> Result<()> {
    if with_parent {
        thread::spawn(end_with_parent);
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // Recursion over plans is as deep as the query.
    builder.enable_all().thread_stack_size(engine::STACK_BYTES);
    builder.build()?.block_on(service).map_err(|error| Error::from(std::io::Error::other(error.to_string())))
}

/// Ends this process when the parent ends in any way, which closes the pipe to standard input.
#[expect(clippy::disallowed_methods, reason = "the service runs until it is stopped, and leaves nothing half written")]
fn end_with_parent() {
    let mut byte = [0];
    while std::io::stdin().read(&mut byte).is_ok_and(|read| read > 0) {}
    std::process::exit(0);
}
