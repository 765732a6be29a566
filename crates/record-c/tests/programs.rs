//! C and C++ programs that record with each of the headers, and the contents of their files.

mod common;

use std::{fs, path::Path};

use common::{C, CPP, Trial, compiler, lines, profile, succeed};

#[test]
fn the_headers_compile_in_every_standard() {
    let trial = Trial::new();
    let sources = |headers: &[&str]| {
        let path = trial.path("headers.txt");
        let text: String = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
        fs::write(&path, text).unwrap();
        path
    };
    let c_and_cpp = sources(&["cnanolog.h", "traceloom.h"]);
    for standard in ["c11", "gnu11", "c17", "c++11", "c++14", "c++17", "c++20"] {
        succeed(compiler(standard).arg("-fsyntax-only").arg(&c_and_cpp));
    }
    let cpp = sources(&["easy/profiler.h", "easy/arbitrary_value.h", "cnanolog.h"]);
    for standard in ["c++11", "c++14", "c++17", "c++20"] {
        for flag in ["-DBUILD_WITH_EASY_PROFILER", "-UBUILD_WITH_EASY_PROFILER"] {
            succeed(compiler(standard).args(["-fsyntax-only", flag]).arg(&cpp));
        }
    }
}

#[test]
fn a_service_logs_with_the_names_of_cnanolog() {
    let trial = Trial::new();
    let program = trial.compile("examples/service.c", C, &[]);
    trial.run(&program, &["service.clog"]);
    let told = lines(&trial.path("service.clog"));
    assert_eq!(
        told[..4],
        [
            "INFO service starting",
            "DEBUG listening on localhost:8080, 1099511627776 bytes free, at 0x1234",
            "AUDIT alice logged in from R-7",
            "INFO User: alice, ID: 123",
        ]
    );
    for worker in 0..3 {
        let prefix = format!("INFO worker {worker}: request ");
        let own: Vec<&String> = told.iter().filter(|line| line.starts_with(&prefix)).collect();
        let expected: Vec<String> =
            (0..40).map(|request| format!("{prefix}{request} took {:.2} ms", 0.25 * f64::from(request))).collect();
        assert!(own.iter().zip(&expected).all(|(own, expected)| *own == expected) && own.len() == 40);
    }
    assert_eq!(told.iter().filter(|line| line.ends_with("/orders is slow")).count(), 12);
    assert_eq!(told.last().unwrap(), "ERROR service stopped, 0 dropped");
    assert!(!trial.path("service.clog.sites").exists());
}

#[test]
fn arguments_of_every_type_arrive_from_c_and_from_cpp() {
    let trial = Trial::new();
    for (standard, optimize) in [(C, "-O0"), (C, "-O2"), (CPP, "-O0"), ("c++17", "-O3")] {
        let program = trial.compile("tests/programs/all_types.c", standard, &[optimize]);
        trial.run(&program, &["types.clog"]);
        let fifty: Vec<String> = (1..=50).map(|number| number.to_string()).collect();
        let expected = [
            "INFO -1 200 -300 60000".to_owned(),
            "INFO -5000000000 5000000000 -9223372036854775808 18446744073709551615".to_owned(),
            "INFO 0.50 1e+300 x buffer |".to_owned(),
            "INFO 7 1 1 0x2".to_owned(),
            "INFO 1 22 333 4444 55555 666666 7777777 88888888 999999999 10".to_owned(),
            format!("INFO {}", fifty.join(" ")),
            "INFO the first format stays".to_owned(),
            "INFO the first format stays".to_owned(),
            "INFO Started".to_owned(),
            "INFO Processing 5 items".to_owned(),
            "WARN User bob failed".to_owned(),
            "DEBUG 1.500000 d".to_owned(),
        ];
        let repeated = (0..2).flat_map(|run| {
            [
                "INFO none".to_owned(),
                format!("INFO {run}"),
                format!("INFO {run} -2"),
                format!("INFO {run} -2 0.25"),
                format!("INFO {run} -2 0.25 z"),
                format!("INFO {run} -2 0.25 z 5"),
                "INFO buffer".to_owned(),
                "INFO |".to_owned(),
                format!("INFO {run} buffer"),
                format!("INFO buffer {run} |"),
                format!("INFO a buffer {run} 12345678"),
                format!("INFO {}", "y".repeat(16_000)),
            ]
        });
        let expected: Vec<String> = expected.into_iter().chain(repeated).collect();
        assert_eq!(lines(&trial.path("types.clog")), expected, "{standard} {optimize}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_program_that_was_compiled_with_the_old_header_only_needs_the_library() {
    let trial = Trial::new();
    let program = trial.compile("tests/programs/old_header.c", C, &[]);
    trial.run(&program, &["old.clog"]);
    let line = |run| format!("WARN {run} 0.5 text -5 1.5 6 c 3 4 5 6 7 8 9 10");
    assert_eq!(lines(&trial.path("old.clog")), [line(0), line(1)]);
}

#[test]
fn a_log_can_be_text_or_have_a_date_in_its_name() {
    let trial = Trial::new();
    let program = trial.compile("tests/programs/text.c", C, &[]);
    trial.run(&program, &["app.log", "daily.clog"]);
    let text = fs::read_to_string(trial.path("app.log")).unwrap();
    let told: Vec<&str> = text.lines().collect();
    assert!(told[0].starts_with("I [") && told[0].ends_with("text.c:10] port 8080"), "{text}");
    assert_eq!(told[1..], ["WARN|disk full"]);
    let dated: Vec<_> = names_of(trial.path("").as_path(), "daily-20");
    assert_eq!(dated.len(), 1, "{dated:?}");
    assert_eq!(lines(&trial.path(&dated[0])), ["INFO today"]);
}

fn names_of(folder: &Path, prefix: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(prefix)).collect()
}

#[test]
fn a_game_profiles_itself_with_the_names_of_easy_profiler() {
    let trial = Trial::new();
    for standard in [CPP, "c++17"] {
        let program = trial.compile("examples/game.cpp", standard, &["-DBUILD_WITH_EASY_PROFILER"]);
        let output = trial.run(&program, &["game.prof"]);
        let told = profile(&trial.path("game.prof"));
        let count = |what: &str| told.iter().filter(|line| *line == what).count();
        let counts = [
            ("thread Main", 1),
            ("thread Loader", 1),
            ("block before the capture", 0),
            ("block frame", 3),
            ("block update", 3),
            ("block think", 12),
            ("block step 2", 1),
            ("block draw", 3),
            ("block a child that is off", 0),
            ("block a child that is always on", 3),
            ("block load", 2),
            ("event loaded", 2),
            ("event ThreadFinished", 1),
            ("value asset castle", 1),
            ("value sizes Signed(2),Signed(-3),Signed(4)", 1),
            ("value frame number Signed(2)", 1),
            ("value mood Double(0.0)", 3),
            ("block open at the end (open)", 1),
        ];
        for (what, expected) in counts {
            assert_eq!(count(what), expected, "{what}: {told:#?}");
        }
        let recorded = told.iter().filter(|line| !line.starts_with("thread ")).count();
        // The recorder itself adds the end of the recording.
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{} blocks\n", recorded - 1));
    }
}

#[test]
fn without_the_profiler_nothing_is_left_of_it() {
    let trial = Trial::new();
    let program = trial.compile("tests/programs/nothing.cpp", CPP, &["-DWITHOUT_LIBRARY"]);
    trial.run(&program, &[]);
    assert!(!trial.path("nothing.prof").exists());
}

#[test]
fn an_editor_writes_three_files_at_once() {
    let trial = Trial::new();
    let program = trial.compile("examples/editor.c", C, &[]);
    trial.run(&program, &["."]);
    let log = lines(&trial.path("editor.clog"));
    assert_eq!(log.len(), 7);
    assert_eq!((log[2].as_str(), log[6].as_str()), ("INFO frame 2 is 12 wide", "WARN 17 bytes are not saved"));
    let told = profile(&trial.path("editor.prof"));
    let count = |what: &str| told.iter().filter(|line| *line == what).count();
    assert_eq!((count("thread editor"), count("block frame"), count("block lay out")), (1, 6, 6));
    assert_eq!((count("block second"), count("event notes.txt"), count("value width Unsigned(12)")), (2, 1, 2));
    assert_eq!((count("value sizes Double(0.5),Double(1.5)"), count("value file notes.txt")), (1, 1));
    assert!(fs::metadata(trial.path("editor.wtf-trace")).unwrap().len() > 200);
}
