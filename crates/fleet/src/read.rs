//! Reads one file: its tables, or the reason why it cannot be read.

use std::{
    collections::HashSet,
    hash::Hasher,
    io::Read,
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
};

use traceloom_analysis::{
    diff::{self, NameSink},
    summary::is_data_missing,
};
use traceloom_core::{Error, ErrorKind, Result, Severity, Source, civil};
use traceloom_mapping::Trace;
use traceloom_model::{select, sink};
use traceloom_passes::Together;
use traceloom_query::{fleet::FleetTable, store::Intake};
use twox_hash::XxHash64;

use crate::{batches::TraceTables, files::Found, rows};

/// Facts about a file before it is read as a trace.
#[derive(Clone, Debug)]
pub(crate) struct FileFacts {
    pub(crate) path: PathBuf,
    /// Length of the content, decompressed.
    pub(crate) bytes: u64,
    /// 128 bits of the content, decompressed, in hexadecimal.
    pub(crate) hash: String,
}

impl FileFacts {
    /// An id computed from the whole content.
    fn id(&self) -> u64 {
        self.hash.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
    }
}

/// The outcome of reading a file.
pub(crate) enum Taken {
    /// It cannot be read as a trace, for this reason.
    Broken { tables: Box<TraceTables>, finding: String },
    /// An I/O error, which may be gone next time.
    Failed(Error),
    /// Its content is already in the store.
    Known,
    /// A trace with its tables.
    Trace(Box<TraceTables>),
}

/// Whether content that was read is new.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Claim {
    /// New, but another trace has its id.
    Clash,
    /// Not in the store yet.
    Fresh,
    /// Already in the store.
    Known,
}

/// Contents and ids that are in the store.
#[derive(Debug, Default)]
pub(crate) struct StoreContents {
    pub(crate) hashes: HashSet<String>,
    pub(crate) ids: HashSet<u64>,
}

/// Reads files.
pub(crate) struct Reader<'r> {
    pub(crate) from: Option<&'r str>,
    /// Folder for tables that are too large for memory.
    pub(crate) runs: &'r Path,
    pub(crate) memory_bytes: usize,
    pub(crate) known: &'r RwLock<StoreContents>,
}

impl Reader<'_> {
    /// Reads as much of a file as possible; its number is part of the names of its temporary files.
    pub(crate) fn take(&self, found: &Found, number: usize) -> Taken {
        let mut options = traceloom_mapping::Options::default();
        // Files are already read in parallel.
        options.read.limits.threads = 1;
        let opened = Source::open(&found.path, &options.read.limits)
            .map(|source| (Trace::new(&found.path, source.clone(), self.from, &options), source));
        let (trace, source) = match opened {
            Ok(opened) => opened,
            Err(error) => return Taken::Failed(error),
        };
        // A file that is not a trace is identified by its raw bytes, because its compression is unknown.
        let content = trace.as_ref().map_or(&source, |trace| &trace.opened.source);
        let file = match facts(&found.path, content) {
            Ok(file) => file,
            Err(error) => return broken_or_failed(found, &source, error),
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.hashes.contains(&file.hash) {
            return Taken::Known;
        }
        // The id is not computed from the whole content, so another trace may have the same.
        let is_clash = trace.as_ref().is_ok_and(|trace| known.ids.contains(&trace.id));
        drop(known);
        let trace = trace.map(|mut trace| {
            trace.id = if is_clash { file.id() } else { trace.id };
            trace
        });
        match trace.and_then(|trace| self.tables(&trace, found, file.clone(), number)) {
            Ok(tables) => Taken::Trace(Box::new(tables)),
            Err(error) => quarantine(found, file, &error),
        }
    }

    /// Registers content that is about to be stored; the id of a trace must be unique.
    pub(crate) fn claim(&self, tables: &TraceTables, is_trace: bool) -> Claim {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.hashes.contains(&tables.file.hash) {
            return Claim::Known;
        }
        if is_trace && !known.ids.insert(tables.id) {
            return Claim::Clash;
        }
        known.hashes.insert(tables.file.hash.clone());
        Claim::Fresh
    }

    fn tables(&self, trace: &Trace, found: &Found, file: FileFacts, number: usize) -> Result<TraceTables> {
        let folder = self.runs.join(number.to_string());
        let mut intake = Intake::new(&folder, self.memory_bytes);
        let (mut names, mut facts) = (NameSink::new(&diff::Options::default()), TraceFacts::default());
        intake.take(trace, Some(&mut Together::new(vec![&mut names, &mut facts])))?;
        let mut tags = found.tags.clone();
        if let Some(day) = facts.day() {
            tags.entry("day".to_owned()).or_insert(day);
        }
        let mut tables = TraceTables::new(trace.id, tags, file);
        tables.is_damaged = facts.errors + facts.warnings > 0;
        tables.is_incomplete = facts.is_incomplete;
        tables.add(FleetTable::Ingested, rows::ingested(trace.id, &tables.file, facts.errors, facts.warnings)?);
        tables.add(FleetTable::Sums, rows::sums(trace.id, &names.finish())?);
        tables.spilled = intake.is_spilled().then_some(folder);
        tables.take(intake)?;
        Ok(tables)
    }
}

/// I/O errors say nothing about the trace.
fn quarantine(found: &Found, file: FileFacts, error: &Error) -> Taken {
    if let ErrorKind::Io(io) = error.kind()
        && !matches!(io.kind(), std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData)
    {
        return Taken::Failed(Error::from(std::io::Error::new(io.kind(), io.to_string())).in_file(&found.path));
    }
    let finding = error.to_string();
    let finding = finding.strip_prefix(&format!("{}: ", found.path.display())).unwrap_or(&finding).to_owned();
    Taken::Broken { tables: Box::new(TraceTables::new(file.id(), found.tags.clone(), file)), finding }
}

/// Content that cannot be decompressed completely is identified by the raw bytes of the file.
fn broken_or_failed(found: &Found, source: &Source, error: Error) -> Taken {
    match facts(&found.path, source) {
        Ok(file) => quarantine(found, file, &error),
        Err(_) => Taken::Failed(error),
    }
}

/// The `content_hash` of decompressed content.
pub fn content_hash(content: &Source) -> Result<String> {
    Ok(facts(Path::new(""), content)?.hash)
}

fn facts(path: &Path, content: &Source) -> Result<FileFacts> {
    let mut hashers = [XxHash64::with_seed(0), XxHash64::with_seed(1)];
    let room = content.len()?.clamp(1, 1 << 18) as usize;
    let (mut stream, mut buffer, mut bytes) = (content.stream(), vec![0; room], 0);
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        hashers.iter_mut().for_each(|hasher| hasher.write(buffer.get(..read).unwrap_or_default()));
    }
    let [first, second] = hashers.map(|hasher| hasher.finish());
    Ok(FileFacts { path: path.to_owned(), bytes, hash: format!("{first:016x}{second:016x}") })
}

select! { struct Starts of traces { unix_origin_ns, first_ts_ns } }
select! { struct Problems of findings { code, severity } }

/// When a trace starts, how many problems it has, and whether data is missing because of them.
#[derive(Debug, Default)]
struct TraceFacts {
    start_unix_ns: Option<i64>,
    errors: u64,
    warnings: u64,
    is_incomplete: bool,
}

impl TraceFacts {
    fn take_start(&mut self, rows: &Starts<'_>) {
        let origin = (rows.rows > 0).then(|| rows.unix_origin_ns.get(0)).flatten();
        self.start_unix_ns = origin.map(|origin| origin.saturating_add(rows.first_ts_ns.get(0).unwrap_or(0)));
    }

    fn take_problems(&mut self, rows: &Problems<'_>) {
        for row in 0..rows.rows {
            let severity = rows.severity.get(row);
            self.is_incomplete |= is_data_missing(rows.code.get(row), severity);
            self.errors += u64::from(severity == Severity::Error.as_str());
            self.warnings += u64::from(severity == Severity::Warning.as_str());
        }
    }

    /// The day of the start, in UTC.
    fn day(&self) -> Option<String> {
        let (year, month, day) = civil(self.start_unix_ns?.div_euclid(86_400_000_000_000));
        Some(format!("{year:04}-{month:02}-{day:02}"))
    }
}

sink! {
    impl for TraceFacts as facts {
        Starts(rows) => facts.take_start(rows),
        Problems(rows) => facts.take_problems(rows),
    }
}
