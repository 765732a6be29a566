//! Tests: every sink reports the losses of a full disk, keeps its memory bounded, and continues when there is space.

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
};

use traceloom_cnanolog::{Arg, Record, journal, raw::ArgType};
use traceloom_core::{Codec, Options, Records, Source};
use traceloom_easyprofiler as prof;
use traceloom_wtf as wtf;

use super::{
    Rec, Sink,
    clog::Clog,
    file::{MAX_KEPT, Output, tests::Disk},
    lines::Lines,
    prof::Prof,
    spool::{GATHERED, Spool},
    wtf::WtfTrace,
};
use crate::{
    Level, LogLines, Rotation,
    clock::Timeline,
    config::Config,
    hub::{Hub, Lane},
    record::{Kind, Words},
    site::SiteInfo,
};

/// Far more than fits on a small disk and in the memory that is kept for it.
const RECORDS: u64 = 400_000;

/// A thread that records, without a ring between it and the sink.
struct Thread {
    lane: Lane,
    log: Arc<SiteInfo>,
    span: Arc<SiteInfo>,
    timeline: Timeline,
    tick: u64,
}

impl Thread {
    fn new() -> Self {
        let timeline = Timeline::start();
        Self {
            lane: Hub::default().acquire(64, 1, "main".to_owned()),
            log: Arc::new(SiteInfo::own("number %u", Level::INFO, &[ArgType::UINT64])),
            span: Arc::new(SiteInfo::own("span", Level::INFO, &[])),
            tick: timeline.first.tick,
            timeline,
        }
    }

    fn put(&mut self, sink: &mut dyn Sink, kind: Kind, id: u32, words: &[u64]) {
        self.tick += 10_000;
        let site = if kind == Kind::Log { &self.log } else { &self.span };
        sink.put(&Rec { kind, tick: self.tick, thread: &self.lane.thread, id, site, words: Words(words) });
    }

    fn log(&mut self, sink: &mut dyn Sink, number: u64) {
        self.put(sink, Kind::Log, 0, &[number]);
    }

    fn span(&mut self, sink: &mut dyn Sink) {
        self.put(sink, Kind::SpanBegin, 1, &[]);
        self.put(sink, Kind::SpanEnd, 1, &[]);
    }
}

/// The numbers in a log, and the losses that it reports.
fn read_log(source: Source) -> (Vec<u64>, Vec<u64>) {
    let mut reader = traceloom_cnanolog::open(source, &Options::strict()).unwrap();
    let (mut numbers, mut told) = (Vec::new(), Vec::new());
    while let Some(located) = reader.next().unwrap() {
        let Record::Entry(entry) = located.record else { continue };
        let args: Vec<Arg<'_>> = entry.args().unwrap().collect();
        match args.as_slice() {
            [Arg::Uint64(number)] => numbers.push(*number),
            [Arg::Uint64(lost), Arg::String(_)] => told.push(*lost),
            other => panic!("{other:?}"),
        }
    }
    (numbers, told)
}

fn clog_on(disk: &Disk, path: &Path, rotation: Rotation, thread: &Thread) -> Clog {
    let config = Config { rotation, ..Config::default() };
    Clog::with_medium(path, Box::new(disk.clone()), &config, &thread.timeline).unwrap()
}

#[test]
fn a_log_says_what_it_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, mut thread) = (Disk::of(10_000), Thread::new());
    let mut clog = clog_on(&disk, &folder.path().join("full.clog"), Rotation::default(), &thread);
    (0..RECORDS).for_each(|number| thread.log(&mut clog, number));
    assert!(clog.flush().is_err());
    disk.grow(1 << 30);
    // A writer that is never idle does not flush, but still ticks.
    clog.tick(&thread.timeline);
    thread.log(&mut clog, RECORDS);
    Box::new(clog).close(&thread.timeline).unwrap();

    let (numbers, told) = read_log(Source::bytes(disk.content()));
    assert!(told.len() == 1 && told[0] > 0, "{told:?}");
    assert_eq!(numbers.len() as u64 + told[0], RECORDS + 1);
    assert!(numbers.is_sorted() && numbers.last() == Some(&RECORDS));
}

#[test]
fn a_log_that_cannot_rotate_leaves_no_empty_files_and_no_half_dictionary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.clog");
    let (disk, mut thread) = (Disk::of(10_030), Thread::new());
    let rotation = Rotation { bytes: Some(10_000), age: None };
    let mut clog = clog_on(&disk, &path, rotation, &thread);
    // The entries up to the size of a file fit, the dictionary does not.
    for number in 0..1000 {
        thread.log(&mut clog, number);
    }
    for _ in 0..3 {
        clog.tick(&thread.timeline);
    }
    let files = || fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(files(), ["many.clog.sites"], "the log itself is on the disk that is full");
    assert!(clog.rotate(&thread.timeline).is_err());
    thread.log(&mut clog, 1000);
    disk.grow(1 << 30);
    clog.tick(&thread.timeline);
    thread.log(&mut clog, 1001);
    Box::new(clog).close(&thread.timeline).unwrap();

    let (first, told) = read_log(Source::bytes(disk.content()));
    assert_eq!((first, told), ((0..=1000).collect(), Vec::new()));
    let next = folder.path().join("many.1.clog");
    assert_eq!(read_log(Source::file(File::open(next).unwrap())), (vec![1001], Vec::new()));
    assert_eq!(files(), ["many.1.clog"]);
}

#[test]
fn a_journal_that_could_not_be_written_is_told_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.clog");
    let mut thread = Thread::new();
    let config = Config::default();
    let mut clog = Clog::create(&path, &config, &thread.timeline).unwrap();
    let journal = journal::path_of(&path);
    // A folder at its path makes writing the new journal fail.
    let obstacle = folder.path().join("app.clog.sites.new");
    fs::create_dir(&obstacle).unwrap();
    thread.log(&mut clog, 7);
    assert!(clog.flush().is_err(), "the entry could not be read after a kill");
    assert!(clog.flush().is_err(), "still not");
    fs::remove_dir(&obstacle).unwrap();
    clog.flush().unwrap();
    // As a kill would leave it: without a dictionary.
    let source = Source::file(File::open(&path).unwrap()).with_companion(Source::file(File::open(journal).unwrap()));
    let mut reader = traceloom_cnanolog::open(source, &Options::default()).unwrap();
    let mut numbers = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        let Record::Entry(entry) = located.record else { continue };
        numbers.extend(entry.args().unwrap().map(|arg| format!("{arg:?}")));
    }
    assert_eq!(numbers, ["Uint64(7)"]);
}

#[test]
fn lines_say_what_they_lost() {
    let (disk, mut thread) = (Disk::of(10_000), Thread::new());
    let settings = LogLines { path: "app.log".into(), pattern: "%m".to_owned(), zone: |_| 0 };
    let mut lines = Lines::with_output(Output::new(Box::new(disk.clone())), &settings, &thread.timeline);
    (0..RECORDS).for_each(|number| thread.log(&mut lines, number));
    assert!(lines.flush().is_err());
    disk.grow(1 << 30);
    lines.tick(&thread.timeline);
    thread.log(&mut lines, RECORDS);
    Box::new(lines).close(&thread.timeline).unwrap();

    let text = String::from_utf8(disk.content()).unwrap();
    let told = text.lines().find(|line| line.contains(" entries lost: ")).expect("a line tells");
    let lost: u64 = told.split(' ').rev().find_map(|word| word.parse().ok()).unwrap();
    assert_eq!(text.lines().count() as u64 + lost, RECORDS + 2);
    assert!(lost > 0 && text.ends_with(&format!("number {RECORDS}\n")));
}

#[test]
fn a_profile_goes_on_and_says_what_it_lost() {
    let folder = tempfile::tempdir().unwrap();
    // Not a multiple of the size of a write, so that writes fail halfway.
    let (disk, mut thread) = (Disk::of(200_123), Thread::new());
    let mut profile = Prof::with_spool(Spool::on(Box::new(disk.clone())), thread.timeline.first.tick);
    (0..RECORDS / 2).for_each(|_| thread.span(&mut profile));
    assert!(profile.flush().is_err());
    assert!(profile.gathered <= MAX_KEPT + GATHERED, "{} bytes in memory", profile.gathered);
    disk.grow(1 << 30);
    profile.tick(&thread.timeline);
    profile.flush().unwrap();
    // Some go to the spool, the rest stay in memory.
    (0..10_000).for_each(|_| thread.span(&mut profile));
    let path = folder.path().join("full.prof");
    profile.write(&File::create(&path).unwrap(), &thread.timeline).unwrap();

    let (_, findings) =
        prof::EasyProfiler::info(&Source::file(File::open(&path).unwrap()), &Options::strict()).unwrap();
    assert!(findings.kept().is_empty());
    let mut reader = prof::open(Source::file(File::open(&path).unwrap()), &Options::strict()).unwrap();
    let (mut begins, mut lost) = (Vec::new(), 0);
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            prof::Record::Block(block) if block.begin < block.end => {
                assert_eq!(block.end - block.begin, 10_000);
                begins.push(block.begin);
            }
            prof::Record::Value(value) => {
                lost += u64::from_le_bytes(*value.data.first_chunk().unwrap());
            }
            _ => {}
        }
    }
    assert!(begins.is_sorted() && lost > 0);
    assert_eq!(begins.len() as u64 + lost, RECORDS / 2 + 10_000);
}

#[test]
fn a_profile_is_complete_if_only_the_spool_had_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, mut thread) = (Disk::of(100_000), Thread::new());
    let mut profile = Prof::with_spool(Spool::on(Box::new(disk)), thread.timeline.first.tick);
    (0..50_000).for_each(|_| thread.span(&mut profile));
    let path = folder.path().join("spool.prof");
    profile.write(&File::create(&path).unwrap(), &thread.timeline).unwrap();
    let mut reader = prof::open(Source::file(File::open(&path).unwrap()), &Options::strict()).unwrap();
    let mut blocks = 0;
    while let Some(located) = reader.next().unwrap() {
        blocks += u64::from(matches!(located.record, prof::Record::Block(block) if block.begin < block.end));
    }
    assert_eq!(blocks, 50_000);
}

#[test]
fn a_trace_loses_whole_spans_and_says_how_many() {
    let (disk, mut thread) = (Disk::of(50_000), Thread::new());
    let mut trace = WtfTrace::with_medium(Box::new(disk.clone()), &thread.timeline).unwrap();
    thread.put(&mut trace, Kind::SpanBegin, 2, &[]);
    (0..RECORDS).for_each(|_| thread.span(&mut trace));
    assert!(trace.flush().is_err());
    // They start while there is no space, and end when there is.
    thread.put(&mut trace, Kind::SpanBegin, 3, &[]);
    thread.put(&mut trace, Kind::SpanBegin, 4, &[]);
    thread.put(&mut trace, Kind::RangeBegin, 5, &[77]);
    disk.grow(1 << 30);
    trace.tick(&thread.timeline);
    (0..10).for_each(|_| thread.span(&mut trace));
    for site in [4, 3, 2] {
        thread.put(&mut trace, Kind::SpanEnd, site, &[]);
    }
    thread.put(&mut trace, Kind::RangeEnd, 5, &[77]);
    Box::new(trace).close(&thread.timeline).unwrap();

    let source = Source::bytes(disk.content());
    let (_, findings) = wtf::Wtf::info(&source, &Options::strict()).unwrap();
    let odd: Vec<String> = findings.kept().iter().map(|finding| finding.message()).collect();
    assert!(odd.is_empty(), "{odd:?}");
    let mut reader = wtf::open(source, &Options::strict()).unwrap();
    let (mut spans, mut depth, mut deepest, mut lost, mut gaps, mut ranges) = (0, 0, 0, 0, 0, 0);
    while let Some(located) = reader.next().unwrap() {
        let wtf::Record::Event(event) = located.record else { continue };
        match &*event.name() {
            "span" => {
                (spans, depth) = (spans + 1, depth + 1);
                deepest = deepest.max(depth);
            }
            "wtf.scope#leave" => depth -= 1,
            "records_lost" => {
                let counts = event.args.iter().map(|(_, value)| match value {
                    wtf::Value::Uint(count) => u64::from(count),
                    other => panic!("{other:?}"),
                });
                lost += counts.sum::<u64>();
            }
            "wtf.trace#discontinuity" => gaps += 1,
            "wtf.timeRange#begin" | "wtf.timeRange#end" => ranges += 1,
            _ => {}
        }
        assert!((0..=2).contains(&depth));
    }
    assert_eq!((depth, deepest, gaps, ranges), (0, 2, 1, 0));
    // The outer one, two that are open while there is space again, ten after that, and a range.
    assert_eq!(spans + lost, RECORDS + 1 + 2 + 10 + 1);
    assert!(spans > 1000 && lost > 1000);
}
