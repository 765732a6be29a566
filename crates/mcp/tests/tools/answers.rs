//! Tools whose results equal the output of the program.

use serde_json::{Value as Json, json};
use traceloom::{
    OpenOptions, Trace, Traces, Verdict,
    analysis::{advise, call_tree, diff, flame, lines, memory, stats, summary},
    tables::{Filter, TableSource},
};

use crate::support::{Bench, formats, text};

#[tokio::test]
async fn every_tool_says_what_it_takes_and_gives() {
    let bench = Bench::new().await;
    let tools = bench.client.list_all_tools().await.expect("tools are listed");
    let mut names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    names.sort_unstable();
    let expected =
        "check convert diff lines link log memory open report schema slice span spans sql stats summary tree window";
    assert_eq!(names.join(" "), expected);
    for tool in &tools {
        assert!(tool.description.as_ref().is_some_and(|about| about.len() > 20), "{}", tool.name);
        assert!(tool.output_schema.is_some(), "{}", tool.name);
        let writes = ["slice", "convert", "report"].contains(&tool.name.as_ref());
        let hints = tool.annotations.as_ref().expect("hints");
        assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(!writes), Some(false)), "{}", tool.name);
    }
}

#[tokio::test]
async fn answers_equal_those_of_the_program() {
    let bench = Bench::new().await;
    for format in formats() {
        let path = bench.sample(format);
        let trace = Trace::open(&path).expect("a sample opens");
        let argument = json!({ "trace": text(&path), "limit": 1000 });

        let set = Traces::from_iter([trace.clone()]).set().expect("one trace makes a set");
        let expected = stats::of_traces(set.placed(), &stats::Options::default()).expect("stats").to_json(usize::MAX);
        let found = bench.ask("stats", argument.clone()).await;
        assert_eq!(found["from_trace"], expected, "{format}");
        assert_eq!(found["truncated"], json!([]), "{format}");

        if let Ok(stacks) = flame::stacks(&set, flame::Options::default()) {
            let graph = stacks.tree.into();
            let options = call_tree::Options { min_share: 0.005, ..call_tree::Options::default() };
            let expected = call_tree::call_tree(&graph, &options).to_json("ns");
            assert_eq!(bench.ask("tree", argument.clone()).await["from_trace"], expected, "{format}");
        } else {
            assert!(bench.refusal("tree", argument.clone()).await.contains("no stacks"), "{format}");
        }

        let expected = Verdict::of(&path, &OpenOptions::new()).expect("check").to_json(&path);
        assert_eq!(bench.ask("check", argument.clone()).await["from_trace"], expected, "{format}");

        let expected = summary::of_trace(&trace, &advise::Options::default()).expect("a summary");
        let expected = serde_json::to_value(expected).expect("JSON");
        assert_eq!(bench.ask("summary", argument.clone()).await["from_trace"], expected, "{format}");
    }
}

#[tokio::test]
async fn memory_equals_that_of_the_program() {
    let bench = Bench::new().await;
    let path = bench.sample("memlyze");
    let trace = Trace::open(&path).expect("a sample opens");
    let options = memory::Options { at_ns: Some(1_000_000), points: 50, ..memory::Options::default() };
    let report = memory::memory(&trace, &Filter::default(), &options).expect("memory");
    let arguments = json!({ "trace": text(&path), "at_ns": 1_000_000, "points": 50, "limit": 1000 });
    let found = bench.ask("memory", arguments).await;
    assert_eq!(found["from_trace"], report.to_json(&memory::Extract::whole(&report)));
    let logs = bench.sample("cnanolog");
    assert!(bench.refusal("memory", json!({ "trace": text(&logs) })).await.contains("no allocations"));
}

#[tokio::test]
async fn lines_equal_those_of_the_program() {
    let bench = Bench::new().await;
    let path = bench.sample("nytprof");
    let mut collected = lines::Lines::new(lines::Options { merge_evals: true });
    Trace::open(&path).expect("opens").pour(&Filter::default(), &mut collected).expect("lines");
    let profile = collected.finish().profiles.pop().expect("a profile");
    let expected = profile.to_json(lines::Lists::All, &profile.files_by_time());
    assert_eq!(bench.ask("lines", json!({ "trace": text(&path), "limit": 1000 })).await["from_trace"], expected);
    for limit in [1, 20] {
        let found = bench.ask("lines", json!({ "trace": text(&path), "limit": limit })).await;
        lines_are_whole(&found, &expected, limit);
    }
    let subs = bench.ask("lines", json!({ "trace": text(&path), "list": "subs", "limit": 1000 })).await;
    assert_eq!(subs["from_trace"], profile.to_json(lines::Lists::Subs, &[]));
    let unknown = bench.refusal("lines", json!({ "trace": text(&path), "file": "nonsense" })).await;
    assert!(unknown.contains("no file in the profile matches nonsense"), "{unknown}");
    let spans = bench.sample("easyprofiler");
    assert!(bench.refusal("lines", json!({ "trace": text(&spans) })).await.contains("no line timings"));
}

/// The source of each file has its first lines, each with its number and text.
fn lines_are_whole(found: &Json, expected: &Json, limit: usize) {
    let list = |value: &Json, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let files = list(expected, "files");
    let shown = list(&found["from_trace"], "files");
    assert_eq!(shown.len(), files.len().min(limit));
    let mut all = 0;
    for (file, expected) in shown.iter().zip(&files) {
        let source = list(expected, "source");
        assert_eq!(list(file, "source"), source[..source.len().min(limit)], "{limit}");
        all += source.len();
    }
    assert!(all > limit, "the sample has the source");
    let cuts = list(found, "truncated");
    let cut = cuts.iter().find(|cut| cut["list"] == "files.source").expect("there are more lines");
    assert_eq!(cut["total"], all, "a line counts once");
}

#[tokio::test]
async fn diff_equals_that_of_the_program() {
    let bench = Bench::new().await;
    let before = bench.sample("easyprofiler");
    let after = bench.folder.path().join("after.prof");
    let trace = Trace::open(&before).expect("opens");
    let range = traceloom::TimeRange::new(None, Some(1_000_000_000));
    let slice = traceloom::Slice { range, ..traceloom::Slice::default() };
    trace.slice(&slice, &mut std::fs::File::create(&after).expect("there is room")).expect("a slice");
    let set = |path: &std::path::Path| Traces::open([path]).and_then(|traces| traces.set()).expect("a set");
    let (first, second) = (set(&before), set(&after));
    let report = diff::of_traces(first.traces(), second.traces(), &diff::Options::default()).expect("a comparison");
    let arguments = json!({ "before": [text(&before)], "after": [text(&after)], "all": true, "limit": 1000 });
    let found = bench.ask("diff", arguments).await;
    assert_eq!(found["from_trace"], report.to_json(true, usize::MAX));
    let arguments = json!({ "before": [text(&before)], "after": [text(&after)], "all": true, "limit": 1 });
    let found = bench.ask("diff", arguments).await["from_trace"].clone();
    assert_eq!((&found["runs"], found["self_ns"].as_array().map(Vec::len)), (&json!([1, 1]), Some(2)));
    assert!(bench.refusal("diff", json!({ "before": [], "after": [] })).await.contains("at least one"));
}

#[tokio::test]
async fn open_gives_a_stable_handle_and_the_worst_findings_and_says_what_to_ask() {
    let bench = Bench::new().await;
    let tools = bench.client.list_all_tools().await.expect("tools");
    let tools: Vec<&'static str> = tools.into_iter().map(|tool| &*tool.name.into_owned().leak()).collect();
    for format in formats() {
        let path = bench.sample(format);
        let opened = bench.ask("open", json!({ "trace": text(&path) })).await["from_trace"].clone();
        let handle = opened["handle"].as_str().expect("a handle").to_owned();
        assert_eq!(handle, format!("trace-{:016x}", Trace::open(&path).expect("opens").id()));
        assert_eq!(opened["format"], format);
        let summary = bench.ask("summary", json!({ "trace": text(&path) })).await["from_trace"].clone();
        let findings = summary["findings"].as_array().expect("a list").iter();
        let short: Json = findings
            .map(|one| json!({ "rule": one["rule"], "severity": one["severity"], "message": one["message"] }))
            .collect();
        for (field, expected) in
            [("health", &summary["health"]), ("verdict", &summary["verdict"]), ("findings", &short)]
        {
            assert_eq!(&opened[field], expected, "{format}: {field}");
        }
        assert!(format != "easyprofiler" || opened["findings"][0]["message"].is_string(), "the sample has slow frames");
        let next = opened["ask_next"].as_array().expect("a list");
        assert!(next.len() > 1, "{format}: {next:?}");
        for one in next {
            let tool = tools.iter().find(|tool| one["tool"] == **tool).expect("a tool");
            bench.ask(tool, json!({ "trace": text(&path) })).await;
        }
        let by_handle = bench.ask("stats", json!({ "trace": handle })).await;
        assert_eq!(by_handle, bench.ask("stats", json!({ "trace": text(&path) })).await, "{format}");
    }
}

#[tokio::test]
async fn a_truncation_is_said_first_and_has_totals() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let whole = bench.ask("stats", json!({ "trace": text(&path), "limit": 1000 })).await;
    let total = whole["from_trace"]["spans"].as_array().expect("a list").len();
    let answer = bench.call("stats", json!({ "trace": text(&path), "limit": 2 })).await;
    let said = format!("spans: 2 of {total} shown");
    let content = answer.content[0].as_text().expect("a text").text.clone();
    assert!(content.starts_with("Truncated: ") && content.lines().next().is_some_and(|line| line.contains(&said)));
    let found = answer.structured_content.expect("structured");
    assert_eq!(found.as_object().and_then(|fields| fields.keys().next()).map(String::as_str), Some("truncated"));
    let cuts = found["truncated"].as_array().expect("a list");
    assert!(cuts.contains(&json!({ "list": "spans", "shown": 2, "total": total })), "{cuts:?}");
    assert_eq!(found["from_trace"]["spans"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn schema_lists_every_table() {
    let bench = Bench::new().await;
    let all = bench.ask("schema", json!({})).await["from_trace"]["tables"].clone();
    assert_eq!(all.as_array().map(Vec::len), Some(traceloom::tables::Table::ALL.len()));
    let spans = bench.ask("schema", json!({ "table": "spans" })).await["from_trace"]["tables"][0].clone();
    let column =
        |name: &str| spans["columns"].as_array().into_iter().flatten().find(|one| one["name"] == name).cloned();
    assert_eq!(column("dur_ns").map(|column| column["type"].clone()), Some(json!("integer?")));
    assert!(bench.refusal("schema", json!({ "table": "nonsense" })).await.contains("no table nonsense"));
}

#[tokio::test]
async fn sql_is_read_only_and_bounded() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let ask = |query: &str| json!({ "query": query, "traces": [text(&path)], "limit": 3 });
    let found = bench.ask("sql", ask("select name, dur_ns from spans order by id")).await;
    let total = Trace::open(&path).expect("opens").tables().rows(traceloom::tables::Table::Spans).expect("rows");
    assert_eq!(found["truncated"], json!([{ "list": "rows", "shown": 3, "total": total }]));
    assert_eq!(found["from_trace"]["rows"].as_array().map(Vec::len), Some(3));
    assert_eq!(found["from_trace"]["columns"][1], json!({ "name": "dur_ns", "type": "Int64" }));
    for query in
        ["drop table spans", "create table t as select 1", "copy spans to 'x.csv'", "insert into spans values (1)"]
    {
        assert!(!bench.refusal("sql", ask(query)).await.is_empty(), "{query}");
    }
    assert!(bench.refusal("sql", ask("select nonsense from spans")).await.contains("nonsense"));
}

#[tokio::test]
async fn columns_that_share_a_name_are_all_returned() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let query = "select s.name, t.name, s.id from spans s join threads t on s.thread_id = t.id order by s.id limit 1";
    let found = bench.ask("sql", json!({ "query": query, "traces": [text(&path)] })).await["from_trace"].clone();
    let names: Vec<&Json> = found["columns"].as_array().into_iter().flatten().map(|column| &column["name"]).collect();
    assert_eq!(names, ["name", "name_2", "id"]);
    let row = found["rows"][0].as_object().expect("a row");
    assert_eq!(row.keys().collect::<Vec<_>>(), ["name", "name_2", "id"]);
    assert_ne!(row["name"], row["name_2"], "a span and its thread");
}

#[tokio::test]
async fn wrong_arguments_are_refused_in_words() {
    let bench = Bench::new().await;
    assert!(bench.refusal("stats", json!({ "trace": 7 })).await.contains("arguments"));
    assert!(bench.refusal("stats", json!({ "wrong": 7 })).await.contains("wrong"));
    assert!(bench.refusal("stats", json!({})).await.contains("no trace given"));
    assert!(bench.refusal("stats", json!({ "trace": "/etc/passwd" })).await.contains("not a file in the folders"));
    let unknown: Json = json!({});
    let request = rmcp::model::CallToolRequestParams::new("nonsense")
        .with_arguments(unknown.as_object().cloned().unwrap_or_default());
    assert!(bench.client.call_tool(request).await.is_err());
}
