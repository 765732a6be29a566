//! Fixtures and what the suites share.
#![allow(dead_code)]

use std::{fs, path::PathBuf};

use serde_json::Value;
use traceloom_cnanolog::{Header, Record, Tally, create, open};
use traceloom_core::{Finding, Options, Records, Result, Source};

/// The folder of this format's fixtures.
pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/cnanolog")
}

/// Names of all logs, sorted, those under `invalid/` included.
pub(crate) fn logs() -> Vec<String> {
    let mut names = Vec::new();
    for (folder, prefix) in [(fixtures(), ""), (fixtures().join("invalid"), "invalid/")] {
        for entry in fs::read_dir(folder).expect("the fixtures are there") {
            let name = entry.expect("readable").file_name().into_string().expect("plain names");
            if name.ends_with(".clog") {
                names.push(format!("{prefix}{name}"));
            }
        }
    }
    names.sort();
    names
}

/// The bytes of a fixture.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(fixtures().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A fixture as a source.
pub(crate) fn source(name: &str) -> Source {
    Source::bytes(bytes(name))
}

/// The JSON beside a log.
pub(crate) fn golden(name: &str) -> Value {
    let path = name.replace(".clog", ".json");
    serde_json::from_slice(&bytes(&path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file of these records, with the counts that belong into its header.
pub(crate) fn file(mut header: Header, records: &[Record<'_>]) -> Vec<u8> {
    let mut tally = Tally::new(&header);
    records.iter().for_each(|record| tally.count(record));
    tally.fill(&mut header).unwrap();
    let mut writer = create(Vec::new(), &header).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    assert_eq!(*writer.tally(), tally);
    writer.finish().unwrap()
}

/// Records as shown, and findings, of a whole file; reading must not fail.
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
