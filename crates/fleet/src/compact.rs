//! Merges small files.

use std::{collections::BTreeMap, path::Path};

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

/// Groups of files that are merged per commit, before the files that they replace are removed.
const GROUPS_PER_COMMIT: usize = 256;

/// Files that are merged at a time: all of them are open, with a batch of each in memory.
pub(crate) const FILES_PER_MERGE: usize = 64;

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

fn merge(writing: &Writing, store: &Path, manifest: &mut Manifest, min_files: usize) -> Result<usize> {
    let before = manifest.files.len();
    loop {
        let groups = groups(manifest, min_files);
        if groups.is_empty() {
            return Ok(before - manifest.files.len());
        }
        for groups in groups.chunks(GROUPS_PER_COMMIT) {
            let next = merged(writing, store, manifest, groups)?;
            writing.commit(&next)?;
            *manifest = next;
        }
    }
}

/// Small files of one table and partition.
struct Group {
    table: FleetTable,
    partition: String,
    files: Vec<FleetFile>,
}

/// The groups with at least this many small files, and the smallest of these: merged files come last, so that few rows are
/// written more than twice.
fn groups(manifest: &Manifest, min_files: usize) -> Vec<Group> {
    let mut groups: BTreeMap<(FleetTable, &str), Vec<&FleetFile>> = BTreeMap::new();
    for file in manifest.files.iter().filter(|file| file.bytes < LARGE_BYTES) {
        if let Some(table) = file.table() {
            groups.entry((table, file.partition())).or_default().push(file);
        }
    }
    let groups = groups.into_iter().filter(|(_, files)| files.len() >= min_files);
    let group = |((table, partition), mut files): ((FleetTable, &str), Vec<&FleetFile>)| {
        files.sort_by_key(|file| file.bytes);
        let files = files.into_iter().take(FILES_PER_MERGE).cloned().collect();
        Group { table, partition: partition.to_owned(), files }
    };
    groups.map(group).collect()
}

/// Writes one file per group; returns the manifest in which it replaces the files of the group.
fn merged(writing: &Writing, store: &Path, manifest: &Manifest, groups: &[Group]) -> Result<Manifest> {
    let mut next = manifest.clone();
    let mut jobs = Vec::new();
    for Group { table, partition, files } in groups {
        let paths = files.iter().map(|file| store.join(&file.file)).collect();
        let streams = vec![merge_files(table.schema(), paths)];
        jobs.push(Job { table: *table, name: manifest.file_name(*table, partition), streams });
        next.files.retain(|file| !files.contains(file));
    }
    // One at a time, because each holds a batch of every file that it merges.
    next.files.extend(commit::write(writing, jobs, 1)?);
    next.start_next_run().map_err(|error| error.in_file(store))?;
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of a file by its number.
    type Bytes = fn(u64) -> u64;

    /// A store with 1000 files of each table.
    fn manifest(sizes: &[(&str, Bytes)]) -> Manifest {
        let mut manifest = Manifest::new([]);
        for (table, bytes) in sizes {
            let name = |number| format!("{table}/day=1/host=a/build=b/{number:04}.parquet");
            manifest.files.extend((1..=1000).map(|number| FleetFile {
                file: name(number),
                rows: 1,
                bytes: bytes(number),
            }));
        }
        manifest
    }

    #[test]
    fn a_merge_takes_the_smallest_files() {
        let groups = groups(&manifest(&[("spans", |number| 2000 - number)]), MAX_FILES);
        let [group] = groups.as_slice() else { panic!("{} groups", groups.len()) };
        let sizes: Vec<u64> = group.files.iter().map(|file| file.bytes).collect();
        assert_eq!((group.table.name(), sizes), ("spans", (1000..1064).collect()));
    }

    #[test]
    fn large_files_are_not_merged() {
        let manifest =
            manifest(&[("logs", |number| if number > 10 { LARGE_BYTES } else { 1 }), ("spans", |_| LARGE_BYTES)]);
        assert!(groups(&manifest, MAX_FILES).is_empty());
        let files: Vec<usize> = groups(&manifest, 2).iter().map(|group| group.files.len()).collect();
        assert_eq!(files, [10]);
    }
}
