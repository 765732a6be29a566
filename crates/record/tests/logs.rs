//! Logs: all recorded entries are in the file, in order, with their text.

mod common;

use std::{
    fs::{self, File},
    path::Path,
    time::Duration,
};

use common::{Recording, lines, messages};
use traceloom_cnanolog::{Arg, Record};
use traceloom_core::{Codec, Options, Records, Source};
use traceloom_record::{
    Filter, Layout, Level, LogLines, Policy, Recorder, Rotation, debug, error, flush, info, log, stats, tick, warn,
};

const AUDIT: Level = Level::custom(9, 35, "AUDIT");
/// How long the writer waits for older records before it merges; half of it is for records that are being stored.
const MERGE_WINDOW_US: u64 = 200;

#[test]
fn every_argument_type_comes_back() {
    let recording = Recording::new();
    let path = recording.path("types.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    let (name, text) = (String::from("Straße"), "x".repeat(39));
    info!("plain, 100 %%");
    info!("%d %d %d %d", -1i8, 300i16, i32::MIN, i64::MIN);
    warn!("%u %u %u %u %u", 1u8, 2u16, 3u32, u64::MAX, 5usize);
    error!("%.3f %g %c %s %s|%5d|%-4s|", 0.5, 1.5f32, 'c', name, text, true, "ab");
    debug!("%p %x", std::ptr::null::<u8>(), 255u32);
    log!(AUDIT, "%s opened", "door");
    guard.close().unwrap();
    let expected = [
        "INFO plain, 100 %".to_owned(),
        format!("INFO -1 300 {} {}", i32::MIN, i64::MIN),
        format!("WARN 1 2 3 {} 5", u64::MAX),
        format!("ERROR 0.500 1.5 c Straße {text}|    1|ab  |"),
        "DEBUG (nil) ff".to_owned(),
        "AUDIT door opened".to_owned(),
    ];
    assert_eq!(lines(&path), expected);
    assert!(!path.with_extension("clog.sites").exists(), "a clean close removes the journal");
    assert_eq!((stats().records, stats().dropped, stats().errors), (6, 0, 0));
}

#[test]
fn four_threads_lose_nothing_and_keep_their_order() {
    four_threads(100_000);
}

#[test]
#[ignore = "run by `cargo xtask test --recorder`, in the release profile"]
fn four_threads_lose_nothing_of_twenty_million_entries() {
    four_threads(5_000_000);
}

/// Each entry has the number of its thread, its own number, and the tick at which the call before it returned.
fn four_threads(each: u64) {
    let recording = Recording::new();
    let path = recording.path("threads.clog");
    let guard = Recorder::new().clog(&path).ring_bytes(64 << 10).start().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            scope.spawn(move || {
                let mut returned = tick();
                for number in 0..=each {
                    info!("%u %u %u", thread, number, returned);
                    returned = tick();
                }
            });
        }
    });
    guard.close().unwrap();
    let seen = stats();
    assert_eq!(seen.records, 4 * (each + 1));
    assert_eq!((seen.dropped, seen.lost, seen.late, seen.errors), (0, 0, 0, 0));
    assert_eq!(check_order(&path), [each + 1; 4]);
}

/// An entry that is in the file after a later one of another thread.
struct Overtaken {
    number: u64,
    timestamp: u64,
}

/// Checks that the numbers of each thread count up, and that the file is in order of time; returns the number of
/// entries of each thread.
///
/// A thread may lose its processor between reading the clock and storing the record, for longer than the writer waits. Only
/// such an entry may be out of place, and the next one of its thread proves it: it says when that call returned.
fn check_order(path: &Path) -> [u64; 4] {
    let source = Source::file(File::open(path).unwrap());
    let mut reader = traceloom_cnanolog::open(source, &Options::strict()).unwrap();
    let wait = reader.header().timestamp_frequency / 1_000_000 * (MERGE_WINDOW_US / 2);
    let mut next = [0u64; 4];
    let mut overtaken: [Option<Overtaken>; 4] = Default::default();
    let (mut youngest, mut count) = (0, 0);
    while let Some(located) = reader.next().unwrap() {
        let Record::Entry(entry) = located.record else { continue };
        let args: Vec<Arg<'_>> = entry.args().unwrap().collect();
        let [Arg::Uint32(thread), Arg::Uint64(number), Arg::Uint64(returned)] = args[..] else { panic!("{args:?}") };
        let (thread, timestamp) = (thread as usize, entry.timestamp.unwrap());
        assert_eq!(number, next[thread], "thread {thread}");
        next[thread] += 1;
        if let Some(Overtaken { number, timestamp }) = overtaken[thread].take() {
            let took = returned - timestamp;
            assert!(
                took > wait,
                "entry {number} of thread {thread} is out of place, but was stored within {took} ticks"
            );
            count += 1;
        }
        if timestamp < youngest {
            overtaken[thread] = Some(Overtaken { number, timestamp });
        }
        youngest = youngest.max(timestamp);
    }
    println!("{count} entries out of place, all of threads that had to wait for a processor");
    next
}

#[test]
fn a_flush_brings_everything_into_the_file() {
    let recording = Recording::new();
    let path = recording.path("flush.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    for number in 0..200 {
        info!("number %d", number);
        flush().unwrap();
        // The file has no dictionary yet; the journal replaces it.
        assert_eq!(messages(&path).last().unwrap(), &format!("number {number}"));
    }
    drop(guard);
    assert_eq!(messages(&path).len(), 200);
}

#[test]
fn a_sync_succeeds_with_all_files_before_and_after_the_first_record() {
    let recording = Recording::new();
    let (path, text) = (recording.path("sync.clog"), recording.path("sync.log"));
    let lines = LogLines { path: text.clone(), pattern: "%m".to_owned(), zone: |_| 0 };
    let recorder = Recorder::new().clog(&path).lines(lines).prof(recording.path("sync.prof"));
    let guard = recorder.wtf_trace(recording.path("sync.wtf-trace")).start().unwrap();
    traceloom_record::sync().unwrap();
    info!("first");
    traceloom_record::sync().unwrap();
    assert_eq!((messages(&path), fs::read_to_string(&text).unwrap()), (vec!["first".to_owned()], "first\n".to_owned()));
    traceloom_record::rotate().unwrap();
    traceloom_record::sync().unwrap();
    info!("second");
    traceloom_record::sync().unwrap();
    assert_eq!(messages(&path.with_extension("1.clog")), ["second"]);
    guard.close().unwrap();
    assert_eq!(stats().errors, 0);
}

#[test]
fn filters_turn_sites_on_and_off_while_running() {
    let recording = Recording::new();
    let path = recording.path("filter.clog");
    let guard = Recorder::new().clog(&path).filter(Filter::at(Level::WARN)).start().unwrap();
    let say = |text: &str| {
        info!("info %s", text);
        warn!("warn %s", text);
    };
    say("one");
    traceloom_record::set_filter(Filter::at(Level::ERROR).with("logs", Level::INFO));
    say("two");
    traceloom_record::set_filter(Filter::default().without(module_path!()));
    say("three");
    guard.close().unwrap();
    assert_eq!(messages(&path), ["warn one", "info two", "warn two"]);
}

#[test]
fn arguments_of_sites_that_are_off_are_not_looked_at() {
    let recording = Recording::new();
    let never = || -> i32 { panic!("nobody records") };
    info!("%d", never());
    let guard = Recorder::new().clog(recording.path("off.clog")).filter(Filter::at(Level::ERROR)).start().unwrap();
    let asked = std::cell::Cell::new(0);
    let ask = || asked.replace(asked.get() + 1);
    (0..3).for_each(|_| info!("%d", ask()));
    drop(guard);
    assert!(asked.get() <= 1, "only the first call may ask");
}

#[test]
fn one_site_of_a_generic_function_logs_every_type() {
    fn show<T: traceloom_record::Arg>(value: T) {
        // The conversion fits all of them.
        info!("%x", value);
    }
    let recording = Recording::new();
    let path = recording.path("generic.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    for _ in 0..3 {
        show(10u64);
        show(11i32);
        show(12u8);
    }
    guard.close().unwrap();
    assert_eq!(messages(&path), ["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
}

#[test]
fn the_document_layout_can_be_had() {
    let recording = Recording::new();
    let path = recording.path("document.clog");
    let guard = Recorder::new().clog(&path).layout(Layout::Document).start().unwrap();
    info!("%d of %s", 3, "five");
    guard.close().unwrap();
    assert_eq!(messages(&path), ["3 of five"]);
    assert_eq!(fs::read(&path).unwrap()[52..56], [0; 4], "no flags");
}

#[test]
fn ids_of_process_and_thread_can_be_stored() {
    let recording = Recording::new();
    let path = recording.path("ids.clog");
    Recorder::new().clog(&path).ids().start().unwrap().close().unwrap();
    let source = Source::file(fs::File::open(&path).unwrap());
    let reader = traceloom_cnanolog::open(source, &Options::strict()).unwrap();
    assert_eq!(reader.header().ids().unwrap().0, std::process::id());
    assert!(reader.findings().kept().is_empty());
}

#[test]
fn logs_can_be_compressed_and_have_checksums() {
    let recording = Recording::new();
    let plain = Recorder::new();
    let recorders =
        [plain.clone(), plain.clone().compressed(), plain.clone().checksums(), plain.compressed().checksums()];
    let mut sizes = Vec::new();
    for (number, recorder) in recorders.into_iter().enumerate() {
        let path = recording.path(&format!("{number}.clog"));
        let guard = recorder.clog(&path).start().unwrap();
        (0..3000).for_each(|number| info!("number %d of %s", number, "three thousand"));
        flush().unwrap();
        let unfinished = messages(&path);
        assert_eq!(unfinished.len(), 3000, "the file has them, and the journal explains them");
        guard.close().unwrap();
        assert_eq!(messages(&path), unfinished);
        let source = Source::file(fs::File::open(&path).unwrap());
        let header = traceloom_cnanolog::open(source.clone(), &Options::strict()).unwrap().header().clone();
        assert_eq!(header.version_minor, [0, 2, 3, 3][number]);
        assert!(header.ids().is_none_or(|(process, _)| process == std::process::id()));
        let findings = traceloom_cnanolog::CNanoLog::check(&source, &Options::default()).unwrap();
        assert!(findings.kept().is_empty(), "{:?}", findings.kept());
        sizes.push(fs::metadata(&path).unwrap().len());
    }
    assert!(sizes[1] < sizes[0] && sizes[2] > sizes[0] && sizes[3] < sizes[0], "{sizes:?}");
}

#[test]
fn rotation_neither_loses_nor_splits_an_entry() {
    let recording = Recording::new();
    let path = recording.path("many.clog");
    let rotation = Rotation { bytes: Some(10_000), age: None };
    let guard = Recorder::new().clog(&path).rotation(rotation).start().unwrap();
    (0..5000).for_each(|number| info!("number %d", number));
    guard.close().unwrap();
    let mut files = vec![path.clone()];
    files.extend((1..).map(|number| path.with_extension(format!("{number}.clog"))).take_while(|path| path.exists()));
    assert!(files.len() > 5);
    let all: Vec<String> = files.iter().flat_map(|path| messages(path)).collect();
    assert_eq!(all, (0..5000).map(|number| format!("number {number}")).collect::<Vec<_>>());
    assert!(files.iter().all(|path| !path.with_extension("clog.sites").exists()));
}

#[test]
fn rotation_by_age_and_on_demand() {
    let recording = Recording::new();
    let path = recording.path("old.clog");
    let rotation = Rotation { bytes: None, age: Some(Duration::ZERO) };
    let guard = Recorder::new().clog(&path).rotation(rotation).start().unwrap();
    (0..3).for_each(|number| info!("number %d", number));
    flush().unwrap();
    traceloom_record::rotate().unwrap();
    info!("last");
    guard.close().unwrap();
    assert_eq!(messages(&path), ["number 0"]);
    assert_eq!(messages(&path.with_extension("2.clog")), ["number 2"]);
}

#[test]
fn drops_are_counted_and_told_in_the_log() {
    let recording = Recording::new();
    let path = recording.path("drops.clog");
    let guard = Recorder::new().clog(&path).logs(Policy::DropNewest).ring_bytes(4 << 10).start().unwrap();
    (0..200_000).for_each(|number| info!("number %d", number));
    guard.close().unwrap();
    let (dropped, kept) = (stats().dropped, stats().records);
    assert!(dropped > 0 && dropped + kept == 200_000, "{dropped} + {kept}");
    let told: u64 = messages(&path)
        .iter()
        .filter_map(|message| message.split_once(" records dropped on thread "))
        .map(|(count, _)| count.parse::<u64>().unwrap())
        .sum();
    assert_eq!(told, dropped);
}

#[test]
fn long_texts_are_cut_and_counted() {
    let recording = Recording::new();
    let path = recording.path("long.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    let text = "y".repeat(20_000);
    info!("%s", text);
    info!("%s%s%s%s%s%s %d", text, text, text, text, text, text, 7);
    guard.close().unwrap();
    let messages = messages(&path);
    assert_eq!(messages[0].len(), 16_000);
    assert!(messages[1].ends_with("y 7") && messages[1].len() > 50_000, "{}", messages[1].len());
    // Seven texts, and once more to fit into an entry of a log.
    assert_eq!(stats().cut, 8);
}

#[test]
fn a_process_has_one_recorder_at_a_time() {
    let recording = Recording::new();
    assert!(Recorder::new().start().is_err(), "no file");
    assert!(Recorder::new().clog(recording.path("none/such.clog")).start().is_err());
    let guard = Recorder::new().clog(recording.path("one.clog")).start().unwrap();
    assert!(Recorder::new().clog(recording.path("two.clog")).start().is_err());
    drop(guard);
    info!("nobody hears this");
    assert!(flush().is_err() && !traceloom_record::is_recording());
    let guard = Recorder::new().clog(recording.path("three.clog")).start().unwrap();
    info!("heard");
    guard.close().unwrap();
    assert_eq!(messages(&recording.path("three.clog")), ["heard"]);
}
