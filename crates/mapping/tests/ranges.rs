//! Time ranges are half-open in the tables of every format: rows of adjacent ranges add up to the whole.

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use arrow_array::{Array, cast::AsArray, types::Int64Type};
use traceloom_core::{Source, TimeRange};
use traceloom_mapping::{Options, Trace, open};
use traceloom_model::{Batches, Columns, Filter, Table, TableSource, Wanted};
use traceloom_open::FORMATS;

/// Tables whose rows have a time; a span or switch counts by its start.
const TIMED: [Table; 7] =
    [Table::Allocations, Table::Counters, Table::Events, Table::Frees, Table::Logs, Table::Spans, Table::Switches];

/// The times of all rows, by table and id.
type Rows = BTreeMap<(&'static str, i64), i64>;

#[test]
fn rows_of_adjacent_ranges_add_up_to_the_whole() {
    let mut divided = BTreeSet::new();
    each_trace(|trace, all| {
        for cut in cuts(all) {
            let [before, after] = [TimeRange::new(None, Some(cut)), TimeRange::new(Some(cut), None)];
            let (before, after) = (rows(trace, before)?, rows(trace, after)?);
            if !before.is_empty() && !after.is_empty() {
                let tables =
                    before.keys().map(|(table, _)| *table).filter(|table| after.keys().any(|key| key.0 == *table));
                divided.extend(tables.map(|table| (trace.format(), table)));
            }
            let mut both = before.clone();
            both.extend(&after);
            if before.len() + after.len() != all.len() || both != *all {
                let (before, after, all) = (before.len(), after.len(), all.len());
                return Err(format!("cut at {cut} ns: {before} and {after} rows instead of {all}"));
            }
        }
        Ok(())
    });
    for expected in [
        ("cnanolog", "logs"),
        ("easyprofiler", "counters"),
        ("easyprofiler", "events"),
        ("easyprofiler", "spans"),
        ("easyprofiler", "switches"),
        ("memlyze", "allocations"),
        ("memlyze", "events"),
        ("memlyze", "frees"),
        ("nytprof", "spans"),
        ("wtf", "events"),
        ("wtf", "spans"),
    ] {
        assert!(divided.contains(&expected), "no trace has {} of {} on both sides of a cut", expected.1, expected.0);
    }
}

#[test]
fn an_empty_range_has_no_rows() {
    each_trace(|trace, all| {
        for cut in cuts(all) {
            let found = rows(trace, TimeRange::between(cut, cut))?;
            if !found.is_empty() {
                return Err(format!("the empty range at {cut} ns has {} rows", found.len()));
            }
        }
        Ok(())
    });
}

#[test]
fn a_range_keeps_the_ids_of_its_rows() {
    each_trace(|trace, all| {
        let cuts = cuts(all);
        let [Some(from), Some(to)] = [cuts.first(), cuts.last()] else { return Ok(()) };
        let range = TimeRange::between(*from, *to);
        let inside = all.iter().filter(|(_, ts_ns)| range.contains(**ts_ns));
        let expected: Rows = inside.map(|(key, ts_ns)| (*key, *ts_ns)).collect();
        if rows(trace, range)? != expected { Err(format!("rows from {from} to {to} ns differ")) } else { Ok(()) }
    });
}

/// The rows of a range: those that a filtered read returns and that are inside.
fn rows(trace: &Trace, range: TimeRange) -> Result<Rows, String> {
    let wanted = |wanted: Wanted, table: Table| wanted.and(table, Columns::named(table, &["id", "ts_ns"]));
    let mut batches = Batches::of(TIMED.into_iter().fold(Wanted::nothing(), wanted));
    trace.pour(&Filter::in_range(range), &mut batches).map_err(|error| error.to_string())?;
    let mut rows = Rows::new();
    for table in TIMED {
        for batch in batches.table(table) {
            let [ids, times] = ["id", "ts_ns"].map(|name| batch.column_by_name(name).expect("it was asked for"));
            let (ids, times) = (ids.as_primitive::<Int64Type>(), times.as_primitive::<Int64Type>());
            let timed = (0..batch.num_rows()).filter(|row| times.is_valid(*row));
            let inside = timed.filter(|row| range.contains(times.value(*row)));
            for row in inside {
                let is_new = rows.insert((table.name(), ids.value(row)), times.value(row)).is_none();
                assert!(is_new, "{} {} comes twice", table.name(), ids.value(row));
            }
        }
    }
    Ok(rows)
}

/// Times to cut at: times of rows, so that a row is exactly on the edge, and times between them.
fn cuts(rows: &Rows) -> Vec<i64> {
    let times: BTreeSet<i64> = rows.values().copied().collect();
    let nth = |part: usize| times.iter().nth(times.len() * part / 4).copied();
    let chosen = (1..4).filter_map(nth).chain(times.last().copied()).flat_map(|ts_ns| [ts_ns, ts_ns.saturating_add(1)]);
    chosen.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Runs a check over all readable fixtures and over the samples, and fails with all errors.
fn each_trace(mut check: impl FnMut(&Trace, &Rows) -> Result<(), String>) {
    let options = Options::default();
    let fixtures =
        common::below(&common::fixtures(), "").into_iter().filter_map(|path| open(&path, None, &options).ok());
    let samples = FORMATS.iter().map(|format| {
        let sample = format.sample().expect("every format has a sample");
        Trace::new(Path::new(sample.file_name), Source::bytes(sample.bytes), None, &options).expect("it opens")
    });
    let mut wrong = Vec::new();
    for trace in samples.chain(fixtures) {
        let Ok(all) = rows(&trace, TimeRange::ALL) else { continue };
        if let Err(problem) = check(&trace, &all) {
            wrong.push(format!("{}: {problem}", trace.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{} traces:\n{}", wrong.len(), wrong.join("\n"));
}
