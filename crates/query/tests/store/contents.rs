//! A store has the same contents as the traces.

use std::{fs::File, path::PathBuf};
use traceloom_core::TimeRange;

use parquet::{
    basic::{Compression, Type},
    file::{
        metadata::ColumnChunkMetaData,
        reader::{FileReader, SerializedFileReader},
    },
};
use traceloom_mapping::{Trace, TraceSet};
use traceloom_model::{Batches, Columns, Filter, Flow, Table, TableSink, TableSource, Wanted, select};
use traceloom_query::store::{self, Options, Shelf, Store};

use crate::common::{FIXTURES, listing, rows, traces, write};

/// The traces of a store, in its order, which determines the origin of the axis.
fn in_order_of(store: &Store, traces: &[Trace]) -> TraceSet {
    let path = |id: u64| traces.iter().find(|trace| trace.id == id).map(|trace| &trace.path);
    let paths = store.traces().iter().map(|stored| path(stored.trace_id).expect("it was given"));
    let open =
        |path: &PathBuf| traceloom_mapping::open(path, None, &traceloom_mapping::Options::default()).expect("it opens");
    let set = TraceSet::new(paths.map(open)).expect("facts can be read");
    assert_eq!(set.traces().len(), traces.len());
    set
}

fn open(path: &std::path::Path) -> Store {
    Store::open(path).unwrap_or_else(|error| panic!("{error}")).expect("there is a store")
}

/// The rows of a store are the rows of the traces on their axis, in order.
fn assert_same_rows(store: &Store, traces: &[Trace]) {
    let set = in_order_of(store, traces);
    for table in Table::ALL.into_iter().filter(|table| !Shelf::from(*table).is_merged()) {
        let mut expected = rows(&[&set], table);
        expected.sort();
        let stored = rows(&[store], table);
        assert_eq!(stored.len(), expected.len(), "rows of {}", table.name());
        assert_eq!(store.rows(table), expected.len() as u64, "rows of {} in the manifest", table.name());
        for (stored, expected) in stored.iter().zip(&expected) {
            assert_eq!(stored, expected, "a row of {}", table.name());
        }
    }
}

#[test]
fn every_table_of_every_format_is_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (out, traces) = (folder.path().join("store"), traces(&FIXTURES));
    let report = write(&traces, &out);
    assert_eq!(report.added.len(), FIXTURES.len());
    assert!(report.skipped.is_empty() && report.rows > 5000, "{} rows", report.rows);
    let store = open(&out);
    assert_same_rows(&store, &traces);
    let filled = Table::ALL.iter().filter(|table| store.rows(**table) > 0).count();
    assert!(filled >= 18, "only {filled} tables have rows");
    assert!(Shelf::all().all(|shelf| store.files(shelf).len() == 1), "every table has a file");
    assert_eq!(listing(&out).len(), Shelf::all().count() + 1, "nothing but the tables and the manifest");
}

#[test]
fn sorting_on_the_disk_gives_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (out, traces) = (folder.path().join("store"), traces(&FIXTURES));
    let options = Options { memory_bytes: 1, row_group_rows: 100, ..Options::default() };
    store::write(&traces, &out, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let store = open(&out);
    assert_same_rows(&store, &traces);
    let file = File::open(&store.files(Table::Logs)[0]).expect("the file is there");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    assert!(reader.num_row_groups() > 3);
}

#[test]
fn evals_of_one_place_are_there_both_ways() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (out, mut traces) = (folder.path().join("store"), traces(&["nytprof/devel-nytprof-6.12/evals-c0.nytprof"]));
    write(&traces, &out);
    let store = open(&out);
    traces[0].options.merge_evals = true;
    for shelf in [Shelf::LINE_TIMES_MERGED, Shelf::from(Table::CallsMerged)] {
        let merged = rows(&[&traces[0]], shelf.table());
        assert_eq!(store.rows(shelf), merged.len() as u64, "{}", shelf.name());
    }
    assert_ne!(store.rows(Shelf::LINE_TIMES_MERGED), store.rows(Table::LineTimes), "the fixture has evals to merge");
}

#[test]
fn files_say_how_they_are_sorted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    write(&traces(&["easyprofiler/v210_values.prof"]), &out);
    let store = open(&out);
    for table in Table::ALL {
        let file = File::open(&store.files(table)[0]).expect("the file is there");
        let reader = SerializedFileReader::new(file).expect("a Parquet file");
        for group in reader.metadata().row_groups() {
            let sorting = group.sorting_columns().expect("the order is written down");
            let name = |number: i32| table.columns()[number as usize].name;
            let names: Vec<_> = sorting.iter().map(|column| name(column.column_idx)).collect();
            assert_eq!(names, store::sorted_by(&table.schema()));
            // Least and greatest texts would take more room than they save.
            let has_bounds = |column: &ColumnChunkMetaData| {
                column.column_type() == Type::BYTE_ARRAY || column.statistics().is_some()
            };
            assert!(group.columns().iter().all(has_bounds), "{}", table.name());
            assert!(group.columns().iter().all(|column| matches!(column.compression(), Compression::ZSTD(_))));
        }
    }
}

#[test]
fn another_run_adds_only_what_is_new() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    let all = traces(&FIXTURES);
    let (first, second) = all.split_at(6);
    write(first, &out);
    let before = listing(&out);
    // A copy under another name is the same trace.
    let copy = folder.path().join("copy.prof");
    std::fs::copy(&first[0].path, &copy).expect("a copy");
    let copy = traceloom_mapping::open(&copy, None, &traceloom_mapping::Options::default()).expect("the copy opens");
    let again = write(&[copy], &out);
    assert!(again.added.is_empty() && again.rows == 0);
    assert_eq!(again.skipped[0].stored_path, first[0].path.to_string_lossy());
    assert!(again.skipped[0].path.ends_with("copy.prof"));
    assert_eq!(listing(&out), before, "nothing was written");

    let more = write(&all, &out);
    assert_eq!((more.added.len(), more.skipped.len()), (second.len(), first.len()));
    let store = open(&out);
    assert_same_contents(&store, &all);
    let after = listing(&out);
    let kept = |(path, bytes): &(std::path::PathBuf, Vec<u8>)| {
        path.ends_with("manifest.json") || after.iter().any(|(other, now)| (other, now) == (path, bytes))
    };
    assert!(before.iter().all(kept), "files never change");
    assert_eq!(store.files(Table::Spans).len(), 2);
    assert_eq!(store.files(Table::Allocations).len(), 1, "no file for a table without new rows");
}

/// The same rows in any order.
fn assert_same_contents(store: &Store, traces: &[Trace]) {
    let set = in_order_of(store, traces);
    for table in Table::ALL.into_iter().filter(|table| !Shelf::from(*table).is_merged()) {
        let (mut expected, mut stored) = (rows(&[&set], table), rows(&[store], table));
        expected.sort();
        stored.sort();
        assert_eq!(stored, expected, "{}", table.name());
    }
}

#[test]
fn a_trace_that_comes_twice_is_taken_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    let name = "cnanolog/head_server.clog";
    let report = write(&traces(&[name, name]), &out);
    assert_eq!((report.added.len(), report.skipped.len()), (1, 1));
    assert_eq!(open(&out).traces().len(), 1);
}

#[test]
fn times_and_columns_that_nobody_wants_are_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (out, traces) = (
        folder.path().join("store"),
        traces(&["memlyze/memlyze-0.1.0/killed.mlyze", "memlyze/memlyze-0.1.0-encoder/api_medium.mlyze"]),
    );
    let options = Options { row_group_rows: 50, ..Options::default() };
    store::write(&traces, &out, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let store = open(&out);
    let all = rows(&[&store], Table::Allocations);
    let mut times: Vec<_> = all.iter().filter_map(|((_, ts_ns, _), _)| *ts_ns).collect();
    times.sort_unstable();
    let (from_ns, to_ns) = (times[times.len() / 2], times[times.len() / 2 + times.len() / 10]);
    let filter = Filter::in_range(TimeRange::between(from_ns, to_ns));
    select! {
        struct Sizes of allocations { ts_ns, size_bytes }
    }
    let mut batches = Batches::of(Wanted::nothing().and(Table::Allocations, Sizes::COLUMNS));
    store.pour(&filter, &mut batches).expect("the store can be read");
    let mut found = Vec::new();
    for batch in batches.table(Table::Allocations) {
        assert_eq!(batch.num_columns(), 2);
        found.extend_from_slice(Sizes::of(batch).unwrap().ts_ns.values());
    }
    assert!(found.len() < all.len(), "{} of {} rows came", found.len(), all.len());
    found.retain(|ts_ns| filter.takes_time(*ts_ns));
    found.sort_unstable();
    times.retain(|ts_ns| filter.takes_time(*ts_ns));
    assert_eq!(found, times);
}

#[test]
fn a_stop_ends_the_reading() {
    struct One(usize);
    impl TableSink for One {
        fn wants(&self, _table: Table) -> Columns {
            Columns::ALL
        }
        fn batch(&mut self, _table: Table, _batch: arrow_array::RecordBatch) -> traceloom_core::Result<Flow> {
            self.0 += 1;
            Ok(Flow::Stop)
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("store");
    write(&traces(&FIXTURES), &out);
    let mut sink = One(0);
    open(&out).pour(&Filter::default(), &mut sink).expect("a stop is no error");
    assert_eq!(sink.0, 1);
}
