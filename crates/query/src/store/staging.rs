//! The folder in which a store or an addition is written until it is complete.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Result};

use super::{
    Shelf,
    manifest::{Manifest, file_name},
};

/// The file that makes a folder a store.
pub(super) const MANIFEST: &str = "manifest.json";

/// Folder for an addition, inside the store. Names that start with a dot are skipped in folder listings.
const INSIDE: &str = ".writing";
const LOCK: &str = "lock";
const RUNS: &str = "runs";

/// A folder that only this process writes to, and that is removed afterwards.
///
/// A new store is written next to its destination and moved there as a whole. An addition is written inside: its files
/// are moved to their places, where the old manifest does not list them, and then the new manifest replaces the old
/// one.
#[derive(Debug)]
pub(super) struct Staging {
    out: PathBuf,
    folder: PathBuf,
    is_inside: bool,
    /// Lock held until the end; released if the process dies.
    _lock: File,
}

impl Staging {
    /// Starts writing `out`, which is a store, an empty folder, or does not exist.
    pub(super) fn begin(out: &Path) -> Result<Self> {
        let is_inside = out.join(MANIFEST).is_file();
        let folder = if is_inside { out.join(INSIDE) } else { beside(out)? };
        make_folder(&folder)?;
        let lock = lock(&folder, out)?;
        let staging = Self { out: out.to_owned(), folder, is_inside, _lock: lock };
        staging.clear().map_err(|error| Error::from(error).in_file(&staging.folder))?;
        make_folder(&staging.runs())?;
        Ok(staging)
    }

    /// The folder for sorted runs.
    pub(super) fn runs(&self) -> PathBuf {
        self.folder.join(RUNS)
    }

    /// The path for writing the file of a table.
    pub(super) fn file(&self, shelf: Shelf, run: u32) -> Result<PathBuf> {
        make_folder(&self.folder.join(shelf.name()))?;
        Ok(self.folder.join(file_name(shelf, run)))
    }

    /// Moves the files of a run to their places; at this moment, the store changes.
    pub(super) fn commit(self, manifest: &Manifest, run: u32) -> Result<()> {
        write_synced(&self.folder.join(MANIFEST), &manifest.to_json()?)?;
        if self.is_inside { self.add_files(manifest, run) } else { self.move_store() }
    }

    fn move_store(&self) -> Result<()> {
        let in_folder = |error: io::Error| Error::from(error).in_file(&self.folder);
        fs::remove_dir_all(self.runs()).map_err(in_folder)?;
        fs::remove_file(self.folder.join(LOCK)).map_err(in_folder)?;
        // Removes only an empty folder, so that all systems can move another one there.
        drop(fs::remove_dir(&self.out));
        fs::rename(&self.folder, &self.out).map_err(|error| Error::from(error).in_file(&self.out))
    }

    fn add_files(&self, manifest: &Manifest, run: u32) -> Result<()> {
        let mut shelves = Shelf::all().filter(|shelf| manifest.files(*shelf).iter().any(|file| file.run == run));
        let mut moved = Vec::new();
        let outcome = shelves.try_for_each(|shelf| {
            make_folder(&self.out.join(shelf.name()))?;
            let place = self.out.join(file_name(shelf, run));
            rename(&self.folder.join(file_name(shelf, run)), &place)?;
            moved.push(place);
            Ok(())
        });
        let outcome = outcome.and_then(|()| rename(&self.folder.join(MANIFEST), &self.out.join(MANIFEST)));
        if outcome.is_err() {
            // No reader has seen them, because the manifest is still the old one.
            moved.iter().for_each(|path| drop(fs::remove_file(path)));
        }
        outcome
    }

    /// Removes files that an interrupted addition moved to their places before its manifest.
    pub(super) fn remove_orphans(&self, run: u32) -> Result<()> {
        for shelf in Shelf::all() {
            let path = self.out.join(file_name(shelf, run));
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::from(error).in_file(&path)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes files left by an interrupted process.
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else if entry.file_name() != LOCK {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Already gone if it became the store. If it cannot be removed, the next writer removes it.
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// The folder next to the destination of a new store.
fn beside(out: &Path) -> Result<PathBuf> {
    let in_out = |error: io::Error| Error::from(error).in_file(out);
    match fs::read_dir(out).map(|mut entries| entries.next().is_some()) {
        Ok(true) => {
            return Err(Error::usage("this folder contains other files and is not a Traceloom store").in_file(out));
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Error::usage("this is a file; a store must be a folder").in_file(out));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(in_out(error)),
        Ok(false) | Err(_) => {}
    }
    let name = out.file_name().ok_or_else(|| Error::usage("invalid name for a store").in_file(out))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(INSIDE);
    Ok(out.with_file_name(hidden))
}

/// Creates a folder unless it exists; a link to a folder is rejected, because it may lead out of the store.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    let in_path = |error: io::Error| Error::from(error).in_file(path);
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(path).map_err(in_path)?.is_dir() {
                Ok(())
            } else {
                Err(Error::usage("this file exists where the store needs a folder").in_file(path))
            }
        }
        outcome => outcome.map_err(in_path),
    }
}

fn lock(folder: &Path, out: &Path) -> Result<File> {
    let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "another process is writing to the store");
    try_lock(folder)?.ok_or_else(|| Error::from(busy()).in_file(out))
}

/// Locks a folder; `None` if another process has the lock.
pub(crate) fn try_lock(folder: &Path) -> Result<Option<File>> {
    let path = folder.join(LOCK);
    let in_path = |error: io::Error| Error::from(error).in_file(&path);
    let file = File::options().write(true).create(true).truncate(false).open(&path).map_err(in_path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(in_path(error)),
    }
}

pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|error| Error::from(error).in_file(path))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::from(error).in_file(to))
}
