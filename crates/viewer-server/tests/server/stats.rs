//! Statistics, against the analysis that the program prints.

use std::path::{Path, PathBuf};
use traceloom_core::TimeRange;

use serde_json::{Value, json};
use traceloom_analysis::stats::{self, By, CallRow, EventRow, Options, Report, SpanRow, ValueRow};
use traceloom_mapping::{Options as Ingest, Trace, open};

use crate::support::{Server, fixture};

/// Some of every format: spans of several threads, values, switches, frames, sums, logs, allocations.
pub(crate) fn some_of_every_format() -> Vec<PathBuf> {
    vec![
        fixture("easyprofiler", "v210_nested_threads.prof"),
        fixture("easyprofiler", "v210_context_switches.prof"),
        fixture("easyprofiler", "v210_values.prof"),
        fixture("easyprofiler", "v210_dynamic_names.prof"),
        fixture("wtf", "wtf-js/js-mix.wtf-trace"),
        fixture("wtf", "wtf-js/js-frames.wtf-trace"),
        fixture("wtf", "wtf-js/js-ranges.wtf-trace"),
        fixture("nytprof", "devel-nytprof-6.12/inventory-calls2.nytprof"),
        fixture("nytprof", "devel-nytprof-6.12/inventory-calls0.nytprof"),
        fixture("nytprof", "devel-nytprof-6.12/recurse-calls2.nytprof"),
        fixture("cnanolog", "head_server.clog"),
        fixture("memlyze", "memlyze-0.1.0-encoder/api_small.mlyze"),
    ]
}

pub(crate) fn opened(path: impl AsRef<Path>) -> Trace {
    open(path.as_ref(), None, &Ingest::default()).expect("it opens")
}

fn span(row: &SpanRow) -> Value {
    let SpanRow { name, thread, tid, file, category, calls, unclosed, total_ns, self_ns, .. } = row;
    let SpanRow { min_ns, mean_ns, p50_ns, p95_ns, p99_ns, max_ns, share, is_exact, .. } = row;
    json!([
        name, thread, tid, file, category, calls, unclosed, total_ns, self_ns, min_ns, mean_ns, p50_ns, p95_ns, p99_ns,
        max_ns, share, is_exact
    ])
}

fn function(row: &CallRow) -> Value {
    json!([row.name, row.calls, row.total_ns, row.self_ns, row.mean_ns, row.share])
}

fn value(row: &ValueRow) -> Value {
    let ValueRow { name, count, others, min, mean, p50, p95, p99, max, first, last, is_exact, .. } = row;
    json!([name, count + others, min, mean, p50, p95, p99, max, first, last, is_exact])
}

fn event(row: &EventRow) -> Value {
    json!([row.name, row.category, row.thread, row.tid, row.count])
}

/// Equal numbers may be written as integers or as floats.
fn assert_same(answer: &Value, report: &Report, about: &str) {
    let rows = |key: &str| answer[key]["rows"].clone();
    let all = |rows: Vec<Value>| serde_json::from_str::<Value>(&Value::Array(rows).to_string()).expect("JSON");
    assert_eq!(rows("spans"), all(report.spans.iter().map(span).collect()), "{about}");
    assert_eq!(rows("functions"), all(report.calls.iter().map(function).collect()), "{about}");
    assert_eq!(rows("values"), all(report.values.iter().map(value).collect()), "{about}");
    assert_eq!(rows("events"), all(report.events.iter().map(event).collect()), "{about}");
    assert_eq!(answer["self_ns"], json!(report.self_ns), "{about}");
    assert_eq!(answer["spans"]["all"], json!(report.spans.len()), "{about}");
    // The page shows no switches as zero.
    let threads = report.threads.iter().filter(|row| row.spans + row.switches.unwrap_or(0) > 0);
    let threads = threads.map(|row| {
        let (switches, off_cpu_ns) = (row.switches.unwrap_or(0), row.off_cpu_ns.unwrap_or(0));
        json!([row.name, row.tid, row.trace, row.spans, row.busy_ns, switches, off_cpu_ns])
    });
    assert_eq!(answer["threads"], Value::Array(threads.collect()), "{about}");
}

#[test]
fn the_figures_are_those_of_the_program() {
    let groupings: [(&str, Vec<By>); 4] = [
        ("name", Vec::new()),
        ("thread", vec![By::Thread]),
        ("file", vec![By::File]),
        ("category", vec![By::Category]),
    ];
    for path in some_of_every_format() {
        let trace = opened(&path);
        let server = Server::of_one(&path);
        for (name, by) in &groupings {
            let options = Options { by: by.clone(), ..Options::default() };
            let report = stats::of_traces(std::slice::from_ref(&trace), &options).expect("it is read");
            let answer = server.get(&format!("stats?by={name}")).json();
            assert_eq!(answer["loading"], false);
            assert_same(&answer, &report, &format!("{} by {name}", path.display()));
        }
    }
}

#[test]
fn a_stretch_holds_what_begins_in_it_wherever_the_trace_lies() {
    for path in some_of_every_format() {
        let trace = opened(&path);
        let server = Server::of_one(&path);
        let state = server.wait();
        let (Some(from), Some(to)) = (state["from_ns"].as_i64(), state["to_ns"].as_i64()) else { continue };
        let (from_ns, to_ns) = (from + (to - from) / 4, to - (to - from) / 4);
        let options = Options { range: TimeRange::between(from_ns, to_ns), ..Options::default() };
        let report = stats::of_traces(std::slice::from_ref(&trace), &options).expect("it is read");
        for offset in [0, 1_234_567] {
            assert_eq!(server.post(&format!("offset?trace=0&offset_ns={offset}"), &[]).status, 200);
            let answer = server.get(&format!("stats?from={}&to={}", from_ns + offset, to_ns + offset)).json();
            assert_same(&answer, &report, &format!("{} moved by {offset}", path.display()));
        }
        let empty = server.get(&format!("stats?from={from_ns}&to={from_ns}")).json();
        assert_eq!(empty["spans"]["all"], 0, "nothing begins in a stretch without length");
    }
}

#[test]
fn some_tracks_have_the_figures_of_their_threads() {
    for path in [fixture("easyprofiler", "v210_nested_threads.prof"), fixture("wtf", "wtf-js/js-zones.wtf-trace")] {
        let server = Server::of_one(&path);
        let state = server.wait();
        let by_thread = server.get("stats?by=thread").json();
        let tracks = state["tracks"].as_array().expect("tracks");
        let mut spans = 0;
        for (number, track) in tracks.iter().enumerate() {
            let answer = server.get(&format!("stats?by=thread&tracks={number}")).json();
            let is_own = |row: &&Value| row[2] == track["tid"] && (row[1] == track["name"] || !track["tid"].is_null());
            let figures = |row: &Value| row.as_array().expect("a row")[..15].to_vec();
            let rows = |answer: &Value| answer["spans"]["rows"].as_array().expect("rows").clone();
            let expected: Vec<_> = rows(&by_thread).iter().filter(is_own).map(figures).collect();
            let found: Vec<_> = rows(&answer).iter().map(figures).collect();
            assert_eq!(found, expected, "track {number} of {}", path.display());
            spans += found.len();
        }
        assert!(spans > 0 && spans == by_thread["spans"]["rows"].as_array().map_or(0, Vec::len));
        let all: Vec<String> = (0..tracks.len()).map(|number| number.to_string()).collect();
        let together = server.get(&format!("stats?tracks={}", all.join(","))).json();
        assert_eq!(together["spans"], server.get("stats").json()["spans"]);
    }
}

#[test]
fn traces_are_counted_together_and_told_apart_by_their_tracks() {
    let paths = [
        fixture("easyprofiler", "v210_nested_threads.prof"),
        fixture("nytprof", "devel-nytprof-6.12/recurse-calls2.nytprof"),
    ];
    let traces: Vec<Trace> = paths.iter().map(opened).collect();
    let server = Server::of(&paths);
    let state = server.wait();
    let report = stats::of_traces(&traces, &Options::default()).expect("they are read");
    let answer = server.get("stats").json();
    let names = |answer: &Value| {
        let rows = answer["spans"]["rows"].as_array().expect("rows").iter();
        rows.map(|row| (row[0].clone(), row[5].clone(), row[7].clone())).collect::<Vec<_>>()
    };
    let expected = report.spans.iter().map(|row| (json!(row.name), json!(row.calls), json!(row.total_ns)));
    assert_eq!(names(&answer), expected.collect::<Vec<_>>());
    for (number, trace) in traces.iter().enumerate() {
        let own = state["tracks"].as_array().expect("tracks").iter().enumerate();
        let own = own.filter(|(_, track)| track["trace"] == number).map(|(track, _)| track.to_string());
        let report = stats::of_traces(std::slice::from_ref(trace), &Options::default()).expect("it is read");
        let answer = server.get(&format!("stats?tracks={}", own.collect::<Vec<_>>().join(","))).json();
        let expected = report.spans.iter().map(|row| (json!(row.name), json!(row.calls), json!(row.total_ns)));
        assert_eq!(names(&answer), expected.collect::<Vec<_>>());
        assert!(answer["threads"].as_array().expect("threads").iter().all(|row| row[2] == number));
    }
}

#[test]
fn bad_questions_about_figures_get_a_sentence() {
    let server = Server::of(&[fixture("easyprofiler", "v210_values.prof")]);
    server.refuses(&[
        "stats?by=weather",
        "stats?from=a",
        "stats?to=1e9",
        "stats?from=10&to=9",
        "stats?from=99999999999999999999",
        "stats?tracks=x",
        "stats?tracks=-1",
        "stats?tracks=0,4294967295",
        "stats?tracks=99",
        "histogram",
        "histogram?name=x",
        "histogram?name=4294967295",
        "histogram?name=0&bins=-1",
        "histogram?name=0&from=2&to=1",
        "histogram?name=0&tracks=77",
        "longest?name=0&least=9&below=3",
        "longest?name=0&least=NaN",
        "longest?name=4000000000",
        "longest?name=0&take=-1",
        "relation?name=0",
        "relation?name=0&value=99999",
    ]);
    assert!((400..500).contains(&server.get("flame").status));
    let (least, most) = (i64::MIN, i64::MAX);
    for question in [
        format!("stats?from={least}&to={most}"),
        format!("stats?from={most}&to={most}"),
        format!("histogram?name=0&bins=99999999&from={least}&to={most}"),
        "longest?name=0&take=99999999&least=-inf&below=inf".to_owned(),
    ] {
        assert_eq!(server.get(&question).status, 200, "{question}");
    }
}
