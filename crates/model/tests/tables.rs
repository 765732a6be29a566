//! Rows come out as they went in, whichever columns are wanted and however many rows there are.

use arrow_array::RecordBatch;
use traceloom_model::{
    BATCH_BYTES, BATCH_ROWS, Batches, Columns, Filter, Flow, Halt, Integrity, Named, Table, TableSink, Tables, Wanted,
    attributes::{self, Attribute},
    processes::Process,
    spans::{self, Span},
    threads::Thread,
};

fn span<'a>(id: i64, parent_id: Option<i64>, name: impl Into<Named<'a>>) -> Span<'a> {
    let depth = u32::from(parent_id.is_some());
    Span {
        id,
        parent_id,
        depth,
        ts_ns: id,
        dur_ns: Some(10),
        self_ns: Some(0),
        name: name.into(),
        category: Named::Text("block"),
        line: (id % 2 == 0).then_some(id as u32),
        ..Span::default()
    }
}

fn names(batches: &Batches) -> Vec<String> {
    let views = batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap());
    views.flat_map(|view| (0..view.rows).map(|row| view.name.get(row).to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn rows_survive_the_way_through_batches_and_dictionaries() {
    let mut sink = Batches::of(Wanted::everything());
    let mut tables = Tables::new(7, Filter::default(), &mut sink);
    let known = tables.strings.intern("known");
    // More names than a dictionary keeps, with a symbol between them.
    let texts: Vec<String> = (0..3 * BATCH_ROWS).map(|number| format!("name {}", number / 2)).collect();
    for (id, text) in texts.iter().enumerate() {
        let name = if id % 3 == 0 { Named::from(known) } else { Named::from(text.as_str()) };
        tables.push(span(id as i64, None, name)).expect("the sink takes all");
    }
    tables.finish().expect("the sink takes all");
    let expected: Vec<_> =
        texts.iter().enumerate().map(|(id, text)| if id % 3 == 0 { "known" } else { text }.to_owned()).collect();
    assert_eq!(names(&sink), expected);
    assert_eq!(sink.table(Table::Spans).count(), 3);
    let view = sink.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()).next().expect("there is a batch");
    assert_eq!((view.trace_id.get(1), view.line.get(1), view.line.get(2)), (7, None, Some(2)));
    assert_eq!((view.parent_id.get(5), view.file.get(5), view.dur_ns.get(5)), (None, None, Some(10)));
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let mut sink = Batches::of(Wanted::everything());
    let mut tables = Tables::new(7, Filter::default(), &mut sink);
    let given: [Named<'_>; 6] = [
        Named::Bytes(b"a\xffb"),
        Named::Bytes(b"plain"),
        Named::Bytes(b"a\xffb"),
        Named::Bytes(b"a\xfeb"),
        "plain".into(),
        "a\u{fffd}b".into(),
    ];
    for (id, name) in (0..).zip(given) {
        tables.push(span(id, None, name)).expect("the sink takes all");
    }
    tables.finish().expect("the sink takes all");
    assert_eq!(names(&sink), ["a\u{fffd}b", "plain", "a\u{fffd}b", "a\u{fffd}b", "plain", "a\u{fffd}b"]);
    let view = sink.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()).next().expect("there is a batch");
    assert_eq!(view.name.values().map(arrow_array::Array::len), Some(2), "one entry a text");
}

#[test]
fn a_batch_holds_the_wanted_columns_only() {
    let columns = Columns::named(Table::Spans, &["id", "name"]);
    let mut sink = Batches::of(Wanted::nothing().and(Table::Spans, columns));
    let mut tables = Tables::new(1, Filter::default(), &mut sink);
    assert!(tables.wants_any(Table::Spans, &["parent_id", "name"]));
    assert!(!tables.wants_any(Table::Spans, &["parent_id"]));
    assert!(!tables.wants(Table::Events));
    tables.push(span(3, None, "a")).expect("the sink takes all");
    tables.push(Attribute { id: 0, key: "k".into(), value: None }).expect("nobody wants it");
    tables.finish().expect("the sink takes all");
    let batch: Vec<_> = sink.table(Table::Spans).collect();
    assert_eq!(
        batch[0].schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(),
        ["id", "name"]
    );
    assert_eq!(sink.rows(Table::Attributes), 0);
}

#[test]
fn long_texts_fill_a_batch_too() {
    let mut sink = Batches::of(Wanted::everything());
    let mut tables = Tables::new(1, Filter::default(), &mut sink);
    let long = "x".repeat(BATCH_BYTES / 2);
    for id in 0..5 {
        tables.push(Attribute { id, key: "k".into(), value: Some(&long) }).expect("the sink takes all");
    }
    tables.finish().expect("the sink takes all");
    let sizes: Vec<_> = sink.table(Table::Attributes).map(RecordBatch::num_rows).collect();
    assert_eq!(sizes, [2, 2, 1]);
    let view = sink
        .table(Table::Attributes)
        .map(|batch| attributes::View::of(batch).unwrap())
        .last()
        .expect("there is a batch");
    assert_eq!((view.key.get(0), view.value.get(0).map(str::len)), ("k", Some(long.len())));
}

#[test]
fn a_sink_that_has_enough_ends_the_mapper() {
    struct Once(usize);
    impl TableSink for Once {
        fn wants(&self, _table: Table) -> Columns {
            Columns::ALL
        }
        fn batch(&mut self, _table: Table, _batch: RecordBatch) -> traceloom_core::Result<Flow> {
            self.0 += 1;
            Ok(Flow::Stop)
        }
    }
    let mut sink = Once(0);
    let mut tables = Tables::new(1, Filter::default(), &mut sink);
    let result = (0..).try_for_each(|id| tables.push(span(id, None, "a")));
    assert!(matches!(result, Err(Halt::Stopped)));
    assert_eq!(sink.0, 1);
}

fn verdict(spans: &[Span<'_>]) -> traceloom_model::Verdict {
    let mut integrity = Integrity::default();
    let mut tables = Tables::new(1, Filter::default(), &mut integrity);
    let process = Process { id: 0, pid: None, ppid: None, name: None, start_ts_ns: None, end_ts_ns: None };
    let thread = Thread { id: 0, tid: None, process_id: 0, name: None, kind: None, location: None };
    tables.push(process).and_then(|()| tables.push(thread)).expect("the sink takes all");
    spans.iter().try_for_each(|span| tables.push(*span)).expect("the sink takes all");
    tables.finish().expect("the sink takes all");
    integrity.finish()
}

#[test]
fn the_integrity_check_sees_what_does_not_fit_together() {
    let good = [Span { dur_ns: Some(20), ..span(0, None, "a") }, span(1, Some(0), "b")];
    let found = verdict(&good);
    assert_eq!((found.problems.len(), found.overlaps.len()), (0, 0), "{found:?}");
    let bad: [(&str, [Span<'_>; 2]); 5] = [
        ("occurs twice", [span(1, None, "a"), span(1, None, "b")]),
        ("is not in spans", [span(0, None, "a"), Span { depth: 0, ..span(1, Some(9), "b") }]),
        ("is not in threads", [span(0, None, "a"), Span { thread_id: 4, ..span(1, None, "b") }]),
        ("has depth 3", [span(0, None, "a"), Span { depth: 3, ..span(1, Some(0), "b") }]),
        ("a self time of", [span(0, None, "a"), Span { self_ns: Some(11), ..span(1, None, "b") }]),
    ];
    for (problem, spans) in bad {
        let found = verdict(&spans);
        assert!(found.problems.iter().any(|text| text.contains(problem)), "{problem}: {found:?}");
    }
    let out = verdict(&[span(0, None, "a"), span(5, Some(0), "b")]);
    assert_eq!((out.problems.len(), out.overlaps.len()), (0, 1));
}
