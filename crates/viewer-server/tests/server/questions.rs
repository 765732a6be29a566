//! Answers about spans, names and time ranges.

use serde_json::Value;
use traceloom_analysis::stats;
use traceloom_core::TimeRange;
use traceloom_mapping::{Options, open};

use crate::support::{Server, fixture};

#[test]
fn totals_are_those_of_stats() {
    let (trace, server) = Server::of_sample("easyprofiler");
    let state = server.wait();
    let (from, to) = (state["from_ns"].as_i64().expect("a time"), state["to_ns"].as_i64().expect("a time"));
    let opened = [open(&trace.path, None, &Options::default()).expect("it opens")];
    let third = (to - from) / 3;
    for (from, to) in [(from, to), (from + third, from + 2 * third), (from, from)] {
        let options = stats::Options { range: TimeRange::between(from, to), ..stats::Options::default() };
        let report = stats::of_traces(&opened, &options).expect("it can be read");
        let totals = server.get(&format!("totals?from={from}&to={to}")).json();
        let sum = |value: fn(&stats::SpanRow) -> u64| report.spans.iter().map(value).sum::<u64>();
        assert_eq!(totals["spans"], sum(|row| row.calls));
        assert_eq!(totals["total_ns"], sum(|row| row.total_ns));
        assert_eq!(totals["names"], report.spans.len());
        assert_eq!(totals["busy_ns"], report.threads.iter().map(|row| row.busy_ns).sum::<u64>());
        assert_eq!(totals["events"], report.events.iter().map(|row| row.count).sum::<u64>());
    }
}

#[test]
fn a_range_has_its_log_lines_and_its_memory() {
    let (_log, server) = Server::of_sample("cnanolog");
    let state = server.wait();
    let window = |from: i64, to: i64| format!("totals?from={from}&to={to}");
    let lines = |totals: &Value| -> u64 {
        let levels = totals["logs"].as_array().expect("levels").iter();
        levels.map(|level| level[1].as_u64().expect("a count")).sum()
    };
    let (from, to) = (state["from_ns"].as_i64().expect("a time"), state["to_ns"].as_i64().expect("a time"));
    let middle = i64::midpoint(from, to);
    let all = lines(&server.get(&window(from, to + 1)).json());
    assert_eq!(Some(all), state["logs"].as_u64());
    let halves = [window(from, middle), window(middle, to + 1)].map(|half| lines(&server.get(&half).json()));
    assert!(halves.iter().all(|half| *half > 0) && halves.iter().sum::<u64>() == all, "{halves:?} of {all}");

    let (_memory, server) = Server::of_sample("memlyze");
    let state = server.wait();
    let (from, to) = (state["from_ns"].as_i64().expect("a time"), state["to_ns"].as_i64().expect("a time"));
    let report = server.get("memory?trace=0").json();
    let totals = server.get(&window(from, to + 1)).json();
    assert_eq!(totals["memory"]["allocated_bytes"], report["allocated_bytes"]);
    assert_eq!(totals["memory"]["freed_bytes"], report["freed_bytes"]);
}

#[test]
fn a_span_knows_its_callers_and_callees() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    server.wait();
    let name = server.get("search?q=Physics").json()["rows"][0][0].clone();
    let found = server.get(&format!("next?name={name}&ts=0")).json();
    let place = ["track", "kind", "depth", "index"].map(|key| format!("{key}={}", found[key])).join("&");
    let around = server.get(&format!("around?{place}")).json();
    let names = server.get("names").json();
    let text = |number: &Value| {
        let rows = names.as_array().expect("names").iter();
        rows.clone().nth(number.as_u64().expect("a number") as usize).expect("a name")[0].clone()
    };
    let callers: Vec<Value> =
        around["ancestors"].as_array().expect("callers").iter().map(|caller| text(&caller["name"])).collect();
    assert_eq!(callers, ["Frame", "Update"]);
    let callee = &around["children"][0];
    assert_eq!((text(&callee[0]), &callee[1]), (Value::from("Collide"), &Value::from(4)));
    assert!(callee[2].as_i64() <= found["dur_ns"].as_i64());
    assert_eq!(around["same"]["count"], 120);
    assert_eq!(server.get("around?track=0&kind=0&depth=99&index=0").status, 404);
}

#[test]
fn frames_have_a_worst_one_and_its_cause() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    server.wait();
    let frames = server.get("frames").json();
    let (bars, worst) = (frames["frames"].as_array().expect("bars"), frames["worst"].as_array().expect("frames"));
    assert_eq!((bars.len(), worst.len()), (120, 50));
    let longest = bars.iter().map(|bar| bar[2].as_i64().expect("a duration")).max();
    assert_eq!(worst[0][1]["dur_ns"].as_i64(), longest);
    assert_eq!(frames["max_ns"].as_i64(), longest);
    let durations: Vec<_> = worst.iter().map(|frame| frame[1]["dur_ns"].as_i64()).collect();
    assert!(durations.is_sorted_by(|one, other| one >= other), "{durations:?}");
    assert!(worst.iter().all(|frame| frame[2][2].as_i64() <= frame[1]["dur_ns"].as_i64()));
}

#[test]
fn totals_of_tracks_add_up_to_those_of_all() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    let state = server.wait();
    let window = format!("from={}&to={}", state["from_ns"], state["to_ns"]);
    let all = server.get(&format!("totals?{window}")).json();
    let tracks = state["tracks"].as_array().map_or(0, Vec::len);
    assert!(tracks > 1);
    let parts: Vec<Value> = (0..tracks).map(|t| server.get(&format!("totals?{window}&tracks={t}")).json()).collect();
    for key in ["spans", "total_ns", "busy_ns", "switches"] {
        let sum: u64 = parts.iter().map(|part| part[key].as_u64().expect("a number")).sum();
        assert_eq!(all[key], sum, "{key}");
    }
    // The spans of a trace move with it.
    server.post("offset?trace=0&offset_ns=1000000000000", &[]);
    assert_eq!(server.get(&format!("totals?{window}")).json()["spans"], 0);
}

#[test]
fn what_is_searched_for_is_found_and_stepped_through() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    let found = server.get("search?q=").json();
    let row = &found["rows"][0];
    let (name, text, count) = (&row[0], row[1].as_str().expect("a name"), row[2].as_u64().expect("a count"));
    assert!(
        server.get(&format!("search?q={}", text.to_uppercase().replace(' ', "%20"))).json()["spans"].as_u64()
            >= Some(count)
    );
    let mut ts = i64::MIN;
    let mut steps = 0;
    loop {
        let next = server.get(&format!("next?name={name}&ts={ts}")).json();
        if next.is_null() {
            break;
        }
        assert!(next["ts_ns"].as_i64() > Some(ts));
        ts = next["ts_ns"].as_i64().expect("a time");
        steps += 1;
        if steps == 1 {
            let place = ["track", "kind", "depth", "index"].map(|key| format!("{key}={}", next[key])).join("&");
            let span = server.get(&format!("span?{place}")).json();
            assert_eq!((&span["name"], &span["ts_ns"], &span["dur_ns"]), (&row[1], &next["ts_ns"], &next["dur_ns"]));
            assert_eq!(span["name_count"], count);
        }
    }
    assert!(steps > 0 && steps <= count);
    let last = server.get(&format!("next?name={name}&ts={}&back=true", i64::MAX)).json();
    assert_eq!(last["ts_ns"], ts);
}

/// A file that is long enough for brief answers.
const FRAMES: u64 = 36_000;

#[test]
fn a_brief_answer_has_the_own_time_of_the_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("long.prof");
    let file = std::fs::File::create(&path).expect("a place to write");
    traceloom_easyprofiler::sample::write(std::io::BufWriter::new(file), FRAMES).expect("a sample");
    assert!(path.metadata().is_ok_and(|file| file.len() > 16 << 20));
    let server = Server::of(&[path]);
    let mut ts = 1_000_000_000;
    for _ in 0..8 {
        let next = server.get(&format!("next?q=&ts={ts}")).json();
        ts = next["ts_ns"].as_i64().expect("a time") + 3_000_000;
        if next["kind"] != 0 {
            continue;
        }
        let place = ["track", "kind", "depth", "index"].map(|key| format!("{key}={}", next[key])).join("&");
        let brief = server.get(&format!("span?{place}&brief=true")).json();
        let full = server.get(&format!("span?{place}")).json();
        assert!(brief["args"].is_null() && full["args"].is_array());
        for key in ["name", "ts_ns", "dur_ns", "self_ns"] {
            assert_eq!(brief[key], full[key], "{key} of {full}");
        }
    }
}

#[test]
fn a_switch_tells_what_ran_instead() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    let switch = server.get("switch?track=0&index=0").json();
    assert!(switch["target_tid"].is_u64() && switch["dur_ns"].as_i64() > Some(0), "{switch}");
    assert_eq!(server.get("switch?track=0&index=4294967295").status, 404);
}

#[test]
fn an_event_comes_with_its_arguments() {
    let server = Server::of(&[fixture("wtf", "wtf-cpp/cpp-types.wtf-trace")]);
    let next = server.get(&format!("next?q=&ts={}", i64::MIN)).json();
    assert!(!next.is_null());
    let state = server.wait();
    let tracks: Vec<String> = (0..state["tracks"].as_array().map_or(0, Vec::len)).map(|t| t.to_string()).collect();
    let window = format!("from={}&to={}&px=1000&tracks={}", i64::MIN, i64::MAX, tracks.join(","));
    let extras = server.get(&format!("extras?{window}")).json();
    let event = extras["events"].as_array().and_then(|events| events.first()).expect("an event").clone();
    let asked = format!("event?track={}&ts={}&id={}", event[0], event[1], event[5]);
    let details = server.get(&asked).json();
    assert_eq!((&details["ts_ns"], &details["id"]), (&event[1], &event[5]));
    assert!(details["args"].is_array());
}

#[test]
fn a_log_line_is_told_in_full() {
    let (_trace, server) = Server::of_sample("cnanolog");
    let state = server.wait();
    let window = format!("from={}&to={}&px=1000", state["from_ns"], state["to_ns"]);
    let extras = server.get(&format!("extras?{window}")).json();
    let ticks = extras["logs"].as_array().expect("a list");
    let counted: u64 = ticks.iter().map(|tick| tick[3].as_u64().expect("a count")).sum();
    assert_eq!(counted, state["traces"][0]["logs"].as_u64().expect("a count"));
    let line = server.get(&format!("line?number={}", ticks[0][4])).json();
    assert_eq!(line["ts_ns"], ticks[0][1]);
    assert!(line["text"].as_str().is_some_and(|text| !text.is_empty()));
}
