//! A folder for the files of a test, and our own readers to check them.
#![allow(dead_code, reason = "no test needs all of it")]

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use traceloom_cnanolog::{Record, journal, open, text};
use traceloom_core::{Options, Records, Source};

/// A process has one recorder at a time, so tests of one process take turns.
static TURN: Mutex<()> = Mutex::new(());

pub(crate) struct Recording {
    folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Recording {
    pub(crate) fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self { folder: tempfile::tempdir().unwrap(), _turn: turn }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// An example of this crate, which is built next to the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(name)
}

/// The log as text, read with the journal if it has no dictionary.
fn print(path: &Path, pattern: &[u8]) -> Vec<String> {
    let options = Options::default();
    let mut source = Source::file(File::open(path).unwrap());
    if let Ok(journal) = File::open(journal::path_of(path)) {
        source = source.with_companion(Source::file(journal));
    }
    let mut reader = open(source, &options).unwrap();
    let mut printer = text::Lines::new(text::Pattern::library(pattern), reader.clock(), text::utc);
    let mut out = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            printer.put(&entry, &mut out);
        }
    }
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// Level and message of every entry.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    print(path, b"%l %m")
}

/// The message of every entry.
pub(crate) fn messages(path: &Path) -> Vec<String> {
    print(path, b"%m")
}
