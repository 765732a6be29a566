//! Open traces and their handles.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use traceloom::Trace;
use traceloom_core::{Error, Result};

use crate::access::Access;

/// Traces that stay open; the one that was used least recently goes first.
const MAX_OPEN: usize = 32;

/// The traces of a session.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) access: Access,
    open: Mutex<VecDeque<Entry>>,
}

#[derive(Clone, Debug)]
struct Entry {
    path: PathBuf,
    stamp: (u64, Option<SystemTime>),
    trace: Trace,
}

/// The handle of a trace: made of its contents, so that it is the same in every session.
pub(crate) fn handle(trace: &Trace) -> String {
    format!("trace-{:016x}", trace.id())
}

impl Shelf {
    pub(crate) fn new(access: Access) -> Self {
        Self { access, open: Mutex::default() }
    }

    /// The trace that a handle or a path means; without either, the only one that there is.
    pub(crate) fn find(&self, reference: Option<&str>) -> Result<Trace> {
        match reference {
            Some(handle) if handle.starts_with("trace-") && !Path::new(handle).exists() => self.by_handle(handle),
            Some(path) => self.by_path(Path::new(path)),
            None => self.only(),
        }
    }

    fn by_handle(&self, wanted: &str) -> Result<Trace> {
        let found = self.take(|entry| handle(&entry.trace) == wanted);
        let entry = found.ok_or_else(|| Error::usage(format!("no open trace has the handle {wanted}; use `open`")))?;
        if stamp(&entry.path)? != entry.stamp {
            return Err(Error::usage("changed since it was opened; use `open` again").in_file(&entry.path));
        }
        Ok(self.put(entry))
    }

    fn by_path(&self, path: &Path) -> Result<Trace> {
        let path = self.access.readable(path)?;
        let stamp = stamp(&path)?;
        let known = self.take(|entry| entry.path == path).filter(|entry| entry.stamp == stamp);
        let entry = match known {
            Some(entry) => entry,
            None => Entry { trace: Trace::open(&path)?, path, stamp },
        };
        Ok(self.put(entry))
    }

    fn only(&self) -> Result<Trace> {
        let mut named = self.access.named_files();
        let opened: Vec<PathBuf> = self.open().iter().map(|entry| entry.path.clone()).collect();
        match (named.next(), named.next(), opened.as_slice()) {
            (Some(path), None, []) => self.by_path(path),
            (_, _, [path]) => self.by_path(path),
            _ => Err(Error::usage("name the trace: a path, or the handle that `open` gave")),
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, VecDeque<Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, is_wanted: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let mut open = self.open();
        let index = open.iter().position(is_wanted)?;
        open.remove(index)
    }

    fn put(&self, entry: Entry) -> Trace {
        let trace = entry.trace.clone();
        let mut open = self.open();
        open.retain(|other| other.path != entry.path);
        open.truncate(MAX_OPEN - 1);
        open.push_front(entry);
        trace
    }
}

fn stamp(path: &Path) -> Result<(u64, Option<SystemTime>)> {
    let file = fs::metadata(path).map_err(|error| Error::from(error).in_file(path))?;
    Ok((file.len(), file.modified().ok()))
}
