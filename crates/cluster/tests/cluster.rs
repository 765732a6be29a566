//! A scheduler and two executors as processes give the rows of the embedded engine, also when one of them is killed.

mod support;

use std::{
    fs,
    path::PathBuf,
    thread,
    time::{Duration, SystemTime},
};

use crate::support::{Cluster, SAMPLE, collect, embedded, examples, finish, fixture, root};

/// Files of all formats that can be read, damaged ones among them.
fn traces() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for format in ["cnanolog", "easyprofiler", "memlyze", "nytprof", "wtf"] {
        let mut files = Vec::new();
        collect(&root().join("fixtures").join(format), &mut files);
        files.sort();
        let is_readable = |path: &PathBuf| embedded(std::slice::from_ref(path), TOUCH).is_ok();
        let before = found.len();
        found.extend(files.into_iter().filter(is_readable).take(TRACES_PER_FORMAT));
        assert!(found.len() > before + 3, "{format} has too few traces");
    }
    found
}

const TRACES_PER_FORMAT: usize = 48;
const TOUCH: &str =
    "select (select count(*) from spans) a, (select count(*) from events) b, (select count(*) from findings) c";

static QUERIES: &[&str] = &[
    "select format, count(*) from traces group by format",
    "select severity, code, count(*) from findings group by severity, code",
    "select name, count(*), sum(dur_ns), min(ts_ns) from spans group by name",
    "select trace_id, name, count(*) from events group by trace_id, name",
    "select t.format, s.category, count(*), max(s.depth) from spans s join traces t on t.trace_id = s.trace_id group by 1, 2",
];

/// Names are numbered per file and per process: two executors must not mix them up.
#[test]
fn traces_of_all_formats_give_the_same_rows_when_an_executor_is_killed() {
    let traces = traces();
    let mut cluster = Cluster::start(2);
    for sql in QUERIES {
        let expected = embedded(&traces, sql);
        assert!(expected.as_ref().is_ok_and(|rows| rows.len() > 1), "{sql} {expected:?}");
        assert_eq!(cluster.ask(&traces, sql), expected, "{sql}");
    }
    let expected = embedded(&traces, QUERIES[2]);
    let rounds = std::env::var("TRACELOOM_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    for round in 0..rounds {
        let client = cluster.query(&traces, QUERIES[2]).spawn().expect("the program starts");
        let wait = random_ms(2500);
        thread::sleep(Duration::from_millis(wait));
        cluster.kill_executor(0);
        cluster.add_executor(&[]);
        assert_eq!(finish(client), expected, "round {round}, killed after {wait} ms");
    }
}

fn random_ms(max: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    u64::from(now.subsec_nanos()) / 1000 % max
}

#[test]
fn every_example_gives_the_same_rows() {
    let cluster = Cluster::start(2);
    for (files, sql) in examples() {
        assert_eq!(cluster.ask(&files, &sql), embedded(&files, &sql), "{sql}");
    }
}

#[test]
fn a_trace_that_cannot_be_read_is_one_sentence() {
    let cluster = Cluster::start(1);
    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("broken.prof");
    fs::write(&broken, "no trace").expect("the folder is ours");
    let sql = "select count(*) from spans";
    let error = cluster.ask(std::slice::from_ref(&broken), sql).expect_err("it is not a trace");
    assert!(error.contains("broken.prof") && error.lines().count() == 1, "{error}");
    // In a folder it is left out, and the rest of the answer is there.
    fs::copy(fixture(SAMPLE), folder.path().join("good.prof")).expect("the folder is ours");
    let folder = vec![folder.path().to_owned()];
    assert_eq!(cluster.ask(&folder, sql), embedded(&folder, sql));
    let unreachable = PathBuf::from("http://127.0.0.1:9/a.prof");
    let error = cluster.ask(&[unreachable], sql).expect_err("nobody listens there");
    assert!(error.contains("http://127.0.0.1:9/a.prof") && error.lines().count() == 1, "{error}");
    let error = cluster.ask(&[fixture(SAMPLE)], "select nothing from spans").expect_err("there is no such column");
    assert!(error.contains("there is no column 'nothing'"), "{error}");
}
