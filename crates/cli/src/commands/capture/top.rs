//! `top`: the hottest names of the last seconds, of a program or of a file.

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    thread,
    time::Duration,
};

use traceloom::easyprofiler::live::Blocks;
use traceloom_core::Result;

use super::{
    End, TICK,
    connection::{Address, Connection},
};
use crate::{Outcome, args, commands::stats, output::note};

/// Rows if nobody says how many.
const ROWS: usize = 20;
/// Back to the upper left corner, with an empty screen.
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";

/// Runs `top`.
pub(crate) fn run(arguments: args::live::Top) -> Result<Outcome> {
    let args::live::Top { every_ns, rounds, stats: mut shown } = arguments;
    shown.limit = shown.limit.or(Some(ROWS));
    let Some(address) = address(&shown)? else { return stats::run(&shown) };
    let is_redrawn = io::stdout().is_terminal();
    let rounds = rounds.unwrap_or(if is_redrawn { u64::MAX } else { 1 });
    let folder = tempfile::tempdir()?;
    let captured = folder.path().join("capture.prof");
    shown.files = vec![captured.clone()];
    let mut connection = Connection::open(&address)?;
    let end = End::new(None);
    for _ in 0..rounds {
        let is_complete = sample(&mut connection, &end, Duration::from_nanos(every_ns.unsigned_abs()), &captured)?;
        if is_redrawn {
            io::stdout().write_all(CLEAR)?;
        }
        if is_complete {
            stats::run(&shown)?;
        } else {
            note("the program has recorded nothing");
        }
        if end.has_come() {
            break;
        }
    }
    Ok(Outcome::Fine)
}

/// The program that is meant; files are files even if they are called like one.
fn address(shown: &args::figures::Stats) -> Result<Option<Address>> {
    let [named] = shown.files.as_slice() else { return Ok(None) };
    let text = named.to_string_lossy();
    let port = text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let is_address = port.is_some() || text.parse::<std::net::IpAddr>().is_ok() || text == "localhost";
    if is_address && !named.exists() { Address::parse(&text).map(Some) } else { Ok(None) }
}

/// Captures for some time; `false` if nothing was recorded.
fn sample(connection: &mut Connection, end: &End, time: Duration, into: &Path) -> Result<bool> {
    connection.start()?;
    let started = std::time::Instant::now();
    while started.elapsed() < time && !end.has_come() {
        thread::sleep(TICK);
    }
    let mut file = std::fs::File::create(into)?;
    let Blocks { received, failure, .. } = connection.stop(&mut file)?;
    file.flush()?;
    failure.map_or(Ok(received > 0), Err)
}
