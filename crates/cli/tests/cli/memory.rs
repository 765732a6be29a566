//! `memory -- PROGRAM`: finds its library, runs the program, and prints the result.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value as Json;
use traceloom_testkit::preload_library;

use super::{Folder, assert_overwrites, stderr, stdout};

const LIBRARY: &str = "libtraceloom_alloc.so";

/// The program, installed alone in a folder.
fn install(folder: &Folder) -> String {
    let program = folder.path("bin/traceloom");
    fs::create_dir(folder.path("bin")).expect("a folder");
    // A hard link to the file, or a copy if the folder is on another disk.
    let built = env!("CARGO_BIN_EXE_traceloom");
    fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).expect("the program is copied");
    program
}

fn trace(program: &str, folder: &Folder, variable: Option<&Path>) -> Output {
    let mut command = Command::new(program);
    command.args(["memory", "--json", "-o", &folder.path("sh.mlyze"), "--", "sh", "-c", "echo hello; exit 3"]);
    command.env_remove("TRACELOOM_ALLOC_LIBRARY").envs(variable.map(|path| ("TRACELOOM_ALLOC_LIBRARY", path)));
    command.output().expect("it starts")
}

#[test]
fn a_program_is_run_with_the_library_wherever_that_is() {
    let folder = Folder::new();
    let program = install(&folder);
    let output = trace(&program, &folder, None);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("build it with `cargo xtask native`, or set TRACELOOM_ALLOC_LIBRARY"),
        "{output:?}"
    );
    for place in ["bin", "lib/traceloom", "lib"] {
        let library = Path::new(&folder.path(place)).join(LIBRARY);
        fs::create_dir_all(folder.path(place)).expect("a folder");
        fs::copy(preload_library(), &library).expect("it is copied");
        assert_answered(&trace(&program, &folder, None), place);
        fs::remove_file(library).expect("it is there");
    }
    let elsewhere = folder.path("elsewhere.so");
    assert_eq!(trace(&program, &folder, Some(Path::new(&elsewhere))).status.code(), Some(2));
    fs::copy(preload_library(), &elsewhere).expect("it is copied");
    assert_answered(&trace(&program, &folder, Some(Path::new(&elsewhere))), "variable");
}

fn trace_into(place: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceloom"));
    command.args(["memory", "-o", place, "--", "sh", "-c", ":"]).env("TRACELOOM_ALLOC_LIBRARY", preload_library());
    command.output().expect("it starts")
}

#[test]
fn a_recording_overwrites_only_files_and_says_what_it_wrote() {
    let folder = Folder::new();
    assert_overwrites(&folder, "sh.mlyze", trace_into);
    let output = trace_into(&folder.path("new.mlyze"));
    assert!(stderr(&output).contains("wrote ") && stderr(&output).contains("new.mlyze"), "{output:?}");
    let device = trace_into("/dev/null");
    assert_eq!(device.status.code(), Some(2), "{device:?}");
    assert!(stderr(&device).contains("/dev/null: is not a regular file"), "{device:?}");
}

/// The exit code is the program's, its output goes to standard error, and the result covers its allocations.
fn assert_answered(output: &Output, place: &str) {
    assert_eq!(output.status.code(), Some(3), "{place}: {output:?}");
    assert!(stderr(output).contains("hello"), "{place}: {output:?}");
    let answer: Json = serde_json::from_str(&stdout(output)).expect("JSON");
    assert!(answer["allocations"].as_u64() > Some(0), "{place}: {answer}");
}
