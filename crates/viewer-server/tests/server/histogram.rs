//! Durations of one name, against the analysis that the program prints.

use std::collections::BTreeMap;
use traceloom_core::TimeRange;

use serde_json::{Value, json};
use traceloom_analysis::stats::{self, Options, Pairing};

use crate::{
    stats::{opened, some_of_every_format},
    support::{Server, fixture},
};

fn numbers(server: &Server) -> BTreeMap<String, usize> {
    let names = server.get("names").json();
    let names = names.as_array().expect("names").iter().enumerate();
    names.map(|(number, name)| (name[0].as_str().expect("a name").to_owned(), number)).collect()
}

#[test]
fn durations_are_those_of_the_program() {
    for path in some_of_every_format() {
        let trace = opened(&path);
        let server = Server::of_one(&path);
        let numbers = numbers(&server);
        let report = stats::of_traces(std::slice::from_ref(&trace), &Options::default()).expect("it is read");
        for row in report.spans.iter().take(8).filter(|row| row.calls > 0) {
            // A frame may have the name of spans; the more frequent kind is shown.
            let more =
                report.spans.iter().any(|other| other.name == row.name && other.calls >= row.calls && other != row);
            if more {
                continue;
            }
            let answer = server.get(&format!("histogram?name={}", numbers[&row.name])).json();
            let about = format!("{} of {}", row.name, path.display());
            assert_eq!(answer["name"], row.name, "{about}");
            assert_eq!(answer["calls"], row.calls, "{about}");
            assert_eq!(answer["total_ns"], row.total_ns, "{about}");
            assert_eq!((&answer["min_ns"], &answer["max_ns"]), (&json!(row.min_ns), &json!(row.max_ns)), "{about}");
            for (key, value) in [("p50_ns", row.p50_ns), ("p95_ns", row.p95_ns), ("p99_ns", row.p99_ns)] {
                assert_eq!(answer[key].as_f64(), value, "{key} of {about}");
            }
            let options = Options { histogram: Some(row.name.clone()), ..Options::default() };
            let report = stats::of_traces(std::slice::from_ref(&trace), &options).expect("it is read");
            let bins = report.histogram.expect("a histogram").bins;
            let bins: Vec<_> = bins.iter().map(|bin| (Some(bin.from_ns), Some(bin.to_ns), Some(bin.count))).collect();
            let found = answer["bins"].as_array().expect("bins").iter();
            let found: Vec<_> = found.map(|bin| (bin[0].as_f64(), bin[1].as_f64(), bin[2].as_u64())).collect();
            assert_eq!(found, bins, "{about}");
            longest_are_listed(&server, numbers[&row.name], &answer);
        }
    }
}

/// Each bar lists its spans, longest first, and each of them is at its stated position.
fn longest_are_listed(server: &Server, name: usize, histogram: &Value) {
    let kind = &histogram["kind"];
    for bin in histogram["bins"].as_array().expect("bins") {
        let answer = server.get(&format!("longest?name={name}&kind={kind}&least={}&below={}", bin[0], bin[1])).json();
        assert_eq!(answer["all"], bin[2]);
        let places = answer["places"].as_array().expect("places");
        assert_eq!(places.len() as u64, bin[2].as_u64().expect("a count").min(200));
        let lengths: Vec<_> = places.iter().map(|place| place["dur_ns"].as_i64().expect("a length")).collect();
        assert!(lengths.is_sorted_by(|one, other| one >= other), "{lengths:?}");
        for place in places.iter().take(2) {
            let query = ["track", "kind", "depth", "index"].map(|key| format!("{key}={}", place[key])).join("&");
            let span = server.get(&format!("span?{query}")).json();
            assert_eq!((&span["name_id"], &span["dur_ns"]), (&json!(name), &place["dur_ns"]));
            assert_eq!(span["ts_ns"], place["ts_ns"]);
        }
    }
    let longest = server.get(&format!("longest?name={name}&kind={kind}&take=1")).json();
    assert_eq!(longest["places"][0]["dur_ns"], histogram["max_ns"]);
}

#[test]
fn a_stretch_narrows_the_durations() {
    let path = fixture("easyprofiler", "v210_nested_threads.prof");
    let trace = opened(&path);
    let server = Server::of_one(&path);
    let (state, numbers) = (server.wait(), numbers(&server));
    let (from, to) = (state["from_ns"].as_i64().expect("a time"), state["to_ns"].as_i64().expect("a time"));
    let from_ns = from + (to - from) / 2;
    let options = Options { range: TimeRange::between(from_ns, to), ..Options::default() };
    let report = stats::of_traces(std::slice::from_ref(&trace), &options).expect("it is read");
    assert!(!report.spans.is_empty());
    server.post("offset?trace=0&offset_ns=77", &[]);
    for row in &report.spans {
        let part = format!("from={}&to={}", from_ns + 77, to + 77);
        let answer = server.get(&format!("histogram?name={}&{part}&bins=60", numbers[&row.name])).json();
        assert_eq!((&answer["calls"], &answer["max_ns"]), (&json!(row.calls), &json!(row.max_ns)));
        let longest = server.get(&format!("longest?name={}&{part}&take=1", numbers[&row.name])).json();
        assert_eq!((&longest["all"], &longest["places"][0]["dur_ns"]), (&json!(row.calls), &json!(row.max_ns)));
        assert!(longest["places"][0]["ts_ns"].as_i64().is_some_and(|ts_ns| ts_ns >= from_ns + 77));
    }
}

#[test]
fn values_are_compared_with_the_spans_around_them() {
    let path = fixture("easyprofiler", "v210_values.prof");
    let trace = opened(&path);
    let server = Server::of_one(&path);
    let numbers = numbers(&server);
    let report = stats::of_traces(std::slice::from_ref(&trace), &Options::default()).expect("it is read");
    let mut pairs = 0;
    // The timeline shows neither texts nor infinite values.
    for value in report.values.iter().filter(|value| value.min.is_some_and(f64::is_finite)) {
        for span in &report.spans {
            let relation = Some(Pairing { value: value.name.clone(), span: span.name.clone() });
            let options = Options { relation, ..Options::default() };
            let report = stats::of_traces(std::slice::from_ref(&trace), &options).expect("it is read");
            let expected = report.relation.expect("it was asked for");
            let question = format!("relation?name={}&value={}", numbers[&span.name], numbers[&value.name]);
            let answer = server.get(&question).json();
            assert_eq!(answer["pairs"], expected.pairs, "{} in {}", value.name, span.name);
            assert_eq!(answer["points"].as_array().map(Vec::len), Some(expected.points.len()));
            assert_eq!(answer["fit"]["correlation"].as_f64(), expected.fit.as_ref().map(|fit| fit.correlation));
            pairs += expected.pairs;
        }
    }
    assert!(pairs > 0, "some values lie in spans");
}
