//! EasyProfiler: compares the tables with easy_profiler's reader, and checks what every mapper guarantees.

mod common;
#[path = "easyprofiler/golden.rs"]
mod golden;

use std::{collections::BTreeSet, env, path::PathBuf};

use arrow_array::RecordBatch;
use common::{below, filtered, fixture, fixtures, json, part, tables, trace};
use traceloom_core::{ByteOrder, Source, TimeRange};
use traceloom_easyprofiler::{
    Block, Descriptor, Header, Name, Record, Switch, Tally, Thread, Value, create,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
    sample,
};
use traceloom_mapping::{Options, Trace, ingest, open};
use traceloom_model::{
    Batches, Columns, Filter, Flow, Integrity, Table, TableSink, Wanted, args, counters, definitions, events, findings,
    select, spans, switches, threads, traces,
};

/// The tables that these files can fill.
const FILLED: [Table; 12] = [
    Table::Traces,
    Table::Attributes,
    Table::Processes,
    Table::Threads,
    Table::Definitions,
    Table::Spans,
    Table::Events,
    Table::Counters,
    Table::Switches,
    Table::Args,
    Table::Findings,
    Table::Logs,
];

/// Files whose blocks overlap: the format allows it, and easy_profiler nests them as far as possible. One has a block
/// of zeros, and one a block of 14 hours.
const OVERLAPPING: [&str; 4] = [
    "ez-zeroed-block.prof",
    "f5f7357c22e312c1-v010_basic.prof",
    "syn_clamp_to_begin.prof",
    "v210_overlapping_shapes.prof",
];

/// The fixtures, and those in the folder named by `TRACELOOM_CORPUS`.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut files = below(&fixtures().join("easyprofiler"), ending);
    if let Some(corpus) = env::var_os("TRACELOOM_CORPUS") {
        files.extend(below(&PathBuf::from(corpus).join("easyprofiler"), ending));
    }
    files
}

#[test]
fn tables_agree_with_the_goldens() {
    let mut compared = 0;
    for path in files(".json") {
        let (golden, input) = (json(&path), path.with_extension("prof"));
        if golden["upstream_reader"]["accepted"] == true {
            println!("{}", input.display());
            golden::compare(&tables(&trace(&input)).0, &golden);
            compared += 1;
        }
    }
    assert!(compared >= 40, "{compared} goldens");
}

#[test]
fn tables_fit_together_whatever_the_file() {
    let (mut opened, mut overlapping) = (0, BTreeSet::new());
    for path in files(".prof") {
        let Ok(trace) = open(&path, Some("easyprofiler"), &Options::default()) else { continue };
        if ingest(&trace, &Options::default(), &mut Batches::of(Wanted::nothing())).is_err() {
            continue;
        }
        let (batches, verdict) = tables(&trace);
        let name = path.file_name().unwrap().to_str().unwrap();
        if !verdict.overlaps.is_empty() {
            overlapping.insert(name.to_owned());
        }
        for table in [Table::Traces, Table::Processes, Table::Threads] {
            assert!(batches.rows(table) > 0, "{name} has no {}", table.name());
        }
        opened += 1;
    }
    assert!(opened >= 70, "{opened} files");
    assert!(overlapping.iter().eq(OVERLAPPING), "{overlapping:?}");
}

#[test]
fn no_file_makes_the_mapper_panic() {
    let strict = Options { read: traceloom_core::Options::strict(), ..Options::default() };
    for path in files("") {
        for options in [&Options::default(), &strict] {
            if let Ok(trace) = open(&path, Some("easyprofiler"), options) {
                let _ = ingest(&trace, options, &mut Integrity::default());
            }
        }
    }
}

#[test]
fn a_cut_file_keeps_what_is_before_the_cut() {
    let whole = sample::sample().unwrap().bytes;
    let full = tables(&of_bytes(whole.clone())).0;
    for len in (0..whole.len()).step_by(997).chain([whole.len() - 1]) {
        let mut kept = Batches::of(Wanted::everything());
        if ingest(&of_bytes(whole[..len].to_vec()), &Options::default(), &mut kept).is_err() {
            assert!(len < 72, "{len} bytes");
            continue;
        }
        assert!(kept.rows(Table::Spans) <= full.rows(Table::Spans));
        assert!(kept.rows(Table::Findings) > full.rows(Table::Findings), "{len} bytes");
    }
}

#[test]
fn a_column_alone_is_that_column_of_the_table() {
    for name in ["v210_nested_threads", "v210_values", "v210_gui_saved_bookmarks", "v210_live_capture", "v120_switches"]
    {
        let trace = trace(&fixture(format!("easyprofiler/{name}.prof")));
        let full = tables(&trace).0;
        for table in FILLED.into_iter().filter(|table| *table != Table::Findings) {
            for (number, column) in table.columns().iter().enumerate() {
                let alone = part(&trace, table, &[column.name]);
                let whole: Vec<_> = full.table(table).map(|batch| batch.column(number).to_data()).collect();
                let alone: Vec<_> = alone.iter().map(|batch| batch.column(0).to_data()).collect();
                assert_eq!(alone, whole, "{name}: {}.{}", table.name(), column.name);
            }
        }
    }
}

#[test]
fn self_times_are_the_same_with_and_without_parents() {
    let trace = of_bytes(sample::sample().unwrap().bytes);
    let alone = part(&trace, Table::Spans, &["self_ns"]);
    let beside = part(&trace, Table::Spans, &["depth", "self_ns"]);
    select! {
        struct SelfTimes of spans { self_ns }
    }
    let own = |batches: &[RecordBatch]| {
        let views = batches.iter().map(|batch| SelfTimes::of(batch).unwrap());
        views.flat_map(|view| (0..view.rows).map(|row| view.self_ns.get(row)).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(own(&alone), own(&beside));
    assert!(own(&alone).iter().any(|own| own.is_some_and(|own| own > 0)));
}

#[test]
fn a_filter_drops_only_rows_outside() {
    let trace = of_bytes(sample::sample().unwrap().bytes);
    let full = filtered(&trace, Wanted::everything(), Filter::default());
    let filter = Filter { range: TimeRange::between(300_000_000, 900_000_000), threads: Some(vec![1]) };
    let some = filtered(&trace, Wanted::everything(), filter.clone());
    let kept = |batches: &Batches| {
        let mut rows = Vec::new();
        for batch in batches.table(Table::Spans) {
            let view = spans::View::of(batch).unwrap();
            rows.extend((0..view.rows).map(|row| (view.id.get(row), view.ts_ns.get(row), view.thread_id.get(row))));
        }
        rows
    };
    let inside = |row: &(i64, i64, i64)| filter.takes_time(row.1) && filter.takes_thread(row.2);
    assert_eq!(kept(&some), kept(&full).into_iter().filter(inside).collect::<Vec<_>>());
    assert!(!kept(&some).is_empty() && kept(&some).len() < kept(&full).len());
    for table in [Table::Events, Table::Counters, Table::Switches] {
        assert!(some.rows(table) < full.rows(table), "{}", table.name());
    }
    let arguments = |batches: &Batches| {
        let mut rows = Vec::new();
        for batch in batches.table(Table::Args) {
            let view = args::View::of(batch).unwrap();
            rows.extend(
                (0..view.rows)
                    .map(|row| (view.id.get(row), view.owner_id.get(row), view.float_value.get(row).map(f64::to_bits))),
            );
        }
        rows
    };
    let filter = Filter { threads: None, ..filter };
    let some = arguments(&filtered(&trace, Wanted::everything(), filter));
    let full = arguments(&full);
    assert!(some.iter().all(|row| full.contains(row)) && !some.is_empty() && some.len() < full.len());
}

/// Accepts one batch, then stops.
struct Impatient {
    batches: usize,
}

impl TableSink for Impatient {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Spans { Columns::named(table, &["id", "dur_ns"]) } else { Columns::NONE }
    }

    fn batch(&mut self, _table: Table, _batch: RecordBatch) -> traceloom_core::Result<Flow> {
        self.batches += 1;
        Ok(Flow::Stop)
    }
}

#[test]
fn a_sink_that_has_enough_is_left_alone() {
    let bytes = sample::write(Vec::new(), 2_000).unwrap();
    let mut sink = Impatient { batches: 0 };
    ingest(&of_bytes(bytes), &Options::default(), &mut sink).unwrap();
    assert_eq!(sink.batches, 1);
}

#[test]
fn header_and_descriptors_come_without_reading_further() {
    let whole = sample::sample().unwrap().bytes;
    // Cut after the first thread's head, where strict reading of the rest would fail.
    let mut bytes = whole[..1_200].to_vec();
    bytes.extend([0xff; 64]);
    let trace = of_bytes(bytes);
    let options = Options { read: traceloom_core::Options::strict(), ..Options::default() };
    let wanted = Wanted::nothing()
        .and(Table::Definitions, Columns::named(Table::Definitions, &["name"]))
        .and(Table::Traces, Columns::named(Table::Traces, &["version"]));
    let mut batches = Batches::of(wanted);
    ingest(&trace, &options, &mut batches).unwrap();
    assert_eq!((batches.rows(Table::Definitions), batches.rows(Table::Traces)), (14, 1));
    assert!(ingest(&trace, &options, &mut Batches::of(Wanted::everything())).is_err());
}

#[test]
fn an_event_that_others_lie_inside_of_is_a_span_too() {
    let records = vec![
        thread(7, b"one"),
        Record::Blocks(4),
        block(0, 100, 200),
        Record::Block(Block { block_type: BlockType::EVENT, ..Block::new(1, 150, 150) }),
        Record::Block(Block { block_type: BlockType::EVENT, ..Block::new(1, 300, 340) }),
        block(0, 90, 400),
    ];
    let (batches, verdict) = tables(&of_records(0, 50, &records));
    assert_eq!(verdict.overlaps.len(), 1);
    let batch = batches.table(Table::Spans).next().unwrap();
    let view = spans::View::of(batch).unwrap();
    let row = |row| (view.id.get(row), view.parent_id.get(row), view.depth.get(row), view.self_ns.get(row));
    let expected =
        [(0, Some(1), 2, Some(100)), (1, Some(3), 1, Some(0)), (2, Some(3), 1, Some(40)), (3, None, 0, Some(270))];
    assert_eq!((0..view.rows).map(row).collect::<Vec<_>>(), expected);
    let batch = batches.table(Table::Events).next().unwrap();
    let view = events::View::of(batch).unwrap();
    let found: Vec<_> = (0..view.rows).map(|row| (view.id.get(row), view.span_id.get(row))).collect();
    assert_eq!(found, [(1, Some(3)), (2, Some(3))]);
}

#[test]
fn sections_of_one_thread_are_one_thread() {
    let records = vec![
        thread(7, b""),
        Record::Blocks(1),
        block(0, 100, 200),
        thread(8, b"other"),
        Record::Blocks(1),
        block(0, 100, 200),
        thread(7, b"late"),
        Record::Blocks(1),
        block(0, 90, 210),
    ];
    let batches = tables(&of_records(0, 50, &records)).0;
    let view = threads::View::of(batches.table(Table::Threads).next().unwrap()).unwrap();
    let rows: Vec<_> = (0..view.rows).map(|row| (view.tid.get(row), view.name.get(row))).collect();
    assert_eq!(rows, [(Some(7), Some("late")), (Some(8), Some("other"))]);
    let view = spans::View::of(batches.table(Table::Spans).next().unwrap()).unwrap();
    let parents: Vec<_> = (0..view.rows).map(|row| (view.thread_id.get(row), view.parent_id.get(row))).collect();
    assert_eq!(parents, [(0, Some(2)), (1, None), (0, None)]);
}

#[test]
fn without_a_begin_times_count_from_the_first_timed_record() {
    let name = Name::new(b"x");
    let switch = Record::Switch(Switch { begin: 3_000, end: 3_500, target: 1, name, odd_size: None });
    let head = Record::Thread(Thread { id: 1, name, switches: 1 });
    let records = vec![head, switch, Record::Blocks(1), block(0, 1_000, 4_000)];
    let batches = tables(&of_records(1_000_000, 0, &records)).0;
    let view = traces::View::of(batches.table(Table::Traces).next().unwrap()).unwrap();
    assert_eq!((view.start_native_ns.get(0), view.start_ticks.get(0)), (3_000_000, Some(3_000)));
    assert_eq!((view.first_ts_ns.get(0), view.last_ts_ns.get(0)), (Some(-2_000_000), Some(1_000_000)));
    let view = switches::View::of(batches.table(Table::Switches).next().unwrap()).unwrap();
    assert_eq!((view.ts_ns.get(0), view.dur_ns.get(0)), (0, 500_000));
}

#[test]
fn times_beyond_the_tables_saturate_and_are_reported() {
    let records = vec![thread(7, b""), Record::Blocks(1), block(0, u64::MAX - 9, u64::MAX)];
    let batches = tables(&of_records(0, 50, &records)).0;
    let view = spans::View::of(batches.table(Table::Spans).next().unwrap()).unwrap();
    assert_eq!((view.ts_ns.get(0), view.dur_ns.get(0)), (i64::MAX, Some(9)));
    let codes: Vec<_> = batches
        .table(Table::Findings)
        .flat_map(|batch| {
            let view = traceloom_model::findings::View::of(batch).unwrap();
            (0..view.rows).map(|row| view.code.get(row).to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert!(codes.contains(&"tables.time-range".to_owned()), "{codes:?}");
}

#[test]
fn a_block_without_its_descriptor_stays() {
    let records = vec![thread(7, b""), Record::Blocks(1), block(9, 100, 200)];
    let batches = tables(&of_records(0, 50, &records)).0;
    let view = spans::View::of(batches.table(Table::Spans).next().unwrap()).unwrap();
    assert_eq!((view.definition_id.get(0), view.name.get(0), view.file.get(0)), (None, "", None));
    let view = definitions::View::of(batches.table(Table::Definitions).next().unwrap()).unwrap();
    assert_eq!((view.rows, view.line.get(0)), (2, None));
}

#[test]
fn text_that_is_not_utf8_is_shown_as_latin1_and_reported() {
    let records = [
        Record::Descriptor(Descriptor::new(2, BlockType::VALUE, b"drink")),
        thread(7, b"one"),
        Record::Blocks(1),
        Record::Value(Value::new(2, 100, DataType::STRING, b"caf\xe9\0")),
    ];
    let batches = tables(&of_records(0, 50, &records)).0;
    let view = counters::View::of(batches.table(Table::Counters).next().unwrap()).unwrap();
    assert_eq!(view.text.get(0), Some("café"));
    let view = findings::View::of(batches.table(Table::Findings).next().unwrap()).unwrap();
    assert!((0..view.rows).any(|row| view.code.get(row) == "easyprofiler.value-text"));
}

fn of_bytes(bytes: Vec<u8>) -> Trace {
    Trace::new("made.prof".as_ref(), Source::bytes(bytes), Some("easyprofiler"), &Options::default()).unwrap()
}

fn thread(id: u64, name: &'static [u8]) -> Record<'static> {
    Record::Thread(Thread { id, name: Name::new(name), switches: 0 })
}

fn block(descriptor: u32, begin: u64, end: u64) -> Record<'static> {
    Record::Block(Block::new(descriptor, begin, end))
}

/// A file of these records, after a descriptor of blocks and one of events.
fn of_records(cpu_frequency: i64, begin_time: u64, records: &[Record<'_>]) -> Trace {
    let descriptor = |id, block_type| {
        let (name, file) = (Name::new(b"name"), Name::new(b"a.cpp"));
        let (status, odd_size, odd_name_size) = (Status::ON, None, None);
        Record::Descriptor(Descriptor {
            id,
            line: -1,
            color: 2,
            block_type,
            status,
            name,
            file,
            odd_size,
            odd_name_size,
        })
    };
    let mut all = vec![descriptor(0, BlockType::BLOCK), descriptor(1, BlockType::EVENT)];
    all.extend(records);
    all.push(Record::Mark(EASY_PROFILER_SIGNATURE));
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut header = Header { cpu_frequency, begin_time, ..Header::new(layout, Version::V2_1_0) };
    let mut tally = Tally::default();
    all.iter().for_each(|record| tally.count(record, &layout));
    tally.fill(&mut header);
    (header.cpu_frequency, header.begin_time) = (cpu_frequency, begin_time);
    let mut writer = create(Vec::new(), &header).unwrap();
    all.iter().for_each(|record| writer.write(record).unwrap());
    of_bytes(writer.finish().unwrap())
}
