//! Exit codes of incomplete results: damaged traces and missing files.

use std::fs;

use crate::{Folder, fixture, fixture_of, stderr, stdout, traceloom};

/// The samples that `demo` writes, and the first part of each in `cut`.
fn cut_samples() -> Folder {
    let folder = Folder::new();
    assert!(traceloom(&["demo", "--no-open", &folder.path("demo")]).status.success());
    fs::create_dir(folder.path("cut")).expect("a folder");
    for name in folder.names_in("demo") {
        let bytes = fs::read(folder.path(&format!("demo/{name}"))).expect("a sample");
        fs::write(folder.path(&format!("cut/{name}")), &bytes[..bytes.len() * 3 / 5]).expect("room for it");
    }
    folder
}

#[test]
fn an_answer_about_half_a_capture_is_not_fine() {
    let folder = cut_samples();
    let path = |name: &str| folder.path(name);
    let (game, whole) = (path("cut/game.prof"), path("demo/game.prof"));
    let commands: &[&[&str]] = &[
        &["info", &game],
        &["dump", &game],
        &["stats", &game],
        &["advise", &game],
        &["flame", "--format", "folded", &game],
        &["diff", &game, &whole],
        &["diff", &whole, &game],
        &["convert", &game, &path("a.pftrace")],
        &["convert", &game, &path("copy.prof")],
        &["convert", &game, &whole, &path("both.pftrace")],
        &["slice", "--range", "0s..1s", &game, &path("b.prof")],
        &["merge", &whole, &game, &path("c.prof")],
        &["memory", &path("cut/shop.mlyze")],
        &["lines", &path("cut/nytprof.out")],
        &["stats", &path("cut/game.wtf-trace")],
        &["log", &path("cut/service.clog")],
        #[cfg(feature = "sql")]
        &["query", &game, "select count(*) from spans"],
        #[cfg(feature = "sql")]
        &["convert", &game, &path("store"), "--to", "parquet"],
    ];
    for command in commands {
        let output = traceloom(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {}", stderr(&output));
        let allowed = traceloom(&[command, &["--allow-damaged"] as &[&str]].concat());
        assert_eq!(allowed.status.code(), Some(0), "{command:?}: {}", stderr(&allowed));
        let whole: Vec<String> = command.iter().map(|word| word.replace("/cut/", "/demo/")).collect();
        let whole = traceloom(&whole.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(whole.status.code(), Some(0), "{command:?}: {}", stderr(&whole));
    }
}

#[test]
fn damage_is_no_failure_of_a_repair() {
    let folder = cut_samples();
    let output = traceloom(&["repair", &folder.path("cut/game.prof"), &folder.path("repaired.prof")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn quiet_leaves_out_warnings_and_keeps_the_exit_code() {
    let folder = cut_samples();
    let game = folder.path("cut/game.prof");
    for verb in [&["stats"] as &[&str], &["dump", "--limit", "3"], &["flame", "--format", "folded"]] {
        let output = traceloom(&[verb, &[&game, "--quiet"]].concat());
        assert_eq!(stderr(&output), "", "{verb:?}");
    }
    assert_eq!(traceloom(&["stats", "-q", &game]).status.code(), Some(1));
}

#[test]
fn a_missing_file_does_not_stop_the_others() {
    let folder = cut_samples();
    let (game, missing) = (folder.path("demo/game.prof"), folder.path("missing"));
    for verb in ["check", "info", "advise"] {
        let output = traceloom(&[verb, &missing, &game]);
        assert_eq!(output.status.code(), Some(2), "{verb}");
        assert!(stderr(&output).contains("missing"), "{verb}: {}", stderr(&output));
        assert!(stdout(&output).contains("game.prof"), "{verb}: {}", stdout(&output));
    }
    let log = folder.path("demo/service.clog");
    for order in [&["log"] as &[&str], &["log", "--sort"]] {
        let output = traceloom(&[order, &[&missing, &log]].concat());
        assert_eq!(output.status.code(), Some(2), "{order:?}");
        assert_eq!(stdout(&output), stdout(&traceloom(&["log", "--sort", &log])), "{order:?}");
    }
}

#[test]
fn a_form_that_its_tool_refuses_is_complete() {
    let folder = Folder::new();
    let partial = folder.path("partial.wtf-json");
    assert!(
        traceloom(&["convert", "--to", "wtf:json-partial", &fixture_of("wtf", "js-mix.wtf-trace"), &partial])
            .status
            .success()
    );
    assert_eq!(traceloom(&["check", &partial]).status.code(), Some(1));
    let output = traceloom(&["stats", &partial]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn an_edit_whose_output_is_still_refused_is_not_fine() {
    let folder = Folder::new();
    let (deep, merged) = (fixture("v210_deep_200.prof"), folder.path("merged.prof"));
    let output = traceloom(&["merge", &deep, &deep, &merged]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("remain in the output: byte 6033: blocks are nested 256 deep"),
        "{}",
        stderr(&output)
    );
    assert_eq!(traceloom(&["repair", &merged, &folder.path("repaired.prof")]).status.code(), Some(0));
}
