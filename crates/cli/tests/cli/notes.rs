//! Notes are kept in reports, and in formats that can hold them.

use std::fs;

use serde_json::Value;

use crate::{Folder, stderr, stdout, traceloom};

/// A sample with two notes, one of which is about a span.
fn noted(sample: &str) -> (Folder, String) {
    let folder = Folder::new();
    assert!(traceloom(&["demo", "--no-open", &folder.path("demo")]).status.success());
    let trace = folder.path(&format!("demo/{sample}"));
    let notes = r#"{"version": 1, "notes": [
        {"ts_ns": 500000000, "dur_ns": null, "name": null, "text": "look <here>"},
        {"ts_ns": 1200000000, "dur_ns": 20000000, "name": "Frame", "text": "why so long?"}
    ]}"#;
    fs::write(format!("{trace}.notes.json"), notes).expect("it can be written");
    (folder, trace)
}

const TEXTS: [&str; 2] = ["look <here>", "why so long? (Frame, 20 ms)"];

/// Converts a trace; returns the messages.
fn convert(arguments: &[&str]) -> String {
    let output = traceloom(&[&["convert"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}

/// Times and texts of all events of a category.
fn marks(trace: &str, category: &str) -> Vec<(i64, String)> {
    let sql = format!("select ts_ns, name from events where category = '{category}' order by ts_ns");
    let output = traceloom(&["query", "--format", "json", trace, &sql]);
    assert!(output.status.success(), "{}", stderr(&output));
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        (row["ts_ns"].as_i64().expect("a time"), row["name"].as_str().expect("a name").to_owned())
    };
    stdout(&output).lines().map(row).collect()
}

fn has_all(marks: &[(i64, String)]) -> bool {
    TEXTS.iter().all(|text| marks.iter().any(|(_, name)| name == text))
}

#[test]
fn a_report_shows_them() {
    let (_folder, trace) = noted("game.prof");
    let report = |options: &[&str]| stdout(&traceloom(&[&["report", &trace, "-o", "-"], options].concat()));
    let html = report(&[]);
    assert!(html.contains("<h3>Notes</h3>") && html.contains("look &lt;here&gt;") && html.contains("Frame, 20 ms"));
    let markdown = report(&["--markdown"]);
    assert!(markdown.contains("note at 1.2 s: why so long?"), "{markdown}");
    let json: Value = serde_json::from_str(&report(&["--json"])).expect("it is JSON");
    assert_eq!(json["notes"][0][1]["text"], "why so long?");
}

#[test]
fn they_are_bookmarks_and_marks_of_other_formats() {
    let (folder, trace) = noted("game.prof");
    let wtf = folder.path("out.wtf-trace");
    assert!(!convert(&[&trace, &wtf]).contains("lost: notes"));
    let found = marks(&wtf, "mark");
    assert!(has_all(&found), "{found:?}");
    let (folder, trace) = noted("game.wtf-trace");
    let prof = folder.path("out.prof");
    assert!(!convert(&[&trace, &prof]).contains("lost: notes"));
    let found = marks(&prof, "bookmark");
    assert!(has_all(&found), "{found:?}");
    let gap = |text: &str| found.iter().find(|(_, name)| name == text).map(|(ts_ns, _)| *ts_ns).expect("it is there");
    assert_eq!(gap(TEXTS[1]) - gap(TEXTS[0]), 700_000_000);
}

#[test]
fn they_are_events_of_other_tools() {
    let (folder, trace) = noted("game.prof");
    let out = folder.path("out");
    for target in ["chrome", "firefox", "perfetto"] {
        assert!(!convert(&["--to", target, &trace, &out]).contains("lost: notes"), "{target}");
        let bytes = fs::read(&out).expect("it is there");
        let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(TEXTS.iter().all(|text| has(text)), "{target}");
    }
    let clog = folder.path("demo/service.clog");
    assert!(!convert(&["--to", "chrome", &trace, &clog, &out]).contains("lost: notes"));
    let text = fs::read_to_string(&out).expect("it is text");
    assert!(TEXTS.iter().all(|note| text.contains(note)), "several traces on one axis");
}

#[test]
fn what_cannot_hold_them_says_so() {
    let (folder, trace) = noted("game.prof");
    for target in ["folded", "pprof", "speedscope"] {
        let told = convert(&["--to", target, &trace, &folder.path("out")]);
        assert!(told.contains("lost: notes: 2 (such as look <here>)"), "{target}: {told}");
    }
    let told = convert(&[&trace, &folder.path("copy.prof")]);
    assert!(told.contains("lost: notes: 2"), "{told}");
    let told = convert(&["--to", "speedscope", "--range", "0s..1s", &trace, &folder.path("out")]);
    assert!(told.contains("lost: notes: 1"), "{told}");
}

#[test]
fn an_interactive_report_says_that_it_has_none() {
    let (folder, trace) = noted("game.prof");
    let page = folder.path("page.html");
    fs::write(&page, "<!--trace-->").expect("it can be written");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_traceloom"));
    command.args(["report", "--interactive", &trace, "-o", &folder.path("out.html")]);
    let output = command.env("TRACELOOM_PAGE", &page).output().expect("the program starts");
    assert!(stderr(&output).contains("an interactive report leaves out its notes (2)"), "{}", stderr(&output));
}
