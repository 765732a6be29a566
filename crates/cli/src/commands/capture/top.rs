//! `top`: the hottest names of the last seconds, of a program or of a file.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use traceloom::easyprofiler::live::{Blocks, PORT};
use traceloom_core::{
    Result,
    live::{self, Frame},
};

use super::{
    End, TICK,
    connection::{Address, Connection},
    written,
};
use crate::{Outcome, args, commands::stats, output::note, staged::private_folder};

/// Moves the cursor to the upper left corner and clears the screen.
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";

/// Runs `top`.
pub(crate) fn run(arguments: args::live::Top) -> Result<Outcome> {
    let args::live::Top { every_ns, rounds, stats: mut shown } = arguments;
    shown.limit = shown.limit.or(Some(args::live::TOP_ROWS));
    let every = Duration::from_nanos(every_ns.unsigned_abs());
    let is_redrawn = io::stdout().is_terminal();
    if (is_redrawn || rounds.is_some()) && written::is_written(&shown, every) {
        return written::show(shown, every, rounds);
    }
    let Some(mut program) = Program::find(&shown)? else { return stats::run(&shown) };
    let rounds = rounds.unwrap_or(if is_redrawn { u64::MAX } else { 1 });
    let folder = private_folder()?;
    let seen = folder.path().join(program.file_name());
    shown.files = vec![seen.clone()];
    let end = End::new(None);
    for _ in 0..rounds {
        if program.sample(&end, every, &seen)? {
            draw(&shown)?;
        } else {
            note("the program has recorded nothing");
        }
        if end.has_come() {
            break;
        }
    }
    Ok(Outcome::Fine)
}

/// Replaces the statistics on the screen.
pub(super) fn draw(shown: &args::figures::Stats) -> Result<Outcome> {
    if io::stdout().is_terminal() {
        io::stdout().write_all(CLEAR)?;
    }
    stats::run(shown)
}

/// A running program.
enum Program {
    /// Uses EasyProfiler and is captured.
    Captured(Connection),
    /// Serves its trace.
    Watched { address: live::Address, token: String },
}

impl Program {
    /// The program to watch. An existing file is always a file, even if its name looks like an address.
    fn find(shown: &args::figures::Stats) -> Result<Option<Self>> {
        let [named] = shown.files.as_slice() else { return Ok(None) };
        let text = named.to_string_lossy();
        let port = text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        let is_address = port.is_some() || text.parse::<std::net::IpAddr>().is_ok() || text == "localhost";
        if is_address && !named.exists() {
            let address = Address::parse(&text)?;
            address.warn();
            if port.is_none_or(|port| port == PORT) {
                return Connection::open(&address).map(Self::Captured).map(Some);
            }
            if let Some(connection) = Connection::if_greeted(&address)? {
                return Ok(Some(Self::Captured(connection)));
            }
        } else if !is_socket(named) {
            return Ok(None);
        }
        let address = live::Address::parse(&text)?;
        let token = std::env::var("TRACELOOM_TOKEN").map_or_else(|_| address.token(), Ok)?;
        Ok(Some(Self::Watched { address, token }))
    }

    fn file_name(&self) -> &'static str {
        match self {
            Self::Captured(_) => "capture.prof",
            Self::Watched { .. } => "live.wtf-trace",
        }
    }

    /// Records for the given time; `false` if nothing was recorded.
    fn sample(&mut self, end: &End, time: Duration, into: &Path) -> Result<bool> {
        let started = Instant::now();
        let mut file = File::create(into)?;
        match self {
            Self::Captured(connection) => {
                connection.start()?;
                while started.elapsed() < time && !end.has_come() {
                    thread::sleep(TICK);
                }
                let Blocks { received, failure, .. } = connection.stop(&mut file)?;
                failure.map_or(Ok(received > 0), Err)
            }
            Self::Watched { address, token } => {
                let mut connection = live::Connection::open(address, token)?;
                let mut safe = 0;
                while started.elapsed() < time && !end.has_come() {
                    match connection.frame()? {
                        Some(Frame::Data(data)) => {
                            file.write_all(data)?;
                            safe += data.len() as u64;
                        }
                        Some(Frame::End) => break,
                        Some(_) => {}
                        None => drop(connection.read(safe, TICK)?),
                    }
                }
                Ok(safe > 0)
            }
        }
    }
}

#[cfg(unix)]
fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_socket(_: &Path) -> bool {
    false
}
