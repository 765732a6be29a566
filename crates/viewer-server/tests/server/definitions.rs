//! Declarations of a trace, compared with its tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, select};

use crate::{
    stats::{opened, some_of_every_format},
    support::{Server, fixture},
};

select! { struct Declared of definitions { kind, name, file, line, color } }
select! { struct FileNames of files { name } }
select! { struct SpanUses of spans { definition_id } }
select! { struct EventUses of events { definition_id } }
select! { struct LogUses of logs { definition_id } }

#[test]
fn every_declaration_is_listed_with_its_place() {
    let mut kinds = BTreeMap::new();
    for path in some_of_every_format() {
        let wanted = Wanted::nothing().and(Table::Definitions, Declared::COLUMNS).and(Table::Files, FileNames::COLUMNS);
        let mut tables = Batches::of(wanted);
        opened(&path).pour(&Filter::default(), &mut tables).expect("it is read");
        let mut expected = Vec::new();
        for view in tables.table(Table::Definitions).map(Declared::of) {
            let view = view.expect("the columns were asked for");
            expected.extend((0..view.rows).map(|row| {
                json!([
                    view.kind.get(row),
                    view.name.get(row),
                    view.file.get(row),
                    view.line.get(row),
                    view.color.get(row)
                ])
            }));
        }
        let declared = expected.len();
        for view in tables.table(Table::Files).map(FileNames::of) {
            let view = view.expect("the columns were asked for");
            expected.extend((0..view.rows).map(|row| json!(view.name.get(row))));
        }
        let answer = Server::of_one(&path).get("definitions").json();
        let rows = answer["rows"].as_array().expect("rows");
        assert_eq!((rows.len(), &answer["all"]), (expected.len(), &json!(expected.len())), "{}", path.display());
        for (number, (row, expected)) in rows.iter().zip(expected).enumerate() {
            let found =
                if number < declared { json!([row[1], row[2], row[3], row[4], row[5]]) } else { row[2].clone() };
            assert_eq!(found, expected, "{}", path.display());
            *kinds.entry(row[1].as_str().expect("a kind").to_owned()).or_insert(0_u64) +=
                row[8].as_u64().expect("a count");
        }
    }
    for kind in ["block", "event", "value", "sub", "site", "scope", "instance", "file", "function"] {
        assert!(kinds.get(kind).is_some_and(|used| *used > 0), "{kind} is declared and used: {kinds:?}");
    }
}

#[test]
fn uses_are_counted_where_rows_refer_to_them() {
    for path in [
        fixture("easyprofiler", "v210_events.prof"),
        fixture("wtf", "wtf-js/js-mix.wtf-trace"),
        fixture("nytprof", "devel-nytprof-6.12/inventory-calls2.nytprof"),
        fixture("cnanolog", "head_server.clog"),
    ] {
        let wanted = Wanted::nothing()
            .and(Table::Spans, SpanUses::COLUMNS)
            .and(Table::Events, EventUses::COLUMNS)
            .and(Table::Logs, LogUses::COLUMNS);
        let mut tables = Batches::of(wanted);
        opened(&path).pour(&Filter::default(), &mut tables).expect("it is read");
        let (mut spans, mut events, mut logs) = (0, 0, 0);
        for rows in tables.table(Table::Spans).map(|batch| SpanUses::of(batch).expect("it was asked for")) {
            spans += referring(rows.rows, |row| rows.definition_id.get(row));
        }
        for rows in tables.table(Table::Events).map(|batch| EventUses::of(batch).expect("it was asked for")) {
            events += referring(rows.rows, |row| rows.definition_id.get(row));
        }
        for rows in tables.table(Table::Logs).map(|batch| LogUses::of(batch).expect("it was asked for")) {
            logs += referring(rows.rows, |row| rows.definition_id.get(row));
        }
        let answer = Server::of_one(&path).get("definitions").json();
        for (unit, expected) in [("spans", spans), ("events", events), ("log lines", logs)] {
            let rows = answer["rows"].as_array().expect("rows").iter().filter(|row| row[9] == unit);
            let used: u64 = rows.map(|row: &Value| row[8].as_u64().expect("a count")).sum();
            assert_eq!(used, expected as u64, "{unit} of {}", path.display());
        }
    }
}

fn referring(rows: usize, id: impl Fn(usize) -> Option<i64>) -> usize {
    (0..rows).filter(|row| id(*row).is_some()).count()
}
