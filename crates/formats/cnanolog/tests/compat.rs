//! The original decompressor's text, byte for byte.

mod support;

use serde_json::Value;
use traceloom_bytes::{Options, Records};
use traceloom_cnanolog::{
    open,
    text::{Compat, Step, utc},
};

fn compat(name: &str, arguments: &[&str]) -> (Vec<u8>, Step) {
    let mut reader = open(support::source(name), &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let option = |letter| arguments.iter().position(|it| *it == letter).and_then(|at| arguments.get(at + 1)).copied();
    let mut printer = Compat::new(&reader, option("-f").map(str::as_bytes), utc);
    if let (Some(levels), Some(dictionary)) = (option("-l"), reader.dictionary()) {
        printer.filter(levels, dictionary);
    }
    let mut out = Vec::new();
    while let Some(located) = reader.next().expect("lenient") {
        match printer.put(&located.record, &mut out) {
            Step::Continue => {}
            end => return (out, end),
        }
    }
    (out, Step::Done)
}

#[test]
fn every_text_is_reproduced() {
    let manifest: Vec<Value> = serde_json::from_slice(&support::bytes("manifest.json")).unwrap();
    let mut compared = 0;
    let mut failures = Vec::new();
    for item in &manifest {
        let name = item["file"].as_str().unwrap();
        let mut texts = Vec::new();
        texts.extend(item["text"].as_str().map(|text| (text.to_owned(), Vec::new())));
        for (text, arguments) in item["options"].as_object().into_iter().flatten() {
            texts.push((text.clone(), arguments.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()));
        }
        for (text, arguments) in texts {
            compared += 1;
            let expected = support::bytes(&text);
            let (found, end) = compat(name, &arguments);
            let fails = item["text_exit"].as_u64().unwrap_or(0) != 0;
            if found != expected || matches!(end, Step::Fails(_)) != fails {
                let line =
                    expected.split(|byte| *byte == b'\n').zip(found.split(|byte| *byte == b'\n')).find(|(a, b)| a != b);
                let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                failures.push(format!("{text}: {:?} {end:?}", line.map(|(a, b)| (show(a), show(b)))));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let texts = std::fs::read_dir(support::fixtures()).unwrap();
    let texts = texts.filter(|it| it.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".txt")).count();
    assert_eq!(compared, texts);
}

#[test]
fn the_original_gives_up_where_it_does() {
    for name in ["seed_offset0_dict_at_end.clog", "head_crash_a.clog"] {
        let (text, end) = compat(name, &[]);
        assert!(text.is_empty() && matches!(end, Step::Fails(_)), "{name}: {end:?}");
    }
    let (_, end) = compat("head_burst_1300.clog", &[]);
    assert!(matches!(end, Step::Fails(_)), "{end:?}");
    let (text, end) = compat("seed_sparse_ids.clog", &[]);
    assert_eq!((text.len(), end), (0, Step::Fails("Invalid log_id 42 (max 2)".to_owned())));
}
