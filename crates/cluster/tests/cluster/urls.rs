//! Inputs at URLs.

use std::{fs, path::Path, process::Command};

use traceloom_cnanolog::{Header, Site, create, journal, raw::SLOTS_LIBRARY};
use traceloom_core::ByteOrder;
use traceloom_testkit::{
    fixture,
    planted::{Dice, Scene},
};

use crate::{
    support::{
        Cluster, SAMPLE,
        corpus::BUCKET,
        embedded, file_url,
        http::WebServer,
        s3::{ObjectStore, SECRET},
    },
    traceloom,
};

/// The program is built with the client, whose features it gets.
fn program(words: &[&str], store: Option<&ObjectStore>) -> (Option<i32>, String) {
    let mut command = Command::new(traceloom());
    let environment = store.map(|store| store.environment(SECRET)).unwrap_or_default();
    let output = command.args(words).envs(environment).output().expect("the program starts");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The same output for a file and for a URL, except that each names its input.
fn same_output(verbs: &[&[&str]], [file, url]: [&str; 2], store: &ObjectStore) {
    for verb in verbs {
        let of = |input: &str| {
            let (code, text) = program(&[verb, &[input][..]].concat(), Some(store));
            (code, text.replace(input, "INPUT"))
        };
        let expected = of(file);
        assert!(expected.0.is_some_and(|code| code < 2) && !expected.1.is_empty(), "{verb:?} {expected:?}");
        assert_eq!(of(url), expected, "{verb:?} {url}");
    }
}

pub(crate) fn the_program_reads_the_same_urls(store: &ObjectStore, url: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    // Some outputs name their source.
    let sample = folder.path().join("sample.prof");
    fs::copy(fixture(SAMPLE), &sample).expect("the folder is ours");
    let sample = sample.to_str().expect("text");
    let verbs: [&[&str]; 6] = [&["stats", "--json"], &["dump"], &["flame"], &["info"], &["info", "--json"], &["check"]];
    same_output(&verbs, [sample, url], store);
    let converted = |input: &str, name: &str| {
        let path = folder.path().join(name);
        let (code, _) = program(&["convert", input, path.to_str().expect("text")], Some(store));
        assert_eq!(code, Some(0), "{input} {name}");
        fs::read(path).expect("it was written")
    };
    for name in ["a.prof", "a.pftrace", "a.folded"] {
        assert_eq!(converted(url, name), converted(sample, name), "{name}");
    }
}

#[test]
fn one_machine_queries_objects_by_name_and_by_pattern() {
    let folder = tempfile::tempdir().expect("a folder");
    let day = folder.path().join(BUCKET).join("day");
    fs::create_dir_all(&day).expect("the folder is ours");
    for (name, trace) in [
        ("web1-a.prof", SAMPLE),
        ("web1-b.prof", "easyprofiler/document/real_210.prof"),
        ("web2.clog", "cnanolog/head_server.clog"),
    ] {
        fs::copy(fixture(trace), day.join(name)).expect("the folder is ours");
    }
    let store = ObjectStore::start(folder.path());
    let cluster = Cluster::start_with(1, store.environment(SECRET));
    let sql = "select format, count(*) as traces, max(last_ts_ns) as last from traces group by format order by format";
    let of = |input: &str| program(&["query", input, sql, "--format", "csv"], Some(&store));
    for (name, traces) in [("web1-a.prof", 1), ("web1-*.prof", 2), ("*", 3), ("web?.clog", 1), ("", 3)] {
        let (local, object) = (format!("{}/{name}", day.display()), format!("s3://{BUCKET}/day/{name}"));
        let expected = embedded(&[local.clone().into()], "select format from traces").expect("traces");
        assert_eq!(expected.len(), traces, "{name}");
        let expected = of(&local);
        assert!(expected.0 == Some(0) && expected.1.lines().count() > 1, "{name} {expected:?}");
        // A question mark in a URL starts a query string.
        if !name.contains('?') {
            assert_eq!(of(&object), expected, "{name}");
            let on_cluster = cluster.ask(&[object.into()], "select format from traces").expect("traces");
            assert_eq!(on_cluster.len(), traces, "{name}");
        }
    }
    let none = format!("s3://{BUCKET}/day/web3-*");
    assert_eq!(of(&none), (Some(2), String::new()));
}

/// A log whose dictionary is only in its journal.
fn write_log(log: &Path) {
    let header = Header { start_timestamp: 7, ..Header::new(ByteOrder::Little) };
    fs::write(log, create(Vec::new(), &header).and_then(|log| log.finish()).expect("a log")).expect("it is ours");
    let types = [0; SLOTS_LIBRARY];
    let site = Site { id: 0, level: 0, num_args: 0, line: 3, arg_types: &types, file: b"a.rs", format: b"text" };
    let journal = journal::journal(&header, &[], &[site]).expect("a journal");
    fs::write(journal::path_of(log), journal).expect("it is ours");
}

#[test]
fn a_log_at_a_url_finds_its_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let bucket = folder.path().join(BUCKET);
    fs::create_dir(&bucket).expect("the folder is ours");
    let log = bucket.join("app.clog");
    write_log(&log);
    let store = ObjectStore::start(folder.path());
    let (file, path) = (file_url(&log), log.to_str().expect("text"));
    let (file, object) = (file.to_str().expect("text"), format!("s3://{BUCKET}/app.clog"));
    let verbs: [&[&str]; 5] = [&["info"], &["check"], &["dump"], &["info", "--json"], &["check", "--json"]];
    for url in [file, &object] {
        same_output(&verbs, [path, url], &store);
    }
    let with_journal = program(&["info", path], None);
    fs::remove_file(journal::path_of(&log)).expect("it is there");
    assert_ne!(program(&["info", path], None), with_journal, "the journal changes nothing");
}

/// A capture of some megabytes.
pub(crate) fn large_capture() -> Vec<u8> {
    let (mut scene, mut dice, mut now) = (Scene::new(&["Main"]), Dice::new(1), 0);
    for number in 0..250_000 {
        now = scene.span(0, ["Render", "Update", "Load"][number % 3], now, dice.whole(1000, 9000)) + 100;
    }
    let source = scene.written("easyprofiler").expect("a capture").opened.source;
    source.prefix(source.len().expect("bytes") as usize).expect("bytes")
}

#[test]
fn a_web_server_is_read_in_ranges() {
    let bytes = large_capture();
    let length = bytes.len() as u64;
    assert!(length > 5 << 20, "{length} bytes prove nothing");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.prof");
    fs::write(&path, &bytes).expect("the folder is ours");
    let sql = "select name, count(*), sum(dur_ns) from spans group by name";
    let expected = embedded(&[path], sql);
    let cluster = Cluster::start(1);
    for query in [None, Some("X-Signature=a%2Fb&X-Expires=60")] {
        let server = WebServer::start(bytes.clone(), query);
        let name = query.map_or("large.prof".to_owned(), |query| format!("large.prof?{query}"));
        let url = server.url(&name);
        let (code, text) = program(&["dump", "--limit", "3", &url], None);
        assert!(code == Some(0) && text.lines().count() >= 3, "{url} {code:?} {text}");
        assert!(server.sent() < length, "{} of {length} bytes for three records", server.sent());
        let before = server.sent();
        assert_eq!(cluster.ask(&[url.into()], sql), expected);
        let sent = server.sent() - before;
        assert!((length..2 * length).contains(&sent), "{sent} of {length} bytes for one scan");
        assert_eq!(server.whole(), 0, "the file was fetched as a whole");
        let unsigned = cluster.ask(&[server.url("other.prof?X-Signature=wrong").into()], sql);
        assert!(unsigned.is_err_and(|error| error.contains("check the credentials") && error.lines().count() == 1));
    }
}
