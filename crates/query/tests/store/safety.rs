//! Failures leave a store unchanged.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use traceloom_core::{ReadAt, Source};
use traceloom_mapping::{Options, Trace};
use traceloom_model::Table;
use traceloom_query::store::{self, Store};

use crate::common::{fixture, listing, traces, write};

/// A file that can be read until it is made to fail.
struct Unplugged {
    bytes: Vec<u8>,
    is_gone: Arc<AtomicBool>,
}

impl ReadAt for Unplugged {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_gone.load(Ordering::Relaxed) {
            Err(io::Error::other("the disk is gone"))
        } else {
            ReadAt::read_at(&self.bytes, offset, buffer)
        }
    }
}

/// A trace that opens and then fails.
fn failing(name: &str) -> Trace {
    let is_gone = Arc::new(AtomicBool::new(false));
    let bytes = fs::read(fixture(name)).expect("the fixture is there");
    let source = Source::custom(Unplugged { bytes, is_gone: Arc::clone(&is_gone) });
    let trace = Trace::new(Path::new(name), source, None, &Options::default()).expect("it opens");
    is_gone.store(true, Ordering::Relaxed);
    trace
}

fn refusal(traces: &[Trace], out: &Path) -> String {
    let outcome = store::write(traces, out, &store::Options::default(), &mut |_| {});
    outcome.expect_err("this cannot work").to_string()
}

#[test]
fn a_trace_that_fails_leaves_no_new_store() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut all = traces(&["easyprofiler/v210_values.prof", "cnanolog/head_server.clog"]);
    all.push(failing("wtf/wtf-js/js-mix.wtf-trace"));
    let message = refusal(&all, &folder.path().join("store"));
    assert!(message.contains("the disk is gone") && message.contains("js-mix"), "{message}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn a_trace_that_fails_leaves_the_store_as_it_was() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    write(&traces(&["easyprofiler/v210_values.prof"]), &out);
    let before = listing(folder.path());
    let mut all = traces(&["cnanolog/head_server.clog"]);
    all.push(failing("wtf/wtf-js/js-mix.wtf-trace"));
    refusal(&all, &out);
    assert_eq!(listing(folder.path()), before);
    assert!(!out.join(".writing").exists());
}

#[test]
fn what_an_interrupted_process_left_is_in_nobodys_way() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    // The process died while the store was being created.
    let beside = folder.path().join(".store.writing");
    fs::create_dir_all(beside.join("spans")).expect("a folder");
    fs::write(beside.join("spans/0001.parquet"), "half a file").expect("a file");
    write(&traces(&["easyprofiler/v210_values.prof"]), &out);
    assert!(!beside.exists());
    // The process died while files were being moved.
    fs::create_dir_all(out.join(".writing/logs")).expect("a folder");
    fs::write(out.join("logs/0002.parquet"), "moved").expect("a file");
    fs::write(out.join("links/0002.parquet"), "moved").expect("a file");
    let store = Store::open(&out).expect("it opens").expect("it is one");
    assert_eq!(store.files(Table::Logs).len(), 1, "not in the manifest, not in the store");
    write(&traces(&["cnanolog/head_server.clog"]), &out);
    assert!(!out.join(".writing").exists() && !out.join("links/0002.parquet").exists());
    let store = Store::open(&out).expect("it opens").expect("it is one");
    assert_eq!(store.files(Table::Logs).len(), 2);
}

#[test]
fn two_do_not_write_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    let beside = folder.path().join(".store.writing");
    fs::create_dir(&beside).expect("a folder");
    let lock = File::create(beside.join("lock")).expect("a file");
    lock.lock().expect("a lock");
    let message = refusal(&traces(&["easyprofiler/v210_values.prof"]), &out);
    assert!(message.contains("another process is writing to the store"), "{message}");
    assert!(beside.join("lock").exists(), "what the other one has is left alone");
    drop(lock);
    write(&traces(&["easyprofiler/v210_values.prof"]), &out);
}

#[test]
fn other_things_are_not_taken_for_a_store() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let one = traces(&["easyprofiler/v210_values.prof"]);
    fs::write(folder.path().join("letter.txt"), "dear").expect("a file");
    assert!(refusal(&one, folder.path()).contains("contains other files"));
    assert!(refusal(&one, &folder.path().join("letter.txt")).contains("a store must be a folder"));
    assert!(Store::open(folder.path()).expect("a folder").is_none());
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    write(&one, &empty);
    assert!(Store::open(&empty).expect("it opens").is_some());
}

#[test]
fn names_do_not_lead_out_of_the_store() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("inner/store");
    fs::create_dir(folder.path().join("inner")).expect("a folder");
    let bytes = fs::read(fixture("easyprofiler/v210_values.prof")).expect("the fixture is there");
    for (number, name) in
        ["../../../evil.prof", "/evil.prof", "spans/0001.parquet", "", "a\0b\n.prof"].iter().enumerate()
    {
        let mut bytes = bytes.clone();
        bytes.extend(vec![0; number]);
        let trace = Trace::new(Path::new(name), Source::bytes(bytes), Some("easyprofiler"), &Options::default());
        write(&[trace.expect("it opens")], &out);
    }
    for (path, _) in listing(folder.path()) {
        let inside = path.strip_prefix(&out).expect("everything is in the store").to_string_lossy().into_owned();
        let table = inside.split('/').next().unwrap_or_default();
        assert!(inside == "manifest.json" || store::Shelf::by_name(table).is_some(), "{inside}");
    }
    assert_eq!(Store::open(&out).expect("it opens").expect("it is one").traces().len(), 5);
}

#[test]
fn a_manifest_that_leads_elsewhere_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    write(&traces(&["easyprofiler/v210_values.prof"]), &out);
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("the manifest");
    let refuse = |from: &str, to: &str| {
        assert!(manifest.contains(from), "{from}");
        fs::write(out.join("manifest.json"), manifest.replacen(from, to, 1)).expect("a file");
        let message = Store::open(&out).expect_err("this is no store").to_string();
        assert!(message.contains("manifest.json"), "{message}");
        let written = refusal(&traces(&["cnanolog/head_server.clog"]), &out);
        assert_eq!(written, message);
        message
    };
    assert!(refuse("spans/0001.parquet", "../spans/0001.parquet").contains("contains an invalid file name"));
    assert!(refuse("spans/0001.parquet", "/etc/passwd").contains("contains an invalid file name"));
    assert!(refuse("spans/0001.parquet", "spans/1.parquet").contains("contains an invalid file name"));
    assert!(refuse("\"spans\": [", "\"../spans\": [").contains("unknown table"));
    assert!(refuse("\"version\": 2", "\"version\": 3").contains("version 3"));
    assert!(refuse("\"spans\": ", "\"spans\": 1").contains("rows for spans"));
    fs::write(out.join("manifest.json"), "{").expect("a file");
    assert!(Store::open(&out).expect_err("this is no store").to_string().contains("invalid manifest"));
}

#[test]
fn a_file_that_was_cut_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    write(&traces(&["easyprofiler/v210_values.prof"]), &out);
    let spans = out.join("spans/0001.parquet");
    let bytes = fs::read(&spans).expect("the file is there");
    fs::write(&spans, &bytes[..bytes.len() - 1]).expect("a file");
    let message = Store::open(&out).expect_err("a byte is missing").to_string();
    assert!(message.contains("spans") && message.contains("bytes"), "{message}");
    fs::remove_file(&spans).expect("the file is there");
    assert!(Store::open(&out).is_err());
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (out, elsewhere) = (folder.path().join("store"), folder.path().join("elsewhere"));
    write(&traces(&["easyprofiler/v210_values.prof"]), &out);
    fs::rename(out.join("logs"), &elsewhere).expect("a move");
    std::os::unix::fs::symlink(&elsewhere, out.join("logs")).expect("a link");
    let before = listing(folder.path());
    assert!(refusal(&traces(&["cnanolog/head_server.clog"]), &out).contains("needs a folder"));
    assert_eq!(listing(folder.path()), before);
}
