//! Where records go: one sink per file.

mod args;
mod clog;
mod file;
#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod full_disk;
mod lines;
mod listen;
mod prof;
mod serve;
mod spool;
mod text;
mod viewer;
mod wtf;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use traceloom_core::{Error, Result};

use crate::{
    clock::Timeline,
    config::{Config, Slot},
    hub::ThreadInfo,
    record::{Kind, Words},
    site::SiteInfo,
};

/// A record as passed to a sink.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rec<'a> {
    pub(crate) kind: Kind,
    pub(crate) tick: u64,
    pub(crate) thread: &'a Arc<ThreadInfo>,
    /// The number of the site.
    pub(crate) id: u32,
    pub(crate) site: &'a Arc<SiteInfo>,
    pub(crate) words: Words<'a>,
}

/// Writes one kind of file. Records that cannot be written are kept or counted.
///
/// `(put | dropped | gap | clock_stepped | tick | flush | sync | rotate | pause | save)* close`
pub(crate) trait Sink: Send {
    /// Takes a record.
    fn put(&mut self, rec: &Rec<'_>);
    /// This many records of a thread were dropped.
    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64);
    /// Records of a thread are missing here, possibly including ends of spans; only dumps of a flight recorder have
    /// such gaps.
    fn gap(&mut self, _thread: &ThreadInfo, _tick: u64) {}
    /// The time of day has jumped by this many nanoseconds.
    fn clock_stepped(&mut self, _step_ns: i64, _tick: u64) {}
    /// Called about once per second.
    fn tick(&mut self, _timeline: &Timeline) {}
    /// Writes everything to the kernel.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
    /// Called when nothing is left to do.
    fn idle(&mut self) -> Result<()> {
        self.flush()
    }
    /// Writes everything to the disk.
    fn sync(&mut self) -> Result<()> {
        self.flush()
    }
    /// Continues in a new file, if the sink can have several.
    fn rotate(&mut self, _timeline: &Timeline) -> Result<()> {
        self.flush()
    }
    /// Pauses or resumes the recording of spans, events and values.
    fn pause(&mut self, _is_paused: bool) {}
    /// Writes the unsaved profile to a file and starts from scratch; returns the number of records.
    fn save(&mut self, _path: &Path, _timeline: &Timeline) -> Result<u64> {
        Ok(0)
    }
    /// Writes the rest.
    fn close(self: Box<Self>, timeline: &Timeline) -> Result<()>;
}

/// Creates the files.
pub(crate) fn open(config: &Config, timeline: &Timeline) -> Result<Vec<(Slot, Box<dyn Sink>)>> {
    let slots = Slot::ALL.into_iter().filter(|slot| config.has(*slot));
    slots.map(|slot| Ok((slot, open_one(slot, config, timeline)?))).collect()
}

/// Creates the file of one output.
pub(crate) fn open_one(slot: Slot, config: &Config, timeline: &Timeline) -> Result<Box<dyn Sink>> {
    let path = |path: &Option<PathBuf>| path.clone().ok_or_else(|| Error::usage("the output has no path"));
    Ok(match slot {
        Slot::Clog => Box::new(clog::Clog::create(&path(&config.clog)?, config, timeline)?),
        Slot::Lines => {
            let lines = config.lines.as_ref().ok_or_else(|| Error::usage("the output has no path"))?;
            Box::new(lines::Lines::create(lines, timeline)?)
        }
        Slot::Prof => Box::new(prof::Prof::create(&path(&config.prof)?, timeline)?),
        Slot::Wtf => Box::new(wtf::WtfTrace::create(&path(&config.wtf)?, timeline)?),
        Slot::Listen => {
            let listening = config.listening.as_ref().ok_or_else(|| Error::usage("the output has no port"))?;
            Box::new(listen::Listen::start(listening, timeline)?)
        }
        Slot::Serve => {
            let serving = config.serving.as_ref().ok_or_else(|| Error::usage("the output has no address"))?;
            Box::new(serve::Serve::start(serving, timeline)?)
        }
    })
}
