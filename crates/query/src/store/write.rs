//! Writes traces to a store.

use std::{collections::BTreeMap, path::Path};

use traceloom_core::Result;
use traceloom_mapping::Trace;

use super::{
    Intake, Shelf, Store,
    columns::write_table,
    manifest::{Manifest, StoredFile, StoredTrace},
    staging::Staging,
};

/// Options for writing a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory limit for rows, in bytes; beyond it, rows are sorted on disk.
    pub memory_bytes: usize,
    /// Max rows per row group, which engines skip or read as a whole.
    pub row_group_rows: usize,
    /// Max bytes per row group.
    pub row_group_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory_bytes: 128 << 20, row_group_rows: 1 << 20, row_group_bytes: 64 << 20 }
    }
}

/// The next step.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A trace is read.
    Reading(&'a Path),
    /// A table is sorted and written.
    Writing(Shelf),
}

/// The result for the traces.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Traces that were added.
    pub added: Vec<StoredTrace>,
    /// Traces that were skipped.
    pub skipped: Vec<Skipped>,
    /// Rows added.
    pub rows: u64,
    /// Bytes of the files added.
    pub bytes: u64,
}

/// A trace that the store already has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// The `trace_id`.
    pub trace_id: u64,
    /// Path of the skipped trace.
    pub path: String,
    /// Path of the trace when it was added.
    pub stored_path: String,
}

/// Adds traces to the store at `out`, which is created if needed. A trace that the store already has is skipped, even
/// under another name.
///
/// Atomic: if this fails or the process dies, the store is unchanged.
pub fn write(traces: &[Trace], out: &Path, options: &Options, progress: &mut dyn FnMut(Step<'_>)) -> Result<Report> {
    let staging = Staging::begin(out)?;
    let mut manifest = Store::open(out)?.map(|store| store.manifest).unwrap_or_default();
    let run = manifest.next_run()?;
    let is_first = manifest == Manifest::default();
    let mut report = Report::default();
    let fresh = select(traces, &manifest, &mut report.skipped);
    let threads = fresh.iter().map(|trace| trace.options.read.limits.threads).max().unwrap_or(1);
    if fresh.is_empty() && !is_first {
        return Ok(report);
    }
    staging.remove_orphans(run)?;
    let mut intake = Intake::new(&staging.runs(), options.memory_bytes);
    for trace in fresh {
        progress(Step::Reading(&trace.path));
        report.added.push(take(&mut intake, trace, run)?);
    }
    for (shelf, batches) in intake.into_tables() {
        // Every table exists from the first run on, so that other engines see its columns.
        if is_first || report.added.iter().any(|trace| trace.rows_of(shelf) > 0) {
            progress(Step::Writing(shelf));
            let path = staging.file(shelf, run)?;
            let (rows, bytes) = write_table(&path, shelf.table().schema(), batches?, options, threads)?;
            manifest.add(shelf, StoredFile::new(shelf, run, rows, bytes));
            (report.rows, report.bytes) = (report.rows + rows, report.bytes + bytes);
        }
    }
    manifest.traces.extend(report.added.iter().cloned());
    staging.commit(&manifest, run)?;
    Ok(report)
}

/// The traces that the store does not have, each once, in the order of its files.
fn select<'t>(traces: &'t [Trace], manifest: &Manifest, skipped: &mut Vec<Skipped>) -> Vec<&'t Trace> {
    let mut known: BTreeMap<u64, String> =
        manifest.traces.iter().map(|trace| (trace.trace_id, trace.path.clone())).collect();
    let mut fresh = Vec::new();
    for trace in traces {
        let path = trace.path.to_string_lossy().into_owned();
        match known.get(&trace.id) {
            Some(stored) => skipped.push(Skipped { trace_id: trace.id, path, stored_path: stored.clone() }),
            None => {
                known.insert(trace.id, path);
                fresh.push(trace);
            }
        }
    }
    fresh.sort_by_key(|trace| trace.id);
    fresh
}

/// Takes a whole trace; returns its entry for the manifest.
fn take(intake: &mut Intake, trace: &Trace, run: u32) -> Result<StoredTrace> {
    intake.take(trace, None)?;
    let counts = intake.rows().filter(|(_, rows)| *rows > 0);
    Ok(StoredTrace {
        trace_id: trace.id,
        path: trace.path.to_string_lossy().into_owned(),
        format: trace.format().to_owned(),
        run,
        rows: counts.map(|(shelf, rows)| (shelf.name().to_owned(), rows)).collect(),
    })
}
