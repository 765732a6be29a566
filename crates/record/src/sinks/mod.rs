//! Where records go: one sink per file.

mod args;
mod clog;
mod file;
mod listen;
mod prof;
mod text;
mod wtf;

use std::sync::Arc;

use traceloom_core::Result;

use crate::{
    clock::Timeline,
    config::Config,
    hub::ThreadInfo,
    record::{Kind, Words},
    site::SiteInfo,
};

/// A record on its way into a file.
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

/// Writes one kind of file. Whatever it cannot write, it keeps or counts.
///
/// `(put | dropped | clock_stepped | tick | flush | sync | rotate)* close`
pub(crate) trait Sink: Send {
    /// Takes a record.
    fn put(&mut self, rec: &Rec<'_>);
    /// So many records of a thread found no room.
    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64);
    /// The time of day has jumped by so many nanoseconds.
    fn clock_stepped(&mut self, step_ns: i64, tick: u64);
    /// Called about once a second.
    fn tick(&mut self, timeline: &Timeline);
    /// Hands everything to the kernel.
    fn flush(&mut self) -> Result<()>;
    /// Called when nothing is left to do.
    fn idle(&mut self) -> Result<()> {
        self.flush()
    }
    /// Has everything on the disk.
    fn sync(&mut self) -> Result<()>;
    /// Goes on in a new file.
    fn rotate(&mut self, timeline: &Timeline) -> Result<()>;
    /// Writes the rest.
    fn close(self: Box<Self>, timeline: &Timeline) -> Result<()>;
}

/// Creates the files.
pub(crate) fn open(config: &Config, timeline: &Timeline) -> Result<Vec<Box<dyn Sink>>> {
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    if let Some(path) = &config.clog {
        sinks.push(Box::new(clog::Clog::create(path, config, timeline)?));
    }
    if let Some(path) = &config.prof {
        sinks.push(Box::new(prof::Prof::create(path, timeline)?));
    }
    if let Some(path) = &config.wtf {
        sinks.push(Box::new(wtf::WtfTrace::create(path, timeline)?));
    }
    if let Some(listening) = &config.listening {
        sinks.push(Box::new(listen::Listen::start(listening, timeline)?));
    }
    Ok(sinks)
}
