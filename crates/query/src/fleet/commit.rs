//! How a fleet store changes: all of a commit, or nothing.
//!
//! New files grow in `.writing/new`. A commit begins when the new manifest is there, as `.writing/fleet.json`, which says
//! what has to happen: files that it does not name go, new files move to their places, and the manifest follows. All of that
//! can be done again, so that a commit whose process died is finished by the next process that looks at the store.

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

/// A store that only this process writes to.
#[derive(Debug)]
pub struct Writing {
    store: PathBuf,
    /// Held until the end; a process that dies lets go of it.
    _lock: File,
}

impl Writing {
    /// Begins to write a store, which is made if it is not there; finishes a commit whose process died, and removes what it
    /// left behind.
    pub fn begin(store: &Path) -> Result<(Self, Option<Manifest>)> {
        let is_there = store.join(FILE).is_file();
        if !is_there {
            check_room(store)?;
            fs::create_dir_all(store).map_err(|error| Error::from(error).in_file(store))?;
        }
        make_folder(&store.join(WRITING))?;
        let lock = try_lock(&store.join(WRITING))?;
        let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "is being written by another process");
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

    /// Where a new file grows.
    pub fn file(&self, name: &str) -> Result<PathBuf> {
        let path = self.store.join(WRITING).join(NEW).join(name);
        make_parents(&path)?;
        Ok(path)
    }

    /// Makes the store what this manifest says; its new files are complete and on the disk.
    pub fn commit(&self, manifest: &Manifest) -> Result<()> {
        let writing = self.store.join(WRITING);
        // Left by a process that died while it wrote it.
        drop(fs::remove_file(writing.join(DRAFT)));
        write_synced(&writing.join(DRAFT), &manifest.to_json()?)?;
        rename(&writing.join(DRAFT), &writing.join(FILE))?;
        finish(&self.store)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // A commit that failed half-way is kept for the next process.
        if !is_pending(&self.store) {
            drop(fs::remove_dir_all(self.store.join(WRITING)));
        }
    }
}

/// Whether a commit is under way, or was when its process died.
pub(super) fn is_pending(store: &Path) -> bool {
    store.join(WRITING).join(FILE).is_file()
}

/// Finishes the commit of a process that died; `false` if the process is alive.
pub(super) fn finish_abandoned(store: &Path) -> Result<bool> {
    // The folder goes with a commit that ends.
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
    // The rows of `traces` come last: a trace that is listed there is complete.
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
    // Makes the names of files last through a power cut; systems that cannot do it do it by themselves.
    drop(File::open(store).and_then(|folder| folder.sync_all()));
    Ok(())
}

/// A folder with other things in it is not made a store.
fn check_room(store: &Path) -> Result<()> {
    if store.join("manifest.json").is_file() {
        return Err(
            Error::usage("is a store of `convert --to parquet`; a fleet needs a separate folder").in_file(store)
        );
    }
    let entries = match fs::read_dir(store) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::from(error).in_file(store)),
    };
    match entries.flatten().find(|entry| entry.file_name() != WRITING) {
        Some(_) => Err(Error::usage("is not a fleet store, and not empty").in_file(store)),
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
