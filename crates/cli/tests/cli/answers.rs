//! `flame`, `tree` and `memory`.

use std::fs;

use serde_json::Value as Json;
use traceloom_testkit::planted::{Block, Scene};

use crate::{Folder, assert_snapshot, fixture, fixture_of, stderr, stdout, traceloom};

fn answer(arguments: &[&str]) -> String {
    let output = traceloom(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn stacks_as_lines() {
    let file = fixture("v210_nested_threads.prof");
    assert_snapshot("flame_folded", &answer(&["flame", "--format", "folded", &file]));
    let by_thread = answer(&["flame", "--format", "folded", "--by-thread", "--by", "count", &file]);
    assert_snapshot("flame_by_thread", &by_thread);
    let calls = fixture_of("nytprof", "devel-nytprof-6.12/excep-c0.nytprof");
    assert_snapshot("flame_calls", &answer(&["flame", "--format", "folded", "--by", "self", "--reversed", &calls]));
    let memory = fixture_of("memlyze", "memlyze-0.1.0-encoder/api_small.mlyze");
    assert_snapshot("flame_bytes", &answer(&["flame", "--format", "folded", "--by", "bytes", &memory]));
}

#[test]
fn the_call_tree_is_printed() {
    let file = fixture("v210_nested_threads.prof");
    assert_snapshot("tree", &answer(&["tree", &file]));
    assert_snapshot("tree_bottom_up", &answer(&["tree", "--bottom-up", "--depth", "2", &file]));
    let output = traceloom(&["tree", "--focus", "Load fil", &file]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("did you mean `Load file`"), "{}", stderr(&output));
}

#[test]
fn steps_narrow_the_call_tree() {
    let file = fixture("v210_nested_threads.prof");
    let rows = |options: &[&str]| -> Vec<(String, u64, u64)> {
        let arguments = [&["tree", "--json", "--min-share", "0%"], options, &[file.as_str()]].concat();
        let json: Json = serde_json::from_str(&answer(&arguments)).expect("JSON");
        let row = |row: &Json| {
            let name = row["name"].as_str().unwrap_or_default().to_owned();
            (name, row["total_ns"].as_u64().unwrap_or(0), row["self_ns"].as_u64().unwrap_or(0))
        };
        json["rows"].as_array().expect("rows").iter().map(row).collect()
    };
    let find = |rows: &[(String, u64, u64)], name: &str| rows.iter().find(|row| row.0 == name).cloned();
    let all = rows(&[]);
    let (load, decode) = (find(&all, "Load file").expect("a row"), find(&all, "Decode").expect("a row"));
    assert_eq!(rows(&["--focus", "Load file"]), [load.clone(), decode.clone()]);
    assert_eq!(find(&rows(&["--collapse", "Load file"]), "Load file"), Some((load.0.clone(), load.1, load.1)));
    assert_eq!(find(&rows(&["--merge", "Decode"]), "Load file"), Some((load.0.clone(), load.1, load.2 + decode.2)));
    assert_eq!(find(&rows(&["--drop", "Load file"]), "Decode"), None);
}

#[test]
fn memory_is_drawn_by_what_became_of_it() {
    let folder = Folder::new();
    assert!(traceloom(&["demo", &folder.path("demo")]).status.success());
    let shop = folder.path("demo/shop.mlyze");
    let report: Json = serde_json::from_str(&answer(&["memory", "--json", &shop])).expect("JSON");
    let total = |by: &str| -> Option<u64> {
        let tree: Json = serde_json::from_str(&answer(&["tree", "--json", "--by", by, &shop])).expect("JSON");
        tree["total_bytes"].as_u64()
    };
    // The leak of the sample is among the sites with the most allocations.
    let hot = answer(&["memory", &shop]);
    let (_, hot) = hot.split_once("Most allocations").expect("a list");
    assert!(hot.contains(", never freed\n") && !hot.contains(" 0 ns on average"), "{hot}");
    assert_eq!(total("peak"), report["peak"]["bytes"].as_u64());
    assert_eq!(total("leaked"), report["live_bytes"].as_u64());
    assert_eq!(total("bytes"), report["allocated_bytes"].as_u64());
    assert!(total("temporary") < total("bytes"));
    let leak = answer(&["flame", "--format", "folded", "--by", "leaked", &shop]);
    let most = leak.lines().max_by_key(|line| line.rsplit(' ').next().and_then(|own| own.parse::<u64>().ok()));
    assert!(most.is_some_and(|line| line.contains("remember")), "{leak}");
}

#[test]
fn a_stretch_has_fewer_stacks() {
    let folder = Folder::new();
    assert!(traceloom(&["demo", &folder.path("demo")]).status.success());
    let game = folder.path("demo/game.prof");
    let total = |text: String| -> u64 {
        text.lines().filter_map(|line| line.rsplit_once(' ')).filter_map(|(_, weight)| weight.parse::<u64>().ok()).sum()
    };
    let whole = total(answer(&["flame", "--format", "folded", &game]));
    let part = total(answer(&["flame", "--format", "folded", "--range", "0.5s..0.6s", &game]));
    assert!(part > 0 && part < whole, "{part} of {whole}");
}

/// Every tag is closed, and all references and characters are valid XML.
fn assert_well_formed(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        rest = &rest[at..];
        let end = if let Some(data) = rest.strip_prefix("<![CDATA[") {
            rest.len() - data.len() + data.find("]]>").expect("the data ends") + 3
        } else if rest.starts_with("<!--") {
            rest.find("-->").expect("the comment ends") + 3
        } else if rest.starts_with('&') {
            let end = rest.find(';').expect("the reference ends") + 1;
            let name = &rest[1..end - 1];
            let is_known = ["amp", "lt", "gt", "quot", "apos"].contains(&name) || name.starts_with('#');
            assert!(is_known, "&{name};");
            end
        } else {
            let end = rest.find('>').expect("the tag ends") + 1;
            let tag = &rest[1..end - 1];
            assert!(!tag.contains('<'), "{tag}");
            let name = |tag: &str| tag.split([' ', '\n', '/']).next().unwrap_or_default().to_owned();
            match tag.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(name(closed))),
                None if tag.ends_with('/') || tag.starts_with(['?', '!']) => {}
                None => open.push(name(tag)),
            }
            end
        };
        rest = &rest[end..];
    }
    assert_eq!(open, [""; 0]);
    let odd = text.chars().find(|c| c.is_control() && !['\n', '\r', '\t'].contains(c));
    assert_eq!(odd, None);
}

#[test]
fn pictures_hold_hostile_names() {
    let folder = Folder::new();
    assert!(traceloom(&["demo", &folder.path("demo")]).status.success());
    let mut bytes = fs::read(folder.path("demo/game.prof")).expect("the sample");
    // Names with the same length as the names that they replace.
    for (name, hostile) in [(&b"Cull\0"[..], &b"<&\x01>\0"[..]), (b"Frame\0", b"\"]]>;\0")] {
        let places: Vec<usize> =
            bytes.windows(name.len()).enumerate().filter(|(_, part)| *part == name).map(|(at, _)| at).collect();
        assert!(!places.is_empty(), "{name:?}");
        for at in places {
            bytes[at..at + name.len()].copy_from_slice(hostile);
        }
    }
    let hostile = folder.path("hostile.prof");
    fs::write(&hostile, bytes).expect("a file");
    let folded = answer(&["flame", "--format", "folded", &hostile]);
    assert!(folded.contains("\"]]>:") && folded.contains("<& >"), "{folded}");
    let picture = folder.path("game.svg");
    assert_eq!(answer(&["flame", &hostile, "-o", &picture]), "");
    let svg = fs::read_to_string(&picture).expect("the picture");
    assert_well_formed(&svg);
    assert!(svg.contains("&lt;&amp; &gt;") && svg.contains("<svg"), "{}", &svg[..500]);
    assert_well_formed(&answer(&["flame", "--icicle", "--by", "count", "--by-thread", &hostile]));
}

#[test]
fn a_name_that_ends_in_a_number_is_no_comparison() {
    let plain = answer(&["flame", "--by-thread", &fixture("v210_many_threads.prof")]);
    assert_well_formed(&plain);
    assert!(plain.contains("thread\u{a0}"), "threads without a name are called by their number");
}

#[test]
fn what_has_no_stacks_is_refused() {
    let file = fixture_of("cnanolog", "head_args16.clog");
    for verb in ["flame", "memory"] {
        let output = traceloom(&[verb, &file]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(&format!("{file}: the trace has no ")), "{verb}: {}", stderr(&output));
    }
}

#[test]
fn stacks_of_sums_are_estimated_and_said_to_be() {
    let file = fixture_of("nytprof", "pynytprof/a986d58/seed-small.nytprof");
    let output = traceloom(&["flame", "--format", "folded", &file]);
    assert_snapshot("flame_estimated", &stdout(&output));
    assert!(stderr(&output).contains("estimated"), "{output:?}");
    let calls = fixture_of("nytprof", "devel-nytprof-6.12/inventory-calls0.nytprof");
    let reversed = answer(&["flame", "--format", "folded", "--by", "count", "--reversed", &calls]);
    assert_snapshot("flame_estimated_reversed", &reversed);
    for option in [["--by-thread"].as_slice(), &["--range", "0s..1s"]] {
        let output = traceloom(&[["flame", &file].as_slice(), option].concat());
        assert!(stderr(&output).contains("sums of calls"), "{output:?}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn memory_of_a_trace() {
    let file = fixture_of("memlyze", "memlyze-0.1.0-encoder/api_small.mlyze");
    assert_snapshot("memory", &answer(&["memory", "--limit", "3", &file]));
    assert_snapshot("memory_at", &answer(&["memory", "--limit", "2", "--at", "50ms", &file]));
    assert_snapshot("memory_growth", &answer(&["memory", &fixture_of("memlyze", "memlyze-0.1.0/leak.mlyze")]));
    assert_eq!(traceloom(&["memory", &fixture("v210_values.prof")]).status.code(), Some(1));
}

#[test]
fn long_times_of_memory_have_long_units() {
    let block = |ts_ns: i64, freed_ns: Option<i64>| Block {
        ts_ns,
        freed_ns,
        bytes: 64,
        stack: vec![("keep".to_owned(), "shop.py".to_owned(), 1)],
    };
    const HOUR: i64 = 3_600_000_000_000;
    let blocks = vec![block(0, None), block(HOUR, Some(11 * HOUR)), block(20 * HOUR, None)];
    let trace = Scene { blocks, ..Scene::new(&["main"]) }.written("memlyze").expect("a trace");
    let folder = Folder::new();
    let file = folder.path("long.mlyze");
    let mut written = fs::File::create(&file).expect("a file");
    std::io::copy(&mut trace.opened.source.stream(), &mut written).expect("room for it");
    let text = answer(&["memory", &file]);
    assert!(text.contains("the oldest for 20 h") && text.contains("10 h on average"), "{text}");
    assert!(!text.contains("000 s"), "{text}");
}

#[test]
fn memory_as_json() {
    let file = fixture_of("memlyze", "memlyze-0.1.0-encoder/api_medium.mlyze");
    let json: Json = serde_json::from_str(&answer(&["memory", "--json", &file])).expect("JSON");
    let golden = fs::read(fixture_of("memlyze", "api_medium.json")).expect("the golden");
    let golden: Json = serde_json::from_slice(&golden).expect("JSON");
    let summary = &golden["summary"];
    for (found, expected) in [
        (&json["allocations"], "alloc"),
        (&json["allocated_bytes"], "alloc_bytes"),
        (&json["frees"], "free"),
        (&json["live_bytes"], "live_bytes_at_end"),
        (&json["peak"]["bytes"], "peak_bytes"),
        (&json["collections"], "gc"),
    ] {
        assert_eq!(*found, summary[expected], "{expected}");
    }
}

#[test]
fn what_is_wrong_with_a_trace_is_said_once_beside_the_answer() {
    let folder = Folder::new();
    assert!(traceloom(&["demo", "--no-open", &folder.path("demo")]).status.success());
    let bytes = fs::read(folder.path("demo/game.prof")).expect("the sample");
    let cut = folder.path("cut.prof");
    fs::write(&cut, &bytes[..bytes.len() * 2 / 3]).expect("a place to write");
    let (perfetto, store) = (folder.path("out.pftrace"), folder.path("store/"));
    let question = "select count(*) from spans";
    let sound = folder.path("demo/game.prof");
    let mut questions = vec![
        vec!["stats", &cut],
        vec!["flame", "--format", "folded", &cut],
        vec!["diff", &cut, &sound],
        vec!["convert", &cut, &perfetto],
    ];
    if cfg!(feature = "sql") {
        questions.extend([vec!["convert", &cut, &store, "--to", "parquet"], vec!["query", &cut, question]]);
    }
    for arguments in questions {
        let output = traceloom(&arguments);
        let said = stderr(&output);
        assert_eq!(said.matches("[easyprofiler.truncated]").count(), 1, "{arguments:?}: {said}");
        assert!(said.contains(&format!("{cut}: byte ")), "{arguments:?}: {said}");
    }
    assert_eq!(stderr(&traceloom(&["stats", &sound])), "");
}
