//! How recordings end: killed, panicked, forked, late, on a full disk.

mod common;

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use common::{Recording, example, lines, messages};
use traceloom_record::{Flight, Recorder, flush, info, stats};

#[test]
fn every_flushed_entry_survives_a_kill() {
    const KILLS: u64 = 200;
    let recording = Recording::new();
    let mut entries = 0;
    for kill in 0..KILLS {
        let path = recording.path(&format!("{kill}.clog"));
        let mut victim = Command::new(example("victim")).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(victim.stdout.take().unwrap()).lines();
        // Killed after another number of flushes each time, and at whatever moment that is.
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
        // Destroyed last, because it is made first.
        LAST.with(|_| ());
        info!("from a thread");
    })
    .join()
    .unwrap();
    guard.close().unwrap();
    let kept = messages(&path).len() as u64;
    assert_eq!(kept + stats().late, 2, "{:?}", stats());
    info!("after the end");
}

#[test]
fn a_full_disk_is_told_and_stops_nobody() {
    let recording = Recording::new();
    let path = recording.path("full.clog");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    // The header does not even fit.
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

#[test]
fn a_forked_child_writes_a_file_of_its_own() {
    let recording = Recording::new();
    let path = recording.path("fork.clog");
    let output = Command::new(example("forker")).arg(&path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let child = String::from_utf8(output.stdout).unwrap();
    let of_parent: Vec<String> = messages(&path).into_iter().filter(|message| message != "busy").collect();
    assert_eq!(of_parent, ["before", "after"]);
    let of_child = messages(&recording.path(&format!("fork.{}.clog", child.trim())));
    assert_eq!(of_child, (0..1000).map(|number| format!("child {number}")).collect::<Vec<_>>());
}
