//! Declarations and places of traces built row by row.

#[allow(dead_code, reason = "each test needs a part of it")]
mod made;

use traceloom_analysis::{
    definitions::{Definitions, UsedAs},
    places::{PlaceKind, Places},
};
use traceloom_core::Result;
use traceloom_model::{
    Filter, Halt, TableSource, Tables, allocations::Allocation, definitions::Definition, files::File, frames::Frame,
    logs::Log, spans::Span, stacks::Stack,
};

use crate::made::{Made, span};

fn definition<'a>(id: i64, kind: &'a str, name: &'a str) -> Definition<'a> {
    Definition {
        id,
        kind: kind.into(),
        name: name.into(),
        file: Some("draw.cpp".into()),
        line: Some(7),
        color: Some(0xff00_ff00),
        ..Definition::default()
    }
}

fn log(id: i64, definition_id: Option<i64>, file: Option<&'static str>) -> Log<'static> {
    Log {
        id,
        ts_ns: Some(id),
        thread_id: None,
        level: 1,
        level_name: "INFO".into(),
        file: file.map(Into::into),
        line: Some(3),
        format: Some("took %d".into()),
        message: "took 5",
        definition_id,
    }
}

fn allocation(id: i64, stack_id: Option<i64>, size_bytes: u64) -> Allocation<'static> {
    Allocation { id, ts_ns: id, address: 16, size_bytes, stack_id, fate: "live".into(), ..Allocation::default() }
}

/// Spans of two names, log lines of one site, and allocations of one function.
fn fill(tables: &mut Tables<'_>) -> Result<(), Halt> {
    for (id, kind, name) in
        [(0, "block", "draw"), (1, "site", "took %d"), (2, "function", "grow"), (3, "block", "never")]
    {
        tables.push(definition(id, kind, name))?;
    }
    for (id, definition_id) in [(0, Some(0)), (1, Some(0)), (2, None)] {
        let file = Some("draw.cpp".into()).filter(|_| id < 2);
        tables.push(Span { definition_id, file, line: Some(7), ..span(id, 0, "draw", id * 100, 10) })?;
    }
    for (id, file) in [(0, Some("main.c")), (1, Some("main.c")), (2, None)] {
        tables.push(log(id, Some(1), file))?;
    }
    tables.push(Frame { id: 0, function: "grow".into(), file: Some("list.py".into()), line: None })?;
    tables.push(Stack { id: 5, parent_id: None, frame_id: 0, depth: 0 })?;
    for (id, stack, bytes) in [(0, Some(5), 30), (1, Some(5), 12), (2, None, 99)] {
        tables.push(allocation(id, stack, bytes))?;
    }
    tables.push(File { id: 0, name: "list.py".into(), parent_file_id: None, parent_line: None, flags: None })
}

#[test]
fn declarations_are_counted_by_the_rows_that_refer_to_them() {
    let mut definitions = Definitions::new(10);
    Made(fill).pour(&Filter::default(), &mut definitions).expect("nothing can fail");
    let report = definitions.finish();
    let found: Vec<_> = report.rows.iter().map(|row| (row.name.as_str(), row.used, row.used_as)).collect();
    let expected = [
        ("draw", 2, Some(UsedAs::Spans)),
        ("took %d", 3, Some(UsedAs::LogLines)),
        ("grow", 2, Some(UsedAs::Allocations)),
        ("never", 0, None),
        ("list.py", 0, Some(UsedAs::Statements)),
    ];
    assert_eq!(found, expected);
    assert_eq!((report.all, report.rows[0].line, report.rows[4].kind.as_str()), (5, Some(7), "file"));
}

#[test]
fn declarations_beyond_the_limit_are_counted() {
    let mut definitions = Definitions::new(2);
    Made(fill).pour(&Filter::default(), &mut definitions).expect("nothing can fail");
    let report = definitions.finish();
    assert_eq!((report.rows.len(), report.all), (2, 5));
}

#[test]
fn places_add_up_to_the_rows_that_name_them() {
    let mut places = Places::default();
    Made(fill).pour(&Filter::default(), &mut places).expect("nothing can fail");
    let report = places.finish();
    let names: Vec<&str> = report.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["draw.cpp", "list.py", "main.c"], "by self time, then bytes, then rows");
    let totals: Vec<_> =
        report.files.iter().map(|file| (file.total.count, file.total.self_ns, file.total.bytes)).collect();
    assert_eq!(totals, [(2, 20, 0), (2, 0, 42), (2, 0, 0)]);
    let line = &report.files[1].lines[0];
    assert_eq!((line.line, line.kind, line.name.as_str()), (None, PlaceKind::Allocation, "grow"));
    assert_eq!(report.files[2].lines[0].name, "took %d");
    assert_eq!(report.others, 3, "a span, a log line and an allocation name no place");
}
