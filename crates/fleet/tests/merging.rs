//! Merged files: few are open at a time.

mod support;

use std::path::{Path, PathBuf};

use traceloom_fleet::compact;
use traceloom_query::fleet::Fleet;

use crate::support::{Traces, add, contents, task};

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
