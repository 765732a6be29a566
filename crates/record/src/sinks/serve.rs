//! Live viewers, over a Unix socket or a port on loopback.

use std::{
    fs,
    io::{self, Read, Write},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use traceloom_core::{
    Error, Result,
    live::{self, Address, Listener, MAX_TOKEN_BYTES, Socket},
};

use super::{
    Rec, Sink,
    viewer::{Line, Viewer},
};
use crate::{
    clock::Timeline,
    config::{ServeAt, Serving},
    hub::ThreadInfo,
};

/// How often to check for new connections.
const PATIENCE: Duration = Duration::from_millis(20);
/// Max time of a greeting, however slowly its bytes arrive.
const GREETING: Duration = Duration::from_secs(2);
/// A viewer that reads nothing for this long is disconnected.
const STALLED: Duration = Duration::from_secs(5);
/// Max connections, including those without a greeting yet.
const MAX_CONNECTIONS: usize = 16;
/// How long a record waits for others before viewers get it.
const FLUSH_EVERY: Duration = Duration::from_millis(50);
/// How long the end of the program waits for viewers to receive the rest.
const FAREWELL: Duration = Duration::from_millis(500);

/// The sink: passes all records to every viewer.
pub(crate) struct Serve {
    shared: Arc<Shared>,
    viewers: Vec<Viewer>,
    timeline: Timeline,
    /// The tick of the last flush to the viewers.
    flushed_tick: u64,
    flush_ticks: u64,
    /// Files to remove with the recorder.
    left_behind: Vec<PathBuf>,
}

struct Shared {
    token: String,
    is_running: AtomicBool,
    connections: AtomicUsize,
    /// Accepted viewers that the writer does not know yet.
    arrived: Mutex<Vec<Arc<Line>>>,
    has_arrived: AtomicBool,
}

impl Serve {
    pub(crate) fn start(serving: &Serving, timeline: &Timeline) -> Result<Self> {
        let given = serving.token.clone();
        let is_fit = |token: &String| (1..=MAX_TOKEN_BYTES).contains(&token.len());
        if given.as_ref().is_some_and(|token| !is_fit(token)) {
            return Err(Error::usage("a token must have 1 to 255 bytes"));
        }
        let mut left_behind = Vec::new();
        let (listener, token) = match &serving.at {
            ServeAt::Invalid(problem) => return Err(Error::usage(problem.clone())),
            ServeAt::On(listener) => {
                let token =
                    given.ok_or_else(|| Error::usage("`serve_on` needs a token; set one with `serve_token`"))?;
                (Listener::on(listener.try_clone()?)?, token)
            }
            ServeAt::Address(address) => {
                let listener = Listener::bind(address)?;
                if let Address::Unix(path) = address {
                    left_behind.push(path.clone());
                }
                let token = match given {
                    Some(token) => token,
                    None => {
                        left_behind.push(address.token_file());
                        make_token(address)?
                    }
                };
                (listener, token)
            }
        };
        let shared = Arc::new(Shared {
            token,
            is_running: AtomicBool::new(true),
            connections: AtomicUsize::new(0),
            arrived: Mutex::default(),
            has_arrived: AtomicBool::new(false),
        });
        let program = Arc::clone(&shared);
        thread::Builder::new().name("traceloom-serve".to_owned()).spawn(move || let_in(&listener, &program))?;
        let flush_ticks = (FLUSH_EVERY.as_secs_f64() * timeline.frequency() as f64) as u64;
        Ok(Self { shared, viewers: Vec::new(), timeline: *timeline, flushed_tick: 0, flush_ticks, left_behind })
    }

    /// Adds new viewers and removes those that are gone.
    #[cold]
    fn renew(&mut self) {
        self.shared.has_arrived.store(false, Ordering::Relaxed);
        let arrived = std::mem::take(&mut *self.shared.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        self.viewers.extend(arrived.into_iter().filter_map(|line| Viewer::new(line, &self.timeline).ok()));
        self.viewers.retain(|viewer| !viewer.is_gone());
    }

    fn has_news(&self) -> bool {
        self.shared.has_arrived.load(Ordering::Relaxed)
    }

    fn flush_viewers(&mut self, tick: u64) {
        self.flushed_tick = tick;
        self.viewers.iter_mut().for_each(Viewer::flush);
    }
}

/// Generates a random token and stores it in its file.
fn make_token(address: &Address) -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    address.leave_token(&token)?;
    Ok(token)
}

fn let_in(listener: &Listener, shared: &Arc<Shared>) {
    while shared.is_running.load(Ordering::Relaxed) {
        let Ok(socket) = listener.accept() else {
            thread::sleep(PATIENCE);
            continue;
        };
        let Some(turn) = Turn::take(shared) else { continue };
        let shared = Arc::clone(shared);
        // If the thread cannot be started, the viewer is not served.
        let _ = thread::Builder::new().name("traceloom-viewer".to_owned()).spawn(move || {
            let _turn = turn;
            // A viewer that breaks the protocol is disconnected, without effect on others.
            let _ = serve(socket, &shared);
        });
    }
}

/// One of the allowed connections.
struct Turn(Arc<Shared>);

impl Turn {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let turn = Self(Arc::clone(shared));
        (shared.connections.fetch_add(1, Ordering::Relaxed) < MAX_CONNECTIONS).then_some(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves one viewer until it disconnects.
fn serve(mut socket: Socket, shared: &Shared) -> Result<()> {
    socket.set_write_timeout(STALLED)?;
    let token = live::read_greeting(&mut socket.within(Instant::now() + GREETING))?;
    if !live::is_same_token(&token, shared.token.as_bytes()) {
        return Ok(socket.write_all(&live::refuse("the token is wrong"))?);
    }
    let program = std::env::args().next().unwrap_or_default();
    socket.write_all(&live::accept(&program))?;
    let line = Arc::new(Line::default());
    shared.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&line));
    shared.has_arrived.store(true, Ordering::Relaxed);
    let (sending, mut sender) = (Arc::clone(&line), socket.try_clone()?);
    let spawned = thread::Builder::new().name("traceloom-viewer".to_owned()).spawn(move || {
        let outcome = sending.send(&mut sender);
        sending.close();
        if outcome.is_err() {
            sender.shut_down();
        }
    });
    if spawned.is_ok() {
        read_confirmed(&mut socket, &line);
    }
    line.close();
    Ok(())
}

/// Reads the viewer's confirmations until it disconnects.
fn read_confirmed(socket: &mut Socket, line: &Line) {
    let mut number = [0; 8];
    // The sender closes the connection if the viewer stops reading.
    let is_set = socket.set_read_timeout(Duration::from_secs(3600)).is_ok();
    while is_set && socket.read_exact(&mut number).is_ok() {
        line.confirm(u64::from_le_bytes(number));
    }
}

impl Sink for Serve {
    fn put(&mut self, rec: &Rec<'_>) {
        if self.has_news() {
            self.renew();
        }
        if self.viewers.is_empty() {
            return;
        }
        self.viewers.iter_mut().for_each(|viewer| viewer.put(rec));
        if rec.tick.saturating_sub(self.flushed_tick) > self.flush_ticks {
            self.flush_viewers(rec.tick);
        }
    }

    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64) {
        self.viewers.iter_mut().for_each(|viewer| viewer.dropped(thread, count, tick));
    }

    fn tick(&mut self, timeline: &Timeline) {
        self.timeline = *timeline;
        self.renew();
        self.viewers.iter_mut().for_each(|viewer| viewer.tick(timeline));
    }

    fn flush(&mut self) -> Result<()> {
        self.renew();
        self.flush_viewers(crate::tick());
        Ok(())
    }

    /// Often enough for people, but not one chunk per pause of a thread.
    fn idle(&mut self) -> Result<()> {
        let now = crate::tick();
        if self.has_news() || (!self.viewers.is_empty() && now.saturating_sub(self.flushed_tick) > self.flush_ticks) {
            return self.flush();
        }
        Ok(())
    }

    /// Sends the rest and a frame that ends the trace; a slow viewer gets half a second for it.
    fn close(mut self: Box<Self>, _: &Timeline) -> Result<()> {
        self.renew();
        self.shared.is_running.store(false, Ordering::Relaxed);
        self.left_behind.iter().for_each(|path| drop(fs::remove_file(path)));
        let lines: Vec<Arc<Line>> = self.viewers.drain(..).map(Viewer::end).collect();
        let until = Instant::now() + FAREWELL;
        for line in lines {
            if !line.is_empty_by(until) {
                line.close();
            }
        }
        Ok(())
    }
}
