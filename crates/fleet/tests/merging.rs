//! Merged files: few are open at a time, and queries that run meanwhile miss no rows.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use traceloom_fleet::compact;
use traceloom_query::fleet::{Fleet, FleetTable, Writing};

use crate::support::{Traces, add, contents, copy, rows, session, task};

const SQL: &str = "select s.host, s.name, count(*), sum(s.dur_ns), count(distinct t.path) from spans s \
                   join traces t on t.trace_id = s.trace_id group by s.host, s.name";

#[test]
#[ignore = "the process with a low limit"]
fn child() {
    let Some((_, store)) = task() else { return };
    compact(&store).expect("it can be written");
}

/// Each trace is a commit, so the files of each table and partition are as many as its traces.
fn plant(folder: &Path, traces: &Traces) -> PathBuf {
    let store = folder.join("store");
    traces.plant(&folder.join("traces")).expect("traces");
    add(&store, 1).expect("it can be written");
    store
}

#[test]
#[cfg(unix)]
fn few_files_are_open_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = plant(folder.path(), &Traces { count: 120, hosts: 20, spans: 5 });
    let expected = contents(&store);
    let files = || Fleet::open(&store).expect("a store").expect("a store").manifest().files.len();
    let before = files();
    let limited = ["sh", "-c", "ulimit -n 60 && exec \"$0\" \"$@\""];
    let status = support::child(&limited, &store, "merge").status().expect("it starts");
    assert!(status.success(), "{status}");
    assert!(files() <= before / 5, "{before} files became {}", files());
    assert!(contents(&store) == expected, "the rows differ");
}

#[test]
fn a_long_ingest_merges_files_while_it_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    Traces { count: 90, hosts: 1, spans: 5 }.plant(&folder.path().join("traces")).expect("traces");
    let report = add(&store, 1).expect("it can be written");
    let runs = Fleet::open(&store).expect("a store").expect("a store").manifest().next_run as usize - 1;
    // Each trace and each merge is a run; the second merge comes at the end.
    assert_eq!(runs, report.added + report.quarantined.len() + 2, "{report:?}");
}

/// Brings a store into the middle of a commit: the files that `next` replaces are removed, its new files are not in place
/// yet.
fn stop_in_commit(store: &Path, next: &Path) {
    let files = |store: &Path| Fleet::open(store).expect("a store").expect("a store").manifest().files.clone();
    let (old, new) = (files(store), files(next));
    assert!(old.difference(&new).count() > 0 && new.difference(&old).count() > 0, "nothing was merged");
    let writing = store.join(".writing");
    for file in new.difference(&old) {
        let place = writing.join("new").join(&file.file);
        fs::create_dir_all(place.parent().expect("a folder")).expect("the folder is ours");
        fs::copy(next.join(&file.file), place).expect("the folder is ours");
    }
    fs::copy(next.join("fleet.json"), writing.join("fleet.json")).expect("the folder is ours");
    old.difference(&new).for_each(|file| fs::remove_file(store.join(&file.file)).expect("the folder is ours"));
}

#[test]
fn a_query_in_the_middle_of_a_commit_misses_no_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = plant(folder.path(), &Traces { count: 12, hosts: 2, spans: 20 });
    let merged = folder.path().join("merged");
    copy(&store, &merged);
    compact(&merged).expect("it can be written");
    let session = session(&store);
    let ask = || rows(session.ask(SQL).expect("a good query"));
    let expected = ask().expect("rows");
    assert_eq!(expected.len(), 4, "{expected:?}");
    let (writing, _) = Writing::begin(&store).expect("nobody else writes");
    stop_in_commit(&store, &merged);
    // The writer is busy, and then dies.
    let rows = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            drop(writing);
        });
        ask().expect("rows")
    });
    assert_eq!(rows, expected);
    assert!(contents(&store) == contents(&merged), "the commit is not finished");
}

#[test]
fn a_query_whose_files_are_merged_is_planned_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = plant(folder.path(), &Traces { count: 12, hosts: 2, spans: 20 });
    let session = session(&store);
    let expected = rows(session.ask(SQL).expect("a good query")).expect("rows");
    let planned = session.ask(SQL).expect("a good query");
    compact(&store).expect("it can be written");
    assert_eq!(rows(planned).expect("rows"), expected);
    // Without a commit, a file that is missing is an error.
    let fleet = Fleet::open(&store).expect("a store").expect("a store");
    let gone = fleet.files(FleetTable::by_name("spans").expect("a table")).next().expect("a file");
    fs::remove_file(&gone).expect("the folder is ours");
    let error = rows(session.ask(SQL).expect("a good query")).expect_err("a file is gone").to_string();
    assert!(error.contains("spans/") && error.contains("does not exist") && error.lines().count() == 1, "{error}");
}
