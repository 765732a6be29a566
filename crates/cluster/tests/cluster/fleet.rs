//! Fleet stores on one machine and on the cluster.

use std::{fs, path::PathBuf, process::Command};

use traceloom_fleet::ingest;
use traceloom_query::{Options, Session};

use crate::{
    support::{
        self, Cluster, answer,
        corpus::{BUCKET, Corpus},
        embedded, examples, file_url, queries,
        s3::{ObjectStore, SECRET},
        unlimited,
    },
    traceloom,
};

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

/// The last digits of a sum of floats depend on the order of its parts, so such sums are compared by nine digits of their logarithm.
static FLEET_QUERIES: &[&str] = &[
    "select day, build, name, calls, p50_ns, p95_ns, p99_ns from trend",
    "select host, build, traces, calls, round(ln(total_ns), 9), round(slowdown, 6) from hosts",
    "select * from leaks",
    "select day, host, build, file, line, format, entries, errors, round(error_rate, 6) from error_rates",
    "select build, count(*), sum(errors), sum(warnings) from ingested group by build",
    "select path, finding from quarantine",
    "select host, name, sum(total_ns) from sums where build = '4.1' group by host, name",
    "select build, count(*), max(dur_ns) from spans group by build",
];

/// A text whose numbers have at most nine digits, for the same reason.
fn rounded(text: &str) -> String {
    let is_in_number = |letter: char| letter.is_ascii_digit() || "+-.e".contains(letter);
    let rounded = |piece: &str| {
        let (number, end) = piece.split_at(piece.trim_end_matches(|letter| !is_in_number(letter)).len());
        match number.parse::<f64>() {
            Ok(value) if number.contains('.') => format!("{value:.8e}{end}"),
            _ => piece.to_owned(),
        }
    };
    text.split_inclusive(|letter| !is_in_number(letter)).map(rounded).collect()
}

#[test]
fn a_fleet_gives_the_same_rows_and_the_same_verdicts() {
    let corpus = Corpus::new();
    let store = fleet(&corpus);
    let object_store = ObjectStore::start(corpus.root());
    let cluster = Cluster::start_with(2, object_store.environment(SECRET));
    let session = Session::open(std::slice::from_ref(&store), &Options::default()).expect("a store");
    let url = format!("s3://{BUCKET}/fleet/");
    let of_page = queries("docs/fleet.md");
    assert!(of_page.len() >= 3, "{of_page:?}");
    // The last digit of a sum of floats may differ.
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
        let text = |bytes: &[u8]| rounded(&String::from_utf8_lossy(bytes));
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
    let info = |place: &str| {
        let (code, text, _) = ask(&["info"], place, false);
        (code, text.replace(place, "STORE"))
    };
    assert!(info(path).1.contains("a fleet store, 240 traces"), "{:?}", info(path));
    assert_eq!(info(&url), info(path));
    let (code, _, error) = ask(&["query", "select nothing from traces"], path, true);
    assert!(code == Some(2) && error.contains("no column 'nothing'"), "{code:?} {error}");
}

#[test]
fn functions_over_spans_give_the_same_rows() {
    let made = tempfile::tempdir().expect("a folder");
    let mut of_page = examples(made.path());
    of_page.retain(|(_, sql)| ["ancestors(", "descendants(", "per_frame("].iter().any(|name| sql.contains(name)));
    assert_eq!(of_page.len(), 3);
    let store = support::fleet(&made.path().join("fleet"), &made.path().join("game.prof"));
    let cluster = Cluster::start(2);
    for (files, sql) in of_page {
        let expected = embedded(&files, &sql);
        assert!(expected.as_ref().is_ok_and(|rows| !rows.is_empty()), "{sql} {expected:?}");
        assert_eq!(embedded(std::slice::from_ref(&store), &sql), expected, "{sql}");
        assert_eq!(cluster.ask(&[file_url(&store)], &sql), expected, "{sql}");
    }
}
