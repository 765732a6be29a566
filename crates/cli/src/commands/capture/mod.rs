//! `capture` and `top`: record and watch a program that uses EasyProfiler.

mod connection;
pub(crate) mod sampled;
mod settings;
pub(crate) mod top;
mod written;

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use indicatif::ProgressBar;
use traceloom::easyprofiler::live::{Blocks, FrameTime};
use traceloom_core::{Error, Result};

use self::connection::{Address, Connection};
use crate::{
    Outcome, args,
    input::display_name,
    output::{self, note, write_file},
    units::Nanoseconds,
};

/// How often the frame time is requested; EasyProfiler's GUI uses the same interval.
const POLL: Duration = Duration::from_millis(500);
/// How often to check whether the capture should end.
const TICK: Duration = Duration::from_millis(20);

/// Runs `capture`.
pub(crate) fn run(arguments: &args::live::Capture) -> Result<Outcome> {
    let address = Address::parse(&arguments.program)?;
    if !arguments.list && arguments.output.exists() {
        return Err(Error::usage("already exists; choose another name with -o").in_file(&arguments.output));
    }
    address.warn();
    let mut session = Session { end: End::new(arguments.duration_ns), address, frames: Frames::default() };
    let mut connection = session.connect(arguments.wait)?;
    if arguments.list {
        return settings::list(&mut connection);
    }
    settings::apply(&mut connection, arguments)?;
    let connection = session.record(connection)?;
    session.receive(connection, arguments)
}

/// One capture, over as many connections as needed.
struct Session {
    address: Address,
    end: End,
    frames: Frames,
}

impl Session {
    fn connect(&self, waits: bool) -> Result<Connection> {
        let mut is_first = true;
        loop {
            match Connection::open(&self.address) {
                Ok(connection) => return Ok(connection),
                Err(error) if !waits || self.end.has_come() => return Err(error),
                Err(_) if is_first => note(&format!("waiting for a program at {}", self.address)),
                Err(_) => thread::sleep(POLL),
            }
            is_first = false;
        }
    }

    /// Captures until the end and reconnects if the connection is lost; the program continues meanwhile.
    fn record(&mut self, mut connection: Connection) -> Result<Connection> {
        connection.start()?;
        let bar = output::is_shown().then(ProgressBar::new_spinner);
        self.end.start();
        let mut polled = Instant::now();
        let mut answers = true;
        while !self.end.has_come() {
            thread::sleep(TICK);
            if polled.elapsed() < POLL || !answers {
                continue;
            }
            polled = Instant::now();
            match connection.frame_time() {
                Ok(time) => self.frames.add(time),
                Err(error) if connection::is_silence(&error) => answers = false,
                Err(_) => {
                    note("lost the connection; reconnecting");
                    connection = self.connect(true)?;
                    if !connection.is_profiling() {
                        note("the program was restarted; the capture starts again");
                        connection.start()?;
                    }
                }
            }
            if let Some(bar) = &bar {
                bar.set_message(format!("capturing; {}; press Ctrl-C or Enter to stop", self.frames));
                bar.tick();
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        Ok(connection)
    }

    fn receive(&self, mut connection: Connection, arguments: &args::live::Capture) -> Result<Outcome> {
        let Blocks { announced, received, failure } =
            write_file(&arguments.output, &[], |out| something(connection.stop(out)?, out))?;
        if self.frames.polls > 0 {
            note(&self.frames.to_string());
        }
        let Some(failure) = failure else { return Ok(Outcome::Fine) };
        let (name, announced) = (display_name(&arguments.output), announced.unwrap_or(0));
        note(&format!(
            "{name} is incomplete, {received} of {announced} bytes: {failure}; `traceloom repair` makes it loadable"
        ));
        Ok(Outcome::Findings)
    }
}

/// The blocks, if any arrived; without blocks there is nothing to write.
fn something(blocks: Blocks, out: &mut dyn Write) -> Result<Blocks> {
    out.flush()?;
    match blocks {
        Blocks { received: 0, failure: Some(failure), .. } => Err(failure),
        Blocks { received: 0, .. } => Err(Error::unrecognized("the program has recorded nothing")),
        blocks => Ok(blocks),
    }
}

/// When to stop.
struct End {
    is_asked: Arc<AtomicBool>,
    duration: Option<Duration>,
    started: Option<Instant>,
}

impl End {
    fn new(duration_ns: Option<i64>) -> Self {
        let is_asked = Arc::new(AtomicBool::new(false));
        let (by_signal, by_key) = (is_asked.clone(), is_asked.clone());
        // Without a handler, Ctrl-C ends the process and EasyProfiler keeps its data for the next client.
        let _ = ctrlc::set_handler(move || {
            if by_signal.swap(true, Ordering::Relaxed) {
                give_up();
            }
        });
        if output::is_shown() {
            thread::spawn(move || {
                let read = std::io::stdin().read_line(&mut String::new());
                by_key.store(read.is_ok_and(|bytes| bytes > 0), Ordering::Relaxed);
            });
        }
        let duration = duration_ns.map(|ns| Duration::from_nanos(ns.max(0).unsigned_abs()));
        Self { is_asked, duration, started: None }
    }

    fn start(&mut self) {
        self.started = Some(Instant::now());
    }

    fn has_come(&self) -> bool {
        let is_over = self.started.zip(self.duration).is_some_and(|(started, duration)| started.elapsed() >= duration);
        is_over || self.is_asked.load(Ordering::Relaxed)
    }
}

/// The second Ctrl-C: the program may never send the announced data.
#[expect(clippy::disallowed_methods, reason = "there is nothing left to clean up")]
fn give_up() {
    std::process::exit(130)
}

/// Frame times of the whole capture.
#[derive(Default)]
struct Frames {
    last_us: u32,
    max_us: u32,
    polls: u32,
}

impl Frames {
    fn add(&mut self, time: FrameTime) {
        // A program without a thread named Main has no frame time.
        if time.max_us > 0 {
            self.last_us = time.average_us;
            self.max_us = self.max_us.max(time.max_us);
            self.polls += 1;
        }
    }
}

impl std::fmt::Display for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.polls == 0 {
            return f.write_str("no frame time");
        }
        let (last, max) = (u64::from(self.last_us) * 1000, u64::from(self.max_us) * 1000);
        write!(f, "frame time {}, longest {}", Nanoseconds(last), Nanoseconds(max))
    }
}
