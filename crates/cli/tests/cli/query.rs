//! `query`.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use traceloom_testkit::made::arrays;

use crate::{Folder, fixture, fixture_of, stderr, stdout, traceloom};

const BY_NAME: &str = "select name, count(*) as calls from spans group by name order by calls desc, name limit 3";

fn capture() -> String {
    fixture("v210_nested_threads.prof")
}

#[test]
fn every_format_has_the_same_rows() {
    let lines = |format: &str| {
        let output = traceloom(&["query", &capture(), BY_NAME, "--format", format]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (table, csv, json) = (lines("table"), lines("csv"), lines("json"));
    assert_eq!((table.len(), csv.len(), json.len()), (4, 4, 3));
    assert_eq!(csv[0], "name,calls");
    for ((table, csv), json) in table[1..].iter().zip(&csv[1..]).zip(&json) {
        let (name, calls) = csv.split_once(',').expect("two columns");
        assert_eq!(table.split_whitespace().collect::<Vec<_>>().join(" "), format!("{name} {calls}"));
        let row: serde_json::Value = serde_json::from_str(json).expect("a line is an object");
        assert_eq!((row["name"].as_str(), row["calls"].to_string()), (Some(name), calls.to_owned()));
    }
}

#[test]
fn files_for_programs_are_written_whole() {
    let folder = Folder::new();
    for (format, begin, end) in [("parquet", &b"PAR1"[..], &b"PAR1"[..]), ("arrow", b"ARROW1", b"ARROW1")] {
        let path = folder.path(format);
        let output = traceloom(&["query", &capture(), BY_NAME, "--format", format, "-o", &path]);
        assert!(output.status.success(), "{}", stderr(&output));
        let bytes = fs::read(&path).expect("the file is there");
        assert!(bytes.starts_with(begin) && bytes.ends_with(end), "{format}");
    }
}

#[test]
fn a_question_comes_from_a_file_or_a_pipe() {
    let folder = Folder::new();
    let path = folder.path("q.sql");
    fs::write(&path, format!("-- by name\n{BY_NAME};\n")).expect("the file can be written");
    let word = traceloom(&["query", &capture(), BY_NAME]);
    assert_eq!(stdout(&traceloom(&["query", &capture(), "--file", &path])), stdout(&word));
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceloom"))
        .args(["query", &capture()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(BY_NAME.as_bytes()).expect("the pipe takes it");
    assert_eq!(stdout(&child.wait_with_output().expect("it ends")), stdout(&word));
}

#[test]
fn patterns_and_folders_are_one_set_of_tables() {
    let pattern = fixture("easy_profiler-2.1.0/v210_two_dumps_*.prof");
    let output = traceloom(&["query", &pattern, "select count(*) as traces from traces", "--format", "csv"]);
    assert_eq!(stdout(&output), "traces\n2\n", "{}", stderr(&output));
    let folder = Folder::new();
    fs::copy(capture(), folder.path("a.prof")).expect("a copy");
    fs::copy(fixture_of("cnanolog", "head_server.clog"), folder.path("b.clog")).expect("a copy");
    fs::write(folder.path("notes.txt"), "no trace").expect("a file");
    let output =
        traceloom(&["query", &folder.path(""), "select format from traces order by format", "--format", "csv"]);
    assert_eq!(stdout(&output), "format\ncnanolog\neasyprofiler\n", "{}", stderr(&output));
    let output = traceloom(&["query", &folder.path("*.none"), "select 1 as one"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("matches no file"), "{}", stderr(&output));
}

#[test]
fn a_mistake_is_marked() {
    let output = traceloom(&["query", &capture(), "select nmae from spans"]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains("1 | select nmae from spans\n  |        ^^^^\nhelp: did you mean `name`?"), "{message}");
    let output = traceloom(&["query", &capture(), "drop table spans"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("only queries are allowed"));
}

#[test]
fn a_plan_says_what_is_read() {
    let output = traceloom(&["query", "--explain", &capture(), BY_NAME]);
    assert!(stdout(&output).contains("TraceExec: spans, traces=1, columns=[name]"), "{}", stdout(&output));
}

#[test]
fn an_offset_moves_the_times_of_a_file() {
    let times = |arguments: &[&str]| {
        let question = ["query", &capture(), "select min(ts_ns) as t from spans", "--format", "csv"];
        let output = traceloom(&[&question[..], arguments].concat());
        let text = stdout(&output);
        text.lines().nth(1).and_then(|line| line.parse::<i64>().ok()).unwrap_or_else(|| panic!("{}", stderr(&output)))
    };
    let offset = format!("{}=-1.5s", capture());
    assert_eq!(times(&["--offset", &offset]), times(&[]) - 1_500_000_000);
    let output = traceloom(&["query", &capture(), "select 1 as one", "--offset", "other.prof=1s"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_empty_array_is_not_null() {
    let folder = Folder::new();
    let trace = folder.path("arrays.wtf-trace");
    fs::write(&trace, arrays()).expect("room for it");
    let sql = "select key, idx, int_value, text_value from args where owner_table = 'events' order by id";
    let ask = |format: &str| stdout(&traceloom(&["query", &trace, sql, "--format", format]));
    assert_eq!(ask("csv"), "key,idx,int_value,text_value\nsome,0,7,\nempty,,,[]\nnone,,,\n");
    let cells: Vec<Vec<String>> =
        ask("table").lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect();
    assert_eq!(cells[1..], [vec!["some", "0", "7"], vec!["empty", "[]"], vec!["none"]]);
    let objects =
        [r#"{"key":"some","idx":0,"int_value":7}"#, r#"{"key":"empty","text_value":"[]"}"#, r#"{"key":"none"}"#];
    assert_eq!(ask("json").lines().collect::<Vec<_>>(), objects);
    // It is still an empty array after a way through the tables.
    let (store, copy) = (folder.path("store"), folder.path("copy.wtf-trace"));
    assert!(traceloom(&["convert", "--to", "parquet", &trace, &store]).status.success());
    assert!(traceloom(&["convert", &store, &copy]).status.success());
    assert_eq!(stdout(&traceloom(&["query", &copy, sql, "--format", "csv"])), ask("csv"));
}
