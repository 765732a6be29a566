//! Every verb and every target gives the same bytes for any number of threads.

use std::fs;

use traceloom_core::Result;

use super::{Folder, fixture, fixture_of, stdout, traceloom};

const THREADS: [&str; 3] = ["2", "3", "8"];

/// The output, exit code and files of a run, which must not depend on the number of threads.
fn outcome(threads: &str, words: &[&str], written: Option<&str>) -> (Option<i32>, Vec<u8>, Vec<u8>, Option<Vec<u8>>) {
    let run = traceloom(&[words, &["--threads", threads]].concat());
    (run.status.code(), run.stdout, run.stderr, written.and_then(|path| fs::read(path).ok()))
}

fn assert_same(words: &[&str], written: Option<&str>) {
    let expected = outcome("1", words, written);
    for threads in THREADS {
        assert!(outcome(threads, words, written) == expected, "{words:?} with {threads} threads");
    }
}

/// A file of each format, a damaged one, and a log that is long enough for several rounds of all threads.
fn files(folder: &Folder) -> Vec<String> {
    let log = folder.path("long.clog");
    write_log(&log, 10_000).expect("a log can be written");
    vec![
        log,
        fixture("v210_nested_threads.prof"),
        fixture_of("cnanolog", "head_types.clog"),
        fixture_of("memlyze", "api_medium.mlyze"),
        fixture_of("nytprof", "recurse-calls2.nytprof"),
        fixture_of("wtf", "js-mix.wtf-trace"),
        cut(&fixture("v210_nested_threads.prof"), folder, "cut.prof"),
    ]
}

/// Three entries per request.
fn write_log(path: &str, requests: u64) -> Result<()> {
    traceloom::cnanolog::sample::write(fs::File::create(path)?, requests).map(drop)
}

fn cut(path: &str, folder: &Folder, name: &str) -> String {
    let (bytes, cut) = (fs::read(path).expect("the fixture can be read"), folder.path(name));
    fs::write(&cut, &bytes[..bytes.len() * 2 / 3]).expect("a file can be written");
    cut
}

#[test]
fn every_verb_prints_the_same() {
    let folder = Folder::new();
    let files = files(&folder);
    for verb in ["info", "summary", "stats", "flame", "tree", "memory", "advise", "check", "lines"] {
        for file in &files {
            assert_same(&[verb, file], None);
        }
    }
    assert_same(&["stats", "--by", "name,thread", &files[1]], None);
    assert_same(&["diff", &files[1], &files[6]], None);
    for more in [&[][..], &["--json"], &["--limit", "7"], &["--tail", "9"], &["--grep", "request", "--context", "1"]] {
        assert_same(&[&["log", &files[0]], more].concat(), None);
    }
}

#[test]
fn every_target_gets_the_same_bytes() {
    let folder = Folder::new();
    let list = stdout(&traceloom(&["convert", "--list"]));
    let names = list.lines().filter(|line| !line.starts_with(' '));
    let targets: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(targets.contains(&"perfetto") && targets.contains(&"chrome"), "{list}");
    let out = folder.path("out");
    for file in files(&folder) {
        for target in &targets {
            assert_same(&["convert", "--to", target, &file, &out], Some(&out));
        }
    }
}

#[cfg(feature = "sql")]
#[test]
fn queries_answer_the_same() {
    let folder = Folder::new();
    let files = files(&folder);
    for sql in [
        "select level, message, count(*) from logs group by 1, 2 order by 3 desc, 1, 2 limit 20",
        "select id, message from logs order by id limit 5",
        "select owner_id, key, text_value, int_value from args order by id limit 50",
    ] {
        assert_same(&["query", sql, &files[0]], None);
    }
    assert_same(&["query", "select name, count(*), sum(dur_ns) from spans group by 1 order by 1", &files[1]], None);
}

#[test]
fn zero_threads_are_refused() {
    let run = traceloom(&["stats", &fixture("v210_nested_threads.prof"), "--threads", "0"]);
    assert_eq!(run.status.code(), Some(2));
}
