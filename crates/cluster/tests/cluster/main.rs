//! A scheduler and executors as processes return the same rows as the embedded engine: from files and from an object
//! store, also when an executor is killed.

mod damage;
mod fleet;
mod losses;
mod sentences;
mod slots;
mod stores;
#[path = "../support/mod.rs"]
mod support;
mod urls;

use std::{ffi::OsString, path::PathBuf};

use crate::support::{
    Cluster, answer,
    corpus::{BUCKET, Corpus},
    embedded, examples, file_url,
    s3::{ObjectStore, SECRET},
    unlimited,
};

/// Names are numbered per file and per process: two executors must not mix them up.
const BY_NAME: &str = "select name, count(*), sum(dur_ns), min(ts_ns) from spans group by name";

static QUERIES: &[&str] = &[
    BY_NAME,
    "select format, count(*) from traces group by format",
    "select severity, code, count(*) from findings group by severity, code",
    "select trace_id, name, count(*) from events group by trace_id, name",
    "select t.format, s.category, count(*), max(s.depth) from spans s join traces t on t.trace_id = s.trace_id group by 1, 2",
];

#[test]
fn every_query_gives_the_same_rows_from_files_and_from_an_object_store() {
    let corpus = Corpus::new();
    let store = ObjectStore::start(corpus.root());
    let cluster = Cluster::start_with(2, store.environment(SECRET));
    let session = corpus.session();
    let places = [file_url(&corpus.folder()), PathBuf::from(format!("s3://{BUCKET}/day/"))];
    let made = tempfile::tempdir().expect("a folder");
    let of_page = examples(made.path()).into_iter().map(|(_, sql)| unlimited(&sql).to_owned());
    for sql in QUERIES.iter().map(|sql| (*sql).to_owned()).chain(of_page) {
        let expected = answer(&session, &sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        for place in &places {
            let rows = cluster.ask(std::slice::from_ref(place), &sql).map(|rows| corpus.localized(rows));
            assert!(rows == Ok(expected.clone()), "{sql}\n{} {}", place.display(), difference(&rows, &expected));
        }
    }
}

/// The first line that differs, because whole results are too long to print.
fn difference(rows: &Result<Vec<String>, String>, expected: &[String]) -> String {
    match rows {
        Err(error) => error.clone(),
        Ok(rows) => {
            let differing = rows.iter().zip(expected).find(|(row, expected)| row != expected);
            format!("{} rows, {} expected; {differing:?}", rows.len(), expected.len())
        }
    }
}

#[test]
fn every_example_gives_the_same_rows() {
    let cluster = Cluster::start(2);
    let made = tempfile::tempdir().expect("a folder");
    for (files, sql) in examples(made.path()) {
        let urls: Vec<PathBuf> = files.iter().map(|file| file_url(file)).collect();
        let expected = embedded(&urls, &sql);
        assert!(expected.as_ref().is_ok_and(|rows| !rows.is_empty()), "{sql} {expected:?}");
        assert_eq!(cluster.ask(&urls, &sql), expected, "{sql}");
    }
}

/// The program `traceloom`, which another package builds.
fn traceloom() -> OsString {
    std::env::var_os("TRACELOOM_PROGRAM").expect("set by `cargo xtask test --cluster`")
}
