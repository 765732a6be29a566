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

use crate::{access::Access, job::Job};

/// Max number of open traces; the least recently used one is closed first.
const MAX_OPEN: usize = 32;
/// Bytes of two files that are compared at once.
const COMPARED_BYTES: usize = 256 << 10;
/// Max number of comparisons that are remembered.
const MAX_COMPARED: usize = 64;

/// The traces of a session.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) access: Access,
    open: Mutex<VecDeque<Opened>>,
    /// Pairs of files, and whether their bytes are the same.
    compared: Mutex<VecDeque<([Version; 2], bool)>>,
}

/// A file as long as it is unchanged: its path, size and time of modification.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Version {
    pub(crate) path: PathBuf,
    size: u64,
    modified: Option<SystemTime>,
}

impl Version {
    fn of(path: &Path) -> Result<Self> {
        let file = fs::metadata(path).map_err(|error| Error::from(error).in_file(path))?;
        Ok(Self { path: path.to_owned(), size: file.len(), modified: file.modified().ok() })
    }

    fn is_current(&self) -> bool {
        Self::of(&self.path).is_ok_and(|current| current == *self)
    }
}

/// An open trace.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) version: Version,
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
        Self { access, open: Mutex::default(), compared: Mutex::default() }
    }

    /// The trace of a handle or path; without either, the only open one.
    pub(crate) fn find(&self, reference: Option<&str>, job: &Job) -> Result<Opened> {
        match reference {
            Some(handle) if is_handle(handle) => self.by_handle(handle, job),
            Some(path) => self.by_path(Path::new(path)),
            None => self.only(),
        }
    }

    fn by_handle(&self, wanted: &str, job: &Job) -> Result<Opened> {
        let found: Vec<Opened> = self.open().iter().filter(|entry| handle(&entry.trace) == wanted).cloned().collect();
        let unknown = || Error::usage(format!("no open trace has the handle {wanted}; call `open` first"));
        let (entry, others) = found.split_first().ok_or_else(unknown)?;
        // The id of a trace does not cover all bytes, so a file can be made that has the handle of another.
        for other in others {
            if !self.has_same_bytes(entry, other, job)? {
                let message =
                    format!("the handle {wanted} belongs to several open files that differ; pass the path instead");
                return Err(Error::usage(message));
            }
        }
        // The client may have removed the folder since then.
        self.access.readable(&entry.version.path)?;
        if Version::of(&entry.version.path)? != entry.version {
            return Err(Error::usage("changed since it was opened; use `open` again").in_file(&entry.version.path));
        }
        Ok(self.put(entry.clone()))
    }

    /// Whether two traces have the same decompressed bytes; they are read only once while neither file changes.
    fn has_same_bytes(&self, one: &Opened, other: &Opened, job: &Job) -> Result<bool> {
        let mut pair = [one.version.clone(), other.version.clone()];
        pair.sort();
        let is_current = pair.iter().all(Version::is_current);
        let known = self.compared().iter().find(|(known, _)| is_current && *known == pair).map(|(_, is_same)| *is_same);
        if let Some(known) = known {
            return Ok(known);
        }
        let is_same = has_same_bytes(&job.guard(&one.trace), &job.guard(&other.trace))?;
        if is_current && pair.iter().all(Version::is_current) {
            let mut compared = self.compared();
            compared.truncate(MAX_COMPARED - 1);
            compared.push_front((pair, is_same));
        }
        Ok(is_same)
    }

    fn by_path(&self, path: &Path) -> Result<Opened> {
        let version = Version::of(&self.access.readable(path)?)?;
        let known = self.get(|entry| entry.version == version);
        let entry = match known {
            Some(entry) => entry,
            None => Opened { trace: Trace::open(&version.path)?, version, summary: Arc::default() },
        };
        Ok(self.put(entry))
    }

    fn only(&self) -> Result<Opened> {
        let mut named = self.access.named_files();
        let opened: Vec<PathBuf> = self.open().iter().map(|entry| entry.version.path.clone()).collect();
        match (named.next(), named.next(), opened.as_slice()) {
            (Some(path), None, []) => self.by_path(path),
            (_, _, [path]) => self.by_path(path),
            _ => Err(Error::usage("no trace given; pass a path, or the handle from `open`")),
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, VecDeque<Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compared(&self) -> std::sync::MutexGuard<'_, VecDeque<([Version; 2], bool)>> {
        self.compared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, is_wanted: impl Fn(&Opened) -> bool) -> Option<Opened> {
        self.open().iter().find(|entry| is_wanted(entry)).cloned()
    }

    /// Marks an entry as most recently used.
    fn put(&self, entry: Opened) -> Opened {
        let mut open = self.open();
        open.retain(|other| other.version.path != entry.version.path);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_one_handle_are_compared_once_while_they_are_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let sample = Trace::sample(traceloom::formats().next().unwrap().id).unwrap();
        let paths = ["one", "other"].map(|name| folder.path().join(name));
        for path in &paths {
            sample.rewrite(&mut fs::File::create(path).unwrap()).unwrap();
        }
        let shelf = Shelf::new(Access::new(&[], &[folder.path().to_owned()]).unwrap());
        let open = |path: &Path| shelf.find(path.to_str(), &Job::default()).unwrap();
        let [handle, same] = [&paths[0], &paths[1]].map(|path| handle(&open(path).trace));
        assert_eq!(handle, same);
        let find = |job: &Job| shelf.find(Some(&handle), job).map(drop).map_err(|error| error.to_string());
        let canceled = Job::default();
        canceled.cancel();
        assert!(find(&canceled).unwrap_err().contains("canceled"));
        let [first, second, third] = std::array::from_fn(|_| Job::default());
        find(&first).unwrap();
        assert!(first.read_bytes() > 0, "both files are read");
        open(&paths[0]);
        find(&second).unwrap();
        assert_eq!(second.read_bytes(), 0, "the result is known");
        // The same bytes at another time.
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        fs::File::options().append(true).open(&paths[0]).unwrap().set_modified(later).unwrap();
        open(&paths[0]);
        find(&third).unwrap();
        assert!(third.read_bytes() > 0, "a changed file is read again");
    }
}
