//! Queries on a store return the same results as on the traces.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use traceloom_query::{
    Options, Session,
    store::{self, Shelf},
};

use crate::common::{FIXTURES, fixture, rows_of, traces, write};

fn session(paths: &[PathBuf]) -> Session {
    let options = Options { is_aligned: false, ..Options::default() };
    Session::open(paths, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn ask(session: &Session, sql: &str) -> Vec<RecordBatch> {
    let mut answer = session.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut batches = Vec::new();
    while let Some(batch) = answer.next().unwrap_or_else(|error| panic!("{sql}: {error}")) {
        batches.push(batch);
    }
    batches
}

/// A store of all fixtures, written in two runs.
fn stored(folder: &Path) -> PathBuf {
    let (out, traces) = (folder.join("store"), traces(&FIXTURES));
    let (first, second) = traces.split_at(5);
    write(first, &out);
    write(second, &out);
    out
}

#[test]
fn every_table_is_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of_store = session(&[stored(folder.path())]);
    let of_traces = session(&FIXTURES.map(fixture));
    for shelf in Shelf::all() {
        let sql = format!("select * from {} order by trace_id, id", shelf.name());
        let rows = |session: &Session| ask(session, &sql).iter().flat_map(rows_of).collect::<Vec<_>>();
        assert_eq!(rows(&of_store), rows(&of_traces), "{}", shelf.name());
    }
}

#[test]
fn every_question_has_the_same_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let of_store = session(&[stored(folder.path())]);
    let of_traces = session(&FIXTURES.map(fixture));
    for sql in [
        "select name, count(*), sum(dur_ns), sum(self_ns) from spans group by name order by 3 desc nulls last, 2, 1 limit 20",
        "select count(*), min(ts_ns), max(ts_ns) from spans where ts_ns between 1000 and 100000000",
        "select t.format, count(*) from traces t join spans s using (trace_id) group by 1 order by 1",
        "select level_name, count(*), max(length(message)) from logs group by 1 order by 2, 1",
        "select fate, count(*), sum(size_bytes) from allocations group by 1 order by 1",
        "select type, count(*), count(int_value), count(text_value) from args group by 1 order by 1",
    ] {
        let (stored, raw) = (shown(&ask(&of_store, sql)), shown(&ask(&of_traces, sql)));
        assert!(!raw.is_empty(), "{sql}");
        assert_eq!(stored, raw, "{sql}");
    }
}

/// The cells of a result as text.
fn shown(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let row = |batch: &RecordBatch, row: usize| {
        let cell = |column| datafusion::arrow::util::display::array_value_to_string(column, row);
        batch.columns().iter().map(|column| cell(column).expect("a cell that can be shown")).collect()
    };
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |number| row(batch, number))).collect()
}

#[test]
fn a_store_and_traces_make_one_set_of_tables() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    let (stored, raw) = FIXTURES.split_at(4);
    write(&traces(stored), &out);
    let paths: Vec<_> = std::iter::once(out).chain(raw.iter().map(fixture)).collect();
    let (together, apart) = (session(&paths), session(&FIXTURES.map(fixture)));
    for shelf in Shelf::all() {
        let sql = format!("select count(*) from {}", shelf.name());
        assert_eq!(shown(&ask(&together, &sql)), shown(&ask(&apart, &sql)), "{sql}");
    }
}

#[test]
fn times_choose_the_row_groups() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (out, traces) = (folder.path().join("store"), traces(&["memlyze/memlyze-0.1.0/killed.mlyze"]));
    let options = store::Options { row_group_rows: 50, ..store::Options::default() };
    store::write(&traces, &out, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let session = session(&[out]);
    let plan = session.explain("select count(*) from allocations where ts_ns < 0").expect("a plan");
    assert!(plan.contains("pruning_predicate"), "{plan}");
}
