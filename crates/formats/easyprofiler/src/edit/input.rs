//! The input of an edit, opened again for each walk.

use traceloom_core::{Mode, Options, Records, Result, Source};

use crate::{Header, Reader, Record};

/// A file to be read; edits always read in lenient mode.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) header: Header,
    pub(super) options: Options,
    source: Source,
}

impl Input {
    /// Detects a file.
    pub(super) fn open(source: &Source, options: &Options) -> Result<Self> {
        let options = options.clone().with_mode(Mode::Lenient);
        let header = crate::open(source.clone(), &options)?.header().clone();
        Ok(Self { header, options, source: source.clone() })
    }

    /// A reader at the first record.
    pub(super) fn reader(&self) -> Result<Reader> {
        Reader::with_header(self.source.clone(), self.header.clone(), &self.options)
    }

    /// The same with every check.
    pub(super) fn thorough_reader(&self) -> Result<Reader> {
        Reader::with_header(self.source.clone(), self.header.clone(), &self.options.clone().thorough())
    }

    /// The origin of the trace: the start of the capture or, in a live capture, the first timed record.
    pub(super) fn origin_ns(&self) -> Result<u64> {
        let mut reader = self.reader()?;
        let clock = reader.clock();
        if self.header.begin_time != 0 {
            return Ok(clock.begin_ns());
        }
        while let Some(located) = reader.next()? {
            if let Some((begin, _)) = located.record.times() {
                return Ok(clock.ns(begin));
            }
            if let Record::Bookmark(bookmark) = located.record {
                return Ok(bookmark.position_ns);
            }
        }
        Ok(0)
    }
}
