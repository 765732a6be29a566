//! The `traceloom` program.

#![forbid(unsafe_code)]

mod args;
mod browser;
mod commands;
mod input;
mod output;
mod progress;
mod staged;
mod table;
mod units;

use std::process::ExitCode;

use clap::Parser;
use traceloom_core::{Error, ErrorKind, Findings, Result, Severity};

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
    /// The outcome of work on a file that has these problems.
    fn of(findings: &Findings) -> Self {
        if findings.worst() == Some(Severity::Error) { Self::Findings } else { Self::Fine }
    }

    fn and(self, other: Self) -> Self {
        if self == Self::Fine { other } else { self }
    }
}

fn fail(error: &Error) -> ExitCode {
    let code = match error.kind() {
        // The reader of our output has seen enough.
        ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        // A command that does not fit its file is wrong usage, too.
        ErrorKind::Io(_) | ErrorKind::Unsupported(_) | ErrorKind::Usage(_) => 2,
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
            Err(error) if items.len() > 1 && error.is_about_file() => {
                report(&error);
                outcome = Outcome::Findings;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(outcome)
}
