//! How programs end: by `exit`, by a signal, as the child of a fork.
#![cfg(unix)]

mod common;

use std::{os::unix::process::ExitStatusExt, process::Command};

use common::{C, Trial, lines, succeed};

fn entries() -> Vec<String> {
    (0..1000).map(|number| format!("INFO entry {number}")).collect()
}

#[test]
fn an_exit_without_an_end_of_the_log_loses_nothing() {
    let trial = Trial::new();
    let program = trial.compile("tests/programs/ends.c", C, &[]);
    let status = Command::new(program).arg(trial.path("exit.clog")).arg("exit").status().unwrap();
    assert_eq!(status.code(), Some(7));
    assert_eq!(lines(&trial.path("exit.clog")), entries());
}

#[test]
fn a_crash_loses_nothing_and_ends_by_its_signal() {
    const SIGABRT: i32 = 6;
    const SIGSEGV: i32 = 11;
    let trial = Trial::new();
    let program = trial.compile("tests/programs/ends.c", C, &["-Wno-infinite-recursion"]);
    for (end, signal) in [("segv", SIGSEGV), ("abort", SIGABRT), ("overflow", SIGSEGV)] {
        let path = trial.path(&format!("{end}.clog"));
        let status = Command::new(&program).arg(&path).arg(end).status().unwrap();
        assert_eq!(status.signal(), Some(signal), "{end}");
        assert_eq!(lines(&path), entries(), "{end}");
    }
}

#[test]
fn a_crash_does_not_wait_for_ever_for_a_writer_that_is_stuck() {
    let trial = Trial::new();
    let program = trial.compile("tests/programs/ends.c", C, &["-Wno-infinite-recursion"]);
    let path = trial.path("pipe.clog");
    succeed(Command::new("mkfifo").arg(&path));
    let status = Command::new(&program).arg(&path).arg("stuck").status().unwrap();
    assert_eq!(status.signal(), Some(6), "{status}");
}

#[test]
fn what_a_thread_logs_after_its_end_stays_out_of_the_ring_that_it_gave_back() {
    let trial = Trial::new();
    let program = trial.compile("tests/programs/ends.c", C, &["-Wno-infinite-recursion"]);
    trial.run(&program, &["late.clog", "late"]);
    assert_eq!(lines(&trial.path("late.clog")), ["INFO in time", "INFO in time, by the short way"].repeat(2));
}

#[test]
fn a_forked_child_logs_to_a_file_of_its_own() {
    let trial = Trial::new();
    let program = trial.compile("tests/programs/ends.c", C, &[]);
    let output = trial.run(&program, &["fork.clog", "fork"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (child, idle) = text.trim().split_once(' ').unwrap();
    let of_parent: Vec<String> =
        lines(&trial.path("fork.clog")).into_iter().filter(|line| line != "DEBUG busy").collect();
    assert_eq!(of_parent, ["INFO before", "INFO after"]);
    let of_child: Vec<String> = (0..1000).map(|number| format!("INFO child {number}")).collect();
    assert_eq!(lines(&trial.path(&format!("fork.{child}.clog"))), of_child);
    assert!(!trial.path(&format!("fork.{idle}.clog")).exists(), "a child that records nothing has no file");
}
