//! What a trace declares, against its tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use traceloom_model::{Batches, Columns, Filter, Table, TableSource, Wanted, definitions, events, files, logs, spans};

use crate::{
    stats::{opened, some_of_every_format},
    support::{Server, fixture},
};

#[test]
fn every_declaration_is_listed_with_its_place() {
    let mut kinds = BTreeMap::new();
    for path in some_of_every_format() {
        let wanted = Wanted::nothing().and(Table::Definitions, Columns::ALL).and(Table::Files, Columns::ALL);
        let mut tables = Batches::of(wanted);
        opened(&path).pour(&Filter::default(), &mut tables).expect("it is read");
        let mut expected = Vec::new();
        for view in tables.table(Table::Definitions).map(definitions::View::of) {
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
        for view in tables.table(Table::Files).map(files::View::of) {
            expected.extend((0..view.rows).map(|row| json!(view.name.get(row))));
        }
        let answer = Server::of(std::slice::from_ref(&path)).get("definitions").json();
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
        fixture("wtf", "js-mix.wtf-trace"),
        fixture("nytprof", "devel-nytprof-6.12/inventory-calls2.nytprof"),
        fixture("cnanolog", "head_server.clog"),
    ] {
        let mut wanted = Wanted::nothing();
        for table in [Table::Spans, Table::Events, Table::Logs] {
            wanted = wanted.and(table, Columns::named(table, &["definition_id"]));
        }
        let mut tables = Batches::of(wanted);
        opened(&path).pour(&Filter::default(), &mut tables).expect("it is read");
        let count = |table: Table| -> usize {
            let ids = tables.table(table).map(|batch| match table {
                Table::Spans => {
                    referring(spans::View::of(batch).rows, |row| spans::View::of(batch).definition_id.get(row))
                }
                Table::Events => {
                    referring(events::View::of(batch).rows, |row| events::View::of(batch).definition_id.get(row))
                }
                _ => referring(logs::View::of(batch).rows, |row| logs::View::of(batch).definition_id.get(row)),
            });
            ids.sum()
        };
        let answer = Server::of(std::slice::from_ref(&path)).get("definitions").json();
        for (unit, table) in [("spans", Table::Spans), ("events", Table::Events), ("log lines", Table::Logs)] {
            let rows = answer["rows"].as_array().expect("rows").iter().filter(|row| row[9] == unit);
            let used: u64 = rows.map(|row: &Value| row[8].as_u64().expect("a count")).sum();
            assert_eq!(used, count(table) as u64, "{unit} of {}", path.display());
        }
    }
}

fn referring(rows: usize, id: impl Fn(usize) -> Option<i64>) -> usize {
    (0..rows).filter(|row| id(*row).is_some()).count()
}
