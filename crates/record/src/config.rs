//! What a recorder is told to do.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::{Filter, Level};

/// What happens when a thread records faster than the writer writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Policy {
    /// The thread waits until there is room: nothing is lost.
    Block,
    /// The newest record is dropped and counted: the thread never waits.
    DropNewest,
}

/// Which layout `.clog` files get.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Layout {
    /// The one of CNanoLog 1.0.7: packed arguments, up to 50 of them.
    #[default]
    Library,
    /// The one of the document: raw arguments, up to 16 of them.
    Document,
}

/// When a log goes on in a new file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Rotation {
    /// Once it has this many bytes.
    pub bytes: Option<u64>,
    /// Once it is this old.
    pub age: Option<Duration>,
}

/// How much a flight recorder keeps of each thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flight {
    /// Most bytes.
    pub bytes: usize,
    /// Nothing older than this, if anything is said.
    pub age: Option<Duration>,
}

/// Where captures are asked for.
#[derive(Clone, Debug)]
pub(crate) enum Listening {
    /// A port of this machine.
    Port(u16),
    /// Wherever the program listens.
    On(Arc<TcpListener>),
}

/// All settings; see the methods of [`Recorder`](crate::Recorder).
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) clog: Option<PathBuf>,
    pub(crate) prof: Option<PathBuf>,
    pub(crate) wtf: Option<PathBuf>,
    pub(crate) listening: Option<Listening>,
    pub(crate) layout: Layout,
    pub(crate) ids: bool,
    pub(crate) rotation: Rotation,
    pub(crate) ring_bytes: usize,
    pub(crate) spare_rings: usize,
    pub(crate) logs: Policy,
    pub(crate) spans: Policy,
    pub(crate) filter: Filter,
    pub(crate) flight: Option<Flight>,
    pub(crate) slow_frame: Option<Duration>,
    pub(crate) panic_deadline: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            clog: None,
            prof: None,
            wtf: None,
            listening: None,
            layout: Layout::default(),
            ids: false,
            rotation: Rotation::default(),
            ring_bytes: 1 << 20,
            spare_rings: 0,
            logs: Policy::Block,
            spans: Policy::DropNewest,
            filter: Filter::at(Level::DEBUG),
            flight: None,
            slow_frame: None,
            panic_deadline: Some(Duration::from_secs(2)),
        }
    }
}

impl Config {
    /// The same with `NAME.PART.EXT` for every file.
    pub(crate) fn with_part(&self, part: &str) -> Self {
        let named = |path: &Option<PathBuf>| path.as_deref().map(|path| with_part(path, part));
        // The port stays with the files that have the name.
        let listening = None;
        Self { clog: named(&self.clog), prof: named(&self.prof), wtf: named(&self.wtf), listening, ..self.clone() }
    }

    /// What a forked child does: the same into `NAME.PID.EXT`.
    pub(crate) fn for_child(&self, pid: u32) -> Self {
        self.with_part(&pid.to_string())
    }
}

/// `NAME.PART.EXT`
pub(crate) fn with_part(path: &Path, part: &str) -> PathBuf {
    let extension = path.extension().map(|extension| format!(".{}", extension.display())).unwrap_or_default();
    path.with_extension(format!("{part}{extension}"))
}
