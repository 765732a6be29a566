//! A scheduler and executors as processes give the rows of the embedded engine: from files and from an object store, also
//! when an executor is killed.

mod support;

use std::{
    ffi::OsString,
    fs,
    path::PathBuf,
    process::Command,
    thread,
    time::{Instant, SystemTime},
};

use traceloom_fleet::ingest;
use traceloom_query::{Options, Session};
use traceloom_testkit::fixture;

use crate::support::{
    Cluster, SAMPLE, answer,
    corpus::{BUCKET, Corpus},
    embedded, examples, file_url, finish, queries,
    s3::{ObjectStore, SECRET},
    unlimited,
};

/// Names are numbered per file and per process: two executors must not mix them up.
const BY_NAME: &str = "select name, count(*), sum(dur_ns), min(ts_ns) from spans group by name";

static QUERIES: &[&str] = &[
    BY_NAME,
    "select format, count(*) from traces group by format",
    "select severity, code, count(*) from findings group by severity, code",
    "select trace_id, name, count(*) from events group by trace_id, name",
    "select t.format, s.category, count(*), max(s.depth) from spans s join traces t on t.trace_id = s.trace_id group by 1, 2",
];

#[test]
fn every_query_gives_the_same_rows_from_files_and_from_an_object_store() {
    let corpus = Corpus::new();
    let store = ObjectStore::start(corpus.root());
    let cluster = Cluster::start_with(2, store.environment(SECRET));
    let session = corpus.session();
    let places = [file_url(&corpus.folder()), PathBuf::from(format!("s3://{BUCKET}/day/"))];
    let made = tempfile::tempdir().expect("a folder");
    let of_page = examples(made.path()).into_iter().map(|(_, sql)| unlimited(&sql).to_owned());
    for sql in QUERIES.iter().map(|sql| (*sql).to_owned()).chain(of_page) {
        let expected = answer(&session, &sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        for place in &places {
            let rows = cluster.ask(std::slice::from_ref(place), &sql).map(|rows| corpus.localized(rows));
            assert!(rows == Ok(expected.clone()), "{sql}\n{} {}", place.display(), difference(&rows, &expected));
        }
    }
}

/// The first line that differs: whole answers are too long to look at.
fn difference(rows: &Result<Vec<String>, String>, expected: &[String]) -> String {
    match rows {
        Err(error) => error.clone(),
        Ok(rows) => {
            let differing = rows.iter().zip(expected).find(|(row, expected)| row != expected);
            format!("{} rows, {} expected; {differing:?}", rows.len(), expected.len())
        }
    }
}

#[test]
fn every_example_gives_the_same_rows() {
    let cluster = Cluster::start(2);
    let made = tempfile::tempdir().expect("a folder");
    for (files, sql) in examples(made.path()) {
        let urls: Vec<PathBuf> = files.iter().map(|file| file_url(file)).collect();
        let expected = embedded(&urls, &sql);
        assert!(expected.as_ref().is_ok_and(|rows| !rows.is_empty()), "{sql} {expected:?}");
        assert_eq!(cluster.ask(&urls, &sql), expected, "{sql}");
    }
}

/// Executors that are killed, one after the other.
const KILLS: usize = 20;

#[test]
fn a_killed_executor_changes_no_answer() {
    let corpus = Corpus::new();
    let inputs = [file_url(&corpus.folder())];
    let expected = answer(&corpus.session(), BY_NAME);
    let mut cluster = Cluster::start(2);
    let started = Instant::now();
    assert!(cluster.ask(&inputs, BY_NAME) == expected, "without a kill");
    // Any moment of the query, from the first trace that the client looks at to the last row.
    let undisturbed = started.elapsed();
    let mut late = 0;
    for round in 0..KILLS {
        let mut client = cluster.query(&inputs, BY_NAME).spawn().expect("the program starts");
        let wait = undisturbed.mul_f64(random_share());
        thread::sleep(wait);
        late += usize::from(client.try_wait().expect("it was started").is_some());
        cluster.kill_executor(round % 2);
        cluster.add_executor();
        let rows = finish(client);
        assert!(rows == expected, "round {round}, killed after {wait:?}: {:?}", rows.err());
    }
    assert!(late < KILLS / 2, "{late} of {KILLS} queries had ended before the kill");
}

fn random_share() -> f64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    f64::from(now.subsec_nanos() / 1000 % 1000) / 1000.0
}

#[test]
fn a_trace_that_cannot_be_read_is_one_sentence() {
    let cluster = Cluster::start(1);
    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("broken.prof");
    fs::write(&broken, "no trace").expect("the folder is ours");
    let sql = "select count(*) from spans";
    let error = cluster.ask(&[file_url(&broken)], sql).expect_err("it is not a trace");
    assert!(is_sentence_about(&error, broken.to_str().expect("text")), "{error}");
    // In a folder it is left out, which is reported, and the rest of the answer is there.
    fs::copy(fixture(SAMPLE), folder.path().join("good.prof")).expect("the folder is ours");
    let folder = vec![folder.path().to_owned()];
    assert_eq!(cluster.ask(&folder, sql), embedded(&folder, sql));
    let output = cluster.query(&folder, sql).output().expect("the program starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 file is not a trace"), "{output:?}");
    let unreachable = PathBuf::from("http://127.0.0.1:9/a.prof");
    let error = cluster.ask(&[unreachable], sql).expect_err("nobody listens there");
    assert!(is_sentence_about(&error, "http://127.0.0.1:9/a.prof"), "{error}");
    let error = cluster.ask(&[fixture(SAMPLE)], "select nothing from spans").expect_err("there is no such column");
    assert!(error.contains("no column 'nothing'"), "{error}");
}

fn is_sentence_about(error: &str, url: &str) -> bool {
    error.contains(url) && error.lines().count() == 1
}

#[test]
fn wrong_credentials_and_missing_objects_are_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join(BUCKET)).expect("the folder is ours");
    fs::copy(fixture(SAMPLE), folder.path().join(BUCKET).join("sample.prof")).expect("the folder is ours");
    let store = ObjectStore::start(folder.path());
    let url = format!("s3://{BUCKET}/sample.prof");
    let sql = "select count(*) from spans";
    let wrong = "a wrong secret";
    // The first wrong secret is that of the executor, the second one that of the client.
    for (executor, client) in [(wrong, SECRET), (SECRET, wrong)] {
        let cluster = Cluster::start_with(1, store.environment(executor));
        let mut query = cluster.query(&[PathBuf::from(&url)], sql);
        query.envs(store.environment(client));
        let error = finish(query.spawn().expect("the program starts")).expect_err("a secret is wrong");
        assert!(is_sentence_about(&error, &url) && error.contains("check the credentials"), "{error}");
    }
    let cluster = Cluster::start_with(1, store.environment(SECRET));
    let missing = format!("s3://{BUCKET}/missing.prof");
    let error = cluster.ask(&[PathBuf::from(&missing)], sql).expect_err("there is none");
    assert!(is_sentence_about(&error, &missing), "{error}");
    let mut query = cluster.query(&[PathBuf::from(&url)], sql);
    query.env("AWS_ENDPOINT", "http://127.0.0.1:9");
    let error = finish(query.spawn().expect("the program starts")).expect_err("nobody listens there");
    assert!(is_sentence_about(&error, &url), "{error}");
    the_program_reads_the_same_urls(&store, &url);
}

/// The program is built with the client, whose features it gets.
fn the_program_reads_the_same_urls(store: &ObjectStore, url: &str) {
    let program = |words: &[&str]| {
        let mut command = Command::new(traceloom());
        let output = command.args(words).envs(store.environment(SECRET)).output().expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let sample = fixture(SAMPLE);
    for words in [&["stats", "--json"][..], &["dump"], &["flame"]] {
        let of = |input| program(&[words, &[input]].concat());
        let expected = of(sample.to_str().expect("text"));
        assert!(expected.0 == Some(0), "{words:?} {expected:?}");
        assert_eq!(of(url), expected, "{words:?}");
    }
}

/// The program `traceloom`, which is of another package.
fn traceloom() -> OsString {
    std::env::var_os("TRACELOOM_PROGRAM").expect("set by `cargo xtask test --cluster`")
}

/// A store of all traces in the bucket, with three hosts and two builds.
fn fleet(corpus: &Corpus) -> PathBuf {
    let (sources, store) = (corpus.root().join("sources"), corpus.bucket().join("fleet"));
    for (number, trace) in traceloom_testkit::files(&corpus.folder()).expect("a folder").into_iter().enumerate() {
        let place = sources.join(format!("web{}/4.{}", number % 3, number % 2));
        fs::create_dir_all(&place).expect("the folder is ours");
        fs::copy(&trace, place.join(trace.file_name().expect("a file"))).expect("the folder is ours");
    }
    fs::write(sources.join("web0/4.0/broken.prof"), "no trace").expect("the folder is ours");
    let options = traceloom_fleet::Options {
        template: Some(traceloom_fleet::Template::parse("{host}/{build}/*").expect("a template")),
        ..Default::default()
    };
    let report = ingest(&[sources], &store, &options, &mut |_| {}).expect("it can be written");
    assert!(report.added == 240 && report.failed.is_empty() && report.quarantined.len() == 1, "{report:?}");
    store
}

static FLEET_QUERIES: &[&str] = &[
    "select day, build, name, calls, p50_ns, p95_ns, p99_ns from trend",
    "select host, build, traces, calls, total_ns, round(slowdown, 6) from hosts",
    "select * from leaks",
    "select day, host, build, file, line, format, entries, errors, round(error_rate, 6) from error_rates",
    "select build, count(*), sum(errors), sum(warnings) from ingested group by build",
    "select path, finding from quarantine",
    "select host, name, sum(total_ns) from sums where build = '4.1' group by host, name",
    "select build, count(*), max(dur_ns) from spans group by build",
];

#[test]
fn a_fleet_gives_the_same_rows_and_the_same_verdicts() {
    let corpus = Corpus::new();
    let store = fleet(&corpus);
    let object_store = ObjectStore::start(corpus.root());
    let cluster = Cluster::start_with(2, object_store.environment(SECRET));
    let session = Session::open(&[store.clone()], &Options::default()).expect("a store");
    let url = format!("s3://{BUCKET}/fleet/");
    let of_page = queries("docs/fleet.md");
    assert!(of_page.len() >= 3, "{of_page:?}");
    // The last digit of a sum of floats is open.
    let of_page =
        of_page.iter().map(|sql| unlimited(sql).replace("slowdown from", "round(slowdown, 6) as slowdown from"));
    for sql in FLEET_QUERIES.iter().map(|sql| (*sql).to_owned()).chain(of_page) {
        let expected = answer(&session, &sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        for place in [file_url(&store), PathBuf::from(&url)] {
            assert_eq!(cluster.ask(&[place], &sql).as_ref(), Ok(&expected), "{sql}");
        }
    }
    let ask = |verb: &[&str], store: &str, on_cluster: bool| {
        let mut command = Command::new(traceloom());
        let (verb, options) = verb.split_at(1);
        command.args(verb).arg(store).args(options).env("TRACELOOM_CLUSTER_PROGRAM", support::PROGRAM);
        command.envs(object_store.environment(SECRET));
        if on_cluster {
            command.args(["--cluster", &cluster.url()]);
        }
        let output = command.output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let path = store.to_str().expect("text");
    for verb in [
        &["trend", "--json"][..],
        &["trend"],
        &["regressions", "--baseline", "4.0", "--candidate", "4.1", "--fail-over", "5%", "--json"],
        &["query", "select build, count(*) as traces from traces group by build order by build"],
        &["query", "select name, sum(calls) as calls from sums group by name order by name", "--format", "csv"],
    ] {
        let here = ask(verb, path, false);
        assert!(here.1.len() > 10, "{verb:?} {here:?}");
        for (place, on_cluster) in [(path, true), (&url, true), (&url, false)] {
            assert_eq!(ask(verb, place, on_cluster), here, "{verb:?} {place} {on_cluster}");
        }
    }
    let (code, _, error) = ask(&["query", "select nothing from traces"], path, true);
    assert!(code == Some(1) && error.contains("no column 'nothing'"), "{code:?} {error}");
}
