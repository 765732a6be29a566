//! `log`: a binary log, or the log lines of another trace, as text.

mod files;
mod filter;
mod follow;
mod lines;
mod render;
mod sort;
mod tables;

use std::{ops::ControlFlow, path::Path};

use traceloom::cnanolog::{Passage, Reader};
use traceloom_core::{Error, Findings, Notes, Records, Result, Turns, in_turns};
use traceloom_mapping::messages_cut;

use self::{
    files::{Files, Log},
    filter::Filter,
    lines::{Out, Page, Pages, TakeLines},
    render::{Render, check_pattern},
};
use crate::{Outcome, args, each, input::display_name, output::warn};

pub(crate) use self::files::lend_dictionary;

/// Number of records per page, which one thread renders.
const PAGE_RECORDS: u64 = 4096;

/// Runs the verb.
pub(crate) fn run(arguments: &args::log::Log) -> Result<Outcome> {
    let mut printer = Printer::new(arguments)?;
    let outcome = if arguments.sort {
        sort::print(&mut printer)?
    } else if arguments.follow {
        let [path] = arguments.files.as_slice() else { return Err(Error::usage("--follow accepts only one file")) };
        follow::print(path, &mut printer)?
    } else {
        each(&arguments.files, |path| printer.print(path))?
    };
    printer.out.finish()?;
    printer.filter.finish()?;
    let is_found = arguments.grep.is_none() || printer.out.matches > 0;
    Ok(if is_found { outcome } else { outcome.and(Outcome::Findings) })
}

/// Prints the entries of logs according to the arguments.
struct Printer<'a> {
    arguments: &'a args::log::Log,
    files: Files<'a>,
    filter: Filter,
    out: Out,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a args::log::Log) -> Result<Self> {
        check_pattern(arguments)?;
        let filter = Filter::new(arguments)?;
        Ok(Self { arguments, files: Files::new(arguments)?, filter, out: Out::new(arguments) })
    }

    /// Prints one file from its start to its end.
    fn print(&mut self, path: &Path) -> Result<Outcome> {
        let trace = self.files.trace(path)?;
        if tables::suits(&trace, self.arguments) {
            return tables::print(&trace, self);
        }
        let log = self.files.log(trace)?;
        let threads = log.trace.options().limits.threads;
        let findings = if threads > 1 && !self.arguments.compat && self.out.is_endless() {
            self.print_pages(&log, threads)
        } else {
            self.print_lines(&log)
        };
        let findings = findings.map_err(|error| error.in_file(path))?;
        self.out.flush()?;
        report(&log, findings)?;
        Ok(Outcome::Fine)
    }

    fn print_lines(&mut self, log: &Log) -> Result<Findings> {
        let mut reader = log.reader()?;
        let mut render = Render::new(&reader, self.arguments);
        let mut filter = self.filter.of(&reader);
        while let Some(located) = reader.next()? {
            if !render.put(&located, &mut filter, &mut self.out)? || self.out.is_full() {
                break;
            }
        }
        findings(reader, render.cut().max(filter.cut()))
    }

    /// The same on several threads, which render pages in turn.
    fn print_pages(&mut self, log: &Log, threads: usize) -> Result<Findings> {
        let (arguments, filter) = (self.arguments, self.filter.of(&log.reader()?));
        let (pages, notes) = (Pages::new(self.out.page()), Notes::new(threads));
        let walk = |turns: &mut Turns<'_, Page>| {
            let mut reader = log.reader()?;
            let mut render = Render::new(&reader, arguments).shared(turns.walks());
            let (mut filter, mut page) = (filter.shared(turns.walks()), pages.empty());
            let (mut records, mut is_mine) = (0_u64, turns.is_mine());
            loop {
                let is_shared_start = turns.walks() > 1 && records.is_multiple_of(PAGE_RECORDS);
                if is_shared_start && passes_page(&mut reader, &notes, is_mine) {
                    records += PAGE_RECORDS;
                    is_mine = turns.end();
                    continue;
                }
                let Some(located) = reader.next()? else { break };
                if is_mine {
                    render.put(&located, &mut filter, &mut page)?;
                    if render.depends_on_others() || filter.depends_on_others() {
                        turns.give_up();
                        break;
                    }
                }
                records += 1;
                if records.is_multiple_of(PAGE_RECORDS) {
                    if is_mine && !turns.give(std::mem::replace(&mut page, pages.empty())) {
                        break;
                    }
                    is_mine = turns.end();
                }
            }
            if is_mine {
                turns.give(page);
            }
            // Only a walk that runs alone cuts messages off.
            findings(reader, render.cut().max(filter.cut()))
        };
        let mut take = |page: Page| {
            self.out.put_page(&page)?;
            pages.put_back(page);
            Ok(ControlFlow::Continue(()))
        };
        let findings = in_turns(threads, &walk, &mut take)?;
        findings.ok_or_else(|| Error::internal("the pages of a log end before the log"))
    }
}

/// Moves past a page that another walk renders. The walk that comes first looks ahead, so that entries are found once.
fn passes_page(reader: &mut Reader, notes: &Notes<Option<Passage>>, is_mine: bool) -> bool {
    let passage = notes.get_or(reader.offset(), || reader.look_ahead(PAGE_RECORDS, |_| ()));
    passage.is_some_and(|passage| !is_mine && reader.pass(&passage))
}

/// The problems of a file, and that some of its messages were cut off.
fn findings(reader: Reader, cut: u64) -> Result<Findings> {
    let mut findings = reader.into_findings();
    if cut > 0 {
        findings.report(messages_cut(cut))?;
    }
    Ok(findings)
}

/// Prints the problems of a file.
fn report(log: &Log, findings: Findings) -> Result<()> {
    let mut all = log.trace.layer_findings().clone();
    all.absorb(findings);
    warn(&display_name(log.trace.path()), &all)
}
