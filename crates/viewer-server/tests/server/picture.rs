//! The picture matches the tables at any zoom.

use std::collections::BTreeMap;

use traceloom_mapping::{Options, open};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, select};

use crate::support::{Server, fixture};

/// A bar: left, right, duration, name, index, count; the busy share is not compared.
type Bar = (f32, f32, f32, u32, u32, u32);

/// The lanes of an answer, by track, kind and depth.
fn lanes(bytes: &[u8]) -> BTreeMap<[u32; 3], Vec<Bar>> {
    let words: Vec<[u8; 4]> = bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]).collect();
    let mut lanes = BTreeMap::new();
    let mut at = 0;
    while at < words.len() {
        let head: Vec<u32> = words[at..at + 4].iter().map(|word| u32::from_le_bytes(*word)).collect();
        let bars = head[3] as usize;
        let column = |number: usize, bar: usize| words[at + 4 + number * bars + bar];
        let float = |number, bar| f32::from_le_bytes(column(number, bar));
        let whole = |number, bar| u32::from_le_bytes(column(number, bar));
        let bar = |bar| (float(0, bar), float(1, bar), float(2, bar), whole(4, bar), whole(5, bar), whole(6, bar));
        lanes.insert([head[0], head[1], head[2]], (0..bars).map(bar).collect());
        at += 4 + 7 * bars;
    }
    lanes
}

select! { struct SpanTimes of spans { ts_ns, dur_ns } }
select! { struct CounterTexts of counters { ts_ns, name, text } }

/// Starts and durations of the spans of a file, by start.
fn spans_of(path: &std::path::Path) -> Vec<(i64, i64)> {
    let trace = open(path, None, &Options::default()).expect("it opens");
    let mut batches = Batches::of(Wanted::nothing().and(Table::Spans, SpanTimes::COLUMNS));
    trace.pour(&Filter::default(), &mut batches).expect("it can be read");
    let mut rows = Vec::new();
    for batch in batches.table(Table::Spans) {
        let times = SpanTimes::of(batch).expect("the columns were asked for");
        rows.extend((0..times.rows).map(|row| (times.ts_ns.get(row), times.dur_ns.get(row).unwrap_or(0))));
    }
    rows.sort_unstable();
    rows
}

#[test]
fn from_afar_no_span_is_lost() {
    for format in ["easyprofiler", "nytprof", "wtf"] {
        let (trace, server) = Server::of_sample(format);
        let state = server.wait();
        let tracks: Vec<String> = (0..state["tracks"].as_array().map_or(0, Vec::len)).map(|t| t.to_string()).collect();
        let tracks = tracks.join(",");
        let (from, to) = (state["from_ns"].as_i64().expect("a time"), state["to_ns"].as_i64().expect("a time"));
        let all = spans_of(&trace.path);
        let years = 86_400_000_000_000 * 365;
        for (from, to) in [(from, to), (from - 3 * years, to + 100 * years), (i64::MIN, i64::MAX)] {
            for pixels in [1, 640, 1_280] {
                let answer = server.get(&format!("picture?from={from}&to={to}&px={pixels}&tracks={tracks}"));
                let lanes = lanes(&answer.body);
                let counted = lanes.iter().filter(|(key, _)| key[1] < 3).flat_map(|(_, bars)| bars);
                let counted: usize = counted.map(|bar| bar.5 as usize).sum();
                assert_eq!(counted, all.len(), "{format}: {from}..{to} in {pixels}");
            }
        }
    }
}

#[test]
fn a_window_of_ten_nanoseconds_is_exact() {
    let (trace, server) = Server::of_sample("easyprofiler");
    let all = spans_of(&trace.path);
    let (begin, dur) = all[all.len() / 2];
    let (from, to, pixels) = (begin - 4, begin + 6, 1_280_u32);
    let answer = server.get(&format!("picture?from={from}&to={to}&px={pixels}&tracks=0,1,2,3,4,5,6,7"));
    let lanes = lanes(&answer.body);
    let x = (begin - from) as f32 * pixels as f32 / 10.0;
    let found = lanes.values().flatten().any(|bar| (bar.0 - x).abs() < 0.01 && bar.2 == dur as f32);
    assert!(found, "no bar at {x}: {lanes:?}");
    for (left, right, ..) in lanes.values().flatten() {
        assert!(*left <= *right && *left >= -1.0 && *right <= pixels as f32 + 1.0, "{left}..{right}");
    }
}

#[test]
fn deep_tracks_are_given_in_parts() {
    let (_trace, server) = Server::of_sample("nytprof");
    let window = format!("from={}&to={}&px=100", i64::MIN, i64::MAX);
    let all = lanes(&server.get(&format!("picture?{window}&tracks=0")).body);
    assert!(all.len() > 3, "{} lanes", all.len());
    let part = lanes(&server.get(&format!("picture?{window}&tracks=0:1-2")).body);
    assert_eq!(part.keys().filter(|key| key[1] == 0).map(|key| key[2]).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn flows_frames_and_marks_are_there() {
    let server = Server::of(&[fixture("wtf", "wtf-cpp/cpp-frames.wtf-trace")]);
    let state = server.wait();
    let framed = state["tracks"].as_array().expect("a list").iter().any(|track| track["frame_depth"] == 1);
    assert!(framed, "{state}");
    let (_trace, server) = Server::of_sample("wtf");
    let state = server.wait();
    let tracks = state["tracks"].as_array().expect("a list");
    let numbers: Vec<String> = (0..tracks.len()).map(|number| number.to_string()).collect();
    let (from, to) = (&state["from_ns"], &state["to_ns"]);
    let extras = server.get(&format!("extras?from={from}&to={to}&px=1000&tracks={}", numbers.join(","))).json();
    assert!(!extras["events"].as_array().expect("a list").is_empty());
    assert!(!extras["links"].as_array().expect("a list").is_empty());
}

#[test]
fn values_that_are_texts_are_labels() {
    let path = fixture("easyprofiler", "v210_values.prof");
    let trace = open(&path, None, &Options::default()).expect("it opens");
    let mut batches = Batches::of(Wanted::nothing().and(Table::Counters, CounterTexts::COLUMNS));
    trace.pour(&Filter::default(), &mut batches).expect("it can be read");
    let mut expected = Vec::new();
    for batch in batches.table(Table::Counters) {
        let rows = CounterTexts::of(batch).expect("the columns were asked for");
        let texts = (0..rows.rows).filter_map(|row| Some((row, rows.text.get(row)?)));
        expected.extend(texts.map(|(row, text)| (rows.name.get(row).to_owned(), rows.ts_ns.get(row), text.to_owned())));
    }
    assert!(expected.len() > 5, "the fixture has texts");
    let server = Server::of_one(&path);
    server.post("offset?trace=0&offset_ns=1000", &[]);
    let (state, names) = (server.wait(), server.get("names").json());
    let counters = state["counters"].as_array().expect("counters");
    let all: Vec<String> = (0..counters.len()).map(|number| number.to_string()).collect();
    let all = all.join(",");
    let extras = server.get(&format!("extras?from=0&to=1000000000&px=1000000&counters={all}")).json();
    let mut found = Vec::new();
    for texts in extras["texts"].as_array().expect("texts") {
        let counter = &counters[texts[0].as_u64().expect("a number") as usize];
        assert_eq!(counter["is_text"], true);
        let name = names[counter["name"].as_u64().expect("a name") as usize][0].as_str().expect("a name");
        for label in texts[1].as_array().expect("labels") {
            let ts_ns = label[0].as_i64().expect("a time");
            let told = server.get(&format!("text?counter={}&number={}", texts[0], label[3])).json();
            assert_eq!((&told["text"], &told["ts_ns"]), (&label[1], &label[0]));
            found.push((name.to_owned(), ts_ns - 1_000, label[1].as_str().expect("a text").to_owned()));
        }
    }
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    // Numbers are charts, as before, and have no text.
    for chart in extras["counters"].as_array().expect("charts") {
        assert_eq!(counters[chart[0].as_u64().expect("a number") as usize]["is_text"], false);
        assert_eq!(server.get(&format!("text?counter={}&number=0", chart[0])).status, 404);
    }
    assert_eq!(server.get("text?counter=99999&number=0").status, 404);
}
