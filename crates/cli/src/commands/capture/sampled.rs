//! `view --live` of a program that uses EasyProfiler: consecutive captures, appended to a growing file.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use tempfile::NamedTempFile;
use traceloom::easyprofiler::{
    edit,
    live::{Blocks, PORT},
};
use traceloom_core::{Error, Options, Result, Source};
use traceloom_viewer_server::{Keep, Viewer, Watching, numbered};

use super::{
    POLL,
    connection::{Address, Connection},
};

/// How long each capture takes.
const CAPTURE: Duration = Duration::from_secs(1);
/// Size at which the next file starts, because adding a capture costs as much as the size of the file.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// A program that is captured repeatedly.
pub(crate) struct Sampled {
    address: Address,
    connection: Connection,
    output: PathBuf,
    keep: Keep,
    files: usize,
    shown: Option<(PathBuf, Watching)>,
}

impl Sampled {
    /// The program at an address, if it uses EasyProfiler, whose server speaks first.
    pub(crate) fn find(text: &str, output: &Path, keep: Keep) -> Result<Option<Self>> {
        if text.contains('/') || text.ends_with(".sock") {
            return Ok(None);
        }
        let address = Address::parse(text)?;
        let connection =
            if address.port() == PORT { Some(Connection::open(&address)?) } else { Connection::if_greeted(&address)? };
        let Some(mut connection) = connection else { return Ok(None) };
        address.warn();
        connection.start()?;
        Ok(Some(Self { address, connection, output: output.to_owned(), keep, files: 0, shown: None }))
    }

    /// Captures until the viewer exits.
    pub(crate) fn run(mut self, viewer: &Viewer) {
        loop {
            while let Err(error) = self.sample(viewer) {
                self.tell(Some(&format!("disconnected ({error}); reconnecting")));
                self.connection = self.find_again();
            }
        }
    }

    fn find_again(&self) -> Connection {
        loop {
            thread::sleep(POLL);
            if let Ok(mut connection) = Connection::open(&self.address)
                && connection.start().is_ok()
            {
                return connection;
            }
        }
    }

    /// Ends the current capture, starts the next one, and shows the blocks that arrived.
    fn sample(&mut self, viewer: &Viewer) -> Result<()> {
        thread::sleep(CAPTURE);
        let mut capture = self.temporary()?;
        let Blocks { received, failure, .. } = self.connection.stop(&mut capture)?;
        capture.flush()?;
        if let Some(failure) = failure {
            // Saved as received, because it is not a complete file.
            if received > 0 {
                capture.persist(self.next_path()).map_err(|error| error.error)?;
            }
            return Err(failure);
        }
        let started = self.connection.start();
        if received > 0 {
            self.add(capture, viewer)?;
        }
        self.tell((received == 0).then_some("the program is not recording"));
        started
    }

    fn add(&mut self, capture: NamedTempFile, viewer: &Viewer) -> Result<()> {
        let is_long = |path: &Path| fs::metadata(path).map_or(true, |found| found.len() > MAX_FILE_BYTES);
        if let Some((path, _)) = self.shown.as_ref().filter(|(path, _)| !is_long(path)) {
            let options = Options::default();
            let sources = [Source::open(path, &options.limits)?, Source::open(capture.path(), &options.limits)?];
            let mut both = self.temporary()?;
            edit::merge(&sources, &mut both, &options)?;
            both.flush()?;
            return both.persist(path).map(drop).map_err(|error| error.error.into());
        }
        let path = self.next_path();
        capture.persist(&path).map_err(|error| error.error)?;
        let watching = viewer.watch(path.clone(), self.keep);
        if let Some((_, past)) = self.shown.replace((path, watching)) {
            past.ended("the next file continues");
            past.passed();
        }
        Ok(())
    }

    /// Next to the output, so that it can replace the output.
    fn temporary(&self) -> Result<NamedTempFile> {
        let folder = self.output.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
        file.map_err(|error| Error::from(error).in_file(&self.output))
    }

    fn next_path(&mut self) -> PathBuf {
        loop {
            self.files += 1;
            let path = numbered(&self.output, self.files);
            if !path.exists() {
                return path;
            }
        }
    }

    fn tell(&self, reason: Option<&str>) {
        if let Some((_, watching)) = &self.shown {
            watching.paused(reason);
        }
    }
}
