//! Adds traces to a fleet store.

use std::{
    collections::VecDeque,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock, mpsc},
    time::{Duration, Instant},
};

use arrow_array::cast::AsArray;
use parquet::arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder};
use traceloom_core::{Error, Limits, Result};
use traceloom_query::fleet::{FleetTable, Manifest, Writing};

use crate::{
    Tags, Template,
    batches::TraceTables,
    commit,
    compact::{self, FILES_PER_MERGE},
    files::{self, Found},
    read::{Claim, Reader, StoreContents, Taken},
    template::check_column,
};

/// Options of an ingest.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format of all traces (default: detect).
    pub from: Option<String>,
    /// Takes values of partition columns from paths; files that do not match are skipped.
    pub template: Option<Template>,
    /// Values of partition columns for all files.
    pub tags: Tags,
    /// Files that are read in parallel.
    pub threads: usize,
    /// Rows held in memory, in bytes.
    pub memory_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = Limits::default().threads;
        Self { from: None, template: None, tags: Tags::new(), threads, memory_bytes: 256 << 20 }
    }
}

/// Progress of an ingest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// Files read so far, and all files.
    pub files: [usize; 2],
    /// Bytes read so far, and all bytes.
    pub bytes: [u64; 2],
}

/// The outcome of an ingest.
#[derive(Debug, Default)]
pub struct Report {
    /// Traces that are new in the store.
    pub added: usize,
    /// Of these, traces that have problems.
    pub damaged: usize,
    /// Of these, traces with missing data.
    pub incomplete: usize,
    /// Files whose content was already in the store.
    pub known: usize,
    /// Files that the template does not match.
    pub unmatched: usize,
    /// Files that are new in quarantine.
    pub quarantined: Vec<Quarantined>,
    /// Files that the system refused.
    pub failed: Vec<Error>,
    /// Rows added.
    pub rows: u64,
    /// Bytes of the files added.
    pub bytes: u64,
    /// Files that were removed by merging.
    pub compacted: usize,
}

/// A file that cannot be read as a trace.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Quarantined {
    /// Path of the file.
    pub path: PathBuf,
    /// Why it cannot be read.
    pub finding: String,
}

/// Adds files and the files of folders to a fleet store, which is created if needed.
///
/// Content that is already in the store is skipped. So a killed ingest can be repeated, and the store is then the same
/// as without the kill.
pub fn ingest(sources: &[PathBuf], store: &Path, options: &Options, progress: &mut dyn FnMut(Step)) -> Result<Report> {
    options.tags.keys().try_for_each(|column| check_column(column))?;
    let found = files::find(sources, store)?;
    let (writing, manifest) = Writing::begin(store)?;
    let manifest = manifest_for(&writing, manifest, options).map_err(|error| error.in_file(store))?;
    let known = RwLock::new(known(store, &manifest)?);
    let (found, unmatched) = files::tagged(found, options.template.as_ref(), &options.tags);
    let bytes = found.iter().map(|file| file.bytes).sum();
    let mut work = Work {
        store,
        writing: &writing,
        manifest,
        threads: options.threads.max(1),
        memory_bytes: options.memory_bytes,
        pending: Vec::new(),
        pending_bytes: 0,
        committed: Instant::now(),
        interval: INTERVAL,
        unmerged: 0,
        report: Report { unmatched, ..Report::default() },
    };
    let reader = Reader {
        from: options.from.as_deref(),
        runs: &writing.runs(),
        memory_bytes: options.memory_bytes / work.threads / 2,
        known: &known,
    };
    let mut step = Step { files: [0, found.len()], bytes: [0, bytes] };
    in_order(&found, &reader, work.threads, |number, taken| {
        work.accept(&reader, &found[number], number, taken)?;
        step.files[0] += 1;
        step.bytes[0] += found[number].bytes;
        progress(step);
        Ok(())
    })?;
    work.commit()?;
    work.merge()?;
    Ok(work.report)
}

/// The manifest of the store, or of a new store; the columns of an existing store do not change.
fn manifest_for(writing: &Writing, manifest: Option<Manifest>, options: &Options) -> Result<Manifest> {
    let of_template = options.template.iter().flat_map(Template::columns);
    let mut columns = of_template.chain(options.tags.keys().map(String::as_str));
    let Some(manifest) = manifest else {
        let manifest = Manifest::new(columns);
        writing.commit(&manifest)?;
        return Ok(manifest);
    };
    match columns.find(|column| !manifest.partitions.iter().any(|known| known == column)) {
        Some(column) => Err(Error::usage(format!(
            "the store is partitioned by {}; a column `{column}` cannot be added later",
            manifest.partitions.join(", ")
        ))),
        None => Ok(manifest),
    }
}

/// The contents of a store, read from its tables.
fn known(store: &Path, manifest: &Manifest) -> Result<StoreContents> {
    let mut known = StoreContents::default();
    for table in [FleetTable::Ingested, FleetTable::Quarantine] {
        for file in manifest.files(table) {
            let path = store.join(&file.file);
            let broken = |error: String| Error::unrecognized(format!("cannot be read: {error}")).in_file(&path);
            let opened = File::open(&path).map_err(|error| Error::from(error).in_file(&path))?;
            let builder =
                ParquetRecordBatchReaderBuilder::try_new(opened).map_err(|error| broken(error.to_string()))?;
            let mask = ProjectionMask::columns(builder.parquet_schema(), ["trace_id", "content_hash"]);
            let reader = builder.with_projection(mask).build().map_err(|error| broken(error.to_string()))?;
            for batch in reader {
                let batch = batch.map_err(|error| broken(error.to_string()))?;
                let ids = batch.column_by_name("trace_id").and_then(|column| column.as_primitive_opt());
                known.ids.extend(ids.map(|ids: &arrow_array::UInt64Array| ids.values().to_vec()).unwrap_or_default());
                let hashes = batch.column_by_name("content_hash").and_then(|column| column.as_string_opt::<i32>());
                known.hashes.extend(hashes.iter().flat_map(|hashes| hashes.iter().flatten()).map(str::to_owned));
            }
        }
    }
    Ok(known)
}

/// Minimum time between two commits, which is about what a kill can lose.
const INTERVAL: Duration = Duration::from_secs(1);

/// The state of the thread that collects the results.
struct Work<'w> {
    store: &'w Path,
    writing: &'w Writing,
    manifest: Manifest,
    threads: usize,
    memory_bytes: usize,
    pending: Vec<TraceTables>,
    pending_bytes: usize,
    committed: Instant,
    interval: Duration,
    /// Commits since files were merged.
    unmerged: usize,
    report: Report,
}

impl Work<'_> {
    fn accept(&mut self, reader: &Reader<'_>, found: &Found, number: usize, taken: Taken) -> Result<()> {
        match taken {
            Taken::Failed(error) => self.report.failed.push(error),
            Taken::Known => self.report.known += 1,
            Taken::Trace(tables) => match reader.claim(&tables, true) {
                Claim::Fresh => {
                    self.report.added += 1;
                    self.report.damaged += usize::from(tables.is_damaged);
                    self.report.incomplete += usize::from(tables.is_incomplete);
                    self.push(*tables)?;
                }
                Claim::Known => self.report.known += 1,
                // Another trace with the same id was added in the meantime, so this one is read again with another id.
                Claim::Clash => {
                    let spilled = tables.spilled.clone();
                    drop(tables);
                    spilled.iter().try_for_each(|folder| remove_folder(folder))?;
                    let taken = reader.take(found, number);
                    return self.accept(reader, found, number, taken);
                }
            },
            Taken::Broken { mut tables, finding } => match reader.claim(&tables, false) {
                Claim::Known => self.report.known += 1,
                Claim::Fresh | Claim::Clash => {
                    tables.quarantine(&finding)?;
                    self.report.quarantined.push(Quarantined { path: found.path.clone(), finding });
                    self.push(*tables)?;
                }
            },
        }
        Ok(())
    }

    fn push(&mut self, tables: TraceTables) -> Result<()> {
        self.pending_bytes += tables.bytes;
        self.pending.push(tables);
        // The other half is for the traces that are being read.
        let is_full = self.pending_bytes > self.memory_bytes / 2;
        if is_full || self.committed.elapsed() > self.interval { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let traces = std::mem::take(&mut self.pending);
        let spilled: Vec<PathBuf> = traces.iter().filter_map(|trace| trace.spilled.clone()).collect();
        let files = commit::write(self.writing, commit::jobs(&self.manifest, traces), self.threads)?;
        spilled.iter().try_for_each(|folder| remove_folder(folder))?;
        let mut next = self.manifest.clone();
        for file in files {
            (self.report.rows, self.report.bytes) = (self.report.rows + file.rows, self.report.bytes + file.bytes);
            next.files.insert(file);
        }
        next.start_next_run().map_err(|error| error.in_file(self.store))?;
        self.writing.commit(&next)?;
        self.manifest = next;
        self.unmerged += 1;
        if self.unmerged == FILES_PER_MERGE {
            self.merge()?;
        }
        (self.pending_bytes, self.committed) = (0, Instant::now());
        // With many partitions, a commit writes many files; most of the time should go to reading.
        self.interval = INTERVAL.max(started.elapsed() * 4);
        Ok(())
    }

    fn merge(&mut self) -> Result<()> {
        self.report.compacted += compact::compact_if_needed(self.writing, self.store, &mut self.manifest)?;
        self.unmerged = 0;
        Ok(())
    }
}

fn remove_folder(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder).map_err(|error| Error::from(error).in_file(folder))
}

/// Reads files in parallel and passes on the results in order.
fn in_order(
    found: &[Found],
    reader: &Reader<'_>,
    threads: usize,
    mut take: impl FnMut(usize, Taken) -> Result<()>,
) -> Result<()> {
    std::thread::scope(|scope| {
        let (jobs, waiting) = mpsc::channel::<(usize, mpsc::SyncSender<Taken>)>();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..threads {
            let waiting = Arc::clone(&waiting);
            scope.spawn(move || {
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                while let Ok((number, answer)) = next() {
                    // The receiver is gone if the work failed.
                    drop(answer.send(reader.take(&found[number], number)));
                }
            });
        }
        let mut answers = VecDeque::new();
        let lost = || Error::internal("a reader thread ended early");
        for number in 0..found.len() {
            let (answer, coming) = mpsc::sync_channel(1);
            jobs.send((number, answer)).map_err(|_| lost())?;
            answers.push_back((number, coming));
            if answers.len() > 2 * threads
                && let Some((number, coming)) = answers.pop_front()
            {
                take(number, coming.recv().map_err(|_| lost())?)?;
            }
        }
        drop(jobs);
        answers.into_iter().try_for_each(|(number, coming)| take(number, coming.recv().map_err(|_| lost())?))
    })
}
