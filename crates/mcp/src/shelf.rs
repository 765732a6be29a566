//! Open traces and their handles.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use traceloom::{Trace, analysis::summary::Summary};
use traceloom_core::{Error, Result};

use crate::access::Access;

/// Max number of open traces; the least recently used one is closed first.
const MAX_OPEN: usize = 32;
/// Bytes of two files that are compared at once.
const COMPARED_BYTES: usize = 256 << 10;

/// The traces of a session.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) access: Access,
    open: Mutex<VecDeque<Opened>>,
}

/// An open trace.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    path: PathBuf,
    stamp: (u64, Option<SystemTime>),
    pub(crate) trace: Trace,
    /// Cached, because several tools return parts of it.
    pub(crate) summary: KnownSummary,
}

/// The summary of an open trace, once a call has made it.
pub(crate) type KnownSummary = Arc<OnceLock<Arc<Summary>>>;

/// The handle of a trace, derived from its contents, so that it is the same in every session.
pub(crate) fn handle(trace: &Trace) -> String {
    format!("trace-{:016x}", trace.id())
}

/// Whether a reference has the form of a handle; a file with such a name is opened as `./NAME`.
fn is_handle(reference: &str) -> bool {
    let digits = reference.strip_prefix("trace-").unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Shelf {
    pub(crate) fn new(access: Access) -> Self {
        Self { access, open: Mutex::default() }
    }

    /// The trace of a handle or path; without either, the only open one.
    pub(crate) fn find(&self, reference: Option<&str>) -> Result<Opened> {
        match reference {
            Some(handle) if is_handle(handle) => self.by_handle(handle),
            Some(path) => self.by_path(Path::new(path)),
            None => self.only(),
        }
    }

    fn by_handle(&self, wanted: &str) -> Result<Opened> {
        let found: Vec<Opened> = self.open().iter().filter(|entry| handle(&entry.trace) == wanted).cloned().collect();
        let unknown = || Error::usage(format!("no open trace has the handle {wanted}; call `open` first"));
        let (entry, others) = found.split_first().ok_or_else(unknown)?;
        // The id of a trace does not cover all bytes, so a file can be made that has the handle of another.
        if !others.iter().all(|other| has_same_bytes(&entry.trace, &other.trace).unwrap_or(false)) {
            let message =
                format!("the handle {wanted} belongs to several open files that differ; pass the path instead");
            return Err(Error::usage(message));
        }
        // The client may have removed the folder since then.
        self.access.readable(&entry.path)?;
        if stamp(&entry.path)? != entry.stamp {
            return Err(Error::usage("changed since it was opened; use `open` again").in_file(&entry.path));
        }
        Ok(self.put(entry.clone()))
    }

    fn by_path(&self, path: &Path) -> Result<Opened> {
        let path = self.access.readable(path)?;
        let stamp = stamp(&path)?;
        let known = self.get(|entry| entry.path == path).filter(|entry| entry.stamp == stamp);
        let entry = match known {
            Some(entry) => entry,
            None => Opened { trace: Trace::open(&path)?, path, stamp, summary: Arc::default() },
        };
        Ok(self.put(entry))
    }

    fn only(&self) -> Result<Opened> {
        let mut named = self.access.named_files();
        let opened: Vec<PathBuf> = self.open().iter().map(|entry| entry.path.clone()).collect();
        match (named.next(), named.next(), opened.as_slice()) {
            (Some(path), None, []) => self.by_path(path),
            (_, _, [path]) => self.by_path(path),
            _ => Err(Error::usage("no trace given; pass a path, or the handle from `open`")),
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, VecDeque<Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, is_wanted: impl Fn(&Opened) -> bool) -> Option<Opened> {
        self.open().iter().find(|entry| is_wanted(entry)).cloned()
    }

    /// Marks an entry as most recently used.
    fn put(&self, entry: Opened) -> Opened {
        let mut open = self.open();
        open.retain(|other| other.path != entry.path);
        open.truncate(MAX_OPEN - 1);
        open.push_front(entry.clone());
        entry
    }
}

/// Whether two traces have the same decompressed bytes.
fn has_same_bytes(one: &Trace, other: &Trace) -> Result<bool> {
    let (mut left, mut right) = (vec![0; COMPARED_BYTES], vec![0; COMPARED_BYTES]);
    for offset in (0..).step_by(COMPARED_BYTES) {
        let read = one.source().read_full(offset, &mut left)?;
        if other.source().read_full(offset, &mut right)? != read || left[..read] != right[..read] {
            return Ok(false);
        }
        if read < COMPARED_BYTES {
            break;
        }
    }
    Ok(true)
}

fn stamp(path: &Path) -> Result<(u64, Option<SystemTime>)> {
    let file = fs::metadata(path).map_err(|error| Error::from(error).in_file(path))?;
    Ok((file.len(), file.modified().ok()))
}
