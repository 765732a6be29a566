//! Starting, controlling and stopping a recorder.

use std::{
    net::TcpListener,
    path::PathBuf,
    sync::{Arc, Once, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use traceloom_core::{Error, Result, live::Address};

use crate::{
    Filter, Flight, Layout, Policy, Rotation, Stats,
    clock::Timeline,
    config::{Config, Listening, LogLines, ServeAt, Serving, Slot},
    hub::{self, Ask, Hub},
    local::{self, SETTINGS},
    site::{self, end_generation, renew_generation},
    stats::COUNTERS,
    sync::lock,
    writer::Writer,
};

/// Configures what to record and where to write it, then [starts](Recorder::start) recording.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    config: Config,
}

impl Recorder {
    /// A recorder without outputs; add at least one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Log entries go to this `.clog` file.
    #[must_use]
    pub fn clog(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.clog = Some(path.into());
        self
    }

    /// Log entries go to this file as lines of text.
    #[must_use]
    pub fn lines(mut self, lines: LogLines) -> Self {
        self.config.lines = Some(lines);
        self
    }

    /// Spans, events and values go to this `.prof` file, which is written when the recorder is closed.
    #[must_use]
    pub fn prof(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.prof = Some(path.into());
        self
    }

    /// Spans, events, values, flows, frames and log entries go to this `.wtf-trace` file.
    #[must_use]
    pub fn wtf_trace(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.wtf = Some(path.into());
        self
    }

    /// Lets EasyProfiler's GUI and `traceloom capture` capture this program over this port on loopback; EasyProfiler's
    /// default is 28077.
    #[must_use]
    pub fn listen(mut self, port: u16) -> Self {
        self.config.listening = Some(Listening::Port(port));
        self
    }

    /// Like [`listen`](Self::listen), with a listener that you opened. The protocol has no authentication and no
    /// encryption. Anybody who can reach an address other than loopback can read everything that the program records.
    #[must_use]
    pub fn listen_on(mut self, listener: TcpListener) -> Self {
        self.config.listening = Some(Listening::On(Arc::new(listener)));
        self
    }

    /// Lets `traceloom view --live ADDRESS` watch the recording from the moment it connects. The address is a port on
    /// loopback, such as `127.0.0.1:28078`, or the path of a Unix socket. Viewers need a token; it is generated at the
    /// start and stored in a file that only this user can read, where `view` finds it.
    #[must_use]
    pub fn serve(self, address: &str) -> Self {
        self.serve_at(
            Address::parse(address).map_or_else(|error| ServeAt::Invalid(error.to_string()), ServeAt::Address),
        )
    }

    /// Like [`serve`](Self::serve), with a listener that you opened; it needs a [token](Self::serve_token).
    #[must_use]
    pub fn serve_on(self, listener: TcpListener) -> Self {
        self.serve_at(ServeAt::On(Arc::new(listener)))
    }

    /// Like [`serve`](Self::serve), at the address in the environment variable `TRACELOOM_SERVE`, if it is set.
    #[must_use]
    pub fn serve_from_env(self) -> Self {
        match std::env::var("TRACELOOM_SERVE") {
            Ok(address) => self.serve(&address),
            Err(_) => self,
        }
    }

    /// The token that viewers need, instead of a generated one; 1 to 255 bytes.
    #[must_use]
    pub fn serve_token(mut self, token: impl Into<String>) -> Self {
        if let Some(serving) = &mut self.config.serving {
            serving.token = Some(token.into());
        }
        self
    }

    fn serve_at(mut self, at: ServeAt) -> Self {
        self.config.serving = Some(Serving { at, token: None });
        self
    }

    /// The layout of `.clog` files (default: the layout of CNanoLog 1.0.7).
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.config.layout = layout;
        self
    }

    /// Stores the ids of the process and of this thread in `.clog` files, which then have version 1.1.
    #[must_use]
    pub fn ids(mut self) -> Self {
        self.config.extras.ids = true;
        self
    }

    /// Compresses `.clog` files with LZ4, block by block; they then have version 1.2. CNanoLog's decompressor
    /// refuses them.
    #[must_use]
    pub fn compressed(mut self) -> Self {
        self.config.extras.is_compressed = true;
        self
    }

    /// Stores a CRC-32 for each block of `.clog` files, which then have version 1.3. CNanoLog's decompressor
    /// refuses them.
    #[must_use]
    pub fn checksums(mut self) -> Self {
        self.config.extras.has_checksums = true;
        self
    }

    /// When the log continues in `NAME.1.clog`, `NAME.2.clog`, … (default: never).
    #[must_use]
    pub fn rotation(mut self, rotation: Rotation) -> Self {
        self.config.rotation = rotation;
        self
    }

    /// The policy for log entries if a ring is full (default: [`Policy::Block`]).
    #[must_use]
    pub fn logs(mut self, policy: Policy) -> Self {
        self.config.logs = policy;
        self
    }

    /// The policy for spans, events and values if a ring is full (default: [`Policy::DropNewest`]).
    #[must_use]
    pub fn spans(mut self, policy: Policy) -> Self {
        self.config.spans = policy;
        self
    }

    /// Which sites are on (default: all).
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.config.filter = filter;
        self
    }

    /// Keeps the last records of each thread in memory and writes them only on [`dump`], on a panic, or on a slow frame.
    #[must_use]
    pub fn flight(mut self, flight: Flight) -> Self {
        self.config.flight = Some(flight);
        self
    }

    /// A longer frame makes a [flight recorder](Self::flight) dump.
    #[must_use]
    pub fn slow_frame(mut self, limit: Duration) -> Self {
        self.config.slow_frame = Some(limit);
        self
    }

    /// Bytes of a thread's ring, rounded up to a power of two (default: 1 MiB).
    #[must_use]
    pub fn ring_bytes(mut self, bytes: usize) -> Self {
        self.config.ring_bytes = bytes.clamp(4 << 10, 1 << 30);
        self
    }

    /// Creates this many rings in advance, so that the first record of a thread does not have to.
    #[must_use]
    pub fn preallocate(mut self, rings: usize) -> Self {
        self.config.spare_rings = rings;
        self
    }

    /// How long a panic waits for the writer (default: 2 s); `None` leaves panics alone.
    #[must_use]
    pub fn panic_deadline(mut self, deadline: Option<Duration>) -> Self {
        self.config.panic_deadline = deadline;
        self
    }

    /// Collects spans, events and values on disk until [`save_prof`] writes them to a file.
    #[must_use]
    pub fn prof_later(self) -> Self {
        self.prof(PathBuf::new())
    }

    /// Starts recording, or adds these outputs to the running recorder, where they replace outputs of the same kind;
    /// [`stop`] ends it. The running recorder keeps its other settings.
    pub fn join(self) -> Result<()> {
        static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _turn = TURN.lock();
        let hub = local::check_fork();
        let Some(mut running) = lock(&hub.config).clone() else {
            return self.start().map(std::mem::forget);
        };
        for slot in Slot::ALL.into_iter().filter(|slot| self.config.has(*slot)) {
            let joined = Arc::new(Config::clone(&running).with(slot, &self.config));
            hub.ask(Ask::Open(slot, joined.clone()), None).map_err(failed)?;
            running = joined;
            *lock(&hub.config) = Some(running.clone());
        }
        Ok(())
    }

    /// Starts recording; it ends when the guard is dropped. A process has one recorder at a time.
    pub fn start(self) -> Result<Guard> {
        let config = self.config;
        let (live, files): (Vec<Slot>, Vec<Slot>) = Slot::ALL
            .into_iter()
            .filter(|slot| config.has(*slot))
            .partition(|slot| matches!(slot, Slot::Listen | Slot::Serve));
        if files.is_empty() && (live.is_empty() || config.flight.is_some()) {
            return Err(Error::usage("the recorder has no file to write to"));
        }
        let hub = hub::current();
        {
            let mut running = lock(&hub.config);
            if running.is_some() {
                return Err(Error::usage("a recorder is already running"));
            }
            *running = Some(Arc::new(config.clone()));
        }
        COUNTERS.reset();
        hub.preallocate(config.spare_rings, config.ring_bytes / 8);
        if let Err(error) = spawn(hub, &config) {
            *lock(&hub.config) = None;
            return Err(error);
        }
        if config.panic_deadline.is_some() {
            hook_panics();
        }
        lock(&hub.registry).filter = config.filter;
        renew_generation();
        Ok(Guard(()))
    }
}

/// Starts the writer thread.
pub(crate) fn spawn(hub: &'static Hub, config: &Config) -> Result<()> {
    let timeline = Timeline::start();
    let ticks = |time: Duration| (time.as_secs_f64() * timeline.frequency() as f64) as u64;
    SETTINGS.ring_words.store((config.ring_bytes / 8) as u64, Ordering::Relaxed);
    SETTINGS.overwrites.store(config.flight.is_some(), Ordering::Relaxed);
    SETTINGS.logs_block.store(config.logs == Policy::Block, Ordering::Relaxed);
    SETTINGS.spans_block.store(config.spans == Policy::Block, Ordering::Relaxed);
    SETTINGS.check_ticks.store(ticks(Duration::from_micros(100)), Ordering::Relaxed);
    SETTINGS.slow_frame_ticks.store(config.slow_frame.map_or(u64::MAX, ticks), Ordering::Relaxed);
    let writer = Writer::new(hub, config.clone(), timeline)?;
    hub.begin_writer();
    let spawned = thread::Builder::new().name("traceloom-record".to_owned()).spawn(move || writer.run());
    if let Err(error) = spawned {
        hub.end_writer(None);
        return Err(error.into());
    }
    Ok(())
}

/// A running recorder. Dropping it writes everything that was recorded and closes the files.
#[derive(Debug)]
#[must_use = "the recorder stops when its guard is dropped"]
pub struct Guard(());

impl Guard {
    /// Stops the recorder, and returns the first error.
    pub fn close(self) -> Result<()> {
        let outcome = stop();
        std::mem::forget(self);
        outcome
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Errors are counted, because a destructor cannot return them.
        let _ = stop();
    }
}

/// Writes everything that was recorded and closes the files, without the guard; does nothing if no recorder is running.
pub fn stop() -> Result<()> {
    let hub = local::check_fork();
    end_generation();
    let outcome = hub.ask(Ask::Stop, None);
    *lock(&hub.config) = None;
    outcome.map(drop).map_err(failed)
}

fn failed(failure: String) -> Error {
    std::io::Error::other(failure).into()
}

/// Waits until everything recorded so far is written to the kernel, so that it survives the end of the process.
pub fn flush() -> Result<()> {
    ask(Ask::Flush)
}

/// Waits until everything recorded so far is on disk, so that it survives a loss of power.
pub fn sync() -> Result<()> {
    ask(Ask::Sync)
}

/// Starts new log files for later records; other outputs are not rotated.
pub fn rotate() -> Result<()> {
    ask(Ask::Rotate)
}

/// Writes the contents of the flight recorder to `NAME.dump-N.EXT`.
pub fn dump() -> Result<()> {
    ask(Ask::Dump)
}

fn ask(ask: Ask) -> Result<()> {
    if !site::is_recording() {
        return Err(Error::usage("no recorder is running"));
    }
    local::check_fork().ask(ask, None).map(drop).map_err(failed)
}

/// Writes everything recorded so far to one output and closes it; the recorder stops with the last output.
pub fn leave(slot: Slot) -> Result<()> {
    let hub = local::check_fork();
    let Some(running) = lock(&hub.config).clone() else { return Ok(()) };
    let rest = Config::clone(&running).without(slot);
    if !Slot::ALL.into_iter().any(|slot| rest.has(slot)) {
        return stop();
    }
    *lock(&hub.config) = Some(Arc::new(rest));
    hub.ask(Ask::Close(slot), None).map(drop).map_err(failed)
}

/// Pauses or resumes the recording of spans, events and values in the profile.
pub fn pause_prof(is_paused: bool) -> Result<()> {
    ask(Ask::Pause(is_paused))
}

/// Writes the profile so far to a file and starts a new one; returns the number of records written.
pub fn save_prof(path: impl Into<PathBuf>) -> Result<u64> {
    let saved = Arc::default();
    ask(Ask::Save(path.into(), Arc::clone(&saved)))?;
    Ok(saved.load(Ordering::Relaxed))
}

/// Flushes, but waits at most this long; returns false on timeout.
pub fn flush_within(time: Duration) -> bool {
    let until = Instant::now() + time;
    // The writer of a parent does not answer its child, which first gets a new one.
    site::is_recording() && local::check_fork().ask(Ask::Flush, Some(until)) == Ok(true)
}

/// Changes which sites are on.
pub fn set_filter(filter: Filter) {
    let hub = if site::is_recording() { local::check_fork() } else { hub::current() };
    lock(&hub.registry).filter = filter;
    if site::is_recording() {
        renew_generation();
    }
}

/// Whether a recorder is running.
pub fn is_recording() -> bool {
    site::is_recording()
}

/// Whether a running recorder has this output.
pub fn writes_to(slot: Slot) -> bool {
    lock(&hub::current().config).as_ref().is_some_and(|config| config.has(slot))
}

/// Counts of recorded, dropped and lost records since the start.
pub fn stats() -> Stats {
    COUNTERS.stats(hub::current().rings())
}

/// Resets the counts.
pub fn reset_stats() {
    COUNTERS.reset();
}

/// The id of the writer thread; 0 before the first one.
pub fn writer_thread() -> u64 {
    hub::current().writer_tid.load(Ordering::Relaxed)
}

/// Makes panics first flush, or dump the flight recorder.
fn hook_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let next = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            at_panic();
            next(info);
        }));
    });
}

fn at_panic() {
    // The writer cannot wait for itself, and the panicking thread may hold the lock.
    if !site::is_recording() || thread::current().name() == Some("traceloom-record") {
        return;
    }
    // The writer of a parent does not answer its child, which first gets a new one.
    let hub = local::check_fork();
    let Some(config) = hub.config.try_lock().ok().and_then(|config| config.clone()) else { return };
    if let Some(deadline) = config.panic_deadline {
        let ask = if config.flight.is_some() { Ask::Dump } else { Ask::Flush };
        let _ = hub.ask(ask, Some(Instant::now() + deadline));
    }
}
