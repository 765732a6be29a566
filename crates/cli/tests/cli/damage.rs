//! Exit codes of incomplete results: damaged traces and missing files.

use std::fs;

#[cfg(feature = "sql")]
use traceloom_testkit::made::write_threads;

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
        &["lines", "--csv", &path("cut/nytprof.out")],
        &["log", &path("cut/service.clog")],
        &["log", "--sort", &path("cut/service.clog")],
        #[cfg(feature = "sql")]
        &["query", &game, "select count(*) from spans"],
        #[cfg(feature = "sql")]
        &["convert", &game, &path("store"), "--to", "parquet"],
        &["tree", &game],
        &["summary", &game],
        &["top", &game],
        &["report", &game, "-o", &path("report.html")],
        &["report", "--json", &game],
        &["diff", "--baseline", &game, &whole, "--candidate", &whole, &whole],
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
fn an_answer_about_half_a_compressed_file_is_not_fine() {
    let folder = cut_samples();
    let path = |name: &str| folder.path(name);
    for name in ["game.prof", "service.clog"] {
        let copy = path(&format!("{name}.gz"));
        assert!(traceloom(&["convert", &path(&format!("demo/{name}")), &copy]).status.success());
        let bytes = fs::read(&copy).expect("a file");
        assert_eq!(bytes[..2], [0x1f, 0x8b], "it is compressed");
        fs::write(path(&format!("cut.{name}.gz")), &bytes[..bytes.len() * 3 / 5]).expect("room for it");
    }
    let (game, log) = (path("cut.game.prof.gz"), path("cut.service.clog.gz"));
    let commands: &[&[&str]] = &[
        &["stats", &game],
        &["check", &game],
        &["info", &game],
        &["convert", &game, &path("out.pftrace")],
        &["convert", &game, &path("copy.prof")],
        &["log", &log],
        &["log", "--sort", &log],
        &["check", &log],
        #[cfg(feature = "sql")]
        &["query", &game, "select count(*) from spans"],
    ];
    for command in commands {
        let output = traceloom(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {}", stderr(&output));
        assert!(output.stdout.len() + output.stderr.len() > 0, "{command:?}");
    }
}

/// CNanoLog's decompressor stops at damage, so the answer is an error, not a part that may be allowed.
#[test]
fn the_text_of_the_decompressor_ends_at_damage() {
    let folder = cut_samples();
    for options in [&[] as &[&str], &["--allow-damaged"]] {
        let output = traceloom(&[&["log", "--compat", &folder.path("cut/service.clog")], options].concat());
        assert_eq!(output.status.code(), Some(1), "{options:?}: {}", stderr(&output));
    }
}

#[cfg(feature = "sql")]
#[test]
fn a_fleet_reports_damage_when_it_takes_a_trace() {
    let folder = cut_samples();
    let path = |name: &str| folder.path(name);
    let code = |arguments: &[&str]| {
        let output = traceloom(arguments);
        output.status.code().unwrap_or_else(|| panic!("{arguments:?}: {}", stderr(&output)))
    };
    assert_eq!(code(&["ingest", &path("demo/game.prof"), &path("whole")]), 0);
    assert_eq!(code(&["ingest", &path("cut/game.prof"), &path("fleet")]), 1);
    assert_eq!(code(&["ingest", &path("cut/game.prof"), &path("other"), "--allow-damaged"]), 0);
    assert_eq!(code(&["convert", "--to", "parquet", &path("cut/game.prof"), &path("store")]), 1);
    // The trace is known, and nothing is added.
    assert_eq!(code(&["ingest", &path("cut/game.prof"), &path("fleet")]), 0);
    // What a store has, it has: its table `findings` lists the damage.
    for store in ["fleet", "store"] {
        assert_eq!(code(&["query", &path(store), "select count(*) from spans"]), 0, "{store}");
        let answer = traceloom(&["query", &path(store), "select code from findings where severity = 'error'"]);
        assert!(stdout(&answer).contains("easyprofiler."), "{store}: {}", stdout(&answer));
    }
}

#[cfg(feature = "sql")]
#[test]
fn an_answer_that_ends_before_the_damage_is_complete() {
    let folder = Folder::new();
    let cut = folder.path("cut.prof");
    // Many threads, so that the first rows are complete long before the end of the file.
    write_threads(cut.as_ref(), 40, 4_000);
    let bytes = fs::read(&cut).expect("a trace");
    fs::write(&cut, &bytes[..bytes.len() - 100]).expect("room for it");
    let code = |sql: &str| traceloom(&["query", &cut, sql]).status.code();
    assert_eq!(code("select count(*) from spans"), Some(1));
    assert_eq!(code("select name from spans limit 1"), Some(0));
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
    let (shop, html) = (folder.path("demo/shop.mlyze"), folder.path("out.html"));
    let commands: &[&[&str]] = &[
        &["stats", &game],
        &["top", &game],
        &["flame", "--format", "folded", &game],
        &["tree", &game],
        &["memory", &shop],
        &["summary", &game],
        &["report", "-o", "-", "--json", &game],
        #[cfg(feature = "sql")]
        &["query", "--format", "csv", &game, "select count(*) from spans"],
    ];
    for command in commands {
        let alone = traceloom(command);
        assert_eq!(alone.status.code(), Some(0), "{command:?}: {}", stderr(&alone));
        // Two files would be compared in a report.
        let all = [&command[..1], &[&missing, &missing], &command[1..]].concat();
        let output = traceloom(&all);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {}", stderr(&output));
        assert_eq!(stderr(&output).matches("missing: No such file").count(), 2, "{command:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), stdout(&alone), "{command:?}");
        let rest = command.iter().filter(|word| ![&game, &shop].contains(&&(**word).to_owned()));
        let none: Vec<&str> = rest.copied().collect();
        let none = traceloom(&[&none[..1], &[&missing, &missing, &missing], &none[1..]].concat());
        assert_eq!(none.status.code(), Some(2), "{command:?}: {}", stderr(&none));
        assert_eq!(stderr(&none).matches("missing: No such file").count(), 3, "{command:?}: {}", stderr(&none));
        assert_eq!(stdout(&none), "", "{command:?}");
    }
    let output = traceloom(&["report", &missing, &missing, &missing, "-o", &html]);
    assert_eq!((output.status.code(), folder.names().contains(&"out.html".to_owned())), (Some(2), false));
    let log = folder.path("demo/service.clog");
    for order in [&["log"] as &[&str], &["log", "--sort"]] {
        let output = traceloom(&[order, &[&missing, &log]].concat());
        assert_eq!(output.status.code(), Some(2), "{order:?}");
        assert_eq!(stdout(&output), stdout(&traceloom(&["log", "--sort", &log])), "{order:?}");
    }
}

#[test]
fn an_answer_that_needs_every_file_is_refused() {
    let folder = cut_samples();
    let (game, missing, out) = (folder.path("demo/game.prof"), folder.path("missing"), folder.path("out.prof"));
    let commands: &[&[&str]] = &[
        &["diff", &game, &missing],
        &["diff", "--baseline", &game, &missing, "--candidate", &game],
        &["report", &game, &missing, "-o", &out],
        &["merge", &game, &missing, &out],
        &["convert", "--to", "chrome", &game, &missing, &out],
    ];
    for command in commands {
        let output = traceloom(command);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("missing: No such file"), "{command:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{command:?}");
        assert!(!folder.names().contains(&"out.prof".to_owned()), "{command:?}");
    }
}

#[cfg(feature = "sql")]
#[test]
fn a_store_takes_the_files_that_are_there() {
    let folder = cut_samples();
    let (game, missing, store) = (folder.path("demo/game.prof"), folder.path("missing"), folder.path("store"));
    let output = traceloom(&["convert", "--to", "parquet", &missing, &game, &store]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("added: 1 trace"), "{}", stderr(&output));
}

/// How the program prints the end of an odd file name.
const ODD: &str = "\\u{202e}\u{fffd}[2J";

#[test]
fn names_of_files_cannot_affect_the_terminal() {
    let folder = cut_samples();
    let odd = folder.path("odd");
    fs::create_dir(&odd).expect("a folder");
    let name = |what: &str| format!("{odd}/{what}\u{202e}\u{1b}[2J.prof");
    let (cut, whole, copy) = (name("cut"), name("whole"), name("copy"));
    // Not in the same folder, because a query of that would stop at it.
    let empty = folder.path("empty\u{202e}\u{1b}[2J.prof");
    fs::copy(folder.path("cut/game.prof"), &cut).expect("a copy");
    for place in [&whole, &copy] {
        fs::copy(folder.path("demo/game.prof"), place).expect("a copy");
    }
    let bytes = fs::read(folder.path("demo/game.prof")).expect("a sample");
    fs::write(&empty, &bytes[..6]).expect("a file");
    let commands: &[(&[&str], &str)] = &[
        (&["stats", &cut], "[easyprofiler."),
        (&["stats", &whole, &copy], "note:"),
        (&["stats", &name("missing")], "No such file"),
        (&["slice", &whole, &name("out")], "wrote"),
        #[cfg(feature = "sql")]
        (&["convert", "--to", "parquet", &whole, &folder.path("store")], "added:"),
        #[cfg(feature = "sql")]
        (&["convert", "--to", "parquet", &whole, &folder.path("store")], "skipped:"),
        #[cfg(feature = "sql")]
        (&["query", &odd, "select count(*) from spans"], "[easyprofiler."),
        #[cfg(feature = "sql")]
        (&["ingest", &empty, &folder.path("fleet")], "quarantined:"),
    ];
    for (command, word) in commands {
        let output = traceloom(command);
        let told = stderr(&output);
        assert!(told.contains(word), "{command:?}: {told:?}");
        assert!(!told.contains(['\u{202e}', '\u{1b}']), "{command:?}: {told:?}");
        assert!(*word == "added:" || told.contains(ODD), "{command:?}: {told:?}");
    }
    let text = name("text");
    fs::write(&text, "nothing but text").expect("a file");
    let recorded = name("recorded");
    fs::copy(fixture("v210_values.prof"), &recorded).expect("a copy");
    #[cfg(feature = "sql")]
    assert!(traceloom(&["convert", "--to", "parquet", &whole, &name("store")]).status.success());
    let commands: &[&[&str]] = &[
        &["check", &whole],
        &["check", &cut],
        &["check", "--strict", &cut],
        &["check", &text],
        &["info", &whole],
        &["info", &cut],
        &["advise", &whole],
        &["advise", &recorded],
        &["summary", &whole],
        &["info", "--more", &whole],
        #[cfg(feature = "sql")]
        &["info", &name("store")],
        &["demo", "--no-open", &name("demo")],
    ];
    for command in commands {
        let shown = stdout(&traceloom(command));
        assert!(!shown.contains(['\u{202e}', '\u{1b}']), "{command:?}: {shown:?}");
        assert!(shown.contains(ODD), "{command:?}: {shown:?}");
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
