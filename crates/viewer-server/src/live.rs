//! Watches a program that serves what it records: everything that comes goes to a file, and the page shows the file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use traceloom_core::{
    Error, Result,
    live::{self, Address, Decoder, Frame, Socket},
};
use traceloom_viewer::{Keep, Router, Watching};

/// What is shown as it grows.
#[derive(Clone, Debug)]
pub struct Live {
    /// Where it comes from.
    pub from: LiveSource,
    /// How much of it stays in memory.
    pub keep: Keep,
}

/// Where a trace comes from while it is written.
#[derive(Clone, Debug)]
pub enum LiveSource {
    /// A file that something writes.
    File(PathBuf),
    /// A program that serves what it records.
    Program {
        /// Where it serves.
        address: Address,
        /// What it wants to hear.
        token: String,
        /// The file that everything goes to; it must not exist.
        output: PathBuf,
    },
}

/// How long a program may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Starts to watch; a program that refuses is an error here.
pub(crate) fn watch(live: Live, viewer: &Router) -> Result<()> {
    match live.from {
        LiveSource::File(path) => drop(viewer.watch(path, None, live.keep)),
        LiveSource::Program { address, token, output } => {
            let connection = Connection::open(&address, &token)?;
            let file = OpenOptions::new().write(true).create_new(true).open(&output);
            let file = file.map_err(|error| Error::from(error).in_file(&output))?;
            let watching = viewer.watch(output, None, live.keep);
            thread::Builder::new().name("live".to_owned()).spawn(move || {
                let end = match connection.save(file, &watching) {
                    Ok(()) => "the program has ended".to_owned(),
                    Err(error) => format!("disconnected: {error}"),
                };
                watching.ended(&end);
            })?;
        }
    }
    Ok(())
}

/// A connection to a program that has said yes.
struct Connection {
    socket: Socket,
    decoder: Decoder,
    /// Bytes after the answer.
    rest: Vec<u8>,
}

impl Connection {
    fn open(address: &Address, token: &str) -> Result<Self> {
        let cannot = |error: io::Error| {
            let message =
                format!("cannot connect to {address}: {error}; does the program run, and does it serve there?");
            Error::from(io::Error::new(error.kind(), message))
        };
        let mut socket = Socket::connect(address).map_err(cannot)?;
        socket.set_write_timeout(ANSWER)?;
        socket.write_all(&live::greeting(token)?)?;
        let (mut decoder, until) = (Decoder::default(), Instant::now() + ANSWER);
        let mut buffer = [0; 4096];
        loop {
            let read = socket.within(until).read(&mut buffer)?;
            if read == 0 {
                return Err(cannot(io::ErrorKind::UnexpectedEof.into()));
            }
            let mut bytes = buffer.get(..read).unwrap_or_default();
            if decoder.next(&mut bytes)?.is_some() {
                let rest = bytes.to_vec();
                return Ok(Self { socket, decoder, rest });
            }
        }
    }

    /// Saves what comes until the program says that it was all; what is confirmed is in the file.
    fn save(mut self, mut file: File, watching: &Watching) -> Result<()> {
        // A program that records nothing still says so several times a second, unless somebody has stopped it.
        self.socket.set_read_timeout(Duration::from_secs(3600))?;
        let (mut saved, mut confirmed) = (0_u64, 0);
        let mut buffer = std::mem::take(&mut self.rest);
        loop {
            let mut bytes = &*buffer;
            while let Some(frame) = self.decoder.next(&mut bytes)? {
                match frame {
                    Frame::Data(data) => {
                        file.write_all(data)?;
                        saved += data.len() as u64;
                    }
                    Frame::Status(dropped) => watching.dropped(dropped),
                    Frame::End => return Ok(()),
                    Frame::Accepted(_) => {}
                }
            }
            if saved != confirmed {
                confirmed = saved;
                self.socket.write_all(&saved.to_le_bytes())?;
            }
            buffer.resize(256 << 10, 0);
            let read = self.socket.read(&mut buffer)?;
            if read == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the program is gone").into());
            }
            buffer.truncate(read);
        }
    }
}
