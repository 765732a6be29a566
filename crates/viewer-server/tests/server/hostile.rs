//! Malicious requests.

use serde_json::Value;
use traceloom_testkit::made::{write_threads, write_values};

use crate::support::{Server, sample};

const QUESTIONS: &[&str] = &[
    "picture",
    "picture?from=0&to=1",
    "picture?from=a&to=b&px=c",
    "picture?from=0&to=99999999999999999999&px=10",
    "picture?from=0&to=1e3&px=10",
    "picture?from=0&to=1&px=-1",
    "picture?from=0&to=1&px=4294967296",
    "picture?from=0&to=1&px=1&tracks=x",
    "picture?from=0&to=1&px=1&tracks=1:2",
    "picture?from=0&to=1&px=1&tracks=1:b-a",
    "extras?from=0&to=1&px=1&counters=-1",
    "minimap",
    "minimap?px=",
    "span?track=0",
    "span?track=99999&kind=0&depth=0&index=0",
    "span?track=0&kind=9&depth=0&index=0",
    "span?track=0&kind=0&depth=4294967295&index=0",
    "span?track=0&kind=0&depth=0&index=4294967295",
    "span?track=0&kind=300&depth=0&index=0",
    "event?track=0&id=-1&ts=9223372036854775807",
    "event?track=4294967295&id=0&ts=0",
    "line?number=18446744073709551615",
    "line?number=-1",
    "next?ts=0",
    "next?ts=0&name=4294967295",
    "next?ts=x&q=a",
    "search",
    "names?from=-1",
    "state?since=x",
    "totals?from=10&to=0",
    "totals?from=0&to=10&tracks=7,x",
];

#[test]
fn bad_questions_get_a_sentence() {
    let (_trace, server) = Server::of_sample("wtf");
    server.refuses(QUESTIONS);
    assert_eq!(server.get("state").status, 200);
}

#[test]
fn extremes_are_answered_and_bounded() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    let tracks = "0,1,2,3,4,5";
    let (least, most) = (i64::MIN, i64::MAX);
    for (from, to) in [(least, most), (most, least), (least, least), (most, most), (0, 0), (0, 1), (-1, most)] {
        for pixels in [0_u32, 1, 1_280, u32::MAX] {
            let window = format!("from={from}&to={to}&px={pixels}&tracks={tracks}&counters=0,1,9");
            for question in ["picture", "extras"] {
                let answer = server.get(&format!("{question}?{window}"));
                assert_eq!(answer.status, 200, "{question}?{window}");
                assert!(answer.body.len() < 8 << 20, "{} bytes", answer.body.len());
            }
        }
        assert_eq!(server.get(&format!("next?q=&ts={from}&back=true")).status, 200);
    }
    for pixels in [0_u32, u32::MAX] {
        let minimap = server.get(&format!("minimap?px={pixels}")).json();
        assert_eq!(minimap["busy"].as_array().map(Vec::len), Some(pixels.clamp(1, 16_384) as usize));
    }
    let many = vec!["0"; 5_000].join(",");
    assert_eq!(server.get(&format!("picture?from=0&to=1&px=1&tracks={many}")).status, 400);
}

#[test]
fn a_trace_can_be_moved_as_far_as_numbers_go() {
    let trace = sample("wtf");
    let server = Server::of(&[trace.path.clone(), trace.path.clone()]);
    for offset in [i64::MAX, i64::MIN, -1, 0] {
        assert_eq!(server.post(&format!("offset?trace=1&offset_ns={offset}"), &[]).status, 200);
        for question in ["state", "picture?from=0&to=1000000&px=100&tracks=0,1,2", "minimap?px=100", "next?q=a&ts=0"] {
            assert_eq!(server.get(question).status, 200, "{question} at {offset}");
        }
        assert_eq!(server.get("extras?from=0&to=1000000&px=100&tracks=0,1,2").status, 200);
    }
    assert_eq!(server.post("offset?trace=9&offset_ns=0", &[]).status, 404);
    assert_eq!(server.post("offset?trace=0&offset_ns=1e9", &[]).status, 400);
}

#[test]
fn threads_and_series_beyond_measure_share_tracks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (threads, values) = (folder.path().join("threads.prof"), folder.path().join("values.prof"));
    write_threads(&threads, 20_000, 1);
    write_values(&values, 20_000);
    let server = Server::of(&[threads, values]);
    let state = server.wait();
    let of_trace = |key: &str, trace: u32| -> Vec<Value> {
        let rows = state[key].as_array().expect("a list").iter();
        rows.filter(|row| row["trace"] == trace).cloned().collect()
    };
    let sum = |rows: &[Value], key: &str| rows.iter().filter_map(|row| row[key].as_u64()).sum::<u64>();
    let tracks = of_trace("tracks", 0);
    assert!(tracks.len() <= 4_096, "{} tracks", tracks.len());
    assert_eq!((sum(&tracks, "threads"), sum(&tracks, "spans")), (20_000, 40_000), "nothing is lost");
    let counters = of_trace("counters", 1);
    assert!(counters.len() <= 4_097, "{} counters", counters.len());
    assert_eq!((sum(&counters, "series"), sum(&counters, "samples")), (20_000, 20_000), "nothing is lost");
    // The last thread can be found, and its spans have details.
    let all = state["tracks"].as_array().expect("a list");
    let shared = all.iter().position(|track| track["threads"] != 1).expect("a track that threads share");
    let question = format!("span?track={shared}&kind=0&depth=0&index=15000");
    let span = server.get(&question).json();
    assert_eq!((&span["name"], &span["category"]), (&"Job".into(), &"block".into()), "{span}");
    assert_eq!(server.get(&format!("totals?tracks={shared}")).json()["threads"], 20_000 - 4_095);
}
