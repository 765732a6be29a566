//! Outputs that come and go while the recorder runs.

mod common;

use std::fs;

use common::{Recording, messages};
use traceloom_record::{LogLines, Recorder, Slot, info, is_recording, leave, pause_prof, save_prof, span, stop, warn};

#[test]
fn a_log_joins_a_profile_and_leaves_it() {
    let recording = Recording::new();
    let (first, second) = (recording.path("first.clog"), recording.path("second.clog"));
    Recorder::new().prof_later().join().unwrap();
    drop(span!("before"));
    Recorder::new().clog(&first).join().unwrap();
    info!("one");
    // Another log replaces the first, which is then complete.
    Recorder::new().clog(&second).join().unwrap();
    assert_eq!(messages(&first), ["one"]);
    info!("two");
    leave(Slot::Clog).unwrap();
    assert_eq!(messages(&second), ["two"]);
    assert!(is_recording(), "the profile is still there");
    // Two spans, and two log entries as values.
    drop(span!("after"));
    assert_eq!(save_prof(recording.path("one.prof")).unwrap(), 4);
    leave(Slot::Prof).unwrap();
    assert!(!is_recording());
    stop().unwrap();
}

#[test]
fn a_profile_is_paused_and_begins_again_after_it_was_saved() {
    let recording = Recording::new();
    Recorder::new().prof_later().join().unwrap();
    drop(span!("kept"));
    let open = span!("open while it pauses");
    pause_prof(true).unwrap();
    drop(span!("left out"));
    drop(open);
    assert_eq!(save_prof(recording.path("first.prof")).unwrap(), 2);
    pause_prof(false).unwrap();
    drop(span!("later"));
    assert_eq!(save_prof(recording.path("second.prof")).unwrap(), 1);
    let second = fs::read(recording.path("second.prof")).unwrap();
    assert!(second.windows(5).any(|bytes| bytes == b"later") && !second.windows(4).any(|bytes| bytes == b"kept"));
    assert!(save_prof(recording.path("no/such/folder.prof")).is_err());
    stop().unwrap();
    assert!(save_prof(recording.path("late.prof")).is_err(), "no recorder runs");
}

#[test]
fn a_log_can_be_lines_of_text() {
    let recording = Recording::new();
    let path = recording.path("app.log");
    let lines = LogLines { path: path.clone(), pattern: "%d %L %m".to_owned(), zone: |_| 0 };
    for run in 0..2 {
        Recorder::new().lines(lines.clone()).join().unwrap();
        info!("run %d", run);
        warn!("%s at %.1f %%", "battery", 12.25);
        stop().unwrap();
    }
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(lines, ["I run 0", "W battery at 12.2 %", "I run 1", "W battery at 12.2 %"]);
    assert!(text.starts_with("20"), "{text}");
}
