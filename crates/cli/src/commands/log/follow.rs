//! A log that is still being written.

use std::{collections::BTreeSet, fs, path::Path, thread, time::Duration};

use traceloom::cnanolog::{
    Header, Reader,
    findings::{COUNT_MISMATCH, DICTIONARY_OFFSET_ZERO, NO_DICTIONARY},
    raw::HEADER_BYTES,
};
use traceloom_core::{Data, Error, Finding, Records, Result, Severity};
use traceloom_mapping::messages_cut;

use super::{
    Printer,
    files::{Log, is_same_run},
    render::Render,
};
use crate::{
    Outcome,
    input::{display_name, shown_name},
    output::{Styles, write_finding},
};

/// How often a growing file is checked.
const POLL: Duration = Duration::from_millis(200);

/// Why one file is no longer followed.
enum End {
    /// The program closed the file.
    Closed,
    /// The program started the file from scratch.
    Truncated,
    /// Another file now has this name.
    Replaced,
}

/// Prints existing and new entries until the program closes the log.
pub(super) fn print(path: &Path, printer: &mut Printer<'_>) -> Result<Outcome> {
    loop {
        wait_for_header(path)?;
        let id = file_id(path);
        let mut followed = Followed { log: printer.files.open(path)?, told: Told::default(), first: None };
        let what = match followed.print(id, printer)? {
            End::Closed => return Ok(followed.told.outcome()),
            End::Truncated => "was truncated",
            End::Replaced => "was replaced by another file",
        };
        let style = Styles::NOTE;
        anstream::eprintln!("{}: {style}note:{style:#} the log {what}", shown_name(path));
    }
}

/// Waits for the header, which a new log may not have yet.
fn wait_for_header(path: &Path) -> Result<()> {
    let look = || fs::metadata(path).map_err(|error| Error::from(error).in_file(path));
    if !look()?.is_file() {
        return Err(Error::usage("cannot be followed, because it is not a regular file").in_file(path));
    }
    while look()?.len() < HEADER_BYTES as u64 {
        thread::sleep(POLL);
    }
    Ok(())
}

struct Followed {
    log: Log,
    told: Told,
    /// The first header seen; a different start time means a different log.
    first: Option<Header>,
}

impl Followed {
    fn print(&mut self, id: Option<FileId>, printer: &mut Printer<'_>) -> Result<End> {
        loop {
            let state = self.state()?;
            let from = self.log.extra.resume_at.unwrap_or(0);
            if state.0 < from.max(HEADER_BYTES as u64) {
                return Ok(End::Truncated);
            }
            let mut reader = self.log.reader()?;
            if !is_same_run(self.first.get_or_insert_with(|| reader.header().clone()), reader.header()) {
                return Ok(End::Truncated);
            }
            let mut render = Render::new(&reader, printer.arguments);
            let mut filter = printer.filter.of(&reader);
            while let Some(located) = reader.next().map_err(|error| error.in_file(self.log.trace.path()))? {
                render.put(&located, &mut filter, &mut printer.out)?;
            }
            // With `--tail`, only the entries that are there now are counted from the end.
            printer.out.finish()?;
            if printer.out.is_full() {
                return Ok(End::Closed);
            }
            self.told.tell(&self.log, &reader)?;
            self.told.tell_cut(&self.log, render.cut().max(filter.cut()))?;
            self.log.extra.resume_at = Some(reader.resume_at());
            if reader.has_own_dictionary() {
                return Ok(End::Closed);
            }
            while self.state()? == state {
                if id.is_some() && file_id(self.log.trace.path()).is_some_and(|now| Some(now) != id) {
                    return Ok(End::Replaced);
                }
                thread::sleep(POLL);
            }
        }
    }

    /// A state that changes when there are new entries.
    fn state(&self) -> Result<(u64, Vec<u8>)> {
        let source = self.log.trace.source();
        Ok((source.len()?, source.prefix(HEADER_BYTES)?))
    }
}

/// The problems reported so far.
#[derive(Default)]
struct Told {
    /// Problems of the whole file, which are reported once.
    codes: BTreeSet<&'static str>,
    is_data_missing: bool,
}

impl Told {
    fn tell(&mut self, log: &Log, reader: &Reader) -> Result<()> {
        let is_closed = reader.has_own_dictionary();
        let from = log.extra.resume_at.unwrap_or(0);
        let mut out = anstream::stderr().lock();
        for finding in reader.findings().kept() {
            let offset = finding.position.offset;
            let is_news = if offset <= HEADER_BYTES as u64 {
                !is_of_open_log(finding, is_closed) && self.codes.insert(finding.rule.code)
            } else {
                // The last entry may still be incomplete.
                offset >= from && (is_closed || offset < reader.resume_at())
            };
            if is_news && finding.rule.severity >= Severity::Warning {
                self.is_data_missing |= finding.rule.data == Data::Missing;
                write_finding(&mut out, &display_name(log.trace.path()), finding)?;
            }
        }
        Ok(())
    }

    fn tell_cut(&mut self, log: &Log, cut: u64) -> Result<()> {
        let finding = messages_cut(cut);
        if cut == 0 || !self.codes.insert(finding.rule.code) {
            return Ok(());
        }
        self.is_data_missing = true;
        Ok(write_finding(&mut anstream::stderr().lock(), &display_name(log.trace.path()), &finding)?)
    }

    fn outcome(&self) -> Outcome {
        if self.is_data_missing { Outcome::Findings } else { Outcome::Fine }
    }
}

/// Whether a finding only means that the log is still open; the header is completed last.
fn is_of_open_log(finding: &Finding, is_closed: bool) -> bool {
    let code = finding.rule.code;
    code == DICTIONARY_OFFSET_ZERO.code || !is_closed && [NO_DICTIONARY.code, COUNT_MISMATCH.code].contains(&code)
}

type FileId = (u64, u64);

/// Distinguishes files of the same name.
#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn file_id(_path: &Path) -> Option<FileId> {
    None
}
