//! pyarrow and polars read our output and find the contents of the tables.

mod support;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use traceloom_export::{AnyColumn, Options, by_id, write};
use traceloom_model::{Batches, Columns, Filter, Table, TableSource, Wanted};
use traceloom_passes::Datum;

use support::{place, python::script_or_skip, traces};

/// Traces with rows in many tables; for the others, only the main table is checked.
const THOROUGH: [&str; 5] = [
    "cnanolog-head_types.clog",
    "easyprofiler-v210_gui_saved_bookmarks.prof",
    "memlyze-api_medium.mlyze",
    "nytprof-recurse-calls2.nytprof",
    "wtf-js-mix.wtf-trace",
];

/// For each column, the number of cells that are not NULL, and a sum over them.
fn sums(batches: &Batches, table: Table) -> Json {
    let mut sums: BTreeMap<&str, (u64, i128)> = table.columns().iter().map(|column| (column.name, (0, 0))).collect();
    for batch in batches.table(table) {
        for (column, def) in AnyColumn::all(batch).iter().zip(table.columns()) {
            let sum = sums.entry(def.name).or_default();
            for number in (0..batch.num_rows()).filter_map(|row| number_of(column.get(row))) {
                *sum = (sum.0 + 1, sum.1 + number);
            }
        }
    }
    sums.into_iter().map(|(name, (count, sum))| (name.to_owned(), json!([count, sum.to_string()]))).collect()
}

fn number_of(cell: Datum<'_>) -> Option<i128> {
    let of_bytes = |bytes: &[u8]| bytes.len() as i128 + bytes.iter().map(|byte| i128::from(*byte)).sum::<i128>() * 7;
    match cell {
        Datum::Bytes(bytes) => Some(of_bytes(bytes)),
        Datum::Float(number) => Some(number.to_bits().into()),
        Datum::Int(number) => Some(number.into()),
        Datum::Null => None,
        Datum::Text(text) => Some(of_bytes(text.as_bytes())),
        Datum::Unsigned(number) => Some(number.into()),
    }
}

#[test]
fn columns_add_up_to_ours() {
    let Some(script) = script_or_skip("arrow/read.py", &["polars==2.1.0", "pyarrow==26.0.1"]) else { return };
    let place = place("arrow");
    let (mut files, mut expected) = (Vec::new(), Vec::new());
    for (name, trace) in traces() {
        let mut batches = Batches::of(Wanted::everything());
        trace.pour(&Filter::default(), &mut batches).unwrap();
        let is_thorough = THOROUGH.contains(&name.as_str());
        let tables = Table::ALL.into_iter().filter(|table| {
            if is_thorough {
                batches.rows(*table) > 0
            } else {
                matches!(table, Table::Spans | Table::Logs | Table::Allocations)
            }
        });
        for table in tables.filter(|table| batches.rows(*table) < 200_000) {
            let file = place.join(format!("{name}-{}.arrow", table.name()));
            let options = Options { variant: Some(table.name().to_owned()), ..Options::default() };
            let mut out = std::fs::File::create(&file).unwrap();
            write(by_id("arrow").unwrap(), &trace, &options, &mut out).unwrap();
            expected.push(sums(&batches, table));
            files.push(file);
        }
    }
    let answers = script.ask(&files);
    let mut wrong = Vec::new();
    for ((file, expected), answer) in files.iter().zip(&expected).zip(&answers) {
        for reader in ["pyarrow", "polars"] {
            if &answer[reader] != expected {
                wrong.push(format!("{reader}, {}:\n  {}\n  {expected}", file.display(), answer[reader]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(files.len() > 100, "only {} files", files.len());
}

#[test]
fn the_best_table_is_taken_where_none_is_named() {
    let (name, trace) = traces().into_iter().find(|(_, trace)| trace.format() == "memlyze").unwrap();
    let mut out = Vec::new();
    let loss = write(by_id("arrow").unwrap(), &trace, &Options::default(), &mut out).unwrap();
    assert!(out.starts_with(b"ARROW1"), "{name}");
    let mut batches = Batches::of(Wanted::nothing().and(Table::Stacks, Columns::ALL));
    trace.pour(&Filter::default(), &mut batches).unwrap();
    let lost = loss.entries().find(|(what, ..)| *what == "call stacks").map_or(0, |(_, count, _)| count);
    assert_eq!(lost, batches.rows(Table::Stacks) as u64, "{name}");
}
