//! Tools that read the tables, compared with the tables.

use std::path::Path;

use serde_json::{Value as Json, json};
use traceloom::{Trace, sql::Writer};
use traceloom_testkit::recorded::{LogEntry, RecordedThread, wtf_log, wtf_threads};

use crate::support::{Bench, text};

/// The rows of a query, as `traceloom query --format json` writes them.
fn rows(trace: &Trace, query: &str) -> Vec<Json> {
    // The library blocks, which an async test must not.
    let ask = || trace.sql(query).expect("a good query");
    let rows = std::thread::scope(|scope| scope.spawn(ask).join()).expect("an answer");
    let mut out = Vec::new();
    let mut writer = Writer::new(traceloom::sql::Format::Json, &rows.schema, &mut out).expect("JSON");
    rows.batches.iter().for_each(|batch| writer.write(batch).expect("memory takes it"));
    writer.finish().expect("memory takes it");
    let text = String::from_utf8(out).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn sql_gives_the_rows_of_the_program() {
    let bench = Bench::new().await;
    for format in crate::support::formats() {
        let path = bench.sample(format);
        let trace = Trace::open(&path).expect("opens");
        for query in ["select * from traces", "select * from threads order by id", "select count(*) as n from spans"] {
            let found = bench.ask("sql", json!({ "query": query, "traces": [text(&path)], "limit": 1000 })).await;
            assert_eq!(found["from_trace"]["rows"], Json::from(rows(&trace, query)), "{format}: {query}");
        }
    }
}

#[tokio::test]
async fn spans_are_found_by_name_and_duration() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let trace = Trace::open(&path).expect("opens");
    let found =
        bench.ask("spans", json!({ "trace": text(&path), "name": "Draw", "min_dur_ns": 1000, "limit": 7 })).await;
    let expected = rows(
        &trace,
        "select id, dur_ns from spans where name = 'Draw' and dur_ns >= 1000 order by dur_ns desc, ts_ns, id",
    );
    let list = found["from_trace"]["spans"].as_array().expect("a list");
    let ids: Vec<&Json> = list.iter().map(|span| &span["id"]).collect();
    assert_eq!(ids, expected.iter().take(7).map(|row| &row["id"]).collect::<Vec<_>>());
    assert_eq!(found["truncated"], json!([{ "list": "spans", "shown": 7, "total": expected.len() }]));
    let part = bench.ask("spans", json!({ "trace": text(&path), "name_contains": "ra", "limit": 1000 })).await;
    assert!(part["from_trace"]["spans"].as_array().is_some_and(|all| all.len() > list.len()));
    let none = bench.ask("spans", json!({ "trace": text(&path), "name": "' or 1 = 1 --" })).await;
    assert_eq!(none, json!({ "truncated": [], "from_trace": { "spans": [] } }));
}

#[tokio::test]
async fn a_span_has_what_is_around_and_inside_it() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let trace = Trace::open(&path).expect("opens");
    let deepest = rows(&trace, "select id, parent_id, depth from spans order by depth desc, id limit 1").remove(0);
    let found = bench.ask("span", json!({ "trace": text(&path), "id": deepest["id"] })).await["from_trace"].clone();
    let ancestors = found["ancestors"].as_array().expect("a list");
    assert_eq!(Some(ancestors.len() as u64), deepest["depth"].as_u64());
    assert_eq!(ancestors[0]["id"], deepest["parent_id"]);
    let parent = bench.ask("span", json!({ "trace": text(&path), "id": deepest["parent_id"] })).await;
    let children = parent["from_trace"]["children"].as_array().expect("a list");
    assert!(children.iter().any(|child| child["id"] == deepest["id"]));
    let unknown = bench.refusal("span", json!({ "trace": text(&path), "id": -5 })).await;
    assert!(unknown.contains("no span has the id -5; find spans with `spans`"), "{unknown}");
}

#[tokio::test]
async fn spans_are_found_by_thread_and_time() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let trace = Trace::open(&path).expect("opens");
    let times = rows(&trace, "select ts_ns from spans order by ts_ns");
    let [from, to] = [times.len() / 4, times.len() / 2].map(|at| times[at]["ts_ns"].as_i64().expect("a time"));
    let (by_time, by_duration) = ("s.ts_ns, s.id", "s.dur_ns is null desc, s.dur_ns desc, s.ts_ns, s.id");
    for (arguments, condition, order) in [
        (json!({ "thread": "Loader" }), "t.name = 'Loader'".to_owned(), by_duration),
        (json!({ "from_ns": from }), format!("s.ts_ns >= {from}"), by_duration),
        (json!({ "to_ns": to, "by_time": true }), format!("s.ts_ns < {to}"), by_time),
        (
            json!({ "thread": "Main", "from_ns": from, "to_ns": to, "by_time": true }),
            format!("t.name = 'Main' and s.ts_ns >= {from} and s.ts_ns < {to}"),
            by_time,
        ),
    ] {
        let query = format!(
            "select s.id, t.name as thread from spans s join threads t on s.thread_id = t.id where {condition} \
             order by {order}"
        );
        let expected = rows(&trace, &query);
        assert!(expected.len() > 10 && expected.len() < times.len(), "{arguments}: {}", expected.len());
        let mut arguments = arguments;
        (arguments["trace"], arguments["limit"]) = (json!(text(&path)), json!(50));
        let found = bench.ask("spans", arguments.clone()).await;
        let list = found["from_trace"]["spans"].as_array().expect("a list").iter();
        let shown: Vec<Json> = list.map(|span| json!({ "id": span["id"], "thread": span["thread"] })).collect();
        assert_eq!(shown, expected[..expected.len().min(50)], "{arguments}");
        let total = &found["truncated"][0]["total"];
        assert!(*total == expected.len() || expected.len() <= 50, "{arguments}: {total}");
    }
    let unknown = bench.ask("spans", json!({ "trace": text(&path), "thread": "Load" })).await;
    assert_eq!(unknown["from_trace"]["spans"], json!([]), "a name of a thread is whole");
}

#[tokio::test]
async fn a_span_has_all_its_arguments() {
    let bench = Bench::new().await;
    let path = bench.sample("wtf");
    let trace = Trace::open(&path).expect("opens");
    let first = "select owner_id from args where owner_table = 'spans' limit 1";
    // An array has a row per element, and an event has the same id.
    let shared = "select a.owner_id from args a join args b on a.owner_id = b.owner_id \
                  where a.owner_table = 'spans' and a.idx > 0 and b.owner_table = 'events' limit 1";
    for query in [first, shared] {
        let owner = rows(&trace, query)[0]["owner_id"].clone();
        let query = format!(
            "select key, idx, type, int_value, uint_value, float_value, text_value from args where owner_table = 'spans' \
             and owner_id = {owner} order by id"
        );
        let expected = rows(&trace, &query);
        assert!(expected.len() > 1, "{expected:?}");
        let found = bench.ask("span", json!({ "trace": text(&path), "id": owner })).await;
        assert_eq!(found["from_trace"]["arguments"], Json::from(expected));
        let cut = bench.ask("span", json!({ "trace": text(&path), "id": owner, "limit": 1 })).await;
        assert_eq!(cut["from_trace"]["arguments"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn a_span_has_the_log_lines_and_events_inside_it() {
    let entry = |time_us: i64, message: &str| LogEntry {
        time_us,
        level: "INFO".to_owned(),
        file: "main.rs".to_owned(),
        line: 7,
        message: message.to_owned(),
    };
    let named = |name: &str| name.to_owned();
    let main = RecordedThread {
        name: named("main"),
        spans: vec![(named("outer"), 1000..5000), (named("inner"), 2000..3000), (named("later"), 6000..7000)],
        marks: vec![(named("too early"), 900), (named("mark"), 1500), (named("deep"), 2500), (named("late"), 5100)],
        entries: vec![entry(999, "before"), entry(1001, "first"), entry(2600, "deep"), entry(5001, "behind")],
    };
    let other = RecordedThread {
        name: named("loader"),
        spans: vec![(named("load"), 500..8000)],
        marks: vec![(named("elsewhere"), 1600)],
        entries: vec![entry(2700, "elsewhere")],
    };
    let bench = Bench::new().await;
    let path = bench.folder.path().join("spans.wtf-trace");
    std::fs::write(&path, wtf_threads(&[main, other]).expect("a trace")).expect("there is room");
    let trace = Trace::open(&path).expect("opens");
    for (name, messages, expected_events) in [
        ("outer", vec!["first", "deep"], vec!["mark"]),
        ("inner", vec!["deep"], vec!["deep"]),
        ("later", vec![], vec![]),
        ("load", vec!["elsewhere"], vec!["elsewhere"]),
    ] {
        let id = rows(&trace, &format!("select id from spans where name = '{name}'")).remove(0)["id"].clone();
        let found = bench.ask("span", json!({ "trace": text(&path), "id": id })).await["from_trace"].clone();
        let all = |list: &str, field: &str| -> Vec<Json> {
            found[list].as_array().expect("a list").iter().map(|row| row[field].clone()).collect()
        };
        assert_eq!(all("logs", "message"), messages, "{name}");
        assert_eq!(all("events", "name"), expected_events, "{name}");
        let events =
            rows(&trace, &format!("select id, ts_ns, name, category from events where span_id = {id} order by id"));
        assert_eq!(found["events"], Json::from(events), "{name}");
    }
}

#[tokio::test]
async fn a_window_adds_up_what_lies_in_it() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let trace = Trace::open(&path).expect("opens");
    let span = rows(&trace, "select ts_ns, dur_ns from spans where name = 'Frame' order by id limit 1").remove(0);
    let (from, dur) = (span["ts_ns"].as_i64().expect("a time"), span["dur_ns"].as_i64().expect("a duration"));
    let arguments = json!({ "trace": text(&path), "from_ns": from + 10, "to_ns": from + dur - 10, "limit": 1000 });
    let found = bench.ask("window", arguments).await["from_trace"].clone();
    let frame =
        found["spans"].as_array().into_iter().flatten().find(|one| one["name"] == "Frame").expect("it ran then");
    assert_eq!((frame["calls"].as_i64(), frame["in_window_ns"].as_i64()), (Some(1), Some(dur - 20)));
}

/// What ran between two times.
async fn window(bench: &Bench, path: &Path, from_ns: i64, to_ns: i64) -> Json {
    let arguments = json!({ "trace": text(path), "from_ns": from_ns, "to_ns": to_ns, "limit": 1000 });
    bench.ask("window", arguments).await["from_trace"].clone()
}

#[tokio::test]
async fn adjacent_windows_add_up_and_an_empty_one_is_empty() {
    let bench = Bench::new().await;
    for format in ["cnanolog", "easyprofiler", "wtf"] {
        let path = bench.sample(format);
        let trace = Trace::open(&path).expect("opens");
        let window = |from_ns: i64, to_ns: i64| window(&bench, &path, from_ns, to_ns);
        let sum = |found: &Json, key: &str| -> i64 {
            found["spans"].as_array().into_iter().flatten().filter_map(|span| span[key].as_i64()).sum()
        };
        let len = |found: &Json, list: &str| found[list].as_array().map_or(0, Vec::len);
        let all = "select ts_ns from spans union all select ts_ns from events union all select ts_ns from logs";
        let times = rows(&trace, &format!("select ts_ns from ({all}) where ts_ns is not null order by ts_ns limit 60"));
        let [first, cut, last] = [0, times.len() / 2, times.len() - 1].map(|at| times[at]["ts_ns"].as_i64().unwrap());
        let (before, after, whole) = (window(first, cut).await, window(cut, last).await, window(first, last).await);
        let across = format!(
            "select count(*) as n from spans where ts_ns < {cut} and (dur_ns is null or ts_ns + dur_ns > {cut})"
        );
        let across = rows(&trace, &across)[0]["n"].as_i64().expect("a number");
        assert_eq!(sum(&before, "calls") + sum(&after, "calls"), sum(&whole, "calls") + across, "{format}");
        assert_eq!(sum(&before, "in_window_ns") + sum(&after, "in_window_ns"), sum(&whole, "in_window_ns"), "{format}");
        for list in ["logs", "events"] {
            assert_eq!(len(&before, list) + len(&after, list), len(&whole, list), "{format}: {list}");
        }
        assert!(sum(&before, "calls") + len(&before, "logs") as i64 > 0, "{format}: both sides have something");
        assert_eq!(window(cut, cut).await, json!({ "spans": [], "logs": [], "events": [] }), "{format}");
    }
    let path = bench.sample("easyprofiler");
    let reversed = json!({ "trace": text(&path), "from_ns": 6, "to_ns": 5 });
    assert!(bench.refusal("window", reversed).await.contains("ends before it starts"));
}

#[tokio::test]
async fn a_log_is_read_by_level_and_text() {
    let bench = Bench::new().await;
    let path = bench.sample("cnanolog");
    let trace = Trace::open(&path).expect("opens");
    let all = rows(&trace, "select id, message, level_name from logs order by id");
    let found = bench.ask("log", json!({ "trace": text(&path), "limit": 100 })).await["from_trace"]["lines"].clone();
    let messages = |list: &Json| -> Vec<Json> {
        list.as_array().into_iter().flatten().map(|line| line["message"].clone()).collect()
    };
    assert_eq!(messages(&found), all.iter().take(100).map(|row| row["message"].clone()).collect::<Vec<_>>());
    // A result that is too long is truncated again, and still has one total.
    let long = bench.ask("log", json!({ "trace": text(&path), "limit": 1000 })).await;
    assert_eq!(long["truncated"].as_array().map(Vec::len), Some(1));
    assert_eq!(long["truncated"][0]["total"], all.len());
    let level = all[0]["level_name"].as_str().expect("a level");
    let some = bench.ask("log", json!({ "trace": text(&path), "levels": [level.to_lowercase()], "limit": 1000 })).await;
    let lines = some["from_trace"]["lines"].as_array().expect("a list");
    assert!(!lines.is_empty() && lines.iter().all(|line| line["level"] == level));
    levels_are_those_of_the_program(&bench, text(&path), &all).await;
    let part = &all[3]["message"].as_str().expect("a text")[..9];
    let from = rows(&trace, "select ts_ns from logs order by id limit 1 offset 2").remove(0)["ts_ns"].clone();
    let arguments = json!({ "trace": text(&path), "contains": part, "from_ns": from, "limit": 50 });
    let found = bench.ask("log", arguments).await["from_trace"]["lines"].clone();
    let query = format!(
        "select message from logs where ts_ns >= {from} and strpos(message, '{part}') > 0 order by id limit 50"
    );
    assert_eq!(messages(&found), rows(&trace, &query).iter().map(|row| row["message"].clone()).collect::<Vec<_>>());
    let tail = bench.ask("log", json!({ "trace": text(&path), "tail": true, "limit": 2 })).await;
    let last: Vec<Json> = all[all.len() - 2..].iter().map(|row| row["message"].clone()).collect();
    assert_eq!(messages(&tail["from_trace"]["lines"]), last);
    assert_eq!(tail["truncated"][0]["total"], all.len());
}

/// Levels are accepted in any case, with the worse ones, and an unknown one is refused with the list of those that exist.
async fn levels_are_those_of_the_program(bench: &Bench, path: &str, all: &[Json]) {
    let ask = |levels: &[&str]| json!({ "trace": path, "levels": levels, "limit": 1 });
    let bad = all.iter().filter(|row| ["WARN", "ERROR"].iter().any(|level| row["level_name"] == *level)).count();
    assert!(bad > 1 && bad < all.len(), "{bad}");
    for levels in [&["WARN+"][..], &["warn+"], &["warn", "Error"], &["WARN+", "error"]] {
        let found = bench.ask("log", ask(levels)).await;
        assert_eq!(found["truncated"], json!([{ "list": "lines", "shown": 1, "total": bad }]), "{levels:?}");
    }
    let unknown = bench.refusal("log", ask(&["ERROR", "loud"])).await;
    assert!(unknown.contains("unknown level loud; the levels are DEBUG, INFO, WARN, ERROR"), "{unknown}");
    let unordered = bench.refusal("log", ask(&["loud+"])).await;
    assert!(unordered.contains("only DEBUG, INFO, WARN, ERROR are ordered by severity"), "{unordered}");
}

#[tokio::test]
async fn the_log_lines_of_another_format_come_from_its_tables() {
    let bench = Bench::new().await;
    let path = bench.folder.path().join("log.wtf-trace");
    let entry = |number: u32| LogEntry {
        time_us: 50_000 * i64::from(number),
        level: ["DEBUG", "INFO", "WARN", "ERROR"][number as usize % 4].to_owned(),
        file: "main.rs".to_owned(),
        line: number,
        message: format!("{} {number}", ["start", "read", "retry", "end"][number as usize % 3]),
    };
    let entries: Vec<LogEntry> = (0..300).map(entry).collect();
    std::fs::write(&path, wtf_log(1_700_000_000_000, &entries).expect("a trace")).expect("there is room");
    let trace = Trace::open(&path).expect("opens");
    let opened = bench.ask("open", json!({ "trace": text(&path) })).await["from_trace"]["ask_next"].clone();
    assert!(opened.as_array().into_iter().flatten().any(|next| next["tool"] == "log"), "{opened}");
    let messages = |found: &Json| -> Vec<Json> {
        found["from_trace"]["lines"].as_array().into_iter().flatten().map(|line| line["message"].clone()).collect()
    };
    let expected =
        |query: &str| -> Vec<Json> { rows(&trace, query).iter().map(|row| row["message"].clone()).collect() };
    let first = bench.ask("log", json!({ "trace": text(&path), "limit": 50 })).await;
    assert_eq!(messages(&first), expected("select message from logs order by id limit 50"));
    assert_eq!(first["truncated"], json!([{ "list": "lines", "shown": 50, "total": entries.len() }]));
    let line = &first["from_trace"]["lines"][0];
    let (start, unix) = (first["from_trace"]["start_unix_ns"].as_i64(), line["ts_unix_ns"].as_i64());
    assert_eq!(unix.zip(start).map(|(unix, start)| unix - start), line["ts_ns"].as_i64());
    assert_eq!((&line["level"], &line["file"], &line["line"]), (&json!("DEBUG"), &json!("main.rs"), &json!(0)));
    assert_eq!(unix.map(|unix| unix / 1_000_000_000), Some(1_700_000_000));
    let arguments = json!({ "trace": text(&path), "levels": ["error", "warn"], "limit": 5, "tail": true });
    let found = bench.ask("log", arguments).await;
    let last = "select message from (select * from logs where level_name in ('ERROR', 'WARN') order by id desc limit 5) \
                order by id";
    assert_eq!(messages(&found), expected(last));
    levels_are_those_of_the_program(&bench, text(&path), &rows(&trace, "select level_name from logs")).await;
    let part = json!({ "trace": text(&path), "contains": "a", "from_ns": 1_000_000_000_i64, "to_ns": 9_000_000_000_i64, "limit": 9 });
    let query = "select message from logs where strpos(message, 'a') > 0 and ts_ns >= 1000000000 and ts_ns < 9000000000 \
                 order by id limit 9";
    assert_eq!(messages(&bench.ask("log", part).await), expected(query));
    let spans = bench.sample("easyprofiler");
    assert!(bench.refusal("log", json!({ "trace": text(&spans) })).await.contains("no log lines in this"));
}
