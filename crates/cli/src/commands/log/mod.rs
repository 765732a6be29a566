//! `log`: a binary log as text.

mod files;
mod filter;
mod follow;
mod render;
mod sort;

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
};

use traceloom_core::{Error, Findings, Options, Records, Result, Severity};

use self::{
    files::{Files, Log},
    filter::Filter,
    render::Render,
};
use crate::{
    Outcome, args, each,
    input::display_name,
    output::{raw_stdout, stdout, warn},
};

pub(crate) use self::files::lend_dictionary;

/// Runs the verb.
pub(crate) fn run(arguments: &args::Log) -> Result<Outcome> {
    let options = Options::default();
    let mut filter = Filter::new(arguments)?;
    // Progress and text would overwrite each other.
    let is_quiet = arguments.follow || io::stdout().is_terminal();
    let mut files = Files::new(arguments, &options, is_quiet)?;
    let mut out = Out::new(arguments);
    let outcome = if arguments.sort {
        sort::print(&mut files, &mut filter, arguments, &options, &mut out)?
    } else if arguments.follow {
        let [path] = arguments.files.as_slice() else { return Err(Error::usage("--follow takes one file")) };
        follow::print(path, &mut files, &mut filter, arguments, &options, &mut out)?
    } else {
        each(&arguments.files, |path| print(path, &mut files, &mut filter, arguments, &options, &mut out))?
    };
    out.flush()?;
    filter.finish()?;
    Ok(outcome)
}

/// Where the lines go.
struct Out {
    to: Box<dyn Write>,
    /// A person looks: colours, and no control characters of the log's.
    is_shown: bool,
}

impl Out {
    fn new(arguments: &args::Log) -> Self {
        let wants_colors =
            io::stdout().is_terminal() || anstream::ColorChoice::global() == anstream::ColorChoice::Always;
        // JSON has none, and of the original's text every byte counts.
        let is_shown = wants_colors && !arguments.json && !arguments.compat;
        let to: Box<dyn Write> = if is_shown { Box::new(stdout()) } else { Box::new(raw_stdout()) };
        Self { to, is_shown }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.to.flush()?)
    }
}

fn print(
    path: &Path,
    files: &mut Files<'_>,
    filter: &mut Filter,
    arguments: &args::Log,
    options: &Options,
    out: &mut Out,
) -> Result<Outcome> {
    let log = files.open(path)?;
    let in_file = |error: Error| error.in_file(path);
    let mut reader = log.reader(options)?;
    let mut render = Render::new(&reader, arguments);
    let mut filter = filter.of(&reader);
    while let Some(located) = reader.next().map_err(in_file)? {
        if !render.put(&located, &mut filter, out).map_err(in_file)? {
            break;
        }
    }
    out.flush()?;
    report(&log, &reader.into_findings())
}

/// Says what was wrong with a file.
fn report(log: &Log, findings: &Findings) -> Result<Outcome> {
    let mut outcome = Outcome::Fine;
    for findings in [&log.findings, findings] {
        warn(&display_name(&log.path), findings)?;
        if findings.worst() == Some(Severity::Error) {
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}
