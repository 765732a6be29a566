//! A scheduler and two executors as processes give the rows of the embedded engine, also when one of them is killed.

mod support;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, SystemTime},
};

use traceloom_fleet::ingest;

use crate::support::{
    Cluster, SAMPLE, collect, embedded, examples, finish, fixture, queries, root,
    s3::{ObjectStore, SECRET},
};

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
        cluster.add_executor();
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
    assert!(error.contains("no column 'nothing'"), "{error}");
}

/// The program `traceloom`, which is of another package.
fn traceloom() -> OsString {
    std::env::var_os("TRACELOOM_PROGRAM").expect("set by `cargo xtask test --cluster`")
}

/// Traces in folders that name host and build.
fn fleet(folder: &Path) -> PathBuf {
    let store = folder.join("fleet");
    for (number, trace) in traces().into_iter().enumerate() {
        let place = folder.join(format!("traces/web{}/4.{}", number % 3, number % 2));
        fs::create_dir_all(&place).expect("the folder is ours");
        let name = trace.file_name().expect("a file").to_string_lossy().into_owned();
        fs::copy(&trace, place.join(format!("{number}-{name}"))).expect("the folder is ours");
    }
    let options = traceloom_fleet::Options {
        template: Some(traceloom_fleet::Template::parse("{host}/{build}/*").expect("a template")),
        ..Default::default()
    };
    let report = ingest(&[folder.join("traces")], &store, &options, &mut |_| {}).expect("it can be written");
    assert!(report.added > 100 && report.failed.is_empty(), "{report:?}");
    store
}

static FLEET_QUERIES: &[&str] = &[
    "select day, build, name, calls, p50_ns, p95_ns, p99_ns from trend",
    "select host, build, traces, calls, total_ns, round(slowdown, 6) from hosts",
    "select * from leaks",
    "select day, host, build, file, line, format, entries, errors, round(error_rate, 6) from error_rates",
    "select build, count(*), sum(errors), sum(warnings) from ingested group by build",
    "select count(*) from quarantine",
    "select host, name, sum(total_ns) from sums where build = '4.1' group by host, name",
    "select build, count(*), max(dur_ns) from spans group by build",
];

#[test]
fn a_fleet_gives_the_same_rows_and_the_same_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = fleet(folder.path());
    let cluster = Cluster::start(2);
    let of_page = queries("docs/fleet.md");
    assert!(of_page.len() >= 3, "{of_page:?}");
    // Which rows a limit takes is open where several are equal, and so is the last digit of a sum of floats.
    let of_page = of_page.iter().map(|sql| {
        let sql = sql.replace("slowdown from", "round(slowdown, 6) as slowdown from");
        sql.split(" limit ").next().unwrap_or_default().to_owned()
    });
    for sql in &FLEET_QUERIES.iter().map(|sql| (*sql).to_owned()).chain(of_page).collect::<Vec<_>>() {
        let expected = embedded(std::slice::from_ref(&store), sql);
        assert!(expected.is_ok(), "{sql} {expected:?}");
        assert_eq!(cluster.ask(std::slice::from_ref(&store), sql), expected, "{sql}");
    }
    let program = traceloom();
    let store = store.to_str().expect("text");
    let ask = |words: &[&str], on_cluster: bool| {
        let mut command = Command::new(&program);
        command.args(words).env("TRACELOOM_CLUSTER_PROGRAM", support::PROGRAM);
        if on_cluster {
            command.args(["--cluster", &cluster.url()]);
        }
        let output = command.output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for words in [
        &["trend", store, "--json"][..],
        &["trend", store],
        &["regressions", store, "--baseline", "4.0", "--candidate", "4.1", "--fail-over", "5%", "--json"],
        &["query", store, "select build, count(*) as traces from traces group by build order by build"],
        &["query", "--format", "csv", store, "select name, sum(calls) as calls from sums group by name order by name"],
    ] {
        let (here, there) = (ask(words, false), ask(words, true));
        assert!(here.1.len() > 10, "{words:?} {here:?}");
        assert_eq!(here, there, "{words:?}");
    }
    let (code, _, error) = ask(&["query", store, "select nothing from traces"], true);
    assert!(code == Some(1) && error.contains("no column 'nothing'"), "{code:?} {error}");
}

#[test]
fn an_object_store_gives_the_rows_of_a_folder_and_wrong_credentials_are_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let bucket = folder.path().join("traces");
    fs::create_dir_all(bucket.join("day")).expect("the folder is ours");
    for (number, trace) in traces().into_iter().enumerate() {
        let name = trace.file_name().expect("a file").to_string_lossy().into_owned();
        fs::copy(&trace, bucket.join(format!("day/{number}-{name}"))).expect("the folder is ours");
    }
    let store = ObjectStore::start(folder.path());
    let (here, there) = ([bucket.join("day")], [PathBuf::from("s3://traces/day/")]);
    let cluster = Cluster::start_with(2, store.environment(SECRET));
    for sql in QUERIES {
        let expected = embedded(&here, sql);
        assert!(expected.as_ref().is_ok_and(|rows| rows.len() > 1), "{sql} {expected:?}");
        assert_eq!(cluster.ask(&there, sql), expected, "{sql}");
    }
    // The program reads the same URLs: it is built with the client, whose features it gets.
    let program = |words: &[&str]| {
        let mut command = Command::new(traceloom());
        let output = command.args(words).envs(store.environment(SECRET)).output().expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let sample = fixture(SAMPLE);
    fs::copy(&sample, bucket.join("sample.prof")).expect("the folder is ours");
    let [path, url] = [sample.to_str().expect("text"), "s3://traces/sample.prof"];
    for words in [&["stats", "--json"][..], &["dump"], &["flame"]] {
        let of = |input| program(&[words, &[input]].concat());
        assert!(of(path).0 == Some(0), "{words:?} {:?}", of(path));
        assert_eq!(of(path), of(url), "{words:?}");
    }
    let missing = [PathBuf::from("s3://traces/day/missing.prof")];
    let error = cluster.ask(&missing, QUERIES[0]).expect_err("there is none");
    assert!(error.contains("s3://traces/day/missing.prof") && error.lines().count() == 1, "{error}");
    let mut stranger = cluster.query(&there, QUERIES[0]);
    stranger.envs(store.environment("a wrong secret"));
    let error = finish(stranger.spawn().expect("the program starts")).expect_err("the secret is wrong");
    assert!(error.contains("s3://traces/day") && error.lines().count() == 1, "{error}");
}
