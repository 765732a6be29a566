//! How recordings end: killed, panicked, forked, late, on a full disk.

mod common;

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{Recording, example, lines, messages};
use traceloom_core::{Options, Records, Source};
use traceloom_easyprofiler as prof;
use traceloom_record::{
    Flight, LogBackend, LogLines, RecordSubscriber, Recorder, bookmark, event, flow, flush, frame, info, range, span,
    stats, value,
};
use traceloom_wtf as wtf;

#[test]
fn every_flushed_entry_survives_a_kill() {
    const KILLS: u64 = 200;
    let recording = Recording::new();
    let mut entries = 0;
    for kill in 0..KILLS {
        let path = recording.path(&format!("{kill}.clog"));
        let mut victim = Command::new(example("victim")).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(victim.stdout.take().unwrap()).lines();
        // Killed after a different number of flushes each time, at any moment.
        let mut safe = 0;
        for _ in 0..1 + kill * 7 % 23 {
            safe = told.next().unwrap().unwrap().parse().unwrap();
        }
        victim.kill().unwrap();
        victim.wait().unwrap();
        for line in told {
            safe = line.unwrap().parse::<u64>().unwrap_or(safe).max(safe);
        }
        let kept: Vec<String> = messages(&path).into_iter().filter(|message| message != "noise").collect();
        assert!(kept.len() as u64 >= safe, "kill {kill}: {} of {safe}", kept.len());
        for (number, message) in kept.iter().enumerate() {
            assert_eq!(message, &format!("entry {number}"), "kill {kill}");
        }
        entries += safe;
    }
    assert!(entries > KILLS);
}

#[test]
fn the_trace_of_a_killed_process_opens_with_everything_that_was_flushed() {
    for kill in 0..10 {
        let recording = Recording::new();
        let path = recording.path("killed.wtf-trace");
        let mut victim = Command::new(example("victim")).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(victim.stdout.take().unwrap()).lines();
        let safe: usize = (0..=kill * 3).map(|_| told.next().unwrap().unwrap().parse().unwrap()).last().unwrap();
        victim.kill().unwrap();
        victim.wait().unwrap();
        let mut reader = wtf::open(Source::file(File::open(&path).unwrap()), &Options::default()).unwrap();
        let mut entries = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            let wtf::Record::Event(event) = located.record else { continue };
            // The level, then the message.
            if let Some((_, wtf::Value::Text(Some(message)))) = event.args.iter().nth(1) {
                entries.extend(message.to_str().strip_prefix("entry ").map(str::to_owned));
            }
        }
        assert!(entries.len() >= safe, "kill {kill}: {} of {safe}", entries.len());
        let expected: Vec<String> = (0..entries.len()).map(|number| number.to_string()).collect();
        assert_eq!(entries, expected, "kill {kill}");
    }
}

#[test]
fn an_exit_without_an_end_loses_nothing_that_was_flushed() {
    for (end, code) in [("exit", 7), ("panic", 101)] {
        let recording = Recording::new();
        let path = recording.path("app.clog");
        let output = Command::new(example("victim")).arg(&path).arg(end).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let numbers: Vec<String> = (0..40).map(|number| format!("entry {number}")).collect();
        assert_eq!(messages(&path), numbers, "{end}");
    }
}

#[test]
fn a_panic_flushes_first() {
    let recording = Recording::new();
    let path = recording.path("panic.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    info!("before");
    let outcome = std::panic::catch_unwind(|| panic!("expected by this test"));
    assert!(outcome.is_err());
    assert_eq!(messages(&path), ["before"], "the file has it while the recorder still runs");
    drop(guard);
}

#[test]
fn a_flight_recorder_writes_the_last_records_when_asked() {
    let recording = Recording::new();
    let path = recording.path("flight.clog");
    let flight = Flight { bytes: 32 * 100, age: None };
    let guard = Recorder::new().clog(&path).flight(flight).start().unwrap();
    (0..1000).for_each(|number| info!("number %d", number));
    traceloom_record::dump().unwrap();
    let dumped = messages(&recording.path("flight.dump-1.clog"));
    assert_eq!(dumped.last().unwrap(), "number 999");
    // An entry with one argument has three words.
    assert_eq!(dumped.len(), 32 * 100 / 24);
    info!("later");
    let _ = std::panic::catch_unwind(|| panic!("expected by this test"));
    assert_eq!(messages(&recording.path("flight.dump-2.clog")).last().unwrap(), "later");
    drop(guard);
    assert!(!path.exists(), "nothing is written that nobody asked for");
}

#[test]
fn a_flight_recorder_forgets_what_is_old() {
    let recording = Recording::new();
    let flight = Flight { bytes: 1 << 20, age: Some(Duration::from_millis(50)) };
    let guard = Recorder::new().clog(recording.path("age.clog")).flight(flight).start().unwrap();
    info!("old");
    std::thread::sleep(Duration::from_millis(120));
    info!("new");
    traceloom_record::dump().unwrap();
    drop(guard);
    assert_eq!(messages(&recording.path("age.dump-1.clog")), ["new"]);
}

#[test]
fn a_flight_recorder_forgets_what_an_idle_thread_did_long_ago() {
    let recording = Recording::new();
    let flight = Flight { bytes: 1 << 20, age: Some(Duration::from_millis(50)) };
    let guard = Recorder::new().clog(recording.path("idle.clog")).flight(flight).start().unwrap();
    let (wake, rest) = std::sync::mpsc::channel::<()>();
    let idle = std::thread::spawn(move || {
        info!("old");
        let _ = rest.recv();
    });
    std::thread::spawn(|| info!("old, and the thread has ended")).join().unwrap();
    std::thread::sleep(Duration::from_millis(120));
    info!("new");
    traceloom_record::dump().unwrap();
    drop(wake);
    idle.join().unwrap();
    drop(guard);
    assert_eq!(messages(&recording.path("idle.dump-1.clog")), ["new"]);
}

#[test]
fn threads_that_have_ended_share_the_room_of_one() {
    const EACH: usize = 100;
    let recording = Recording::new();
    // An entry with two arguments has four words.
    let flight = Flight { bytes: EACH * 4 * 8, age: None };
    let guard = Recorder::new().clog(recording.path("many.clog")).flight(flight).start().unwrap();
    for thread in 0..50 {
        let work = move || (0..EACH).for_each(|number| info!("%d %u", thread, number));
        std::thread::spawn(work).join().unwrap();
    }
    (0..EACH).for_each(|number| info!("%s %u", "main", number));
    traceloom_record::dump().unwrap();
    drop(guard);
    let dumped = messages(&recording.path("many.dump-1.clog"));
    let of = |thread: &str| dumped.iter().filter(|message| message.starts_with(&format!("{thread} "))).count();
    // A text takes one word more.
    assert_eq!((of("49"), of("main"), dumped.len()), (EACH, EACH * 4 / 5, EACH + EACH * 4 / 5));
}

#[test]
fn a_flight_recorder_overwrites_and_never_waits() {
    const ENTRIES: u64 = 100_000;
    let recording = Recording::new();
    let flight = Flight { bytes: 64 << 20, age: None };
    let guard = Recorder::new().clog(recording.path("full.clog")).flight(flight).ring_bytes(4 << 10).start().unwrap();
    (0..ENTRIES).for_each(|number| info!("number %u", number));
    std::thread::sleep(Duration::from_millis(50));
    info!("number %u", ENTRIES);
    traceloom_record::dump().unwrap();
    let seen = stats();
    drop(guard);
    assert_eq!((seen.waits, seen.records + seen.dropped), (0, ENTRIES + 1), "{seen:?}");
    assert!(seen.dropped > 0, "the ring is far too small: {seen:?}");
    let dumped = messages(&recording.path("full.dump-1.clog"));
    let told = dumped.iter().filter_map(|message| message.split_once(" records dropped on thread "));
    assert_eq!(told.map(|(count, _)| count.parse::<u64>().unwrap()).sum::<u64>(), seen.dropped);
    let numbers = dumped.iter().filter_map(|message| message.strip_prefix("number "));
    let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
    assert_eq!((numbers.len() as u64, numbers.last()), (seen.records, Some(&ENTRIES)));
    assert!(numbers.is_sorted());
}

#[test]
fn a_slow_frame_makes_the_flight_recorder_write() {
    let recording = Recording::new();
    let flight = Flight { bytes: 1 << 20, age: None };
    let recorder = Recorder::new().prof(recording.path("slow.prof")).flight(flight);
    let guard = recorder.slow_frame(Duration::from_millis(30)).start().unwrap();
    let dump = recording.path("slow.dump-1.prof");
    drop(traceloom_record::frame!("frame"));
    flush().unwrap();
    assert!(!dump.exists());
    let frame = traceloom_record::frame!("frame");
    std::thread::sleep(Duration::from_millis(40));
    drop(frame);
    flush().unwrap();
    assert!(dump.exists());
    drop(guard);
}

#[test]
fn threads_leave_their_rings_to_others() {
    let recording = Recording::new();
    let path = recording.path("pool.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    for number in 0..50 {
        std::thread::spawn(move || info!("thread %d", number)).join().unwrap();
        flush().unwrap();
    }
    assert!(stats().rings + stats().spare_rings < 10, "{:?}", stats());
    guard.close().unwrap();
    assert_eq!(messages(&path).len(), 50);
}

#[test]
fn late_calls_are_counted_and_harmless() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            info!("from a destructor");
        }
    }
    thread_local!(static LAST: Last = const { Last });
    let recording = Recording::new();
    let path = recording.path("late.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    std::thread::spawn(|| {
        // Destroyed last, because it is created first.
        LAST.with(|_| ());
        info!("from a thread");
    })
    .join()
    .unwrap();
    guard.close().unwrap();
    let kept = messages(&path).len() as u64;
    assert_eq!(kept + stats().late, 2, "{:?}", stats());
}

#[test]
fn calls_after_the_end_are_counted_and_do_not_look_at_their_arguments() {
    let recording = Recording::new();
    let never = || -> i32 { panic!("nobody records") };
    let work = || {
        info!("%d", never());
        value!("value", never());
        event!("event");
        drop(span!("span"));
        drop(span!("span", text: never().to_string()));
        drop(frame!("frame"));
        drop(range!("range"));
        flow!("flow");
        bookmark!(never().to_string());
        tracing::subscriber::with_default(RecordSubscriber, || {
            tracing::info_span!("span").in_scope(|| tracing::info!("event"));
        });
        log::Log::log(&LogBackend, &log::Record::builder().args(format_args!("log")).build());
        12
    };
    work();
    Recorder::new().clog(recording.path("late.clog")).start().unwrap().close().unwrap();
    assert_eq!(stats().late, 0, "what came before the start is not late");
    let calls = work();
    assert_eq!(stats().late, calls);
    assert_eq!(work() + calls, stats().late);
    // Only a limited number, so that a program that stops its recorder does not pay for it forever.
    (0..100_000).for_each(|_| drop(span!("span")));
    assert_eq!(stats().late, 1 << 16);
    let guard = Recorder::new().clog(recording.path("again.clog")).start().unwrap();
    info!("again");
    guard.close().unwrap();
    assert_eq!((messages(&recording.path("again.clog")), stats().late), (vec!["again".to_owned()], 0));
    info!("%d", never());
    assert_eq!(stats().late, 1);
}

#[test]
fn a_full_disk_is_told_and_stops_nobody() {
    let recording = Recording::new();
    let path = recording.path("full.clog");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    // Not even the header fits.
    assert!(Recorder::new().clog(&path).start().is_err());
}

#[test]
fn the_log_of_a_killed_process_is_not_overwritten() {
    let recording = Recording::new();
    let path = recording.path("app.clog");
    let mut victim = Command::new(example("victim")).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(victim.stdout.take().unwrap()).lines();
    told.next();
    victim.kill().unwrap();
    victim.wait().unwrap();
    let before = fs::read(&path).unwrap();
    let guard = Recorder::new().clog(&path).start().unwrap();
    info!("the next run");
    guard.close().unwrap();
    assert_eq!(lines(&path), ["INFO the next run"]);
    let kept = recording.path("app.killed-1.clog");
    assert_eq!(fs::read(&kept).unwrap(), before);
    assert!(messages(&kept).iter().any(|message| message == "entry 0"));
}

/// Runs the program that forks; returns the id of its child and how long the child lived.
fn fork(path: &Path, end: Option<&str>) -> (String, Duration) {
    let output = Command::new(example("forker")).arg(path).args(end).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    let (child, lived) = told.trim().split_once(' ').unwrap();
    (child.to_owned(), Duration::from_millis(lived.parse().unwrap()))
}

#[test]
fn a_forked_child_writes_a_file_of_its_own() {
    let recording = Recording::new();
    let path = recording.path("fork.clog");
    let (child, _) = fork(&path, None);
    let of_parent: Vec<String> = messages(&path).into_iter().filter(|message| message != "busy").collect();
    assert_eq!(of_parent, ["before", "after"]);
    let of_child = messages(&recording.path(&format!("fork.{child}.clog")));
    assert_eq!(of_child, (0..1000).map(|number| format!("child {number}")).collect::<Vec<_>>());
}

#[test]
fn a_forked_child_writes_a_profile_of_its_own() {
    let recording = Recording::new();
    let path = recording.path("fork.prof");
    let (child, _) = fork(&path, None);
    let spans = |path: &Path| {
        let mut reader = prof::open(Source::file(File::open(path).unwrap()), &Options::strict()).unwrap();
        let (mut names, mut spans) = (Vec::new(), Vec::new());
        while let Some(located) = reader.next().unwrap() {
            match located.record {
                prof::Record::Descriptor(descriptor) => names.push(descriptor.name.text.to_vec()),
                prof::Record::Block(block) if block.begin < block.end => {
                    spans.push(String::from_utf8(names[block.descriptor as usize].clone()).unwrap());
                }
                _ => {}
            }
        }
        spans
    };
    assert_eq!(spans(&path), ["span of the parent"; 2]);
    let of_child = spans(&recording.path(&format!("fork.{child}.prof")));
    assert_eq!(of_child, vec!["span of the child"; 1000]);
}

#[test]
fn a_forked_child_writes_a_trace_of_its_own() {
    let recording = Recording::new();
    let path = recording.path("fork.wtf-trace");
    let (child, _) = fork(&path, None);
    let count = |path: &Path| {
        let mut reader = wtf::open(Source::file(File::open(path).unwrap()), &Options::strict()).unwrap();
        let (mut parent, mut child, mut ends) = (0, 0, 0);
        while let Some(located) = reader.next().unwrap() {
            let wtf::Record::Event(event) = located.record else { continue };
            match &*event.name() {
                "span_of_the_parent" => parent += 1,
                "span_of_the_child" => child += 1,
                "wtf.scope#leave" => ends += 1,
                _ => {}
            }
        }
        (parent, child, ends)
    };
    assert_eq!(count(&path), (2, 0, 2));
    assert_eq!(count(&recording.path(&format!("fork.{child}.wtf-trace"))), (0, 1000, 1000));
}

#[test]
fn a_child_that_panics_before_it_records_waits_for_nobody() {
    let recording = Recording::new();
    let path = recording.path("fork.clog");
    let (child, lived) = fork(&path, Some("panic"));
    // The writer of its parent would not answer it, and both deadlines are 20 s.
    assert!(lived < Duration::from_secs(15), "{lived:?}");
    assert_eq!(messages(&recording.path(&format!("fork.{child}.clog"))), Vec::<String>::new());
    assert!(messages(&path).iter().any(|message| message == "after"));
}

#[test]
fn a_panic_waits_no_longer_than_its_deadline() {
    const DEADLINE: Duration = Duration::from_millis(200);
    let recording = Recording::new();
    let path = recording.path("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    // Nobody reads it, so the writer blocks once it is full.
    let mut pipe = File::options().read(true).write(true).open(&path).unwrap();
    let lines = LogLines { path, pattern: "%m".to_owned(), zone: |_| 0 };
    let guard = Recorder::new().lines(lines).panic_deadline(Some(DEADLINE)).start().unwrap();
    (0..20_000).for_each(|number| info!("number %d", number));
    info!("the end");
    let started = Instant::now();
    assert!(std::panic::catch_unwind(|| panic!("expected by this test")).is_err());
    let waited = started.elapsed();
    assert!((DEADLINE..Duration::from_secs(10)).contains(&waited), "{waited:?}");
    let reader = std::thread::spawn(move || {
        let (mut text, mut bytes) = (Vec::new(), [0; 4096]);
        while !text.ends_with(b"the end\n") {
            let count = pipe.read(&mut bytes).unwrap();
            text.extend_from_slice(&bytes[..count]);
        }
        text.iter().filter(|byte| **byte == b'\n').count()
    });
    guard.close().unwrap();
    assert_eq!(reader.join().unwrap(), 20_001, "nothing is lost by waiting no longer");
}
