//! The `traceloom` program.

#![forbid(unsafe_code)]

mod args;
mod browser;
mod commands;
mod fields;
mod input;
mod output;
mod progress;
mod staged;
mod table;
mod units;

use std::process::ExitCode;

use clap::Parser;
use traceloom_core::{Error, ErrorKind, Result};

use crate::{args::Arguments, output::Styles};

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(args::with_default_verb(std::env::args_os(), browser::default_verb()));
    arguments.color.apply();
    match commands::run(arguments.command) {
        Ok(outcome) => outcome.into(),
        Err(error) => fail(&error),
    }
}

/// How a command ended when it could do its work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    /// Nothing to complain about.
    Fine,
    /// The work is done and something severe was found.
    Findings,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Fine => 0,
            Outcome::Findings => 1,
        })
    }
}

impl Outcome {
    fn and(self, other: Self) -> Self {
        if self == Self::Fine { other } else { self }
    }
}

fn fail(error: &Error) -> ExitCode {
    let code = match error.kind() {
        // Whoever read our output has seen enough.
        ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        ErrorKind::Io(_) | ErrorKind::Usage(_) => 2,
        _ => 1,
    };
    report(error);
    ExitCode::from(code)
}

/// Prints an error for people.
fn report(error: &Error) {
    let style = Styles::ERROR;
    anstream::eprintln!("{style}error:{style:#} {error}");
}

/// Runs `work` for each file and goes on after a file that cannot be read.
fn each<T>(items: &[T], mut work: impl FnMut(&T) -> Result<Outcome>) -> Result<Outcome> {
    let mut outcome = Outcome::Fine;
    for item in items {
        match work(item) {
            Ok(one) => outcome = outcome.and(one),
            Err(error) if items.len() > 1 && !matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Usage(_)) => {
                report(&error);
                outcome = Outcome::Findings;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(outcome)
}
