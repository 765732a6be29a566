//! Log lines: their order, their filters, and the details of one line.

use serde_json::{Value, json};
use traceloom_mapping::{Options, open};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, select};

use crate::support::{Server, fixture};

const LOGS: [&str; 5] =
    ["head_server.clog", "head_levels.clog", "head_notime_levels.clog", "head_threads_a.clog", "head_burst_1300.clog"];

select! { struct Lines of logs { id, ts_ns, level_name, message } }
select! { struct Arguments of args { owner_table, owner_id, key } }

/// The lines and the arguments of a trace.
fn tables(path: &std::path::Path) -> Batches {
    let trace = open(path, None, &Options::default()).expect("it opens");
    let wanted = Wanted::nothing().and(Table::Logs, Lines::COLUMNS).and(Table::Args, Arguments::COLUMNS);
    let mut batches = Batches::of(wanted);
    trace.pour(&Filter::default(), &mut batches).expect("it can be read");
    batches
}

fn lines(batches: &Batches) -> impl Iterator<Item = Lines<'_>> {
    batches.table(Table::Logs).map(|batch| Lines::of(batch).expect("the columns were asked for"))
}

fn arguments(batches: &Batches) -> impl Iterator<Item = Arguments<'_>> {
    batches.table(Table::Args).map(|batch| Arguments::of(batch).expect("the columns were asked for"))
}

/// Time, level and text of all lines as the tables have them, by time.
fn rows(path: &std::path::Path) -> Vec<(Option<i64>, String, String)> {
    let mut rows = Vec::new();
    for view in lines(&tables(path)) {
        rows.extend(
            (0..view.rows).map(|row| {
                (view.ts_ns.get(row), view.level_name.get(row).to_owned(), view.message.get(row).to_owned())
            }),
        );
    }
    rows.sort_by_key(|(ts_ns, ..)| *ts_ns);
    rows
}

fn texts(answer: &Value) -> Vec<String> {
    let lines = answer["lines"].as_array().expect("lines");
    lines.iter().map(|line| line[5].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn all_lines_come_in_order_in_parts_of_any_size() {
    for name in LOGS {
        let path = fixture("cnanolog", name);
        let (server, expected) = (Server::of_one(&path), rows(&path));
        let mut found = Vec::new();
        for skip in (0..).step_by(97) {
            let part = server.get(&format!("log?skip={skip}&take=97")).json();
            assert_eq!((&part["total"], &part["all"]), (&json!(expected.len()), &json!(expected.len())), "{name}");
            if skip >= expected.len() {
                assert_eq!(part["lines"], json!([]));
                break;
            }
            found.extend(texts(&part));
        }
        assert_eq!(found, expected.iter().map(|(.., text)| text.clone()).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn filters_leave_what_they_say_and_levels_are_counted() {
    let path = fixture("cnanolog", "head_server.clog");
    let (server, all) = (Server::of_one(&path), rows(&path));
    let count = |keeps: &dyn Fn(&str, &str) -> bool| all.iter().filter(|(_, level, text)| keeps(level, text)).count();
    let total = |question: &str| server.get(&format!("log?take=1000&{question}")).json()["total"].clone();
    assert_eq!(total("text=post"), count(&|_, text| text.to_lowercase().contains("post")));
    assert_eq!(total("text=post&case=true"), count(&|_, text| text.contains("post")));
    assert_eq!(total("text=POST&case=true"), count(&|_, text| text.contains("POST")));
    assert_eq!(total("levels=INFO"), count(&|level, _| level == "INFO"));
    assert_eq!(
        total("levels=WARN,ERROR&text=a"),
        count(&|level, text| level != "INFO" && level != "DEBUG" && text.to_lowercase().contains('a'))
    );
    assert_eq!(total("levels=NONE"), 0);
    // Special characters of a pattern are plain text unless a regular expression is requested.
    assert_eq!(total("text=.*"), count(&|_, text| text.contains(".*")));
    assert_eq!(total("text=.*&regex=true"), all.len());
    assert_eq!(total("text=^GET&regex=true&case=true"), count(&|_, text| text.starts_with("GET")));
    let answer = server.get("log?text=post&levels=WARN").json();
    for level in answer["levels"].as_array().expect("levels") {
        let name = level[0].as_str().expect("a name");
        assert_eq!(level[1], count(&|level, text| level == name && text.to_lowercase().contains("post")), "{name}");
        assert_eq!(level[2], count(&|level, _| level == name), "{name}");
    }
    for odd in ["%28", "%5B", "a%7B999999999%7D", "%2A"] {
        let answer = server.get(&format!("log?text={odd}&regex=true")).json();
        let problem = answer["problem"].as_str().unwrap_or_default();
        assert!(problem.contains("is not a regular expression: "), "{odd}: {answer}");
    }
}

#[test]
fn the_nearest_line_to_a_time_is_found() {
    let path = fixture("cnanolog", "head_server.clog");
    let (server, all) = (Server::of_one(&path), rows(&path));
    let times: Vec<i64> = all.iter().filter_map(|(ts_ns, ..)| *ts_ns).collect();
    assert_eq!(times.len(), all.len());
    let at = |ts: i64| server.get(&format!("log?at={ts}")).json()["at"].as_u64().expect("a place") as usize;
    for ts in [i64::MIN, times[0], times[3] + 1, times[times.len() / 2], times[times.len() - 1], i64::MAX] {
        let nearest = times.iter().map(|time| time.abs_diff(ts)).min();
        assert_eq!(Some(times[at(ts)].abs_diff(ts)), nearest, "{ts}");
    }
    // The lines of a trace move with it.
    server.post("offset?trace=0&offset_ns=5000000000", &[]);
    assert_eq!(times[at(times[7] + 5_000_000_000)], times[7]);
    assert_eq!(server.get("log?take=1").json()["lines"][0][1], times[0] + 5_000_000_000);
}

#[test]
fn two_logs_are_one_by_time() {
    let paths = ["head_server.clog", "head_burst_40.clog"].map(|name| fixture("cnanolog", name));
    let server = Server::of(&paths);
    let answer = server.get("log?take=1000").json();
    let times: Vec<Option<i64>> =
        answer["lines"].as_array().expect("lines").iter().map(|line| line[1].as_i64()).collect();
    assert!(times.is_sorted());
    assert_eq!(answer["all"], rows(&paths[0]).len() + rows(&paths[1]).len());
}

#[test]
fn a_line_comes_with_its_arguments() {
    for name in ["head_types.clog", "head_notime_types.clog", "head_server.clog"] {
        let path = fixture("cnanolog", name);
        let batches = tables(&path);
        let ids: Vec<i64> = lines(&batches).flat_map(|view| view.id.values().to_vec()).collect();
        let server = Server::of_one(&path);
        for number in [0, ids.len() / 2, ids.len() - 1] {
            let mut keys = Vec::new();
            for view in arguments(&batches) {
                let own = (0..view.rows)
                    .filter(|row| view.owner_id.get(*row) == ids[number] && view.owner_table.get(*row) == "logs");
                keys.extend(own.map(|row| view.key.get(row).to_owned()));
            }
            let line = server.get(&format!("log/line?number={number}")).json();
            let found: Vec<&str> =
                line["args"].as_array().expect("arguments").iter().filter_map(|arg| arg[0].as_str()).collect();
            assert_eq!(found, keys, "{name} {number}");
            assert!(line["format"].is_string(), "{name} {number}");
        }
    }
}

#[test]
fn lines_of_a_site_are_those_that_refer_to_it() {
    let paths = ["head_levels.clog", "head_server.clog"].map(|name| fixture("cnanolog", name));
    let server = Server::of(&paths);
    let definitions = server.get("definitions").json();
    let rows = definitions["rows"].as_array().expect("rows");
    assert!(rows.len() > 5);
    let mut lines = 0;
    for row in rows {
        let (trace, id, used) = (&row[0], &row[10], row[8].as_u64().expect("a count"));
        let answer = server.get(&format!("log?site={trace}:{id}&take=1000")).json();
        assert_eq!(answer["total"], used, "{row}");
        for line in answer["lines"].as_array().expect("lines") {
            assert_eq!((&line[6], &line[3], &line[4]), (trace, &row[3], &row[4]), "{row}");
        }
        // With a text and a level, both must match.
        let with_text = server.get(&format!("log?site={trace}:{id}&take=1000&text=e")).json();
        let has_text = |text: &String| text.to_lowercase().contains('e');
        assert_eq!(with_text["total"], texts(&answer).iter().filter(|text| has_text(text)).count(), "{row}");
        lines += used;
    }
    assert_eq!(definitions["all"], rows.len());
    assert_eq!(server.get("log").json()["all"], lines);
    assert_eq!(server.get("log?site=0:999999").json()["total"], 0);
    for odd in ["x", "0", "0:", ":1", "-1:0", "0:1:2"] {
        assert_eq!(server.get(&format!("log?site={odd}")).status, 400, "{odd}");
    }
}

#[test]
fn every_line_of_several_logs_comes_with_its_own_arguments() {
    // More lines than are read at once, and two logs with interleaved lines.
    let paths = ["head_burst_1300.clog", "head_server.clog"].map(|name| fixture("cnanolog", name));
    let server = Server::of(&paths);
    let mut expected = Vec::new();
    for path in &paths {
        let batches = tables(path);
        let mut own = std::collections::BTreeMap::new();
        for view in lines(&batches) {
            own.extend((0..view.rows).map(|row| (view.id.get(row), (view.message.get(row).to_owned(), 0))));
        }
        for view in arguments(&batches) {
            (0..view.rows).for_each(|row| own.get_mut(&view.owner_id.get(row)).expect("its line").1 += 1);
        }
        expected.extend(own.into_values());
    }
    let all = expected.len();
    let mut found: Vec<(String, usize)> = (0..all)
        .step_by(3)
        .chain([all - 1])
        .map(|number| {
            let line = server.get(&format!("log/line?number={number}")).json();
            let args = line["args"].as_array().expect("arguments").len();
            (line["text"].as_str().expect("a text").to_owned(), args)
        })
        .collect();
    found.sort();
    found.dedup();
    assert!(found.len() > 100 && found.iter().any(|(_, args)| *args > 1), "{}", found.len());
    for line in found {
        assert!(expected.contains(&line), "{line:?}");
    }
    assert_eq!(server.get(&format!("log/line?number={all}")).status, 404);
}

#[test]
fn a_log_of_nothing_is_empty() {
    let (_trace, server) = Server::of_sample("wtf");
    let answer = server.get("log?skip=5&take=10&text=a&levels=INFO&at=0").json();
    assert_eq!((&answer["total"], &answer["at"], &answer["lines"]), (&json!(0), &Value::Null, &json!([])));
}

#[test]
fn lines_of_a_filter_are_found_on_the_axis() {
    let (_trace, server) = Server::of_sample("cnanolog");
    let state = server.wait();
    let window = format!("from={}&to={}&px=50", state["from_ns"], state["to_ns"]);
    let hits = |filter: &str| server.get(&format!("log/hits?{window}&{filter}")).json();
    let sum = |hits: &Value| hits.as_array().expect("a list").iter().filter_map(|hit| hit[2].as_u64()).sum::<u64>();
    for filter in ["levels=ERROR", "text=starting", "text=%5E(GET%7CPOST)&regex=true", ""] {
        let total = server.get(&format!("log?{filter}")).json()["total"].as_u64().expect("a count");
        let found = hits(filter);
        assert!(total > 0 && sum(&found) == total, "{filter}: {found}");
        assert!(found.as_array().is_some_and(|found| found.len() <= 51), "{filter}: {found}");
    }
    assert_eq!(sum(&hits("text=(&regex=true")), 0, "half an expression finds nothing");
    assert_eq!(server.get("log/hits?levels=ERROR").status, 400);
}
