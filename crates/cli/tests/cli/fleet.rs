//! `ingest`, `trend`, `regressions`: the store of a fleet.

use std::{collections::BTreeSet, fs, path::Path};

use traceloom_testkit::planted::{FLEET_TEMPLATE, write_fleet, write_run};

use crate::{Folder, fixture_of, stderr, stdout, traceloom};

/// The lines of an output, sorted.
fn rows(store: &str, sql: &str) -> Vec<String> {
    let answer = traceloom(&["query", "--allow-damaged", store, sql, "--format", "json"]);
    assert!(answer.status.success(), "{sql}: {}", stderr(&answer));
    let mut lines: Vec<String> = stdout(&answer).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let answer = traceloom(arguments);
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(&answer)))
}

const TABLES: &[&str] = &[
    "traces",
    "spans",
    "logs",
    "allocations",
    "frees",
    "stacks",
    "frames",
    "line_times",
    "calls",
    "calls_merged",
    "counters",
    "events",
    "definitions",
    "threads",
    "findings",
    "ingested",
    "quarantine",
    "sums",
];

/// Everything in a store.
fn contents(store: &str) -> Vec<(String, Vec<String>)> {
    TABLES.iter().map(|table| ((*table).to_owned(), rows(store, &format!("select * from {table}")))).collect()
}

/// Ten days with one build each and some traces of two hosts; from build `b6` on, `Render` is slower by a factor.
fn fleet(folder: &Folder, slowdown: f64) -> String {
    let (traces, store) = (folder.path("traces"), folder.path("fleet"));
    write_fleet(Path::new(&traces), slowdown).expect("traces");
    let ingest = traceloom(&["ingest", &traces, &store, "--template", FLEET_TEMPLATE]);
    assert!(ingest.status.success() && stderr(&ingest).contains("added: 40 traces, "), "{}", stderr(&ingest));
    store
}

#[test]
fn every_format_goes_into_one_store_once() {
    let folder = Folder::new();
    let (traces, store) = (folder.path("traces"), folder.path("fleet"));
    let files = [
        ("easyprofiler", "v210_values.prof"),
        ("cnanolog", "head_server.clog"),
        ("memlyze", "memlyze-0.1.0/leak.mlyze"),
        ("nytprof", "devel-nytprof-6.12"),
        ("wtf", "hand-made"),
    ];
    fs::create_dir_all(&traces).expect("a folder");
    for (format, name) in files {
        let (from, to) = (fixture_of(format, name), format!("{traces}/{format}"));
        if Path::new(&from).is_dir() {
            fs::create_dir(&to).expect("a folder");
            for file in fs::read_dir(&from).expect("a folder").flatten().filter(|file| file.path().is_file()) {
                fs::copy(file.path(), format!("{to}/{}", file.file_name().to_string_lossy())).expect("a copy");
            }
        } else {
            fs::copy(&from, &to).expect("a copy");
        }
    }
    // A copy is the same trace, a truncated trace is a different one, and the other file is not a trace.
    let prof = fs::read(format!("{traces}/easyprofiler")).expect("a trace");
    fs::write(format!("{traces}/copy"), &prof).expect("a copy");
    fs::write(format!("{traces}/cut.prof"), &prof[..prof.len() - 40]).expect("a trace");
    fs::write(format!("{traces}/a-text.prof"), "nothing of the kind").expect("a file");
    let first = traceloom(&["ingest", &traces, &store, "--tag", "host=a b/c", "--tag", "build=1"]);
    let told = stderr(&first);
    assert_eq!(first.status.code(), Some(1), "{told}");
    assert!(
        told.contains("quarantined: ") && told.contains("a-text.prof") && told.contains(" known already"),
        "{told}"
    );
    let same = "select count(*) as n from ingested where path like '%/copy' or path like '%/easyprofiler'";
    assert_eq!(rows(&store, same), [r#"{"n":1}"#]);
    let formats: BTreeSet<String> = rows(&store, "select distinct format from traces").into_iter().collect();
    assert!(formats.len() >= 5, "{formats:?}");
    assert_eq!(rows(&store, "select distinct host, build from spans"), [r#"{"host":"a b/c","build":"1"}"#]);
    let damaged = rows(&store, "select path from ingested where is_damaged");
    assert!(damaged.iter().any(|path| path.contains("cut.prof")), "{damaged:?}");
    let quarantined = rows(&store, "select path, finding from quarantine");
    assert!(quarantined.iter().any(|row| row.contains("a-text.prof") && row.contains("finding")), "{quarantined:?}");

    // The store has the same data for each trace as its file.
    let sql = "select trace_id, count(*), sum(dur_ns), min(ts_ns), max(id) from spans group by trace_id";
    let of_files = |path: &str| rows(path, sql);
    let paths = rows(&store, "select path from ingested");
    let mut expected: Vec<String> = Vec::new();
    for path in &paths {
        let path =
            serde_json::from_str::<serde_json::Value>(path).expect("JSON")["path"].as_str().expect("a path").to_owned();
        expected.extend(of_files(&path));
    }
    expected.sort();
    assert_eq!(of_files(&store), expected);

    // Running it again changes nothing.
    let before = contents(&store);
    let second = traceloom(&["ingest", &traces, &store, "--tag", "host=a b/c", "--tag", "build=1"]);
    assert!(second.status.success() && stderr(&second).contains("added: 0 traces"), "{}", stderr(&second));
    assert_eq!(contents(&store), before);
    let info = traceloom(&["info", &store]);
    assert!(stdout(&info).contains("a fleet store"), "{}", stdout(&info));
}

#[test]
fn additions_are_merged_and_columns_stay() {
    let folder = Folder::new();
    let store = folder.path("fleet");
    for number in 0..3 {
        let path = folder.path(&format!("{number}.prof"));
        write_run(Path::new(&path), 50_000.0, number).expect("a trace");
        let added = traceloom(&["ingest", &path, &store, "--tag", "host=a", "--tag", "region=eu"]);
        assert!(added.status.success(), "{}", stderr(&added));
    }
    let before = contents(&store);
    let files = json(&["info", "--json", &store])["files"].as_u64().expect("a number");
    assert!(traceloom(&["ingest", "--compact", &store]).status.success());
    let merged = json(&["info", "--json", &store])["files"].as_u64().expect("a number");
    assert_eq!((merged * 3, contents(&store)), (files, before));
    assert_eq!(rows(&store, "select distinct region from sums"), [r#"{"region":"eu"}"#]);
    // Partitions that a query excludes are not read.
    let plan = traceloom(&["query", &store, "select sum(dur_ns) from spans where host = 'other'", "--explain"]);
    assert!(!stdout(&plan).contains(".parquet"), "{}", stdout(&plan));
    let plan = traceloom(&["query", &store, "select sum(dur_ns) from spans where host = 'a'", "--explain"]);
    assert!(stdout(&plan).contains(".parquet"), "{}", stdout(&plan));
    let other = traceloom(&["ingest", &folder.path("0.prof"), &store, "--tag", "zone=1"]);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    let taken = traceloom(&["ingest", &folder.path("0.prof"), &store, "--tag", "name=1"]);
    assert_eq!(taken.status.code(), Some(2), "{}", stderr(&taken));
}

#[test]
fn a_planted_change_is_found_and_fails_the_build() {
    let folder = Folder::new();
    let store = fleet(&folder, 1.3);
    let found = json(&["trend", &store, "--json"]);
    assert_eq!((&found["looked_at"], found["names"].as_array().map(Vec::len)), (&2.into(), Some(1)), "{found}");
    let changes = found["names"][0]["changes"].as_array().expect("a list");
    assert_eq!((found["names"][0]["name"].as_str(), changes.len()), (Some("Render"), 1), "{found}");
    assert_eq!(changes[0]["at"]["build"], "b6");
    assert!((changes[0]["change"].as_f64().expect("a number") - 0.3).abs() < 0.05, "{found}");
    let text = traceloom(&["trend", &store, "Render"]);
    let text = stdout(&text);
    assert!(text.contains("1 lasting change") && text.lines().count() == 12, "{text}");
    assert!(
        text.lines().any(|line| line.contains("2026-11-06") && line.contains("b6") && line.contains("+3")),
        "{text}"
    );

    // The histogram is within 0.8 % of the truth.
    let sql = |table: &str, of: &str| format!("select {of} as p from {table} where build = 'b1' and name = 'Render'");
    let number = |sql: &str| {
        let row: serde_json::Value = serde_json::from_str(&rows(&store, sql)[0]).expect("JSON");
        row["p"].as_f64().expect("a number")
    };
    let (near, exact) = (number(&sql("trend", "p95_ns")), number(&sql("spans", "percentile(dur_ns, 0.95)")));
    assert!((near / exact - 1.0).abs() < 0.02, "{near} is not {exact}");

    let compare = |candidate: &str, limit: &str| {
        traceloom(&["regressions", &store, "--baseline", "b5", "--candidate", candidate, "--fail-over", limit])
    };
    let failed = compare("b6", "5%");
    assert_eq!(failed.status.code(), Some(1), "{}", stdout(&failed));
    assert!(stdout(&failed).contains("slower") && stdout(&failed).contains("1 worse by more than 5 %"));
    assert_eq!(compare("b6", "50%").status.code(), Some(0));
    assert_eq!(compare("b4", "5%").status.code(), Some(0), "{}", stdout(&compare("b4", "5%")));
    let unknown = compare("b99", "5%");
    assert!(
        unknown.status.code() == Some(2) && stderr(&unknown).contains("no traces of build b99"),
        "{}",
        stderr(&unknown)
    );
    assert_eq!(traceloom(&["trend", &store, "Nothing"]).status.code(), Some(2));
    assert_eq!(traceloom(&["trend", &folder.path("traces")]).status.code(), Some(2));
}

#[test]
fn a_clean_history_raises_no_alarm() {
    let folder = Folder::new();
    let store = fleet(&folder, 1.0);
    let text = stdout(&traceloom(&["trend", &store]));
    assert!(text.contains("2 names, 10 points of day and build: no lasting change"), "{text}");
    let hosts = rows(&store, "select host, round(slowdown, 1) as slowdown from hosts where build = 'b3'");
    assert_eq!(hosts, [r#"{"host":"host0","slowdown":1.0}"#, r#"{"host":"host1","slowdown":1.0}"#]);
}

#[test]
fn the_slow_host_is_the_worst() {
    let folder = Folder::new();
    let (traces, store) = (folder.path("traces"), folder.path("fleet"));
    for (number, host) in ["web0", "web1", "web2", "web3"].into_iter().enumerate() {
        // `Render` takes twice as long on one of four hosts, `Update` the same on all of them.
        let render_ns = if host == "web2" { 400_000.0 } else { 200_000.0 };
        for run in 0..3 {
            let path = format!("{traces}/{host}/{run}.prof");
            write_run(Path::new(&path), render_ns, number as u64 * 10 + run).expect("a trace");
        }
    }
    let ingest = traceloom(&["ingest", &traces, &store, "--template", "{host}/*.prof", "--tag", "build=1"]);
    assert!(ingest.status.success(), "{}", stderr(&ingest));
    // 480 µs instead of (200 · 3 + 400) / 4 + 80 = 330 µs, and 280 µs on the others.
    let sql = "select host, traces, slowdown between 1.35 and 1.55 as is_slow, slowdown between 0.78 and 0.92 as is_fast from hosts";
    let row = |host: &str, is_slow: bool| {
        format!(r#"{{"host":"{host}","traces":3,"is_slow":{is_slow},"is_fast":{}}}"#, !is_slow)
    };
    assert_eq!(rows(&store, sql), ["web0", "web1", "web2", "web3"].map(|host| row(host, host == "web2")));
    let worst = rows(&store, "select host from hosts order by slowdown desc limit 1");
    assert_eq!(worst, [r#"{"host":"web2"}"#]);
}

#[test]
fn leaks_and_errors_are_views() {
    let folder = Folder::new();
    let store = folder.path("fleet");
    let (leak, log) = (fixture_of("memlyze", "packed/shop.mlyze"), fixture_of("cnanolog", "head_server.clog"));
    let added = traceloom(&["ingest", &leak, &log, &store]);
    assert!(stderr(&added).contains("added: 2 traces"), "{}", stderr(&added));
    let leaked =
        |path: &str| rows(path, "select count(*) as n, sum(size_bytes) as bytes from allocations where fate = 'live'");
    assert_eq!(rows(&store, "select sum(allocations) as n, sum(bytes) as bytes from leaks"), leaked(&leak));
    let entries = rows(&store, "select sum(entries) as n, sum(errors) as errors from error_rates");
    let sql = "select count(*) as n, sum(case when level_name = 'ERROR' then 1 else 0 end) as errors from logs";
    assert_eq!(entries, rows(&log, sql));
    // Without other information, the day is the day of the trace.
    let days = rows(&store, "select day from traces where path like '%.clog'");
    assert!(days.len() == 1 && days[0].contains("-"), "{days:?}");
}
