//! Fixtures and shared code of the test suites.
#![allow(dead_code)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_cnanolog::{Header, Record, Tally, create, open};
use traceloom_core::{Finding, Options, Records, Result, Source};

/// The folder of this format's fixtures.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/cnanolog")
}

/// All files below the folder, sorted by their paths in it.
fn files() -> Vec<String> {
    fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { gather(&path, files) } else { files.push(path) }
        }
    }
    let mut files = Vec::new();
    gather(&fixtures(), &mut files);
    files.sort();
    let name = |path: &PathBuf| path.strip_prefix(fixtures()).unwrap().display().to_string();
    files.iter().map(name).collect()
}

/// Paths of all logs, including those under `invalid/`.
pub(crate) fn logs() -> Vec<String> {
    let logs: Vec<_> = files().into_iter().filter(|path| path.ends_with(".clog")).collect();
    assert!(logs.len() > 50, "{}", logs.len());
    logs
}

/// The bytes of a fixture, by its path or the end of its path.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let is_it = |path: &String| path == name || path.ends_with(&format!("/{name}"));
    let path = files().into_iter().find(is_it).unwrap_or_else(|| panic!("there is no {name}"));
    fs::read(fixtures().join(path)).unwrap()
}

/// A fixture as a source.
pub(crate) fn source(name: &str) -> Source {
    Source::bytes(bytes(name))
}

/// The JSON next to a log.
pub(crate) fn golden(name: &str) -> Value {
    let path = name.replace(".clog", ".json");
    serde_json::from_slice(&bytes(&path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file of these records, with the correct counts in its header.
pub(crate) fn file(mut header: Header, records: &[Record<'_>]) -> Vec<u8> {
    let mut tally = Tally::new(&header);
    records.iter().for_each(|record| tally.count(record));
    tally.fill(&mut header).unwrap();
    let mut writer = create(Vec::new(), &header).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    assert_eq!(*writer.tally(), tally);
    writer.finish().unwrap()
}

/// Records as shown, and findings, of a whole file; fails if reading fails.
pub(crate) fn read_all(source: Source, options: &Options) -> Result<(Vec<String>, Vec<Finding>)> {
    let mut reader = open(source, options)?;
    let mut records = Vec::new();
    while let Some(located) = reader.next()? {
        let shown = match located.record {
            Record::Entry(entry) => {
                let args: Option<Vec<_>> = entry.args().map(Iterator::collect);
                format!("{:?} {:?} {:?} {args:?}", entry.id, entry.timestamp, entry.data)
            }
            record => format!("{record:?}"),
        };
        records.push(format!("{} {} {shown}", located.offset, located.len));
    }
    Ok((records, reader.findings().kept().to_vec()))
}
