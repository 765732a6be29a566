//! Captures over EasyProfiler's live protocol: its GUI, or `traceloom capture`, starts and ends them.

use std::{
    fs::File,
    io::{self, Read, Seek},
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use traceloom_core::Result;
use traceloom_easyprofiler::{
    Descriptor, Name,
    live::{Accepted, Descriptors, FrameTime, Program, serve},
    raw::{BlockType, Status},
};

use super::{Rec, Sink, prof::Prof};
use crate::{
    clock::{Timeline, tick},
    config::Listening,
    hub::{self, Ask, ThreadInfo},
    record::Kind,
    sync::{Mutex, lock},
};

/// How often to check for a client, or for data of a silent one.
const PATIENCE: Duration = Duration::from_millis(50);
/// A client that reads nothing for this long is disconnected.
const STALLED: Duration = Duration::from_secs(5);

/// The sink: passes all records to the running capture, if any.
pub(crate) struct Listen {
    shared: Arc<Shared>,
    server: Option<JoinHandle<()>>,
}

struct Shared {
    is_running: AtomicBool,
    capture: Mutex<Option<Prof>>,
    timeline: Mutex<Timeline>,
    frames: Mutex<Frames>,
}

/// Times of the outermost spans of the main thread.
#[derive(Default)]
struct Frames {
    depth: u32,
    begin: u64,
    count: u64,
    sum: u64,
    max: u64,
}

impl Listen {
    pub(crate) fn start(listening: &Listening, timeline: &Timeline) -> Result<Self> {
        let listener = match listening {
            Listening::Port(port) => bind(*port)?,
            Listening::On(listener) => listener.try_clone()?,
        };
        listener.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            is_running: AtomicBool::new(true),
            capture: Mutex::new(None),
            timeline: Mutex::new(*timeline),
            frames: Mutex::default(),
        });
        let program = Arc::clone(&shared);
        let server = thread::Builder::new().name("traceloom-listen".to_owned());
        let server = server.spawn(move || listen(&listener, &program))?;
        Ok(Self { shared, server: Some(server) })
    }
}

/// Tries again for a while, because the server of a recorder that was just closed may still hold the port.
fn bind(port: u16) -> Result<TcpListener> {
    let mut tries = 10;
    loop {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) if tries == 0 || error.kind() != io::ErrorKind::AddrInUse => return Err(error.into()),
            Err(_) => thread::sleep(PATIENCE),
        }
        tries -= 1;
    }
}

/// Serves one client after the other, as EasyProfiler does.
fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    while shared.is_running.load(Ordering::Relaxed) {
        let Ok((mut stream, _)) = listener.accept() else {
            thread::sleep(PATIENCE);
            continue;
        };
        let is_set = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_read_timeout(Some(PATIENCE)))
            .and_then(|()| stream.set_write_timeout(Some(STALLED)))
            .and_then(|()| stream.set_nodelay(true));
        if is_set.is_ok() {
            // A client that breaks the protocol is disconnected; the capture continues for the next one.
            let _ = serve(&mut stream, &mut Served { shared, file: None });
        }
    }
}

/// The recorder from the view of one client.
struct Served<'a> {
    shared: &'a Shared,
    file: Option<File>,
}

impl Program for Served<'_> {
    fn is_running(&self) -> bool {
        self.shared.is_running.load(Ordering::Relaxed)
    }

    fn accepted(&self) -> Accepted {
        Accepted { is_profiling: lock(&self.shared.capture).is_some(), ..Accepted::default() }
    }

    fn start(&mut self) -> Result<()> {
        let mut capture = lock(&self.shared.capture);
        if capture.is_none() {
            *capture = Some(Prof::from_tick(tick())?);
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<Option<(u64, Box<dyn Read + '_>)>> {
        // Puts everything recorded so far into the capture.
        let _ = hub::current().ask(Ask::Flush, None);
        let Some(mut capture) = lock(&self.shared.capture).take() else { return Ok(None) };
        let timeline = *lock(&self.shared.timeline);
        let mut file = tempfile::tempfile()?;
        capture.write(&file, &timeline)?;
        let bytes = file.stream_position()?;
        file.rewind()?;
        Ok(Some((bytes, Box::new(self.file.insert(file)))))
    }

    fn descriptors(&mut self) -> Result<Descriptors> {
        let sites = lock(&hub::current().registry).sites.clone();
        let described = sites.iter().enumerate().map(|(number, site)| {
            let block_type = if site.level.is_some() { BlockType::VALUE } else { BlockType::BLOCK };
            let descriptor = Descriptor::new(number as u32, block_type, site.name.as_bytes());
            Descriptor { line: site.line as i32, file: Name::new(site.file.as_bytes()), ..descriptor }
        });
        Descriptors::new(described)
    }

    fn frame_time(&mut self) -> FrameTime {
        let frequency = lock(&self.shared.timeline).frequency().max(1);
        let frames = {
            let mut frames = lock(&self.shared.frames);
            let rest = Frames { depth: frames.depth, begin: frames.begin, ..Frames::default() };
            std::mem::replace(&mut *frames, rest)
        };
        let micros =
            |ticks: u64| (u128::from(ticks) * 1_000_000 / u128::from(frequency)).try_into().unwrap_or(u32::MAX);
        FrameTime { max_us: micros(frames.max), average_us: micros(frames.sum / frames.count.max(1)) }
    }

    /// Only the program's filter turns sites on and off.
    fn set_status(&mut self, _: u32, _: Status) {}

    fn set_event_tracing(&mut self, _: bool) {}

    fn set_low_priority(&mut self, _: bool) {}
}

impl Frames {
    fn take(&mut self, rec: &Rec<'_>) {
        match rec.kind {
            Kind::SpanBegin | Kind::FrameBegin => {
                if self.depth == 0 {
                    self.begin = rec.tick;
                }
                self.depth += 1;
            }
            Kind::SpanEnd | Kind::FrameEnd if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    let took = rec.tick.saturating_sub(self.begin);
                    (self.count, self.sum, self.max) = (self.count + 1, self.sum + took, self.max.max(took));
                }
            }
            _ => {}
        }
    }
}

impl Sink for Listen {
    fn put(&mut self, rec: &Rec<'_>) {
        if rec.thread.is_named("main") {
            lock(&self.shared.frames).take(rec);
        }
        if let Some(capture) = &mut *lock(&self.shared.capture) {
            capture.put(rec);
        }
    }

    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64) {
        if let Some(capture) = &mut *lock(&self.shared.capture) {
            capture.dropped(thread, count, tick);
        }
    }

    fn tick(&mut self, timeline: &Timeline) {
        *lock(&self.shared.timeline) = *timeline;
    }

    /// Disconnects the client, which ends a running capture.
    fn close(mut self: Box<Self>, _: &Timeline) -> Result<()> {
        self.shared.is_running.store(false, Ordering::Relaxed);
        // Not joined, because a server that waits for the writer would wait forever.
        drop(self.server.take());
        Ok(())
    }
}
