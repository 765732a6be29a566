//! A companion file is found by every caller that opens its log.

use std::path::Path;

use traceloom_cnanolog::{Header, Site, create, journal, raw::SLOTS_LIBRARY};
use traceloom_core::{ByteOrder, Limits, Options, Source};

/// The findings of a log that is opened by its path.
fn findings(log: &Path) -> String {
    let options = Options::default();
    let source = Source::open(log, &Limits::default()).unwrap();
    let opened = traceloom_open::open(source, log, None, &options).unwrap();
    let (_, findings) = opened.format.info(&opened.source, &options).unwrap();
    findings.kept().iter().map(|finding| format!("{finding}\n")).collect()
}

#[test]
fn a_log_without_a_dictionary_finds_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("app.clog");
    let header = Header { start_timestamp: 7, ..Header::new(ByteOrder::Little) };
    std::fs::write(&log, create(Vec::new(), &header).unwrap().finish().unwrap()).unwrap();
    assert!(findings(&log).contains("use --dictionary"), "{}", findings(&log));
    let types = [0; SLOTS_LIBRARY];
    let site = Site { id: 0, level: 0, num_args: 0, line: 3, arg_types: &types, file: b"a.rs", format: b"text" };
    std::fs::write(journal::path_of(&log), journal::journal(&header, &[], &[site]).unwrap()).unwrap();
    assert!(!findings(&log).contains("use --dictionary"), "{}", findings(&log));
}
