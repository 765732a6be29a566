//! `log`: a binary log as text.

mod files;
mod filter;
mod follow;
mod lines;
mod render;
mod sort;

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use traceloom_core::{Error, Findings, Records, Result};

use self::{
    files::{Files, Log},
    filter::Filter,
    lines::Out,
    render::{Render, check_pattern},
};
use crate::{Outcome, args, each, input::display_name, output::warn};

pub(crate) use self::files::lend_dictionary;

/// Runs the verb.
pub(crate) fn run(arguments: &args::Log) -> Result<Outcome> {
    let mut printer = Printer::new(arguments)?;
    let outcome = if arguments.sort {
        sort::print(&mut printer)?
    } else if arguments.follow {
        let [path] = arguments.files.as_slice() else { return Err(Error::usage("--follow takes one file")) };
        follow::print(path, &mut printer)?
    } else {
        each(&arguments.files, |path| printer.print(path))?
    };
    printer.out.finish()?;
    printer.filter.finish()?;
    let is_found = arguments.grep.is_none() || printer.out.matches > 0;
    Ok(if is_found { outcome } else { outcome.and(Outcome::Findings) })
}

/// Prints the entries of logs as the arguments say.
struct Printer<'a> {
    arguments: &'a args::Log,
    files: Files<'a>,
    filter: Filter,
    out: Out,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a args::Log) -> Result<Self> {
        check_pattern(arguments)?;
        let filter = Filter::new(arguments)?;
        // Progress and text would overwrite each other.
        let is_quiet = arguments.follow || io::stdout().is_terminal();
        Ok(Self { arguments, files: Files::new(arguments, is_quiet)?, filter, out: Out::new(arguments) })
    }

    /// Prints one file from its start to its end.
    fn print(&mut self, path: &Path) -> Result<Outcome> {
        let log = self.files.open(path)?;
        let in_file = |error: Error| error.in_file(path);
        let mut reader = log.reader()?;
        let mut render = Render::new(&reader, self.arguments);
        let mut filter = self.filter.of(&reader);
        while let Some(located) = reader.next().map_err(in_file)? {
            if !render.put(&located, &mut filter, &mut self.out).map_err(in_file)? || self.out.is_full() {
                break;
            }
        }
        self.out.flush()?;
        report(&log, reader.into_findings())?;
        Ok(Outcome::Fine)
    }
}

/// Prints the problems of a file.
fn report(log: &Log, findings: Findings) -> Result<()> {
    let mut all = log.trace.layer_findings().clone();
    all.absorb(findings);
    warn(&display_name(log.trace.path()), &all)
}
