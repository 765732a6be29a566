//! Prints the entries of all files sorted by time.

use traceloom::cnanolog::{Reader, Record};
use traceloom_core::{Arena, Error, Findings, Mode, Records, Result, Sorted, Sorter, spill_row};
use traceloom_mapping::messages_cut;

use super::{Printer, files::Log, findings, lines::TakeLines, render::Render, report};
use crate::{Outcome, go_on_after, input::display_name, output::warn};

/// Sorted reading jumps between batches, so most of a large window would be read in vain.
const WINDOW_BYTES: usize = 4 << 10;
/// Memory limit for sort keys; the rest goes to a temporary file.
const HELD_BYTES: u64 = 64 << 20;

spill_row! {
    /// The time and position of an entry.
    #[derive(Debug, Eq, PartialEq)]
    struct Logged {
        sec: i64,
        nsec: u32,
        file: u32,
        offset: u64,
    } by (sec, nsec, file, offset)
}

/// Prints in two passes: the first collects the time and position of entries, the second reads the entries in order of
/// time.
pub(super) fn print(printer: &mut Printer<'_>) -> Result<Outcome> {
    allow_many_files();
    let mut outcome = Outcome::Fine;
    let mut logs = Vec::new();
    for path in &printer.arguments.files {
        match printer.files.open(path) {
            Ok(log) => logs.push(log),
            Err(error) if printer.arguments.files.len() > 1 => outcome = outcome.and(go_on_after(error)?),
            Err(error) => return Err(error),
        }
    }
    let mut entries = Sorter::new(&Arena::new(HELD_BYTES));
    for (file, log) in logs.iter().enumerate() {
        collect(log, file as u32, printer, &mut entries)?;
    }
    print_sorted(&logs, &entries.finish()?, printer)?;
    Ok(outcome)
}

fn collect(log: &Log, file: u32, printer: &mut Printer<'_>, entries: &mut Sorter<Logged>) -> Result<()> {
    let mut reader = log.reader()?;
    let clock = reader.clock();
    let mut filter = printer.filter.of(&reader);
    // An entry without a time gets the time of the entry before it, or the start of the log.
    let mut moment = clock.start();
    while let Some(located) = reader.next().map_err(|error| error.in_file(log.trace.path()))? {
        let Record::Entry(entry) = &located.record else { continue };
        moment = entry.timestamp.map_or(moment, |ticks| clock.moment(ticks));
        if filter.keeps(entry) {
            entries.push(Logged { sec: moment.sec, nsec: moment.nsec, file, offset: located.offset })?;
        }
    }
    report(log, findings(reader, filter.cut())?)
}

fn print_sorted(logs: &[Log], entries: &Sorted<Logged>, printer: &mut Printer<'_>) -> Result<()> {
    let mut open: Vec<(Reader, Render)> = Vec::new();
    for log in logs {
        let options = log.trace.options().clone();
        let limits = options.limits.clone().but(|limits| limits.window_bytes = WINDOW_BYTES);
        let reader = log.reader_with(&options.with_limits(limits))?;
        let render = Render::new(&reader, printer.arguments);
        open.push((reader, render));
    }
    for entry in entries.iter()? {
        if printer.out.is_full() {
            break;
        }
        let Logged { file, offset, .. } = entry?;
        let file = file as usize;
        let (Some((reader, render)), Some(log)) = (open.get_mut(file), logs.get(file)) else { continue };
        let in_file = |error: Error| error.in_file(log.trace.path());
        reader.seek(offset);
        if let Some(located) = reader.next().map_err(in_file)? {
            render.put_entry(&located, &mut printer.out)?;
        }
    }
    printer.out.flush()?;
    for ((_, render), log) in open.iter().zip(logs).filter(|((_, render), _)| render.cut() > 0) {
        let mut cut = Findings::new(Mode::Lenient, &log.trace.options().limits);
        cut.report(messages_cut(render.cut()))?;
        warn(&display_name(log.trace.path()), &cut)?;
    }
    Ok(())
}

/// Raises the limit on open files, because all files are open at once.
fn allow_many_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // If this fails, opening the files reports the error.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
