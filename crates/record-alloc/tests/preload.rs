//! A C program with known allocations, recorded by the preloaded library.

mod common;

use std::{fs, path::Path, process::Command};

use common::{Contents, compile, read, recordings, traced};
use traceloom_record_alloc::{finish, is_unfinished};

const UNWIND_TABLES: &[&str] = &["-O1", "-fomit-frame-pointer"];
const FRAME_POINTERS: &[&str] = &["-O1", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables"];

fn line_of_the_leak() -> u64 {
    let source = include_str!("data/program.c");
    source.lines().position(|line| line.contains("line of the leak")).expect("it is there") as u64 + 1
}

/// Frees of unknown addresses, and addresses that are allocated twice, are errors of a recorder.
fn assert_paired(contents: &Contents) {
    let totals = &contents.totals;
    assert_eq!((totals.unmatched_frees, totals.reused, totals.double_frees), (0, 0, 0));
}

fn assert_whole(contents: &Contents) {
    assert_paired(contents);
    assert_eq!(contents.site("leak"), (7, 77, 7));
    assert_eq!(contents.site("grow"), (4, 10 + 100 + 100_000 + 5, 0));
    assert_eq!(contents.site("aligned"), (7, 462, 0));
    assert_eq!(contents.site("in_thread"), (4000, 128_000, 0));
    assert_eq!(contents.site("plugin_allocate"), (3, 231, 0));
    assert_eq!(contents.site("in_child"), (0, 0, 0));
    assert_eq!(contents.sites["leak"].lines, [line_of_the_leak()]);
    assert_eq!(contents.sites["leak"].callers[0], "main");
    assert_eq!(contents.sites["plugin_allocate"].callers[..2], ["plugin", "main"]);
    assert_eq!(contents.markers, ["leaked"]);
    assert_eq!(contents.threads, 5);
}

#[test]
fn every_allocation_is_recorded_through_threads_plugins_fork_and_exec() {
    for options in [UNWIND_TABLES, FRAME_POINTERS] {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let program = compile(folder, "program.c", options);
        let plugin = compile(folder, "plugin.c", &["-O1", "-shared", "-fPIC"]);
        let mut command = traced(&program, folder);
        assert!(command.arg(plugin).env("TRACELOOM_ALLOC_FINISH", "later").status().expect("it runs").success());
        let files = recordings(folder);
        assert_eq!(files.len(), 3, "{files:?}");
        for file in &files {
            assert!(is_unfinished(file));
            finish(file).expect("names are found");
            assert!(!is_unfinished(file));
        }
        let [others @ .., whole] = files.as_slice() else { panic!("no files") };
        assert!(whole.ends_with("app.mlyze"));
        assert_whole(&read(whole));
        let others: Vec<Contents> = others.iter().map(|file| read(file)).collect();
        let sum = |name: &str| others.iter().map(|contents| contents.site(name).0).collect::<Vec<_>>();
        let (mut forked, mut executed) = (sum("in_child"), sum("after_exec"));
        forked.sort_unstable();
        executed.sort_unstable();
        assert_eq!((forked, executed), (vec![0, 5], vec![0, 2]));
        others.iter().for_each(assert_paired);
    }
}

fn run(folder: &Path, mode: &str, variables: &[(&str, &str)]) -> Option<i32> {
    let program = compile(folder, "program.c", UNWIND_TABLES);
    traced(&program, folder).arg(mode).envs(variables.iter().copied()).status().expect("it runs").code()
}

#[test]
fn names_are_looked_up_at_exit_and_files_that_exist_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("app.mlyze"), "precious").expect("it is written");
    assert_eq!(run(folder.path(), "code", &[]), Some(7));
    let files = recordings(folder.path());
    assert_eq!(files.len(), 2, "{files:?}");
    assert_eq!(fs::read_to_string(&files[1]).expect("it is there"), "precious");
    assert!(!is_unfinished(&files[0]));
    assert_eq!(read(&files[0]).site("leak"), (7, 77, 7));
}

#[test]
fn a_killed_program_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(run(folder.path(), "killed", &[]), None);
    let file = folder.path().join("app.mlyze");
    finish(&file).expect("names are found");
    let contents = read(&file);
    assert_eq!((contents.site("leak"), contents.markers.len()), ((7, 77, 7), 1));
    assert_eq!(contents.sites["leak"].lines, [line_of_the_leak()]);
}

#[test]
fn packed_files_hold_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(run(folder.path(), "many", &[("TRACELOOM_ALLOC_PACKING", "lz4")]), Some(0));
    let file = folder.path().join("app.mlyze");
    let contents = read(&file);
    assert_eq!(contents.site("many"), (100_000, 10_000_000, 0));
    assert_paired(&contents);
    assert!(fs::metadata(&file).expect("it is there").len() < 1_500_000);
}

#[test]
fn samples_estimate_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(run(folder.path(), "many", &[("TRACELOOM_ALLOC_SAMPLE", "10000")]), Some(0));
    let contents = read(&folder.path().join("app.mlyze"));
    let (allocations, bytes, leaked) = contents.site("many");
    // A thousand samples are expected; the random numbers are the same every time.
    assert!((800..1200).contains(&allocations), "{allocations}");
    assert!((8_000_000..12_000_000).contains(&bytes), "{bytes}");
    assert_eq!(leaked, 0);
    assert_paired(&contents);
    assert_eq!(contents.markers, ["sampled every 10000 bytes: sizes are estimates"]);
}

/// Runs at a million allocations per second; returns the peak memory in kilobytes.
fn peak_at_rate(command: &mut Command, seconds: u32) -> i64 {
    let output = command.args(["rate".to_owned(), seconds.to_string()]).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}

fn run_at_rate(seconds: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), "program.c", &["-O2"]);
    let peak = peak_at_rate(traced(&program, folder.path()).env("TRACELOOM_ALLOC_FINISH", "later"), seconds);
    let own = peak - peak_at_rate(&mut Command::new(&program), 1);
    let file = folder.path().join("app.mlyze");
    finish(&file).expect("names are found");
    let contents = read(&file);
    println!("{seconds} s: the recorder uses {own} kB, {:?}", contents.totals);
    assert_eq!(contents.site("at_rate"), (u64::from(seconds) * 1_000_000, contents.site("at_rate").1, 0));
    assert_paired(&contents);
    // Independent of the run time: the library, its tables of stacks and rules, and a page of events.
    assert!(own < 8 << 10, "the recorder uses {own} kB");
}

#[test]
fn a_million_allocations_lose_nothing_in_bounded_memory() {
    run_at_rate(1);
}

/// Writes two gigabytes: `cargo test --release -p traceloom-record-alloc --test preload -- --ignored --nocapture`.
#[test]
#[ignore = "it takes a minute and two gigabytes"]
fn a_minute_of_a_million_allocations_a_second_loses_nothing_in_bounded_memory() {
    run_at_rate(60);
}
