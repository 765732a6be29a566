//! The logs to print, and facts known before they are read.

use std::path::Path;

use traceloom::{
    Trace,
    cnanolog::{CNanoLog, Dictionary, Extra, Header, Numbering, Reader, open_with},
};
use traceloom_core::{Codec, Error, Options, Records, Result};

use crate::args::{self, Reading, log::Levels};

/// One file, ready to be read as often as needed.
pub(super) struct Log {
    pub(super) trace: Trace,
    pub(super) extra: Extra,
}

impl Log {
    pub(super) fn reader(&self) -> Result<Reader> {
        self.reader_with(self.trace.options())
    }

    pub(super) fn reader_with(&self, options: &Options) -> Result<Reader> {
        let reader = open_with(self.trace.source().clone(), options, self.extra.clone());
        reader.map_err(|error| error.in_file(self.trace.path()))
    }
}

/// Opens logs one after the other.
pub(super) struct Files<'a> {
    arguments: &'a args::log::Log,
    supplied: Option<Dictionary>,
    /// The last file with a dictionary, for the next file of the same run without one.
    last: Option<(Header, Dictionary)>,
}

impl<'a> Files<'a> {
    pub(super) fn new(arguments: &'a args::log::Log) -> Result<Self> {
        let dictionary = arguments.dictionary.as_deref();
        let supplied = dictionary.map(|path| lend_dictionary(path, &arguments.reading)).transpose()?;
        Ok(Self { arguments, supplied, last: None })
    }

    pub(super) fn open(&mut self, path: &Path) -> Result<Log> {
        let trace = self.trace(path)?;
        self.log(trace)
    }

    /// Opens a trace of any format.
    pub(super) fn trace(&self, path: &Path) -> Result<Trace> {
        let reading = &self.arguments.reading;
        // A log that grows is never complete.
        let options = if self.arguments.follow { reading.options() } else { reading.watched() };
        options.open(path)
    }

    pub(super) fn log(&mut self, trace: Trace) -> Result<Log> {
        let mut log = Log { trace: expect_log(trace)?, extra: self.extra() };
        let reader = log.reader()?;
        let header = reader.header().clone();
        if reader.has_own_dictionary() {
            self.last = reader.into_dictionary().map(|dictionary| (header, dictionary));
        } else if reader.dictionary().is_none() {
            let last = self.last.as_ref().filter(|(other, _)| is_same_run(other, &header));
            log.extra.dictionary = last.map(|(_, dictionary)| dictionary.clone());
        }
        Ok(log)
    }

    fn extra(&self) -> Extra {
        let mut extra = Extra::default();
        extra.numbering = self.arguments.levels.map(|levels| match levels {
            Levels::Document => Numbering::Document,
            Levels::Library => Numbering::Library,
        });
        extra.dictionary = self.supplied.clone();
        extra
    }
}

/// Whether two files belong to one run: files of a rotated log have the same process start and the same sites.
pub(super) fn is_same_run(one: &Header, other: &Header) -> bool {
    let start = |header: &Header| (header.start_timestamp, header.start_time_sec, header.start_time_nsec);
    start(one) == start(other)
}

/// The dictionary of another log of the same program.
pub(crate) fn lend_dictionary(path: &Path, reading: &Reading) -> Result<Dictionary> {
    let trace = expect_log(reading.options().open(path)?)?;
    Dictionary::of(trace.source().clone(), trace.options()).map_err(|error| error.in_file(path))
}

/// Rejects traces of other formats, whose log lines are only in the tables.
fn expect_log(trace: Trace) -> Result<Trace> {
    if trace.is::<CNanoLog>() {
        return Ok(trace);
    }
    let (name, log) = (trace.format().name, CNanoLog::FORMAT.name);
    let message = format!("is {name}; --compat, --dictionary, --follow, --levels and --sort need {log}");
    Err(Error::unsupported(message).in_file(trace.path()))
}
