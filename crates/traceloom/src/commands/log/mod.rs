//! `log`: a binary log as text.

mod filter;
mod render;

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use traceloom_bytes::{Error, Findings, Limits, Options, Records, Result, Severity, Source};
use traceloom_cnanolog::{ByTime, Dictionary, Extra, Header, Numbering, Place, Reader, Record, open_with};

use self::{filter::Filter, render::Render};
use crate::{
    Outcome,
    args::{self, Levels},
    input::{display_name, open_trace},
    output::{raw_stdout, stdout, warn},
};

/// How often a growing file is looked at.
const POLL: Duration = Duration::from_millis(200);
/// Sorted reading jumps between batches: a large window would be read for nothing.
const SORTING_WINDOW: usize = 4 << 10;

/// Runs the verb.
pub(crate) fn run(arguments: &args::Log) -> Result<Outcome> {
    let options = Options::default();
    let mut logs = open_logs(arguments, &options)?;
    let filter = Filter::new(arguments)?;
    let mut out: Box<dyn Write> = if io::stdout().is_terminal() { Box::new(stdout()) } else { Box::new(raw_stdout()) };
    if arguments.sort {
        print_sorted(&mut logs, &filter, arguments, &options, &mut out)?;
    } else if arguments.follow {
        let [log] = logs.as_mut_slice() else { return Err(Error::usage("--follow takes one file")) };
        follow(log, &filter, arguments, &options, &mut out)?;
    } else {
        for log in &mut logs {
            print(log, &filter, arguments, &options, &mut out)?;
        }
    }
    out.flush()?;
    finish(&logs)
}

/// One file, ready to be read as often as needed.
struct Log {
    path: PathBuf,
    source: Source,
    extra: Extra,
    /// What was wrong, once it has been read.
    findings: Vec<Findings>,
}

impl Log {
    fn reader(&self, options: &Options) -> Result<Reader> {
        open_with(self.source.clone(), options, self.extra.clone()).map_err(|error| error.in_file(&self.path))
    }
}

fn open_logs(arguments: &args::Log, options: &Options) -> Result<Vec<Log>> {
    let supplied = match &arguments.dictionary {
        Some(path) => {
            Some(Dictionary::of(open_clog(path, arguments, options)?.0, options).map_err(|error| error.in_file(path))?)
        }
        None => None,
    };
    let numbering = arguments.levels.map(|levels| match levels {
        Levels::Document => Numbering::Document,
        Levels::Library => Numbering::Library,
    });
    let mut logs: Vec<Log> = Vec::new();
    let mut last: Option<(Header, Dictionary)> = None;
    for path in &arguments.files {
        let (source, findings) = open_clog(path, arguments, options)?;
        let mut extra = Extra { numbering, dictionary: supplied.clone(), resume_at: None };
        let reader = open_with(source.clone(), options, extra.clone()).map_err(|error| error.in_file(path))?;
        let header = reader.header().clone();
        if reader.has_own_dictionary() {
            last = reader.into_dictionary().map(|dictionary| (header, dictionary));
        } else if let Some((_, dictionary)) = last.as_ref().filter(|(other, _)| is_same_run(other, &header)) {
            // The files of a rotated set repeat the start of the process: its sites are the same.
            extra.dictionary.get_or_insert_with(|| dictionary.clone());
        }
        logs.push(Log { path: path.clone(), source, extra, findings: vec![findings] });
    }
    Ok(logs)
}

fn is_same_run(one: &Header, other: &Header) -> bool {
    let start = |header: &Header| (header.start_timestamp, header.start_time_sec, header.start_time_nsec);
    start(one) == start(other)
}

fn open_clog(path: &Path, arguments: &args::Log, options: &Options) -> Result<(Source, Findings)> {
    let opened = open_trace(path, &arguments.reading, options)?;
    let descriptor = opened.format.descriptor();
    if descriptor.id != traceloom_cnanolog::FORMAT.id {
        return Err(Error::usage(format!("is {}, which holds no log", descriptor.name)).in_file(path));
    }
    Ok((opened.source, opened.findings))
}

fn print(log: &mut Log, filter: &Filter, arguments: &args::Log, options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut reader = log.reader(options)?;
    let mut render = Render::new(&reader, arguments)?;
    let mut filter = filter.of(&reader)?;
    while let Some(located) = reader.next()? {
        if !render.put(&located, &mut filter, out)? {
            break;
        }
    }
    log.findings.push(reader.into_findings());
    Ok(())
}

/// Prints the entries of all files by time: one walk collects their places, a second one prints.
fn print_sorted(
    logs: &mut [Log],
    filter: &Filter,
    arguments: &args::Log,
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let mut order = ByTime::new(&options.limits);
    for (file, log) in logs.iter_mut().enumerate() {
        let mut reader = log.reader(options)?;
        let clock = reader.clock();
        let mut filter = filter.of(&reader)?;
        // Entries without a time stay where they are, at the start of their file.
        let mut moment = clock.start();
        while let Some(located) = reader.next()? {
            let Record::Entry(entry) = &located.record else { continue };
            moment = entry.timestamp.map_or(moment, |ticks| clock.moment(ticks));
            if filter.keeps(entry) {
                order.push(Place { moment, file: file as u32, offset: located.offset })?;
            }
        }
        log.findings.push(reader.into_findings());
    }
    order.sort()?;
    let limits = Limits { window_bytes: SORTING_WINDOW, ..options.limits.clone() };
    let options = Options { limits, ..options.clone() };
    let mut open = Vec::new();
    for log in logs.iter() {
        let reader = log.reader(&options)?;
        let render = Render::new(&reader, arguments)?;
        open.push((reader, render));
    }
    while let Some(place) = order.pop()? {
        let Some((reader, render)) = open.get_mut(place.file as usize) else { continue };
        reader.seek(place.offset);
        if let Some(located) = reader.next()? {
            render.put_entry(&located, out)?;
        }
    }
    Ok(())
}

/// Prints what is there and then what comes, until the program that writes it closes it.
fn follow(log: &mut Log, filter: &Filter, arguments: &args::Log, options: &Options, out: &mut dyn Write) -> Result<()> {
    loop {
        let mut reader = log.reader(options)?;
        let is_closed = reader.has_own_dictionary();
        let mut render = Render::new(&reader, arguments)?;
        let mut filter = filter.of(&reader)?;
        while let Some(located) = reader.next()? {
            render.put(&located, &mut filter, out)?;
        }
        out.flush()?;
        log.extra.resume_at = Some(reader.resume_at());
        if is_closed {
            log.findings.push(reader.into_findings());
            return Ok(());
        }
        let len = log.source.len()?;
        while log.source.len()? == len {
            thread::sleep(POLL);
        }
    }
}

fn finish(logs: &[Log]) -> Result<Outcome> {
    let mut worst = None;
    for log in logs {
        for findings in &log.findings {
            warn(&display_name(&log.path), findings)?;
            worst = worst.max(findings.worst());
        }
    }
    Ok(if worst == Some(Severity::Error) { Outcome::Findings } else { Outcome::Fine })
}
