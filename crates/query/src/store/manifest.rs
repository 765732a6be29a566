//! The manifest of a store.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use traceloom_core::{Error, Limits, Result};

use super::Shelf;
use crate::location::Location;

/// The version that is written, and the only one that can be read.
const VERSION: u32 = 2;

/// Max size of a manifest, enough for several hundred thousand traces.
const MAX_BYTES: u64 = 256 << 20;

/// The contents of `manifest.json`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Manifest {
    /// Version of the layout.
    version: u32,
    pub(super) traces: Vec<StoredTrace>,
    /// Files by table name.
    tables: BTreeMap<String, Vec<StoredFile>>,
}

/// A trace in a store.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StoredTrace {
    /// The `trace_id`, stored as text because many JSON readers parse numbers as floating-point numbers.
    #[serde(with = "as_text")]
    pub trace_id: u64,
    /// Path of the trace when it was added.
    pub path: String,
    /// Id of the format.
    pub format: String,
    /// Number of the run, which is part of the names of the files with its rows.
    pub run: u32,
    /// Number of rows in each nonempty table.
    pub rows: BTreeMap<String, u64>,
}

/// A Parquet file of one table.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct StoredFile {
    file: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    /// Parsed from the name.
    #[serde(skip)]
    pub(super) run: u32,
}

impl StoredFile {
    pub(super) fn new(shelf: Shelf, run: u32, rows: u64, bytes: u64) -> Self {
        Self { file: file_name(shelf, run), rows, bytes, run }
    }

    /// Path in the store, built from a known name and a number rather than from the manifest.
    pub(super) fn path(&self, shelf: Shelf) -> String {
        file_name(shelf, self.run)
    }
}

/// The name of a file in the store.
pub(super) fn file_name(shelf: Shelf, run: u32) -> String {
    format!("{}/{run:04}.parquet", shelf.name())
}

impl Default for Manifest {
    fn default() -> Self {
        Self { version: VERSION, traces: Vec::new(), tables: BTreeMap::new() }
    }
}

impl Manifest {
    /// Reads and checks the manifest.
    pub(super) fn read(path: &Path) -> Result<Self> {
        Self::parse(path).map_err(|error| error.in_file(path))
    }

    fn parse(path: &Path) -> Result<Self> {
        let source = Location::of(path)?.open(&Limits::default())?;
        let length = source.len()?;
        if length > MAX_BYTES {
            return Err(Error::limit("manifest", length, MAX_BYTES));
        }
        let text = source.prefix(length as usize)?;
        let broken = |error: serde_json::Error| Error::unrecognized(format!("invalid manifest of a store: {error}"));
        let Version { version } = serde_json::from_slice(&text).map_err(broken)?;
        if version != VERSION {
            let message = format!("store version {version}; this program reads version {VERSION}");
            return Err(Error::unrecognized(message));
        }
        let mut manifest: Self = serde_json::from_slice(&text).map_err(broken)?;
        manifest.number_files()?;
        manifest.check_rows()?;
        Ok(manifest)
    }

    /// Parses the numbers from the names, and rejects names that the program does not create.
    fn number_files(&mut self) -> Result<()> {
        for (name, files) in &mut self.tables {
            let shelf =
                Shelf::by_name(name).ok_or_else(|| Error::unrecognized(format!("lists an unknown table, {name:?}")))?;
            for stored in files {
                let number = stored.file.rsplit('/').next().and_then(|file| file.strip_suffix(".parquet"));
                let run =
                    number.and_then(|number| number.parse().ok()).filter(|run| file_name(shelf, *run) == stored.file);
                let message = || format!("contains an invalid file name, {:?}", stored.file);
                stored.run = run.ok_or_else(|| Error::unrecognized(message()))?;
            }
        }
        Ok(())
    }

    /// Rows are located by counting the rows of earlier traces, so the counts must agree and the traces must be in
    /// order.
    fn check_rows(&self) -> Result<()> {
        let mut of_traces: BTreeMap<(&str, u32), u64> = BTreeMap::new();
        let mut last: BTreeMap<u32, u64> = BTreeMap::new();
        for trace in &self.traces {
            if last.insert(trace.run, trace.trace_id).is_some_and(|before| before >= trace.trace_id) {
                return Err(Error::unrecognized(format!("lists the traces of run {} in the wrong order", trace.run)));
            }
            for (table, rows) in &trace.rows {
                let sum = of_traces.entry((table, trace.run)).or_default();
                *sum = sum.saturating_add(*rows);
            }
        }
        for (table, file) in self.tables.iter().flat_map(|(table, files)| files.iter().map(move |file| (table, file))) {
            let of_traces = of_traces.remove(&(table.as_str(), file.run)).unwrap_or(0);
            if of_traces != file.rows {
                let message =
                    format!("lists {} rows for {}, but {of_traces} rows for the traces in it", file.rows, file.file);
                return Err(Error::unrecognized(message));
            }
        }
        match of_traces.into_iter().find(|(_, rows)| *rows > 0) {
            Some(((table, run), _)) => {
                Err(Error::unrecognized(format!("lists no file for the rows of {table:?} in run {run}")))
            }
            None => Ok(()),
        }
    }

    /// The files of a table.
    pub(super) fn files(&self, shelf: Shelf) -> &[StoredFile] {
        self.tables.get(shelf.name()).map_or(&[], Vec::as_slice)
    }

    /// The number of the next run.
    pub(super) fn next_run(&self) -> Result<u32> {
        let of_files = self.tables.values().flatten().map(|file| file.run);
        let last = of_files.chain(self.traces.iter().map(|trace| trace.run)).max().unwrap_or(0);
        last.checked_add(1).ok_or_else(|| Error::unrecognized("the store has run out of file numbers"))
    }

    /// Adds a file.
    pub(super) fn add(&mut self, shelf: Shelf, file: StoredFile) {
        self.tables.entry(shelf.name().to_owned()).or_default().push(file);
    }

    /// The manifest as JSON.
    pub(super) fn to_json(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        text.push(b'\n');
        Ok(text)
    }
}

impl StoredTrace {
    /// Number of rows in a table.
    pub fn rows_of(&self, table: impl Into<Shelf>) -> u64 {
        self.rows.get(table.into().name()).copied().unwrap_or(0)
    }
}

/// Read first, because another version may have other fields.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
