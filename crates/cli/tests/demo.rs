//! `demo` runs programs that record themselves, and their traces have no problems.

use std::process::{Command, Output};

fn traceloom(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_traceloom")).args(arguments).current_dir(folder).output().expect("it runs")
}

#[test]
fn programs_record_themselves() {
    let folder = tempfile::tempdir().expect("there is room");
    let demo = traceloom(&folder, &["demo", "--no-open", "."]);
    assert!(demo.status.success(), "{demo:?}");
    let files = [
        "recorded-game.prof",
        "recorded-game.wtf-trace",
        "recorded-game.clog",
        "recorded-service.clog",
        "recorded-service.wtf-trace",
    ];
    let check = traceloom(&folder, &[&["check", "--strict"][..], &files].concat());
    assert!(check.status.success(), "{check:?}");
    let log = traceloom(&folder, &["log", "recorded-service.clog"]);
    let text = String::from_utf8(log.stdout).expect("UTF-8");
    assert!(text.contains("service orders starting, 3 workers") && text.contains("[AUDIT]"), "{text}");
    assert!(text.contains("request 199: "), "{text}");
    let stats = traceloom(&folder, &["stats", "recorded-game.prof"]);
    let text = String::from_utf8(stats.stdout).expect("UTF-8");
    assert!(["think", "update", "draw", "dragon"].iter().all(|name| text.contains(name)), "{text}");
}
