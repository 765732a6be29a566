//! A store of many traces: its list, its trends, and the traces that are opened from it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use traceloom_analysis::diff;
use traceloom_fleet::{Metric, Template, TrendOptions};
use traceloom_query::{Session, fleet::Fleet};
use traceloom_testkit::planted::{FLEET_TEMPLATE, write_fleet};
use traceloom_viewer_server::{Options, StoreOptions, start};

use crate::support::{Server, fixture};

/// A fleet of forty traces, a damaged trace and a file that is not one.
struct Planted {
    folder: tempfile::TempDir,
}

impl Planted {
    fn new() -> Self {
        let planted = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let traces = planted.traces();
        write_fleet(&traces, 1.3).expect("traces");
        let odd = traces.join("odd host/b10/2026-11-10");
        fs::create_dir_all(&odd).expect("a folder");
        let whole = fs::read(fixture("easyprofiler", "v210_values.prof")).expect("a fixture");
        fs::write(odd.join("cut.prof"), &whole[..whole.len() - 40]).expect("a trace");
        fs::write(odd.join("text.prof"), "nothing of the kind").expect("a file");
        planted.ingest();
        planted
    }

    fn traces(&self) -> PathBuf {
        self.folder.path().join("traces")
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("fleet")
    }

    fn ingest(&self) {
        let template = Template::parse(FLEET_TEMPLATE).expect("a template");
        let options = traceloom_fleet::Options { template: Some(template), ..traceloom_fleet::Options::default() };
        traceloom_fleet::ingest(&[self.traces()], &self.store(), &options, &mut |_| {}).expect("a store");
    }

    fn session(&self) -> Session {
        let fleet = Fleet::open(&self.store()).expect("a store").expect("a fleet");
        Session::of_fleet(&fleet, &traceloom_query::Options::default()).expect("a session")
    }

    fn served(&self, sources: &[PathBuf]) -> Server {
        served(&self.store(), sources)
    }
}

fn served(path: &Path, sources: &[PathBuf]) -> Server {
    let store = StoreOptions { path: path.to_owned(), sources: sources.to_vec() };
    Server::with(Options { store: Some(store), ..Options::default() })
}

fn list(server: &Server, query: Value) -> Value {
    let answer = server.post("store/traces", query.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

fn column(list: &Value, number: usize) -> Vec<String> {
    let text = |row: &Value| row[number].as_str().map_or_else(|| row[number].to_string(), str::to_owned);
    list["rows"].as_array().expect("rows").iter().map(text).collect()
}

/// The id of the trace whose path has this text.
fn id(server: &Server, text: &str) -> String {
    column(&list(server, json!({"text": text, "take": 1})), 0).remove(0)
}

const PATH: usize = 1;
const TAGS: usize = 2;
const FINDING: usize = 11;

#[test]
fn traces_are_listed_filtered_and_sorted() {
    let planted = Planted::new();
    let server = planted.served(&[]);
    let about = server.get("store").json();
    assert_eq!([&about["all"], &about["quarantined"], &about["listed"]], [&json!(42), &json!(1), &json!(42)]);
    let columns: Vec<_> = about["tags"].as_array().expect("tags").iter().map(|tag| &tag["column"]).collect();
    assert_eq!(columns, ["day", "host", "build", "format"]);
    // The newest first: day and build.
    assert_eq!(about["tags"][0]["values"][0], json!(["2026-11-10", 6]), "{about}");
    assert_eq!(about["tags"][2]["values"][0], json!(["b10", 6]));
    assert_eq!(about["tags"][1]["values"], json!([["host0", 20], ["host1", 20], ["odd host", 2]]));

    let all = list(&server, json!({"take": 500}));
    assert_eq!((&all["total"], column(&all, 0).len()), (&json!(42), 42));
    let counted = all["rows"].as_array().expect("rows").iter().filter(|row| row[5] == 80).count();
    assert_eq!(counted, 40, "80 spans each");
    // A range of the list, with the total first.
    let some = list(&server, json!({"sort": "path", "skip": 10, "take": 3}));
    assert_eq!(
        (&some["total"], column(&some, PATH)),
        (&json!(42), column(&list(&server, json!({"sort": "path", "take": 42})), PATH)[10..13].to_vec())
    );

    let of_host = list(&server, json!({"tags": {"host": ["host1"], "build": ["b2", "b3"]}, "take": 100}));
    assert_eq!(of_host["total"], 4);
    assert!(of_host["rows"].as_array().expect("rows").iter().all(|row| row[TAGS][1] == "host1"));
    assert_eq!(list(&server, json!({"text": "HOST1 b7", "take": 100}))["total"], 2);
    for none in [json!({"tags": {"host": ["nobody"]}}), json!({"tags": {"nothing": ["x"]}}), json!({"text": "nothing"})]
    {
        assert_eq!(list(&server, none)["total"], 0);
    }
    let down = column(&list(&server, json!({"sort": "tag", "column": "host", "is_down": true, "take": 1})), TAGS);
    assert!(down[0].contains("odd host"), "{down:?}");

    let broken = list(&server, json!({"state": "quarantined", "take": 9}));
    assert_eq!(broken["total"], 1);
    assert!(column(&broken, PATH)[0].ends_with("text.prof") && !column(&broken, FINDING)[0].is_empty());
    let damaged = list(&server, json!({"state": "damaged", "take": 9}));
    assert!(damaged["total"] == 1 && column(&damaged, PATH)[0].ends_with("cut.prof"), "{damaged}");
    assert_eq!(list(&server, json!({"state": "fine"}))["total"], 40);
    assert_eq!(server.post("store/traces", b"{\"sort\": 5}").status, 400);
}

#[test]
fn trends_are_those_of_the_verbs() {
    let planted = Planted::new();
    let (server, session) = (planted.served(&[]), planted.session());
    for (word, metric) in [("p50", Metric::P50), ("p99", Metric::P99), ("mean", Metric::Mean)] {
        let options = TrendOptions { name: Some("Render".to_owned()), metric, ..TrendOptions::default() };
        let expected = traceloom_fleet::trend(&session, &options).expect("a trend").to_json();
        let answer = server.get(&format!("store/trend?name=Render&metric={word}"));
        // As the program prints it, to the last digit.
        assert_eq!(String::from_utf8(answer.body).expect("text"), expected.to_string(), "{word}");
    }
    let names = server.get("store/names?skip=0&take=9").json();
    assert_eq!(names["changed"], 1, "{names}");
    let first = &names["rows"][0];
    assert!(first[0] == "Render" && first[3].as_f64().is_some_and(|change| (0.2..0.4).contains(&change)), "{names}");
    assert_eq!(server.get("store/names?skip=0&take=9&text=pda").json()["rows"][0][0], "Update");
    let unknown = server.get("store/trend?name=Nothing");
    assert!(unknown.status == 422 && unknown.error().contains("no span in the store is named Nothing"));

    let report = traceloom_fleet::regressions(&session, ["b5", "b6"], &diff::Options::default()).expect("a report");
    let changes = server.get("store/regressions?baseline=b5&candidate=b6").json();
    assert_eq!(changes["all"], report.rows.len());
    assert_eq!((&changes["rows"][0][0], &changes["rows"][0][1]), (&json!("worse"), &json!("Render")), "{changes}");
    assert_eq!(changes["rows"][0][6].as_f64(), report.rows[0].change);
    assert!(server.get("store/regressions?baseline=b5&candidate=x").error().contains("no traces of build x"));
}

#[test]
fn a_trace_is_opened_from_its_source_and_from_nowhere_else() {
    let planted = Planted::new();
    let server = planted.served(&[planted.traces()]);
    let trace = id(&server, "host1/b7/2026-11-07/1.prof");
    let details = server.get(&format!("store/trace?id={trace}")).json();
    assert!(details["source"].as_str().is_some_and(|path| path.ends_with("1.prof")), "{details}");
    assert_eq!(server.post(&format!("store/open?trace={trace}"), &[]).status, 200);
    let shown = |id: &str| {
        let headers = [("x-traceloom-token", server.token()), ("x-traceloom-trace", id)];
        server.send("GET /api/state HTTP/1.1", &headers, &[])
    };
    let opened = shown(&trace).json();
    assert_eq!(opened["traces"].as_array().map(Vec::len), Some(1));
    assert!(opened["traces"][0]["path"].as_str().is_some_and(|path| path.ends_with("host1/b7/2026-11-07/1.prof")));
    assert_eq!(server.get("state").json()["traces"], json!([]), "the list shows none");

    // Different content is a different trace, whatever its name.
    let other = id(&server, "host1/b7/2026-11-07/3.prof");
    let file = planted.traces().join("host1/b7/2026-11-07/3.prof");
    fs::copy(planted.traces().join("host0/b1/2026-11-01/0.prof"), &file).expect("a copy");
    let refused = server.post(&format!("store/open?trace={other}"), &[]);
    assert!(refused.status == 422 && refused.error().contains("has changed since"), "{}", refused.error());
    fs::remove_file(file).expect("it was there");
    let gone = shown(&other);
    assert!(gone.status == 422 && gone.error().contains("3.prof, which is not in"), "{}", gone.error());

    let quarantined = column(&list(&server, json!({"state": "quarantined", "take": 1})), 0).remove(0);
    assert!(
        server.post(&format!("store/open?trace={quarantined}"), &[]).error().contains("could not be read as a trace")
    );
    for id in ["", "x", "0", "1%202"] {
        assert_eq!(server.post(&format!("store/open?trace={id}"), &[]).status, 404, "{id}");
    }
}

#[test]
fn no_path_of_a_store_leads_out_of_the_named_folders() {
    let planted = Planted::new();
    let trace = |server: &Server| id(server, "host1/b7/2026-11-07/1.prof");
    // Without --sources.
    let server = planted.served(&[]);
    let refused = server.post(&format!("store/open?trace={}", trace(&server)), &[]);
    assert!(refused.status == 422 && refused.error().contains("--sources"), "{}", refused.error());
    assert!(server.get(&format!("store/trace?id={}", trace(&server))).json()["source"].is_null());
    // Another folder, and one with a link out of it.
    let other = planted.folder.path().join("other");
    fs::create_dir_all(&other).expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink(planted.traces().join("host1"), other.join("host1")).expect("a link");
    let server = planted.served(std::slice::from_ref(&other));
    assert_eq!(server.post(&format!("store/open?trace={}", trace(&server)), &[]).status, 422);
    // The folder has moved: the end of the path is enough.
    fs::rename(planted.traces().join("host1/b7"), other.join("b7")).expect("it moves");
    assert_eq!(server.post(&format!("store/open?trace={}", trace(&server)), &[]).status, 200);
}

#[test]
fn a_store_that_grows_is_listed_again() {
    let planted = Planted::new();
    let server = planted.served(&[]);
    assert_eq!(list(&server, json!({}))["total"], 42);
    let more = planted.traces().join("host2/b11/2026-11-11");
    fs::create_dir_all(&more).expect("a folder");
    fs::copy(fixture("easyprofiler", "v210_values.prof"), more.join("0.prof")).expect("a copy");
    planted.ingest();
    assert_eq!(list(&server, json!({}))["total"], 43);
}

#[test]
fn a_store_of_convert_is_listed_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("game.prof");
    fs::copy(fixture("easyprofiler", "v210_values.prof"), &file).expect("a copy");
    let store = folder.path().join("store");
    let input = traceloom_mapping::open(&file, None, &traceloom_mapping::Options::default()).expect("a trace");
    traceloom_query::store::write(&[input], &store, &traceloom_query::store::Options::default(), &mut |_| {})
        .expect("a store");
    let server = served(&store, &[folder.path().to_owned()]);
    let all = list(&server, json!({"take": 9}));
    assert!(all["total"] == 1 && column(&all, PATH)[0].ends_with("game.prof"), "{all}");
    assert_eq!(server.get("store").json()["has_trends"], false);
    assert_eq!(server.get("store/names?skip=0&take=9").status, 404);
    assert_eq!(server.post(&format!("store/open?trace={}", column(&all, 0)[0]), &[]).status, 200);
}

#[test]
fn only_the_own_page_may_ask() {
    let planted = Planted::new();
    let server = planted.served(&[planted.traces()]);
    let own = ("x-traceloom-token", server.token());
    for line in ["GET /api/store HTTP/1.1", "POST /api/store/open?trace=1 HTTP/1.1", "POST /api/store/traces HTTP/1.1"]
    {
        assert_eq!(server.send(line, &[], &[]).status, 401, "{line}");
        assert_eq!(server.send(line, &[own, ("origin", "http://evil.example")], &[]).status, 403, "{line}");
        assert_eq!(server.send(line, &[own, ("host", "evil.example")], &[]).status, 403, "{line}");
    }
    let viewer = start(Options {
        store: Some(StoreOptions { path: planted.folder.path().to_owned(), sources: Vec::new() }),
        ..Options::default()
    });
    assert!(viewer.is_err_and(|error| error.to_string().contains("not a Traceloom store")));
}
