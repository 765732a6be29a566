//! Findings and advice, against the reader, the analysis, and the scene.

use std::path::PathBuf;

use serde_json::{Value, json};
use traceloom_analysis::advise;
use traceloom_core::Findings;
use traceloom_mapping::{Options, Trace, open};

use crate::support::{Server, fixture, sample};

fn odd_files() -> Vec<PathBuf> {
    vec![
        fixture("easyprofiler", "bad_threads_mark.prof"),
        fixture("easyprofiler", "syn_block_ends_before_begin.prof"),
        fixture("cnanolog/invalid", "truncated_mid_entry.clog"),
        fixture("cnanolog", "head_crash_a.clog"),
        fixture("memlyze", "document/spec_extra_keys.mlyze"),
        fixture("memlyze", "memlyze-0.1.0/killed.mlyze"),
        fixture("nytprof", "devel-nytprof-6.12/killed-c0.nytprof"),
        fixture("nytprof/pynytprof", "damaged/bad-no-E.nytprof"),
        fixture("wtf", "hand-made/hc-truncated-chunk.wtf-trace"),
        fixture("wtf", "hand-made/hc-define-bad-type.wtf-trace"),
    ]
}

fn checked(trace: &Trace) -> Findings {
    let options = &trace.options.read;
    trace.opened.format.check(&trace.opened.source, options).expect("it can be read")
}

#[test]
fn the_overview_has_what_was_built_in() {
    let open = |format: &str| {
        let (_trace, server) = Server::of_sample(format);
        server.wait();
        server.get("overview").json()["traces"][0].clone()
    };
    let game = open("easyprofiler");
    assert_eq!(game["badge"], "fine");
    assert!(game["names"][0][2].as_u64() >= game["names"][1][2].as_u64());
    assert_eq!(game["slow"][0][4], true, "two frames are slow: {}", game["slow"]);
    let shop = open("memlyze");
    assert!(shop["leaks"][0][0].as_str().is_some_and(|place| place.contains("remember")), "{}", shop["leaks"]);
    let service = open("cnanolog");
    assert_eq!(service["errors"][0][1], "ERROR");
    assert!(service["verdict"].as_str().is_some_and(|verdict| !verdict.is_empty()));
}

#[test]
fn findings_are_those_of_check_and_each_is_explained() {
    for path in odd_files() {
        let trace = open(&path, None, &Options::default()).expect("it opens");
        let server = Server::of_one(&path);
        let answer = server.get("findings").json();
        let rows = answer["traces"][0]["rows"].as_array().expect("rows");
        let checked = checked(&trace);
        let expected: Vec<_> = trace.opened.findings.kept().iter().chain(checked.kept()).collect();
        assert!(!expected.is_empty(), "{}", path.display());
        let of_file = rows.iter().filter(|row| !row["code"].as_str().is_some_and(|code| code.starts_with("tables.")));
        let found: Vec<_> =
            of_file.map(|row| (row["code"].clone(), row["message"].clone(), row["position"].clone())).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|one| (json!(one.rule.code), json!(one.message()), json!(one.position.offset)))
            .collect();
        assert_eq!(found, expected, "{}", path.display());
        for row in rows {
            assert!(row["meaning"].as_str().is_some_and(|text| text.len() > 20), "{row}");
        }
    }
}

#[test]
fn a_file_that_is_no_trace_is_told_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "nothing to see").expect("it can be written");
    let answer = Server::of(&[path]).get("findings").json();
    assert_eq!(answer["failed"][0]["trace"], 0);
    assert!(answer["failed"][0]["error"].as_str().is_some_and(|error| error.len() > 10), "{answer}");
}

#[test]
fn advice_is_that_of_the_analysis_on_the_axis() {
    for format in ["easyprofiler", "cnanolog", "memlyze", "nytprof", "wtf"] {
        let sample = sample(format);
        let trace = open(&sample.path, None, &Options::default()).expect("it opens");
        let expected = advise::of_trace(&trace, &advise::Options::default()).expect("it can be read");
        let server = Server::of_one(&sample.path);
        server.post("offset?trace=0&offset_ns=77", &[]);
        let answer = server.get("advice").json();
        let advice = answer["traces"][0]["advice"].as_array().expect("advice");
        assert_eq!(advice.len(), expected.len(), "{format}");
        for (shown, known) in advice.iter().zip(&expected) {
            assert_eq!((&shown["rule"], &shown["subject"]), (&json!(known.rule.as_str()), &json!(known.subject)));
            assert_eq!((&shown["message"], &shown["query"]), (&json!(known.message), &json!(known.query)));
            let times: Vec<Value> =
                shown["evidence"].as_array().expect("facts").iter().map(|fact| fact["ts_ns"].clone()).collect();
            let moved: Vec<Value> =
                known.evidence.iter().map(|fact| json!(fact.ts_ns.map(|ts_ns| ts_ns + 77))).collect();
            assert_eq!(times, moved);
        }
    }
}

#[test]
fn the_evidence_of_long_spans_is_found_in_the_timeline() {
    let (_sample, server) = Server::of_sample("easyprofiler");
    let trace_id = server.wait()["traces"][0]["trace_id"].as_str().expect("an id").to_owned();
    let next = server.get(&format!("next?q=Frame&ts={}", i64::MIN)).json();
    let place = |hints: &str| server.get(&format!("place?ts={}&trace_id={trace_id}{hints}", next["ts_ns"])).json();
    let key = |found: &Value| ["track", "kind", "depth", "index"].map(|key| found[key].clone());
    assert_eq!(key(&place("&name=Frame")), key(&next));
    assert_eq!(key(&place(&format!("&dur={}", next["dur_ns"]))), key(&next));
    let span = server
        .get(&format!(
            "span?{}",
            ["track", "kind", "depth", "index"].map(|key| format!("{key}={}", next[key])).join("&")
        ))
        .json();
    assert_eq!(key(&place(&format!("&id={}&name=Other", span["id"]))), key(&next));
    // A span that matches none of the properties is not the requested one.
    assert_eq!(place("&name=Other"), Value::Null);
    assert_eq!(server.get("place?ts=0&trace_id=1").json(), Value::Null);
    assert_eq!(server.get("place?ts=x").status, 400);
}
