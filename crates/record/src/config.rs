//! Settings of a recorder.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use traceloom_core::live::Address;

use crate::{Filter, Level};

/// The policy if a thread records faster than the writer writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Policy {
    /// The thread waits until there is room: nothing is lost.
    Block,
    /// The newest record is dropped and counted: the thread never waits.
    DropNewest,
}

/// The layout of `.clog` files.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Layout {
    /// The layout of CNanoLog 1.0.7: packed arguments, up to 50 of them.
    #[default]
    Library,
    /// The documented layout: raw arguments, up to 16 of them.
    Document,
}

/// Features of minor versions of `.clog`, which CNanoLog itself does not write.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Extras {
    /// Since 1.1.
    pub(crate) ids: bool,
    /// Since 1.2.
    pub(crate) is_compressed: bool,
    /// Since 1.3.
    pub(crate) has_checksums: bool,
}

/// When a log continues in a new file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Rotation {
    /// Once it has this many bytes.
    pub bytes: Option<u64>,
    /// Once it is this old.
    pub age: Option<Duration>,
}

/// How much a flight recorder keeps per thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flight {
    /// Max bytes.
    pub bytes: usize,
    /// Max age, if any.
    pub age: Option<Duration>,
}

/// Where clients connect to start captures.
#[derive(Clone, Debug)]
pub(crate) enum Listening {
    /// A port on loopback.
    Port(u16),
    /// A listener that the program opened.
    On(Arc<TcpListener>),
}

/// Where viewers connect.
#[derive(Clone, Debug)]
pub(crate) struct Serving {
    pub(crate) at: ServeAt,
    /// The token that viewers need; if absent, one is generated and stored in a private file.
    pub(crate) token: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum ServeAt {
    Address(Address),
    /// Text that is not an address; reported when the recorder starts.
    Invalid(String),
    /// A listener that the program opened.
    On(Arc<TcpListener>),
}

/// An output of a recorder; it has at most one of each kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Slot {
    /// The log.
    Clog,
    /// The log as lines of text.
    Lines,
    /// The profile.
    Prof,
    /// The WTF trace.
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

    /// These settings without one output.
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

    /// These settings with one output of `other`, and the settings of that output.
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

    /// These settings with `NAME.PART.EXT` for every file.
    pub(crate) fn with_part(&self, part: &str) -> Self {
        let named = |path: &Option<PathBuf>| path.as_deref().map(|path| with_part(path, part));
        // Ports and sockets stay with the recorder whose files have the plain names.
        let (listening, serving) = (None, None);
        let lines = self.lines.clone().map(|lines| LogLines { path: with_part(&lines.path, part), ..lines });
        let (clog, prof, wtf) = (named(&self.clog), named(&self.prof), named(&self.wtf));
        Self { clog, lines, prof, wtf, listening, serving, ..self.clone() }
    }

    /// The settings of a forked child, which records into `NAME.PID.EXT`.
    pub(crate) fn for_child(&self, pid: u32) -> Self {
        self.with_part(&pid.to_string())
    }
}

/// `NAME.PART.EXT`
pub(crate) fn with_part(path: &Path, part: &str) -> PathBuf {
    let extension = path.extension().map(|extension| format!(".{}", extension.display())).unwrap_or_default();
    path.with_extension(format!("{part}{extension}"))
}
