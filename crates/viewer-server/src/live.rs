//! Watches a recording program: everything that it sends goes to a file, and the page shows the file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use traceloom_core::{
    Error, Result,
    live::{Address, Connection, Frame},
};
use traceloom_viewer::{Keep, Router, Watching};

/// A live trace to show.
#[derive(Clone, Debug)]
pub struct Live {
    /// Its source.
    pub from: LiveSource,
    /// How much of it to keep in memory.
    pub keep: Keep,
}

/// The source of a live trace.
#[derive(Clone, Debug)]
pub enum LiveSource {
    /// A growing file.
    File(PathBuf),
    /// A recording program that serves viewers.
    Program {
        /// Address of the program.
        address: Address,
        /// Its token (default: the one in its token file).
        token: Option<String>,
        /// The output file, which must not exist. If the program is restarted, a second file is created next to it.
        output: PathBuf,
    },
}

/// A program sends its status several times per second even if it records nothing, unless it is suspended.
const PATIENCE: Duration = Duration::from_secs(3600);
/// How often to try to reconnect.
const RETRY: Duration = Duration::from_millis(500);

/// Starts watching; fails if the program refuses.
pub(crate) fn watch(live: Live, viewer: &Arc<Router>) -> Result<()> {
    match live.from {
        LiveSource::File(path) => drop(viewer.watch(path, None, live.keep)),
        LiveSource::Program { address, token, output } => {
            let viewer = Arc::downgrade(viewer);
            let mut session = Session { address, token, output, keep: live.keep, viewer, dropped: 0, files: 0 };
            let connection = session.connect()?;
            let shown = session.show()?;
            thread::Builder::new().name("live".to_owned()).spawn(move || session.run(connection, shown))?;
        }
    }
    Ok(())
}

/// A watched program, over any number of connections; each connection has a separate trace.
struct Session {
    address: Address,
    token: Option<String>,
    output: PathBuf,
    keep: Keep,
    viewer: Weak<Router>,
    /// Records that earlier connections missed.
    dropped: u64,
    /// Number of files created.
    files: usize,
}

/// The file of a connection, and its trace in the page.
struct Shown {
    file: File,
    watching: Watching,
}

impl Session {
    fn connect(&self) -> Result<Connection> {
        // A restarted program has a new token.
        let token = self.token.clone().map_or_else(|| self.address.token(), Ok)?;
        Connection::open(&self.address, &token)
    }

    /// Shows a new file.
    fn show(&mut self) -> Result<Shown> {
        let Some(viewer) = self.viewer.upgrade() else { return Err(Error::internal("the viewer was closed")) };
        loop {
            self.files += 1;
            let path = numbered(&self.output, self.files);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Shown { file, watching: viewer.watch(path, None, self.keep) }),
                // Only the first file has the name given by the user.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.files > 1 => {}
                Err(error) => return Err(Error::from(error).in_file(&path)),
            }
        }
    }

    /// Saves the data of one connection after the other, until the viewer is closed.
    fn run(mut self, mut connection: Connection, mut shown: Shown) {
        loop {
            let reason = match save(connection, &mut shown, &mut self.dropped) {
                Ok(End::Closed) => "the program has ended; waiting until it starts again".to_owned(),
                Ok(End::Lost(error)) => format!("disconnected ({error}); reconnecting"),
                Err(error) => return shown.watching.ended(&format!("cannot save the received data: {error}")),
            };
            shown.watching.ended(&reason);
            let Some(found) = self.find() else { return };
            let past = shown.watching;
            shown = match self.show() {
                Ok(shown) => shown,
                Err(error) => return past.ended(&format!("cannot save the received data: {error}")),
            };
            past.passed();
            connection = found;
        }
    }

    /// Waits until the program is back; `None` if the viewer is closed.
    fn find(&self) -> Option<Connection> {
        while self.viewer.strong_count() > 0 {
            thread::sleep(RETRY);
            if let Ok(connection) = self.connect() {
                return Some(connection);
            }
        }
        None
    }
}

/// `live.wtf-trace`, `live-2.wtf-trace`, and so on.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    if number <= 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// How a connection ended.
enum End {
    /// The program has closed the trace.
    Closed,
    Lost(Error),
}

/// Saves received data until the connection ends; confirmed data is in the file, and errors are those of the file.
fn save(mut connection: Connection, shown: &mut Shown, dropped: &mut u64) -> Result<End> {
    let (dropped_before, mut saved) = (*dropped, 0);
    loop {
        match connection.frame() {
            Ok(Some(Frame::Data(data))) => {
                shown.file.write_all(data)?;
                saved += data.len() as u64;
            }
            Ok(Some(Frame::Status(missing))) => {
                *dropped = dropped_before.saturating_add(missing);
                shown.watching.dropped(*dropped);
            }
            Ok(Some(Frame::End)) => return Ok(End::Closed),
            Ok(Some(Frame::Accepted(_))) => {}
            Ok(None) => {
                if let Err(error) = connection.read(saved, PATIENCE) {
                    return Ok(End::Lost(error));
                }
            }
            Err(error) => return Ok(End::Lost(error)),
        }
    }
}
