//! The logs to print, and what is known about them before they are read.

use std::path::{Path, PathBuf};

use traceloom_cnanolog::{Dictionary, Extra, Header, Numbering, Reader, open_with};
use traceloom_core::{Error, Findings, Options, Records, Result, Source};
use traceloom_open::Opened;

use crate::{
    args::{self, Levels, Reading},
    input::{open_quietly, open_trace},
};

/// One file, ready to be read as often as needed.
pub(super) struct Log {
    pub(super) path: PathBuf,
    pub(super) source: Source,
    pub(super) extra: Extra,
    /// Damage in the compression around it.
    pub(super) findings: Findings,
}

impl Log {
    pub(super) fn reader(&self, options: &Options) -> Result<Reader> {
        open_with(self.source.clone(), options, self.extra.clone()).map_err(|error| error.in_file(&self.path))
    }
}

/// Opens logs one after the other.
pub(super) struct Files<'a> {
    arguments: &'a args::Log,
    options: &'a Options,
    supplied: Option<Dictionary>,
    /// The last file that had a dictionary, for a next one of the same run that has none.
    last: Option<(Header, Dictionary)>,
    /// Progress would be drawn into the text.
    is_quiet: bool,
}

impl<'a> Files<'a> {
    pub(super) fn new(arguments: &'a args::Log, options: &'a Options, is_quiet: bool) -> Result<Self> {
        let dictionary = arguments.dictionary.as_deref();
        let supplied = dictionary.map(|path| lend_dictionary(path, &arguments.reading, options)).transpose()?;
        Ok(Self { arguments, options, supplied, last: None, is_quiet })
    }

    pub(super) fn open(&mut self, path: &Path) -> Result<Log> {
        let open = if self.is_quiet { open_quietly } else { open_trace };
        let Opened { source, findings, .. } = expect_log(open(path, &self.arguments.reading, self.options)?, path)?;
        let mut log = Log { path: path.to_owned(), source, extra: self.extra(), findings };
        let reader = log.reader(self.options)?;
        let header = reader.header().clone();
        if reader.has_own_dictionary() {
            self.last = reader.into_dictionary().map(|dictionary| (header, dictionary));
        } else if let Some((_, dictionary)) = self.last.as_ref().filter(|(other, _)| is_same_run(other, &header)) {
            log.extra.dictionary.get_or_insert_with(|| dictionary.clone());
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

/// Whether two files are of one run: a rotated set repeats the start of its process, and has the same sites.
pub(super) fn is_same_run(one: &Header, other: &Header) -> bool {
    let start = |header: &Header| (header.start_timestamp, header.start_time_sec, header.start_time_nsec);
    start(one) == start(other)
}

/// The dictionary of another log of the same program.
pub(crate) fn lend_dictionary(path: &Path, reading: &Reading, options: &Options) -> Result<Dictionary> {
    let opened = expect_log(open_quietly(path, reading, options)?, path)?;
    Dictionary::of(opened.source, options).map_err(|error| error.in_file(path))
}

fn expect_log(opened: Opened, path: &Path) -> Result<Opened> {
    let descriptor = opened.format.descriptor();
    if descriptor.id != traceloom_cnanolog::FORMAT.id {
        return Err(Error::usage(format!("is {}, which holds no log", descriptor.name)).in_file(path));
    }
    Ok(opened)
}
