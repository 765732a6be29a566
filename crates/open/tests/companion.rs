//! A companion file is found by every caller that opens its log.

use std::{fs, path::Path};

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

/// Writes a log without a dictionary, and the journal that has it.
fn write(log: &Path, journal: &Path) {
    let header = Header { start_timestamp: 7, ..Header::new(ByteOrder::Little) };
    fs::write(log, create(Vec::new(), &header).unwrap().finish().unwrap()).unwrap();
    let types = [0; SLOTS_LIBRARY];
    let site = Site { id: 0, level: 0, num_args: 0, line: 3, arg_types: &types, file: b"a.rs", format: b"text" };
    fs::write(journal, journal::journal(&header, &[], &[site]).unwrap()).unwrap();
}

#[test]
fn a_log_without_a_dictionary_finds_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("app.clog");
    let journal = journal::path_of(&log);
    write(&log, &journal);
    assert!(!findings(&log).contains("use --dictionary"), "{}", findings(&log));
    fs::remove_file(journal).unwrap();
    assert!(findings(&log).contains("use --dictionary"), "{}", findings(&log));
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_to_a_journal_outside_the_folder_of_its_log() {
    use std::os::unix::fs::symlink;
    let [folder, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (log, inside) = (folder.path().join("app.clog"), folder.path().join("other.sites"));
    let outside = elsewhere.path().join("secret");
    write(&log, &outside);
    symlink(&outside, journal::path_of(&log)).unwrap();
    assert!(findings(&log).contains("use --dictionary"), "{}", findings(&log));
    // A link to a file in the same folder is followed, and so are links to both files.
    write(&log, &inside);
    fs::remove_file(journal::path_of(&log)).unwrap();
    symlink(&inside, journal::path_of(&log)).unwrap();
    assert!(!findings(&log).contains("use --dictionary"), "{}", findings(&log));
    let link = elsewhere.path().join("app.clog");
    symlink(&log, &link).unwrap();
    symlink(journal::path_of(&log), journal::path_of(&link)).unwrap();
    assert!(!findings(&link).contains("use --dictionary"), "{}", findings(&link));
}
