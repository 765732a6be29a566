//! Atomic commits to a fleet store.
//!
//! New files are written to `.writing/new`. A commit starts when the new manifest exists as `.writing/fleet.json`. It
//! defines the steps: files that it does not list are removed, new files are moved to their places, and then the
//! manifest. All steps can be repeated, so a commit whose process died is finished by the next process that opens the
//! store.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Result};

use super::{FleetTable, Manifest, manifest::FILE};
use crate::store::staging::{make_folder, rename, try_lock, write_synced};

const WRITING: &str = ".writing";
const NEW: &str = "new";
const RUNS: &str = "runs";
const DRAFT: &str = "fleet.json.draft";

/// Exclusive write access to a store.
#[derive(Debug)]
pub struct Writing {
    store: PathBuf,
    /// Lock held until the end; released if the process dies.
    _lock: File,
}

impl Writing {
    /// Starts writing a store, which is created if needed; finishes a commit whose process died and removes its
    /// leftover files.
    pub fn begin(store: &Path) -> Result<(Self, Option<Manifest>)> {
        let is_there = store.join(FILE).is_file();
        if !is_there {
            check_room(store)?;
            fs::create_dir_all(store).map_err(|error| Error::from(error).in_file(store))?;
        }
        make_folder(&store.join(WRITING))?;
        let lock = try_lock(&store.join(WRITING))?;
        let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "another process is writing to the store");
        let lock = lock.ok_or_else(|| Error::from(busy()).in_file(store))?;
        finish(store)?;
        for leftover in [NEW, RUNS] {
            remove_folder(&store.join(WRITING).join(leftover))?;
            make_folder(&store.join(WRITING).join(leftover))?;
        }
        let manifest = store.join(FILE);
        let manifest = if manifest.is_file() { Some(Manifest::read(&manifest)?) } else { None };
        Ok((Self { store: store.to_owned(), _lock: lock }, manifest))
    }

    /// A folder for temporary files.
    pub fn runs(&self) -> PathBuf {
        self.store.join(WRITING).join(RUNS)
    }

    /// The path for writing a new file.
    pub fn file(&self, name: &str) -> Result<PathBuf> {
        let path = self.store.join(WRITING).join(NEW).join(name);
        make_parents(&path)?;
        Ok(path)
    }

    /// Commits this manifest; its new files must be complete and synced.
    pub fn commit(&self, manifest: &Manifest) -> Result<()> {
        let writing = self.store.join(WRITING);
        // Left by a process that died while writing it.
        drop(fs::remove_file(writing.join(DRAFT)));
        write_synced(&writing.join(DRAFT), &manifest.to_json()?)?;
        rename(&writing.join(DRAFT), &writing.join(FILE))?;
        finish(&self.store)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // A partial commit is kept for the next process.
        if !is_pending(&self.store) {
            drop(fs::remove_dir_all(self.store.join(WRITING)));
        }
    }
}

/// Whether a commit is in progress, or was when its process died.
pub(super) fn is_pending(store: &Path) -> bool {
    store.join(WRITING).join(FILE).is_file()
}

/// Finishes the commit of a process that died; returns `false` if the process is alive.
pub(super) fn finish_abandoned(store: &Path) -> Result<bool> {
    // The folder is removed at the end of a commit.
    if !is_pending(store) {
        return Ok(true);
    }
    let Some(_lock) = try_lock(&store.join(WRITING))? else { return Ok(false) };
    finish(store)?;
    Ok(true)
}

fn finish(store: &Path) -> Result<()> {
    if !is_pending(store) {
        return Ok(());
    }
    let (pending, current) = (store.join(WRITING).join(FILE), store.join(FILE));
    let next = Manifest::read(&pending)?;
    if current.is_file() {
        let gone = Manifest::read(&current)?;
        for file in gone.files.iter().filter(|file| !next.files.contains(file)) {
            let path = store.join(&file.file);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::from(error).in_file(path)),
                _ => {}
            }
        }
    }
    // The rows of `traces` come last, so a trace that is listed there is complete.
    let is_last = |table: Option<FleetTable>| table == FleetTable::by_name("traces");
    for pass in [false, true] {
        for file in next.files.iter().filter(|file| is_last(file.table()) == pass) {
            let (grown, place) = (store.join(WRITING).join(NEW).join(&file.file), store.join(&file.file));
            if grown.is_file() {
                make_parents(&place)?;
                rename(&grown, &place)?;
            }
        }
    }
    rename(&pending, &current)?;
    // Makes renames survive a power failure; systems that do not support this do it automatically.
    drop(File::open(store).and_then(|folder| folder.sync_all()));
    Ok(())
}

/// Refuses to turn a folder with other contents into a store.
fn check_room(store: &Path) -> Result<()> {
    if store.join("manifest.json").is_file() {
        return Err(Error::usage(
            "this store was written by `convert --to parquet`; a fleet store needs a separate folder",
        )
        .in_file(store));
    }
    let entries = match fs::read_dir(store) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::from(error).in_file(store)),
    };
    match entries.flatten().find(|entry| entry.file_name() != WRITING) {
        Some(_) => Err(Error::usage("this folder is not empty and is not a fleet store").in_file(store)),
        None => Ok(()),
    }
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::from(error).in_file(path)),
        _ => Ok(()),
    }
}

fn make_parents(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| Error::from(error).in_file(folder))
}
