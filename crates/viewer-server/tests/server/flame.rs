//! Flame graphs, against the stacks that the program prints.

use std::collections::BTreeMap;
use traceloom_core::TimeRange;

use serde_json::{Value, json};
use traceloom_analysis::{
    flame::{Flame, Options, Tree, Weight},
    stats::{Options as StatsOptions, of_traces as stats_of},
};
use traceloom_mapping::Trace;
use traceloom_model::{Filter, TableSource};

use crate::{
    stats::{opened, some_of_every_format},
    support::{Server, fixture},
};

fn tree(trace: &Trace, options: Options) -> Tree {
    let mut flame = Flame::new(options);
    trace.pour(&Filter::default(), &mut flame).expect("it is read");
    flame.finish()
}

fn ask(server: &Server, question: &Value) -> Value {
    let answer = server.post("flame", question.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{question}: {}", answer.error());
    answer.json()
}

/// Self weight by stack; folded boxes are summed below their parent as `…`.
fn stacks(answer: &Value) -> BTreeMap<Vec<String>, u64> {
    let names = answer["names"].as_array().expect("names");
    let frames = answer["frames"].as_array().expect("frames");
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut found = BTreeMap::new();
    for (number, frame) in frames.iter().enumerate() {
        let parent = frame[0].as_u64().expect("a parent") as usize;
        let mut path = if number == 0 { Vec::new() } else { paths[parent].clone() };
        let (is_folded, own) = (frame[5] != 0, frame[3].as_u64().expect("a weight"));
        match frame[1].as_u64() {
            Some(name) => path.push(names[name as usize].as_str().expect("a name").to_owned()),
            None if is_folded => path.push("…".to_owned()),
            None => {}
        }
        let weight = if is_folded { frame[2].as_u64().expect("a weight") } else { own };
        if weight > 0 {
            *found.entry(path.clone()).or_insert(0) += weight;
        }
        paths.push(path);
    }
    found
}

/// The expected weights from the tree, with small frames folded by the same rule.
fn expected(tree: &Tree) -> BTreeMap<Vec<String>, u64> {
    let least = (tree.total() / 5_000).max(1);
    let mut totals: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for stack in tree.stacks() {
        for depth in 1..=stack.frames.len() {
            *totals.entry(stack.frames[..depth].to_vec()).or_insert(0) += stack.own;
        }
    }
    let mut found = BTreeMap::new();
    for stack in tree.stacks().into_iter().filter(|stack| stack.own > 0) {
        let large = (1..=stack.frames.len()).take_while(|depth| totals[&stack.frames[..*depth]] >= least).count();
        let mut path: Vec<String> = stack.frames[..large].iter().map(|name| (*name).to_owned()).collect();
        if large < stack.frames.len() {
            path.push("…".to_owned());
        }
        *found.entry(path).or_insert(0) += stack.own;
    }
    found
}

#[test]
fn boxes_are_the_stacks_of_the_program() {
    let weights =
        [("time", Weight::Time), ("self", Weight::SelfTime), ("count", Weight::Count), ("bytes", Weight::Bytes)];
    let mut with_stacks = 0;
    for path in some_of_every_format() {
        let trace = opened(&path);
        let server = Server::of_one(&path);
        for (name, weight) in weights {
            for (view, is_reversed) in [("top", false), ("bottom", true)] {
                for by_thread in [false, true] {
                    let options =
                        Options { weight, is_reversed, by_thread, range: TimeRange::ALL, ..Options::default() };
                    let tree = tree(&trace, options);
                    let question = json!({ "weight": name, "view": view, "by_thread": by_thread });
                    let answer = ask(&server, &question);
                    if answer["estimate"] == true {
                        assert!(tree.is_empty(), "only what has no stacks is estimated");
                        continue;
                    }
                    assert_eq!(answer["total"], tree.total(), "{} {question}", path.display());
                    assert_eq!(stacks(&answer), expected(&tree), "{} {question}", path.display());
                    with_stacks += u32::from(!tree.is_empty());
                }
            }
        }
    }
    assert!(with_stacks > 100, "most of the files have stacks");
}

#[test]
fn a_stretch_and_tracks_narrow_the_stacks() {
    let path = fixture("easyprofiler", "v210_nested_threads.prof");
    let trace = opened(&path);
    let server = Server::of_one(&path);
    let state = server.wait();
    let (from, to) = (state["from_ns"].as_i64().expect("a time"), state["to_ns"].as_i64().expect("a time"));
    let (from_ns, to_ns) = (from + (to - from) / 3, to - (to - from) / 3);
    let options = Options { range: TimeRange::between(from_ns, to_ns), ..Options::default() };
    let expected_part = expected(&tree(&trace, options));
    server.post("offset?trace=0&offset_ns=-500", &[]);
    let answer = ask(&server, &json!({ "from": from_ns - 500, "to": to_ns - 500 }));
    assert_eq!(stacks(&answer), expected_part);
    let tracks = state["tracks"].as_array().expect("tracks").len();
    let sum: u64 = (0..tracks)
        .map(|track| ask(&server, &json!({ "tracks": track.to_string() }))["total"].as_u64().expect("a weight"))
        .sum();
    assert_eq!(sum, ask(&server, &json!({}))["total"].as_u64().expect("a weight"));
}

#[test]
fn a_path_shows_what_is_below_it() {
    let path = fixture("nytprof", "devel-nytprof-6.12/recurse-calls2.nytprof");
    let server = Server::of_one(&path);
    let all = ask(&server, &json!({}));
    let deepest = stacks(&all).into_keys().max_by_key(Vec::len).expect("a stack");
    assert!(deepest.len() > 3, "{deepest:?}");
    for depth in 1..deepest.len() {
        let below = ask(&server, &json!({ "path": &deepest[..depth] }));
        assert_eq!(below["path"], json!(deepest[..depth]));
        let total: u64 =
            stacks(&all).iter().filter(|(path, _)| path.starts_with(&deepest[..depth])).map(|(_, own)| own).sum();
        assert_eq!(below["frames"][0][2], total);
    }
    let mut wrong = deepest[..2].to_vec();
    wrong.push("no such sub".to_owned());
    assert_eq!(ask(&server, &json!({ "path": wrong }))["path"], json!(deepest[..2]));
}

#[test]
fn a_sandwich_has_callers_and_callees() {
    let server = Server::of(&[fixture("nytprof", "devel-nytprof-6.12/recurse-calls2.nytprof")]);
    let all = stacks(&ask(&server, &json!({})));
    let names: std::collections::BTreeSet<&String> = all.keys().flatten().filter(|name| *name != "…").collect();
    for name in names {
        let answer = ask(&server, &json!({ "view": "sandwich", "name": name }));
        let inside: u64 = all.iter().filter(|(path, _)| path.contains(name)).map(|(_, own)| own).sum();
        assert_eq!((&answer["name"], &answer["frames"][0][2]), (&json!(name), &json!(inside)), "{name}");
        assert_eq!(answer["callers"][0][2], inside);
    }
    let heaviest = ask(&server, &json!({ "view": "sandwich" }));
    assert!(heaviest["frames"][0][3].as_u64().is_some_and(|own| own > 0), "{heaviest}");
    assert_eq!(ask(&server, &json!({ "view": "sandwich", "name": "nobody" }))["frames"], json!([]));
}

#[test]
fn stacks_of_sums_are_estimated_and_said_to_be() {
    let path = fixture("nytprof", "devel-nytprof-6.12/inventory-calls0.nytprof");
    let trace = opened(&path);
    let report = stats_of(std::slice::from_ref(&trace), &StatsOptions::default()).expect("it is read");
    assert!(report.spans.is_empty() && !report.calls.is_empty());
    let server = Server::of_one(&path);
    let answer = ask(&server, &json!({}));
    assert_eq!(answer["estimate"], true);
    let own: u64 = report.calls.iter().map(|row| row.self_ns).sum();
    let total = answer["total"].as_u64().expect("a weight");
    assert!(total > own / 2 && total <= own + report.calls.len() as u64, "{total} of {own}");
    assert_eq!(ask(&server, &json!({ "from": 0, "to": 5 }))["total"], 0, "sums have no times");
}

#[test]
fn bad_questions_about_stacks_get_a_sentence() {
    let server = Server::of(&[fixture("memlyze", "memlyze-0.1.0/threads.mlyze")]);
    for body in [
        "",
        "{",
        "[]",
        "null",
        r#"{"weight":"gold"}"#,
        r#"{"view":"sideways"}"#,
        r#"{"path":"main"}"#,
        r#"{"path":[1]}"#,
        r#"{"from":"now"}"#,
        r#"{"from":1.5}"#,
        r#"{"from":5,"to":4}"#,
        r#"{"tracks":"x"}"#,
        r#"{"tracks":"1234"}"#,
    ] {
        server.post("flame", body.as_bytes()).assert_refused(body);
    }
    let long = json!({ "path": vec!["x"; 100_000] }).to_string();
    assert_eq!(server.post("flame", long.as_bytes()).json()["path"], json!([]));
    server.post("flame", &[0xff, 0xfe]).assert_refused("bytes that are not text");
}

/// Total and weight before by stack, of boxes with a name.
fn compared(answer: &Value) -> BTreeMap<Vec<String>, [Option<u64>; 2]> {
    let names = answer["names"].as_array().expect("names");
    let (frames, before) =
        (answer["frames"].as_array().expect("frames"), answer["before"].as_array().expect("weights"));
    assert_eq!(frames.len(), before.len());
    let (mut paths, mut found): (Vec<Vec<String>>, _) = (Vec::new(), BTreeMap::new());
    for (frame, before) in frames.iter().zip(before) {
        let parent = frame[0].as_u64().expect("a parent") as usize;
        let mut path = paths.get(parent).cloned().unwrap_or_default();
        if let Some(name) = frame[1].as_u64() {
            path.push(names[name as usize].as_str().expect("a name").to_owned());
        }
        if frame[5] == 0 {
            found.insert(path.clone(), [frame[2].as_u64(), before.as_u64()]);
        }
        paths.push(path);
    }
    found
}

#[test]
fn a_comparison_weighs_each_box_in_both_traces() {
    let server =
        Server::of(&[fixture("easyprofiler", "v210_nested_threads.prof"), fixture("wtf", "wtf-js/js-mix.wtf-trace")]);
    let of = |traces: [u32; 2]| compared(&ask(&server, &json!({"compare": traces})));
    let [first, second] = [of([0, 0]), of([1, 1])];
    for alone in [&first, &second] {
        assert!(alone.len() > 2 && alone.values().all(|[total, before]| total == before), "{alone:?}");
    }
    for (path, [total, before]) in of([0, 1]) {
        assert_eq!(total, second[&path][0], "{path:?}");
        assert_eq!(before, first.get(&path).map_or(Some(0), |known| known[0]), "{path:?}");
    }
    assert_eq!(server.post("flame", json!({"compare": [0, 7]}).to_string().as_bytes()).status, 404);
}
