//! Tests for all verbs.

use std::process::{Command, Stdio};

use crate::{Folder, assert_snapshot, fixture, stderr, stdout, traceloom, with_closed_output};

#[test]
fn help_of_every_verb() {
    let mut all = stdout(&traceloom(&["--help"]));
    let (_, commands) = all.split_once("\nCommands:\n").expect("a list of commands");
    let (commands, _) = commands.split_once("\n\n").expect("an end of the list");
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let verbs: Vec<String> = names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect();
    assert!(verbs.len() > 25, "{verbs:?}");
    for verb in verbs {
        let help = traceloom(&[&verb, "--help"]);
        assert!(help.status.success());
        all += &format!("\n---- {verb}\n{}", stdout(&help));
    }
    assert_snapshot("help", &all);
}

#[test]
fn errors_name_the_file_and_what_is_wrong() {
    let missing = traceloom(&["info", "no-such-file.prof"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("no-such-file.prof"), "{}", stderr(&missing));
    let unknown = traceloom(&["info", &fixture("README.md")]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("is a text file"), "{}", stderr(&unknown));
    assert_eq!(traceloom(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let output = with_closed_output(&["dump", &fixture("v210_gui_saved_bookmarks.prof")]);
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

/// The program without a display and browser.
fn alone(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceloom"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"] {
        command.env_remove(name);
    }
    command.args(arguments).env("CI", "true").stdin(Stdio::null()).output().expect("the program starts")
}

#[test]
fn a_file_alone_is_told_about_where_nobody_can_look() {
    let file = fixture("v210_gui_saved_bookmarks.prof");
    let output = alone(&[&file]);
    assert!(output.status.success(), "{}", stderr(&output));
    let info = stdout(&traceloom(&["info", &file]));
    assert_eq!(stdout(&output), info);
    for options in [&["-q"] as &[&str], &["--color", "never"], &["--threads", "1", "--quiet"]] {
        assert_eq!(stdout(&alone(&[options, &[&file]].concat())), info, "{options:?}");
    }
}

#[test]
fn samples_are_written_and_nothing_is_opened_where_nobody_can_look() {
    let folder = Folder::new();
    for arguments in [&["demo", &folder.path("one")] as &[&str], &["demo", "--no-open", &folder.path("two")]] {
        let output = alone(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(!stdout(&output).contains("http://"));
    }
    for name in ["one", "two"] {
        let names = folder.names_in(name);
        let (recorded, samples): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.starts_with("recorded-"));
        assert_eq!((samples.len(), recorded.len()), (6, 5), "{names:?}");
    }
}

#[test]
fn completions_and_manual_page_are_printed() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&traceloom(&["completions", shell])).contains("traceloom"), "{shell}");
    }
    assert!(stdout(&traceloom(&["man"])).contains(".TH traceloom 1"));
    assert!(stdout(&traceloom(&["man", "slice"])).contains(".TH traceloom-slice 1"));
    assert_eq!(traceloom(&["man", "nothing"]).status.code(), Some(2));
}
