//! The caller sees the same for any number of reading threads: rows, batches, findings, errors, and their order.

use std::{
    cell::RefCell,
    io::{self, Read},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arrow_array::RecordBatch;
use traceloom_cnanolog::raw::header_offset::START_TIMESTAMP;
use traceloom_core::{ByteOrder, Error, Findings, Limits, Mode, ReadAt, Result, Source, TimeRange};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, Header, Name, Record, Switch, Thread, Value,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, Version},
};
use traceloom_mapping::{FORMATS, Options, Told, Trace, ingest};
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, Wanted};
use traceloom_testkit::{each_case, sources::fails_at};

const THREADS: [usize; 3] = [2, 3, 8];

#[derive(Debug, PartialEq)]
enum Step {
    Batch(Table, RecordBatch),
    Findings(String),
}

thread_local! {
    /// What reached this thread: findings are reported on the caller's thread, in order with the batches.
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
}

fn note(step: Step) -> usize {
    STEPS.with_borrow_mut(|steps| {
        steps.push(step);
        steps.len()
    })
}

fn told(_: &Path, findings: &Findings) {
    note(Step::Findings(format!("{:?} {:?}", findings.counts(), findings.kept())));
}

/// Records batches, and ends in some way after a number of them.
struct Noting {
    wanted: Wanted,
    end: End,
    after: usize,
}

#[derive(Clone, Copy)]
enum End {
    Never,
    Stop,
    Fail,
    Panic,
}

impl TableSink for Noting {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        let is_over = note(Step::Batch(table, batch)) >= self.after;
        match self.end {
            End::Stop if is_over => Ok(Flow::Stop),
            End::Fail if is_over => Err(Error::usage("the sink is full")),
            End::Panic if is_over => panic!("the sink fell over"),
            _ => Ok(Flow::Continue),
        }
    }
}

/// Everything that a caller sees of a trace.
#[derive(Debug, PartialEq)]
struct Seen {
    steps: Vec<Step>,
    /// The error, or the message of a panic.
    outcome: std::result::Result<(), String>,
}

fn see(trace: &Trace, threads: usize, mode: Mode, sink: Noting) -> Seen {
    see_filtered(trace, threads, mode, &Filter::default(), sink)
}

fn see_wish(trace: &Trace, threads: usize, wish: &Wanted, filter: &Filter) -> Seen {
    see_filtered(trace, threads, Mode::Lenient, filter, Noting { wanted: wish.clone(), ..never() })
}

fn see_filtered(trace: &Trace, threads: usize, mode: Mode, filter: &Filter, mut sink: Noting) -> Seen {
    let mut options = Options { told: Some(Told::new(told)), filter: filter.clone(), ..Options::default() };
    options.read.mode = mode;
    // Even the smallest file is read by several threads.
    options.read.limits = Limits::with(|limits| (limits.threads, limits.bytes_per_thread) = (threads, 0));
    let poured = catch_unwind(AssertUnwindSafe(|| ingest(trace, &options, &mut sink)));
    let outcome = match poured {
        Ok(poured) => poured.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("panic: {:?}", panic.downcast_ref::<&str>())),
    };
    Seen { steps: STEPS.take(), outcome }
}

fn ends(end: End, after: usize) -> Noting {
    Noting { wanted: Wanted::everything(), end, after }
}

fn never() -> Noting {
    ends(End::Never, 0)
}

#[test]
fn every_file_gives_the_same_with_any_number_of_threads() {
    each_case(|subject, case, bytes| {
        let format = Some(subject.format().id);
        let Ok(trace) = Trace::new(&case.input, Source::bytes(bytes), format, &Options::default()) else { return };
        for mode in [Mode::Lenient, Mode::Strict] {
            let expected = see(&trace, 1, mode, never());
            for threads in THREADS {
                assert!(see(&trace, threads, mode, never()) == expected, "{}, {threads} threads", case.name);
            }
        }
    });
}

#[test]
fn a_sink_ends_the_walk_at_the_same_batch() {
    for trace in [sample("cnanolog"), opened(long_capture(80_000, Odd::Nothing))] {
        let all = see(&trace, 1, Mode::Lenient, never()).steps.len();
        for end in [End::Stop, End::Fail, End::Panic] {
            for after in [1, 2, all / 2, all] {
                let expected = see(&trace, 1, Mode::Lenient, ends(end, after));
                assert!(expected.steps.len() >= after);
                for threads in THREADS {
                    assert!(see(&trace, threads, Mode::Lenient, ends(end, after)) == expected, "{threads} threads");
                }
            }
        }
    }
}

#[test]
fn a_disk_that_fails_is_reported_after_everything_before_it() {
    for mapping in FORMATS {
        let id = mapping.format.id;
        let mut trace = sample(id);
        let bytes = traceloom_open::by_id(id).unwrap().sample().unwrap().bytes;
        let middle = bytes.len() as u64 / 2;
        trace.opened.source = fails_at(bytes, middle);
        let expected = see(&trace, 1, Mode::Lenient, never());
        assert!(expected.outcome.is_err(), "{id}");
        for threads in THREADS {
            assert_eq!(see(&trace, threads, Mode::Lenient, never()), expected, "{id}, {threads} threads");
        }
    }
}

#[test]
fn a_disk_that_fails_in_one_turn_ends_the_rows_there() {
    // A tree would be read before the first row.
    let wish = Wanted::nothing().and(Table::Spans, Columns::named(Table::Spans, &["name", "self_ns"]));
    let wish = wish.and(Table::Logs, Columns::ALL);
    for (id, bytes) in [("easyprofiler", long_capture(120_000, Odd::Nothing)), ("cnanolog", long_log(25_000))] {
        for at in [4, 5, 6, 7].map(|eighths| bytes.len() / 8 * eighths) {
            let source = Source::custom(Torn { bytes: bytes.clone(), at });
            let trace = Trace::new("long".as_ref(), source, Some(id), &Options::default()).unwrap();
            let expected = see_wish(&trace, 1, &wish, &Filter::default());
            assert!(expected.outcome.is_err() && !expected.steps.is_empty(), "{id}, {at}");
            for threads in THREADS {
                assert!(
                    see_wish(&trace, threads, &wish, &Filter::default()) == expected,
                    "{id}, {at}, {threads} threads"
                );
            }
        }
    }
}

/// One byte cannot be read.
struct Torn {
    bytes: Vec<u8>,
    at: usize,
}

impl ReadAt for Torn {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let sound = if offset <= self.at as u64 { &self.bytes[..self.at] } else { &self.bytes };
        match sound.get(offset as usize..).unwrap_or_default().read(buffer)? {
            0 if offset == self.at as u64 => Err(io::Error::other("a torn page")),
            read => Ok(read),
        }
    }
}

/// Log entries, about three per request.
fn long_log(requests: u64) -> Vec<u8> {
    traceloom_cnanolog::sample::write(Vec::new(), requests).unwrap()
}

#[test]
fn a_long_log_gives_the_same_with_any_number_of_threads() {
    let sound = long_log(25_000);
    let mut damaged = sound.clone();
    damaged[sound.len() / 3..][..40].iter_mut().for_each(|byte| *byte ^= 0xa5);
    let mut unstarted = sound.clone();
    unstarted[START_TIMESTAMP..][..8].fill(0);
    let messages = Wanted::nothing().and(Table::Logs, Columns::named(Table::Logs, &["message"]));
    for bytes in [damaged, unstarted, sound[..sound.len() / 2].to_vec(), sound] {
        let trace = Trace::new("long.clog".as_ref(), Source::bytes(bytes), None, &Options::default()).unwrap();
        for wish in [Wanted::everything(), messages.clone()] {
            let expected = see_wish(&trace, 1, &wish, &Filter::default());
            assert!(expected.outcome.is_ok() && expected.steps.len() > 3);
            for threads in THREADS {
                assert!(see_wish(&trace, threads, &wish, &Filter::default()) == expected, "{threads} threads");
            }
        }
    }
}

#[test]
fn several_threads_read_a_file_little_more_than_once() {
    let self_times = Wanted::nothing().and(Table::Spans, Columns::named(Table::Spans, &["name", "self_ns"]));
    let capture = (opened(long_capture(400_000, Odd::Nothing)), self_times);
    let log = Trace::new("long.clog".as_ref(), Source::bytes(long_log(100_000)), None, &Options::default()).unwrap();
    let messages = Wanted::nothing().and(Table::Logs, Columns::named(Table::Logs, &["message"]));
    for (mut trace, wish) in [capture, (log, messages)] {
        let read = Arc::new(AtomicU64::new(0));
        trace.opened.source = trace.opened.source.counted(&read);
        let read_with = |threads| {
            let before = read.load(Ordering::Relaxed);
            assert!(see_wish(&trace, threads, &wish, &Filter::default()).outcome.is_ok());
            read.load(Ordering::Relaxed) - before
        };
        let alone = read_with(1);
        for threads in [2, 3] {
            let shared = read_with(threads);
            // Walks that find all records on their own would read the file once each.
            assert!(shared < alone * 2, "{shared} bytes with {threads} threads, {alone} with one");
        }
    }
}

/// What is odd about a file.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Odd {
    Nothing,
    /// Some records have a problem, but all can be read.
    Records,
    /// Some times do not fit, and are counted over the whole file.
    Times,
}

/// A long capture with every kind of record: three threads that take turns, deep and flat runs, events with and
/// without a duration, arrays, and blocks that reach far back.
fn long_capture(records: u64, odd: Odd) -> Vec<u8> {
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let write = |header: &Header| {
        let mut writer = traceloom_easyprofiler::create(Vec::new(), header).unwrap();
        emit(records, odd, &mut |record| writer.write(record).unwrap());
        (*writer.tally(), writer.finish().unwrap())
    };
    let mut header = Header::new(layout, Version::V2_1_0);
    (header.cpu_frequency, header.begin_time) = (10_000_000, 1_000);
    write(&header).0.fill(&mut header);
    write(&header).1
}

fn emit(records: u64, odd: Odd, out: &mut dyn FnMut(&Record<'_>)) {
    let types = [BlockType::BLOCK, BlockType::EVENT, BlockType::VALUE];
    for (id, block_type) in (0..).zip(types) {
        let name = format!("kind {id}");
        let id = if odd == Odd::Records { id + 5 } else { id };
        out(&Record::Descriptor(Descriptor::new(id, block_type, name.as_bytes())));
    }
    let mut noise = 1_u64;
    let mut below = |bound: u64| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 33) % bound
    };
    let sections = [records / 2, 0, records / 7, 1, records / 3];
    for (number, count) in (0..).zip(sections) {
        out(&Record::Thread(Thread { id: 7 + number % 3, name: Name::new(b"thread"), switches: 1 }));
        out(&Record::Switch(Switch::new(2_000 + number, 2_500 + number, 3)));
        out(&Record::Blocks(count as u32));
        for index in 0..count {
            let end = 10_000 + 10 * index + 1_000_000 * number;
            let begin = end
                - match below(50) {
                    0 => below(end - 1_000),
                    1..5 => below(200),
                    _ => below(10),
                };
            match below(20) {
                0 => out(&Record::Value(Value {
                    is_array: 1,
                    ..Value::new(2, end, DataType::INT16, &[1, 0, 2, 0, 3, 0])
                })),
                1 => out(&Record::Value(Value::new(2, end, DataType::STRING, b"text\0"))),
                2 => out(&Record::Block(Block { block_type: BlockType::EVENT, ..Block::new(1, end, end) })),
                3 => out(&Record::Block(Block { block_type: BlockType::EVENT, ..Block::new(1, begin, end) })),
                4 if odd == Odd::Records && below(400) == 0 => out(&Record::Block(Block::new(0, end, begin))),
                4 if odd == Odd::Records && below(400) == 0 => out(&Record::Block(Block::new(9, begin, end))),
                4 if odd == Odd::Times && below(900) == 0 => {
                    out(&Record::Block(Block::new(0, u64::MAX - 9, u64::MAX - 3)));
                }
                5 => {
                    let name = format!("name {}", below(3_000));
                    out(&Record::Block(Block { name: Name::new(name.as_bytes()), ..Block::new(0, begin, end) }));
                }
                _ => out(&Record::Block(Block::new(0, begin, end))),
            }
        }
    }
    out(&Record::Mark(EASY_PROFILER_SIGNATURE));
    out(&Record::Bookmark(Bookmark::new(5_000_000, b"caf\xe9")));
    out(&Record::Mark(EASY_PROFILER_SIGNATURE));
}

fn opened(bytes: Vec<u8>) -> Trace {
    Trace::new("long.prof".as_ref(), Source::bytes(bytes), Some("easyprofiler"), &Options::default()).unwrap()
}

/// The wishes of typical consumers: everything, self times without a tree, a tree, names alone.
fn wishes() -> [Wanted; 4] {
    let spans = |columns: &[&str]| Wanted::nothing().and(Table::Spans, Columns::named(Table::Spans, columns));
    let times = Wanted::nothing().and(Table::Traces, Columns::ALL).and(Table::Counters, Columns::ALL);
    [
        Wanted::everything(),
        times.and(Table::Spans, Columns::named(Table::Spans, &["name", "dur_ns", "self_ns"])),
        spans(&["id", "parent_id", "depth", "self_ns"]),
        spans(&["name"]),
    ]
}

#[test]
fn a_long_file_gives_the_same_with_any_number_of_threads_and_any_wish() {
    let filters = [
        Filter::default(),
        Filter::in_range(TimeRange::between(2_000_000, 40_000_000)),
        Filter { threads: Some(vec![1]), ..Filter::default() },
    ];
    for odd in [Odd::Nothing, Odd::Records, Odd::Times] {
        let trace = opened(long_capture(100_000, odd));
        let filters = if odd == Odd::Nothing { &filters[..] } else { &filters[..1] };
        for (wish, filter) in wishes().iter().flat_map(|wish| filters.iter().map(move |filter| (wish, filter))) {
            let see = |threads| see_wish(&trace, threads, wish, filter);
            let expected = see(1);
            assert!(expected.outcome.is_ok() && !expected.steps.is_empty(), "{:?}", expected.outcome);
            for threads in [2, 3] {
                let seen = see(threads);
                assert_eq!(seen.steps.len(), expected.steps.len());
                for (seen, expected) in seen.steps.iter().zip(&expected.steps) {
                    assert!(seen == expected, "{threads} threads, {wish:?}\n{seen:?}\n{expected:?}");
                }
                assert_eq!(seen.outcome, expected.outcome);
            }
        }
    }
}

#[test]
fn a_deep_file_is_reported_alike_with_any_number_of_threads() {
    assert!(!deep_findings(&opened(deep_capture(10)), 1).contains("too-deep"));
    let trace = opened(deep_capture(70_000));
    let expected = deep_findings(&trace, 1);
    assert!(expected.contains("too-deep"), "{expected}");
    for threads in THREADS {
        assert_eq!(deep_findings(&trace, threads), expected, "{threads} threads");
    }
    for threads in THREADS {
        let strict = see(&trace, threads, Mode::Strict, never());
        assert!(strict == see(&trace, 1, Mode::Strict, never()), "{threads} threads");
    }
}

/// A capture whose blocks are all inside each other.
fn deep_capture(records: u64) -> Vec<u8> {
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let write = |header: &Header| {
        let mut writer = traceloom_easyprofiler::create(Vec::new(), header).unwrap();
        let mut out = |record: &Record<'_>| writer.write(record).unwrap();
        out(&Record::Descriptor(Descriptor::new(0, BlockType::BLOCK, b"deep")));
        out(&Record::Thread(Thread { id: 7, name: Name::new(b"thread"), switches: 0 }));
        out(&Record::Blocks(records as u32));
        (0..records).for_each(|index| out(&Record::Block(Block::new(0, 500_000 - index, 500_000 + index))));
        out(&Record::Mark(EASY_PROFILER_SIGNATURE));
        (*writer.tally(), writer.finish().unwrap())
    };
    let mut header = Header::new(layout, Version::V2_1_0);
    (header.cpu_frequency, header.begin_time) = (10_000_000, 1_000);
    write(&header).0.fill(&mut header);
    write(&header).1
}

fn deep_findings(trace: &Trace, threads: usize) -> String {
    let findings = Wanted::nothing().and(Table::Findings, Columns::ALL).and(Table::Spans, Columns::ALL);
    let seen = see_wish(trace, threads, &findings, &Filter::default());
    let told = seen.steps.into_iter().filter(|step| matches!(step, Step::Findings(_)));
    format!("{:?}", told.collect::<Vec<_>>())
}

#[test]
fn several_passes_share_a_tree_and_give_the_same() {
    let long = opened(long_capture(100_000, Odd::Nothing));
    for trace in [long, opened(long_capture(100_000, Odd::Records)), sample("wtf")] {
        let expected = see(&trace, 1, Mode::Lenient, never());
        for order in [[1, 3, 2, 1], [3, 1, 2, 8]] {
            let _kept = trace.keep();
            for threads in order {
                assert!(see(&trace, threads, Mode::Lenient, never()) == expected, "{threads} threads of {order:?}");
            }
        }
    }
}

#[test]
fn a_tree_is_read_once_while_it_is_kept() {
    for mut trace in [opened(long_capture(50_000, Odd::Nothing)), sample("wtf")] {
        let reads = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&reads);
        trace.opened.source = trace.opened.source.guarded(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let pass = || {
            let before = reads.load(Ordering::Relaxed);
            assert!(see(&trace, 1, Mode::Lenient, never()).outcome.is_ok());
            reads.load(Ordering::Relaxed) - before
        };
        let alone = pass();
        let kept = trace.keep();
        let (first, second, third) = (pass(), pass(), pass());
        assert_eq!((first, second), (alone, third));
        assert!(second * 3 < first * 2, "{second} of {first} reads");
        drop(kept);
        assert_eq!(pass(), alone);
    }
}

#[test]
fn a_damaged_long_file_gives_the_same_with_any_number_of_threads() {
    let sound = long_capture(80_000, Odd::Nothing);
    for place in [1, 3, 5, 6, 7].map(|eighth| sound.len() / 8 * eighth) {
        let mut damaged = sound.clone();
        damaged[place..place + 40].iter_mut().for_each(|byte| *byte ^= 0xa5);
        for bytes in [damaged, sound[..place].to_vec()] {
            let trace = opened(bytes);
            for mode in [Mode::Lenient, Mode::Strict] {
                let expected = see(&trace, 1, mode, never());
                assert!(see(&trace, 3, mode, never()) == expected, "{place}, {mode:?}");
            }
        }
    }
}

#[test]
fn packed_events_give_the_same_with_any_number_of_threads() {
    let mut plain = Vec::new();
    traceloom_memlyze::sample::write(&mut plain, 100_000).unwrap();
    let mut packed = Vec::new();
    let options = traceloom_core::Options::default();
    traceloom_memlyze::edit::canonical(&Source::bytes(plain), &mut packed, Some("lz4"), &options).unwrap();
    let mut damaged = packed.clone();
    damaged[packed.len() / 2] ^= 0xa5;
    let cut = packed[..packed.len() / 3].to_vec();
    for bytes in [packed, damaged, cut] {
        let trace = Trace::new("long.mlyze".as_ref(), Source::bytes(bytes), None, &Options::default()).unwrap();
        for mode in [Mode::Lenient, Mode::Strict] {
            let expected = see(&trace, 1, mode, never());
            for threads in THREADS {
                assert!(see(&trace, threads, mode, never()) == expected, "{threads} threads, {mode:?}");
            }
        }
    }
}

fn sample(format: &str) -> Trace {
    let sample = traceloom_open::by_id(format).unwrap().sample().unwrap();
    Trace::new(sample.file_name.as_ref(), Source::bytes(sample.bytes), Some(format), &Options::default()).unwrap()
}
