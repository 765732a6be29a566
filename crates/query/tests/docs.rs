//! Every example of `docs/sql.md` works and returns the result on the page.
//!
//! `<!-- open FILE… -->` selects the traces of the examples below it: fixtures, `sample` for the capture of `demo`, or
//! `run` for a capture and a log of one run. A block of `sql` is followed by one of `text` with its result.
//! `TRACELOOM_BLESS=1` updates the results.

mod common;

use std::{fs, path::Path};

use traceloom_core::Source;
use traceloom_mapping::{Options as Reading, Trace};
use traceloom_query::{Options, Session};

#[test]
fn examples_give_what_the_page_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let actual = replayed(&page);
    if common::is_blessing() {
        fs::write(&path, &actual).expect("the page can be written");
    } else if page != actual {
        let first = page.lines().zip(actual.lines()).find(|(page, actual)| page != actual);
        panic!("docs/sql.md differs; `cargo xtask bless` renews it: {first:?}");
    }
}

#[test]
fn every_function_and_view_has_an_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = fs::read_to_string(path).expect("the page is there");
    let examples: String = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let ours = [
        "ancestors(",
        "bucket(",
        "descendants(",
        "human_time(",
        "per_frame(",
        "percentile(",
        "spans_at(",
        "time_ns(",
        "unix_time(",
    ];
    let views = ["spans_closed", "spans_named", "allocation_sites", "line_times_merged", "calls_merged"];
    for name in ours.iter().chain(&views) {
        assert!(examples.contains(name), "{name} has no example");
    }
}

/// The page with the current results.
fn replayed(page: &str) -> String {
    let mut session: Option<Session> = None;
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        if let Some(names) = line.strip_prefix("<!-- open ").and_then(|rest| rest.strip_suffix(" -->")) {
            session = Some(open(names));
        }
        if line != "```sql" {
            continue;
        }
        let sql: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let sql = sql.join("\n");
        let answer = common::answer(session.as_ref().expect("`open` comes first"), &sql)
            .unwrap_or_else(|error| panic!("{error}"));
        out += &format!("{sql}\n```\n\n```text\n{}\n```\n", answer.join("\n"));
        // The result on the page.
        assert_eq!((lines.next(), lines.next()), (Some(""), Some("```text")), "no answer behind\n{sql}");
        while lines.next().is_some_and(|line| line != "```") {}
    }
    out
}

fn open(names: &str) -> Session {
    match names {
        "sample" => made(vec![("game.prof", capture())]),
        "run" => {
            // The log starts a tenth of a second after the capture.
            let log = common::log(common::SAMPLE_BEGIN + 1_000_000, common::SAMPLE_HZ, &[(10_000, 1), (2_345_000, 2)]);
            made(vec![("game.prof", capture()), ("service.clog", log)])
        }
        names => common::session(&names.split_whitespace().collect::<Vec<_>>()),
    }
}

fn capture() -> Vec<u8> {
    traceloom_easyprofiler::sample::sample().expect("the sample can be made").bytes
}

fn made(files: Vec<(&str, Vec<u8>)>) -> Session {
    let trace = |(name, bytes): (&str, Vec<u8>)| {
        Trace::new(Path::new(name), Source::bytes(bytes), None, &Reading::default()).expect("the sample is a trace")
    };
    let traces = files.into_iter().map(trace).collect();
    Session::new(traces, Vec::new(), &Options::default()).expect("the session starts")
}
