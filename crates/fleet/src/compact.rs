//! Merges small files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Result};
use traceloom_query::{
    fleet::{FleetFile, FleetTable, Manifest, Writing},
    store::merge_files,
};

use crate::commit::{self, Job};

/// Max number of files per table and partition before they are merged automatically.
const MAX_FILES: usize = 16;

/// A file of this size is large enough.
const LARGE_BYTES: u64 = 128 << 20;

/// Files that are written per commit, before the files that they replace are removed.
const AT_A_TIME: usize = 256;

/// Merges the small files of each table and partition of a store; returns how many files were removed.
pub fn compact(store: &Path) -> Result<usize> {
    let (writing, manifest) = Writing::begin(store)?;
    let none = || Error::usage("not a fleet store").in_file(store);
    let mut manifest = manifest.ok_or_else(none)?;
    merge(&writing, store, &mut manifest, 2)
}

/// Merges the small files of tables and partitions that have too many.
pub(crate) fn compact_if_needed(writing: &Writing, store: &Path, manifest: &mut Manifest) -> Result<usize> {
    merge(writing, store, manifest, MAX_FILES)
}

fn merge(writing: &Writing, store: &Path, manifest: &mut Manifest, least: usize) -> Result<usize> {
    let before = manifest.files.len();
    let mut groups: BTreeMap<(FleetTable, String), Vec<FleetFile>> = BTreeMap::new();
    for file in manifest.files.iter().filter(|file| file.bytes < LARGE_BYTES) {
        if let Some(table) = file.table() {
            groups.entry((table, file.partition().to_owned())).or_default().push(file.clone());
        }
    }
    let groups: Vec<_> = groups.into_iter().filter(|(_, files)| files.len() >= least).collect();
    for groups in groups.chunks(AT_A_TIME) {
        let mut next = manifest.clone();
        let mut jobs = Vec::new();
        for ((table, partition), files) in groups {
            let paths: Vec<PathBuf> = files.iter().map(|file| store.join(&file.file)).collect();
            let streams = vec![merge_files(&table.schema(), &paths)?];
            jobs.push(Job { table: *table, name: manifest.file_name(*table, partition), streams });
            next.files.retain(|file| !files.contains(file));
        }
        // One at a time, because each holds a batch of every file that it merges.
        next.files.extend(commit::write(writing, jobs, 1)?);
        next.next_run += 1;
        writing.commit(&next)?;
        *manifest = next;
    }
    Ok(before - manifest.files.len())
}
