//! A log that is still written.

use std::{collections::BTreeSet, fs, path::Path, thread, time::Duration};

use traceloom_cnanolog::{
    Header, Reader,
    findings::{COUNT_MISMATCH, DICTIONARY_OFFSET_ZERO, NO_DICTIONARY},
    raw::HEADER_BYTES,
};
use traceloom_core::{Error, Finding, Options, Records, Result, Severity};

use super::{
    Out,
    files::{Files, Log, is_same_run},
    filter::Filter,
    render::Render,
};
use crate::{
    Outcome, args,
    input::display_name,
    output::{Styles, write_finding},
};

/// How often a growing file is looked at.
const POLL: Duration = Duration::from_millis(200);

/// Why one file is no longer followed.
enum End {
    /// The program that wrote it has closed it.
    Closed,
    /// It was begun anew.
    Truncated,
    /// Another file has taken its name.
    Replaced,
}

/// Prints what is there and then what comes, until the program that writes it closes it.
pub(super) fn print(
    path: &Path,
    files: &mut Files<'_>,
    filter: &mut Filter,
    arguments: &args::Log,
    options: &Options,
    out: &mut Out,
) -> Result<Outcome> {
    loop {
        wait_for_header(path)?;
        let id = file_id(path);
        let mut followed = Followed { log: files.open(path)?, told: Told::default(), first: None };
        let what = match followed.print(id, filter, arguments, options, out)? {
            End::Closed => return Ok(followed.told.outcome()),
            End::Truncated => "was begun anew",
            End::Replaced => "is another file now",
        };
        let style = Styles::NOTE;
        anstream::eprintln!("{}: {style}note:{style:#} the log {what}", display_name(path));
    }
}

/// A log that was just begun may not even have its header.
fn wait_for_header(path: &Path) -> Result<()> {
    let look = || fs::metadata(path).map_err(|error| Error::from(error).in_file(path));
    if !look()?.is_file() {
        return Err(Error::usage("cannot be followed: it is no file that grows").in_file(path));
    }
    while look()?.len() < HEADER_BYTES as u64 {
        thread::sleep(POLL);
    }
    Ok(())
}

struct Followed {
    log: Log,
    told: Told,
    /// The header as it was at first: another start is another log.
    first: Option<Header>,
}

impl Followed {
    fn print(
        &mut self,
        id: Option<FileId>,
        filter: &mut Filter,
        arguments: &args::Log,
        options: &Options,
        out: &mut Out,
    ) -> Result<End> {
        loop {
            let state = self.state()?;
            let from = self.log.extra.resume_at.unwrap_or(0);
            if state.0 < from.max(HEADER_BYTES as u64) {
                return Ok(End::Truncated);
            }
            let mut reader = self.log.reader(options)?;
            if !is_same_run(self.first.get_or_insert_with(|| reader.header().clone()), reader.header()) {
                return Ok(End::Truncated);
            }
            let mut render = Render::new(&reader, arguments);
            let mut filter = filter.of(&reader);
            while let Some(located) = reader.next().map_err(|error| error.in_file(&self.log.path))? {
                render.put(&located, &mut filter, out)?;
            }
            out.flush()?;
            self.told.tell(&self.log, &reader)?;
            self.log.extra.resume_at = Some(reader.resume_at());
            if reader.has_own_dictionary() {
                return Ok(End::Closed);
            }
            while self.state()? == state {
                if id.is_some() && file_id(&self.log.path).is_some_and(|now| Some(now) != id) {
                    return Ok(End::Replaced);
                }
                thread::sleep(POLL);
            }
        }
    }

    /// What changes when there is something new.
    fn state(&self) -> Result<(u64, Vec<u8>)> {
        Ok((self.log.source.len()?, self.log.source.prefix(HEADER_BYTES)?))
    }
}

/// What was said about a log so far.
#[derive(Default)]
struct Told {
    /// What is wrong with the file as a whole is said once.
    codes: BTreeSet<&'static str>,
    worst: Option<Severity>,
}

impl Told {
    fn tell(&mut self, log: &Log, reader: &Reader) -> Result<()> {
        let is_closed = reader.has_own_dictionary();
        let from = log.extra.resume_at.unwrap_or(0);
        let mut out = anstream::stderr().lock();
        for finding in reader.findings().kept() {
            let offset = finding.position.offset;
            let is_news = match offset <= HEADER_BYTES as u64 {
                true => !is_of_open_log(finding, is_closed) && self.codes.insert(finding.rule.code),
                // The last entry may only be half there yet.
                false => offset >= from && (is_closed || offset < reader.resume_at()),
            };
            if is_news && finding.rule.severity >= Severity::Warning {
                self.worst = self.worst.max(Some(finding.rule.severity));
                write_finding(&mut out, &display_name(&log.path), finding)?;
            }
        }
        Ok(())
    }

    fn outcome(&self) -> Outcome {
        if self.worst == Some(Severity::Error) { Outcome::Findings } else { Outcome::Fine }
    }
}

/// Whether a finding says no more than that the log is not closed; the header is the last to be written.
fn is_of_open_log(finding: &Finding, is_closed: bool) -> bool {
    let code = finding.rule.code;
    code == DICTIONARY_OFFSET_ZERO.code || !is_closed && [NO_DICTIONARY.code, COUNT_MISMATCH.code].contains(&code)
}

type FileId = (u64, u64);

/// Tells files of the same name apart.
#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn file_id(_path: &Path) -> Option<FileId> {
    None
}
