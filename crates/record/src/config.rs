//! What a recorder is told to do.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use traceloom_core::live::Address;

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

/// What minor versions of `.clog` add, which CNanoLog itself does not write.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Extras {
    /// Since 1.1.
    pub(crate) ids: bool,
    /// Since 1.2.
    pub(crate) is_compressed: bool,
    /// Since 1.3.
    pub(crate) has_checksums: bool,
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

/// Where viewers may watch.
#[derive(Clone, Debug)]
pub(crate) struct Serving {
    pub(crate) at: ServeAt,
    /// What viewers have to know; without one, one is made and left in a private file.
    pub(crate) token: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum ServeAt {
    Address(Address),
    /// What the user wrote is not an address, which the start reports.
    Invalid(String),
    /// Wherever the program listens.
    On(Arc<TcpListener>),
}

/// What a recorder writes to; each once at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Slot {
    /// The log.
    Clog,
    /// The log as lines of text.
    Lines,
    /// The profile.
    Prof,
    /// The trace.
    Wtf,
    /// The port for captures.
    Listen,
    /// The viewers that watch.
    Serve,
}

impl Slot {
    pub(crate) const ALL: [Self; 6] = [Self::Clog, Self::Lines, Self::Prof, Self::Wtf, Self::Listen, Self::Serve];
}

/// A log as lines of text.
#[derive(Clone, Debug)]
pub struct LogLines {
    /// Path; existing contents are kept.
    pub path: PathBuf,
    /// CNanoLog's tokens, such as `[%t] [%l] [%f:%n] %m`.
    pub pattern: String,
    /// Seconds east of Greenwich at a Unix time.
    pub zone: fn(i64) -> i32,
}

/// All settings; see the methods of [`Recorder`](crate::Recorder).
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) clog: Option<PathBuf>,
    pub(crate) lines: Option<LogLines>,
    pub(crate) prof: Option<PathBuf>,
    pub(crate) wtf: Option<PathBuf>,
    pub(crate) listening: Option<Listening>,
    pub(crate) serving: Option<Serving>,
    pub(crate) layout: Layout,
    pub(crate) extras: Extras,
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
            lines: None,
            prof: None,
            wtf: None,
            listening: None,
            serving: None,
            layout: Layout::default(),
            extras: Extras::default(),
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
    pub(crate) fn has(&self, slot: Slot) -> bool {
        match slot {
            Slot::Clog => self.clog.is_some(),
            Slot::Lines => self.lines.is_some(),
            Slot::Prof => self.prof.is_some(),
            Slot::Wtf => self.wtf.is_some(),
            Slot::Listen => self.listening.is_some(),
            Slot::Serve => self.serving.is_some(),
        }
    }

    /// The same without one output.
    pub(crate) fn without(mut self, slot: Slot) -> Self {
        match slot {
            Slot::Clog => self.clog = None,
            Slot::Lines => self.lines = None,
            Slot::Prof => self.prof = None,
            Slot::Wtf => self.wtf = None,
            Slot::Listen => self.listening = None,
            Slot::Serve => self.serving = None,
        }
        self
    }

    /// The same with one output of another one, and what belongs to it.
    pub(crate) fn with(mut self, slot: Slot, other: &Self) -> Self {
        match slot {
            Slot::Clog => {
                (self.clog, self.layout, self.extras) = (other.clog.clone(), other.layout, other.extras);
                self.rotation = other.rotation;
            }
            Slot::Lines => self.lines = other.lines.clone(),
            Slot::Prof => self.prof = other.prof.clone(),
            Slot::Wtf => self.wtf = other.wtf.clone(),
            Slot::Listen => self.listening = other.listening.clone(),
            Slot::Serve => self.serving = other.serving.clone(),
        }
        self
    }

    /// The same with `NAME.PART.EXT` for every file.
    pub(crate) fn with_part(&self, part: &str) -> Self {
        let named = |path: &Option<PathBuf>| path.as_deref().map(|path| with_part(path, part));
        // Ports and sockets stay with the files that have the name.
        let (listening, serving) = (None, None);
        let lines = self.lines.clone().map(|lines| LogLines { path: with_part(&lines.path, part), ..lines });
        let (clog, prof, wtf) = (named(&self.clog), named(&self.prof), named(&self.wtf));
        Self { clog, lines, prof, wtf, listening, serving, ..self.clone() }
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
