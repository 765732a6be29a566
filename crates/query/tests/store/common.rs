//! Fixtures, and the rows of tables as text.

use std::{
    fs,
    path::{Path, PathBuf},
};

use arrow_array::{
    Array, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array, cast::AsArray,
    types::Int32Type,
};
use traceloom_mapping::{Options, Trace, open};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted};
use traceloom_query::store::{self, Report};

/// Two traces of each format, which together have rows in nearly every table.
pub(crate) const FIXTURES: [&str; 11] = [
    "easyprofiler/v210_gui_saved_bookmarks.prof",
    "easyprofiler/v210_values.prof",
    "cnanolog/head_server.clog",
    "cnanolog/head_strings.clog",
    "memlyze/memlyze-0.1.0-encoder/api_medium.mlyze",
    "memlyze/memlyze-0.1.0/killed.mlyze",
    "nytprof/devel-nytprof-6.12/evals-c0.nytprof",
    "nytprof/devel-nytprof-6.12/xsops-c0.nytprof",
    "nytprof/pynytprof/a986d58/seed-many.nytprof",
    "wtf/wtf-js/js-mix.wtf-trace",
    "wtf/wtf-js/js-flows.wtf-trace",
];

pub(crate) use traceloom_testkit::fixture;

/// Opened fixtures.
pub(crate) fn traces(names: &[&str]) -> Vec<Trace> {
    let open = |name: &&str| open(&fixture(name), None, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    names.iter().map(open).collect()
}

/// Writes a store with the usual options.
pub(crate) fn write(traces: &[Trace], out: &Path) -> Report {
    store::write(traces, out, &store::Options::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// The sort key of a row, and its cells.
pub(crate) type Row = ((u64, Option<i64>, i64), Vec<String>);

/// All rows of one table, in order.
pub(crate) fn rows(sources: &[&dyn TableSource], table: Table) -> Vec<Row> {
    let mut batches = Batches::of(Wanted::nothing().and(table, traceloom_model::Columns::ALL));
    for source in sources {
        source.pour(&Filter::default(), &mut batches).unwrap_or_else(|error| panic!("{error}"));
    }
    batches.table(table).inspect(|batch| assert_eq!(batch.schema(), table.schema())).flat_map(rows_of).collect()
}

/// The rows of a batch.
pub(crate) fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let integer = |name: &str, row: usize| {
        let column: Option<&Int64Array> = batch.column_by_name(name).map(|column| column.as_primitive());
        column.filter(|column| column.is_valid(row)).map(|column| column.value(row))
    };
    let trace_id: &UInt64Array = batch.column_by_name("trace_id").expect("every table has it").as_primitive();
    let row = |row: usize| {
        let key = (trace_id.value(row), integer("ts_ns", row), integer("id", row).expect("every row has one"));
        (key, batch.columns().iter().map(|column| cell(column, row)).collect())
    };
    (0..batch.num_rows()).map(row).collect()
}

fn cell(column: &dyn Array, row: usize) -> String {
    let any = column.as_any();
    if column.is_null(row) {
        "NULL".to_owned()
    } else if let Some(names) = column.as_dictionary_opt::<Int32Type>() {
        cell(names.values(), names.keys().value(row) as usize)
    } else if let Some(texts) = any.downcast_ref::<StringArray>() {
        format!("{:?}", texts.value(row))
    } else if let Some(bytes) = any.downcast_ref::<BinaryArray>() {
        format!("{:?}", bytes.value(row))
    } else if let Some(numbers) = any.downcast_ref::<Int64Array>() {
        numbers.value(row).to_string()
    } else if let Some(numbers) = any.downcast_ref::<UInt64Array>() {
        numbers.value(row).to_string()
    } else if let Some(numbers) = any.downcast_ref::<UInt32Array>() {
        numbers.value(row).to_string()
    } else if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        format!("{:x}", numbers.value(row).to_bits())
    } else if let Some(lists) = column.as_list_opt::<i32>() {
        let texts = lists.value(row);
        format!("{:?}", (0..texts.len()).map(|row| cell(&texts, row)).collect::<Vec<_>>())
    } else {
        panic!("no table has a column of {}", column.data_type());
    }
}

/// All files below a folder with their contents.
pub(crate) fn listing(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = traceloom_testkit::files(folder).expect("the folder is there");
    files.into_iter().map(|path| (path.clone(), fs::read(path).expect("the file is there"))).collect()
}
