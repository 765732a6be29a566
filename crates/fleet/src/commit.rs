//! Writes the files of a commit.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, PoisonError},
};

use traceloom_core::Result;
use traceloom_query::{
    fleet::{FleetFile, FleetTable, Manifest, UNKNOWN, Writing, partition_path},
    store::{self, BoxedBatches, share, write_table},
};

use crate::batches::TraceTables;

/// A file to write: sorted streams of rows, one after the other.
pub(crate) struct Job {
    pub(crate) table: FleetTable,
    /// Its name in the store.
    pub(crate) name: String,
    pub(crate) streams: Vec<BoxedBatches>,
}

/// The files for these traces, one per table and partition.
pub(crate) fn jobs(manifest: &Manifest, traces: Vec<TraceTables>) -> Vec<Job> {
    let mut by_partition: BTreeMap<String, Vec<TraceTables>> = BTreeMap::new();
    for trace in traces {
        let value = |column: &str| trace.tags.get(column).map_or(UNKNOWN, String::as_str);
        let partition = partition_path(&manifest.partitions, value);
        by_partition.entry(partition).or_default().push(trace);
    }
    let mut jobs = Vec::new();
    for (partition, mut traces) in by_partition {
        traces.sort_by_key(|trace| trace.id);
        for table in FleetTable::all() {
            let streams: Vec<_> = traces.iter_mut().filter_map(|trace| trace.rows_of(table)).collect();
            if !streams.is_empty() {
                jobs.push(Job { table, name: manifest.file_name(table, &partition), streams });
            }
        }
    }
    jobs
}

/// Writes files, several at a time; they are on disk when this returns.
pub(crate) fn write(writing: &Writing, jobs: Vec<Job>, threads: usize) -> Result<Vec<FleetFile>> {
    let (jobs, files) = (Mutex::new(jobs), Mutex::new(Vec::new()));
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || -> Result<()> {
        while let Some(job) = next() {
            let path = writing.file(&job.name)?;
            let file = job.write(&path, threads)?;
            files.lock().unwrap_or_else(PoisonError::into_inner).push(file);
        }
        Ok(())
    };
    share(threads, work)?;
    Ok(files.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl Job {
    fn write(self, path: &Path, threads: usize) -> Result<FleetFile> {
        let batches = self.streams.into_iter().flatten();
        let (rows, bytes) = write_table(path, self.table.schema(), batches, &store::Options::default(), threads)?;
        Ok(FleetFile { file: self.name, rows, bytes })
    }
}
