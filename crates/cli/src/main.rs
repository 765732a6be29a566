//! The `traceloom` program.

#![forbid(unsafe_code)]

mod args;
mod browser;
mod commands;
mod companion;
mod input;
mod output;
mod progress;
mod staged;
mod table;
mod units;

use std::process::ExitCode;

use clap::Parser;
use traceloom_core::{Error, ErrorKind, Limits, Result};

use crate::{args::Arguments, output::Styles};

fn main() -> ExitCode {
    let arguments = match args::first_word::with_verb(std::env::args_os(), browser::default_verb()) {
        Ok(words) => Arguments::parse_from(words),
        Err(error) => return fail(&error),
    };
    arguments.color.apply();
    output::be_quiet(arguments.quiet);
    if let Some(threads) = arguments.max_threads {
        Limits::set_default_threads(threads.get());
    }
    match commands::run(arguments.command) {
        Ok(outcome) if arguments.allow_damaged => outcome.and(output::failures()).into(),
        Ok(outcome) => outcome.and(output::failures()).and(output::damage()).into(),
        Err(error) => fail(&error),
    }
}

/// The outcome of a command that did its work.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Outcome {
    /// No problems.
    Fine,
    /// The command succeeded and found severe problems.
    Findings,
    /// One of several files could not be opened; the others were processed.
    Incomplete,
    /// The traced program exited with this code.
    Exited(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome.code())
    }
}

impl Outcome {
    fn and(self, other: Self) -> Self {
        self.max(other)
    }

    fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Findings => 1,
            Self::Incomplete => 2,
            Self::Exited(code) => code,
        }
    }
}

fn fail(error: &Error) -> ExitCode {
    let code = match error.kind() {
        // The reader of our output closed the pipe.
        ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        ErrorKind::Io(_) | ErrorKind::Usage(_) => 2,
        _ => 1,
    };
    report(error);
    // Another file may have failed for a more severe reason.
    ExitCode::from(code.max(output::failures().code()))
}

/// Prints an error.
fn report(error: &Error) {
    let style = Styles::ERROR;
    anstream::eprintln!("{style}error:{style:#} {}", output::clean_lines(&error.to_string()));
}

/// Runs `work` for each file and continues after a file that cannot be read.
fn each<T>(items: &[T], mut work: impl FnMut(&T) -> Result<Outcome>) -> Result<Outcome> {
    let mut outcome = Outcome::Fine;
    for item in items {
        outcome = outcome.and(match work(item) {
            Ok(one) => one,
            Err(error) if items.len() > 1 => go_on_after(error)?,
            Err(error) => return Err(error),
        });
    }
    Ok(outcome)
}

/// The same, if the outcome cannot be returned.
fn skip_after(error: Error) -> Result<()> {
    go_on_after(error).map(output::note_failure)
}

/// Reports an error about one of several files; returns any other error.
fn go_on_after(error: Error) -> Result<Outcome> {
    let outcome = match (error.is_about_access(), error.is_about_file()) {
        (true, _) => Outcome::Incomplete,
        (false, true) => Outcome::Findings,
        (false, false) => return Err(error),
    };
    report(&error);
    Ok(outcome)
}
