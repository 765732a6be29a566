//! A file that grows gives the rows of the whole file.

use std::{collections::BTreeMap, fs, io::Write};

use traceloom_mapping::{Growing, Options, ingest, open};
use traceloom_model::{Batches, Columns, Table, Wanted, select};

select! { struct SpanRow of spans { id, thread_id, depth, ts_ns, dur_ns, name } }
select! { struct EventRow of events { id, ts_ns, name } }
select! { struct ThreadRow of threads { id, name } }

fn wanted() -> Batches {
    let wants = |wanted: Wanted, (table, columns): (Table, Columns)| wanted.and(table, columns);
    let tables =
        [(Table::Spans, SpanRow::COLUMNS), (Table::Events, EventRow::COLUMNS), (Table::Threads, ThreadRow::COLUMNS)];
    Batches::of(tables.into_iter().fold(Wanted::nothing(), wants))
}

/// All rows as text, by table and id: the last row with an id counts.
fn rows(batches: &Batches) -> BTreeMap<(&'static str, i64), String> {
    let mut rows = BTreeMap::new();
    for batch in batches.table(Table::Spans) {
        let spans = SpanRow::of(batch).unwrap();
        for row in 0..spans.rows {
            let (thread, depth, ts) = (spans.thread_id.get(row), spans.depth.get(row), spans.ts_ns.get(row));
            let text = format!("{thread} {depth} {ts} {:?} {}", spans.dur_ns.get(row), spans.name.get(row));
            assert!(rows.insert(("span", spans.id.get(row)), text).is_none(), "a span twice");
        }
    }
    for batch in batches.table(Table::Events) {
        let events = EventRow::of(batch).unwrap();
        for row in 0..events.rows {
            let text = format!("{} {}", events.ts_ns.get(row), events.name.get(row));
            assert!(rows.insert(("event", events.id.get(row)), text).is_none(), "an event twice");
        }
    }
    for batch in batches.table(Table::Threads) {
        let threads = ThreadRow::of(batch).unwrap();
        for row in 0..threads.rows {
            rows.insert(("thread", threads.id.get(row)), format!("{:?}", threads.name.get(row)));
        }
    }
    rows
}

#[test]
fn in_pieces_of_any_size_the_rows_are_those_of_the_whole() {
    let bytes = traceloom_wtf::sample::sample().unwrap().bytes;
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default();
    let whole = folder.path().join("whole.wtf-trace");
    fs::write(&whole, &bytes).unwrap();
    let mut expected = wanted();
    ingest(&open(&whole, None, &options).unwrap(), &options, &mut expected).unwrap();
    let expected = rows(&expected);
    assert!(expected.len() > 1000);
    for piece in [997, 40_000, bytes.len()] {
        let path = folder.path().join(format!("{piece}.wtf-trace"));
        let mut file = fs::File::create(&path).unwrap();
        let mut pieces = bytes.chunks(piece.max(4096));
        file.write_all(pieces.next().unwrap()).unwrap();
        let mut growing = Growing::new(&open(&path, None, &options).unwrap()).unwrap().expect("it can grow");
        let mut found = wanted();
        growing.advance(&mut found).unwrap();
        for piece in pieces {
            file.write_all(piece).unwrap();
            growing.advance(&mut found).unwrap();
        }
        growing.advance(&mut found).unwrap();
        growing.finish(&mut found).unwrap();
        assert_eq!(rows(&found), expected);
    }
}

#[test]
fn formats_that_are_read_as_a_whole_say_so() {
    let path = tempfile::tempdir().unwrap().keep().join("log.clog");
    fs::write(&path, traceloom_cnanolog::sample::sample().unwrap().bytes).unwrap();
    let trace = open(&path, None, &Options::default()).unwrap();
    assert!(Growing::new(&trace).unwrap().is_none());
}
