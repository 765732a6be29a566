//! Queries on fixtures of every format, with their results: `slt/*.slt`.
//!
//! `open FILE…` selects fixtures. `query`, the SQL and `----` are followed by the result up to an empty line; after
//! `error`, it is the error message. `TRACELOOM_BLESS=1` updates the results.

mod common;

use std::{fs, path::Path};

use traceloom_query::Session;

#[test]
fn answers_are_as_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut problems = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("the file can be read");
        let actual = replayed(&text);
        if common::is_blessing() {
            fs::write(&path, &actual).expect("the file can be written");
        } else if actual != text {
            problems.push(format!("{}: {}", path.display(), difference(&text, &actual)));
        }
    }
    assert!(problems.is_empty(), "`cargo xtask bless` renews answers\n{}", problems.join("\n"));
}

/// The file with the current results.
fn replayed(text: &str) -> String {
    let mut session: Option<Session> = None;
    let mut out = String::new();
    for block in text.trim_end().split("\n\n") {
        let (kind, rest) = block.split_once('\n').unwrap_or((block, ""));
        if let Some(names) = kind.strip_prefix("open ") {
            session = Some(common::session(&names.split_whitespace().collect::<Vec<_>>()));
        }
        if kind != "query" && kind != "error" {
            out += &format!("{block}\n\n");
            continue;
        }
        let (sql, _) = rest.split_once("\n----").unwrap_or((rest, ""));
        let session = session.as_ref().expect("`open` comes first");
        let answer = match (kind, common::answer(session, sql)) {
            ("query", Ok(lines)) => lines.join("\n"),
            ("error", Err(message)) => message,
            (_, Ok(lines)) => panic!("{sql}\nhas an answer: {lines:?}"),
            (_, Err(message)) => panic!("{sql}\n{message}"),
        };
        out += &format!("{kind}\n{sql}\n----\n{answer}\n\n");
    }
    format!("{}\n", out.trim_end())
}

fn difference(expected: &str, actual: &str) -> String {
    let mut lines = expected.lines().zip(actual.lines()).enumerate();
    let first = lines.find(|(_, (expected, actual))| expected != actual);
    match first {
        Some((line, (expected, actual))) => format!("line {}\n  expected {expected}\n  actual   {actual}", line + 1),
        None => format!("{} lines expected, {} are there", expected.lines().count(), actual.lines().count()),
    }
}
