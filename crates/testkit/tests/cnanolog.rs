//! Tests only for CNanoLog: the texts of its decompressor, and reading further than the goldens.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_cnanolog::{
    Reader, Record, open,
    text::{Compat, Step, utc},
};
use traceloom_core::{Options, Records, Source};
use traceloom_testkit::{CNanoLog, cases, default_roots, files};

/// The folders of logs that have a manifest.
fn folders() -> impl Iterator<Item = (PathBuf, Vec<Value>)> {
    default_roots().into_iter().map(|root| {
        let folder = root.join("cnanolog");
        let manifest = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        (folder, manifest)
    })
}

fn fixture(name: &str) -> Reader {
    let path = traceloom_testkit::fixture(Path::new("cnanolog").join(name));
    open(Source::bytes(fs::read(path).unwrap()), &Options::default()).unwrap()
}

/// The text of a log as the decompressor writes it with these options.
fn compat(mut reader: Reader, arguments: &[&str]) -> (Vec<u8>, Step) {
    let option = |letter| arguments.iter().position(|it| *it == letter).and_then(|at| arguments.get(at + 1)).copied();
    let mut printer = Compat::new(&reader, option("-f").map(str::as_bytes), utc);
    if let (Some(levels), Some(dictionary)) = (option("-l"), reader.dictionary()) {
        printer.filter(levels, dictionary);
    }
    let mut out = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        match printer.put(&located.record, &mut out) {
            Step::Continue => {}
            end => return (out, end),
        }
    }
    (out, Step::Done)
}

/// The texts next to a log, each with the options that it was made with.
fn texts(item: &Value) -> Vec<(&str, Vec<&str>)> {
    let mut texts = Vec::new();
    texts.extend(item["text"].as_str().map(|text| (text, Vec::new())));
    for (text, arguments) in item["options"].as_object().into_iter().flatten() {
        texts.push((text, arguments.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()));
    }
    texts
}

#[test]
fn every_text_of_the_original_is_reproduced() {
    for (folder, manifest) in folders() {
        let mut compared = BTreeSet::new();
        for item in &manifest {
            let name = item["file"].as_str().unwrap();
            for (text, arguments) in texts(item) {
                let source = Source::bytes(fs::read(folder.join(name)).unwrap());
                let (found, end) = compat(open(source, &Options::default()).unwrap(), &arguments);
                let expected = fs::read(folder.join(text)).unwrap();
                let line = expected.split(|byte| *byte == b'\n').zip(found.split(|byte| *byte == b'\n'));
                let differing = line.map(|(a, b)| [a, b].map(String::from_utf8_lossy)).find(|[a, b]| a != b);
                assert!(found == expected, "{text}: {differing:?}");
                let fails = item["text_exit"].as_u64().unwrap_or(0) != 0;
                assert_eq!(matches!(end, Step::Fails(_)), fails, "{text}: {end:?}");
                compared.insert(folder.join(text));
            }
        }
        let there =
            files(&folder).unwrap().into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
        assert_eq!(compared, there.collect());
    }
}

#[test]
fn the_original_gives_up_where_it_does() {
    for name in ["seed_offset0_dict_at_end.clog", "head_crash_a.clog"] {
        let (text, end) = compat(fixture(name), &[]);
        assert!(text.is_empty() && matches!(end, Step::Fails(_)), "{name}: {end:?}");
    }
    let (text, end) = compat(fixture("seed_sparse_ids.clog"), &[]);
    assert_eq!((text.len(), end), (0, Step::Fails("Invalid log_id 42 (max 2)".to_owned())));
}

#[test]
fn the_manifest_lists_every_file() {
    for root in default_roots() {
        let manifest = fs::read(root.join("cnanolog/manifest.json")).unwrap();
        let manifest: Vec<Value> = serde_json::from_slice(&manifest).unwrap();
        let files = manifest.iter().map(|item| root.join("cnanolog").join(item["file"].as_str().unwrap()));
        let listed: BTreeSet<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|ending| ending == "clog")).collect();
        let there = cases(&CNanoLog, &[root]).unwrap().into_iter().filter(|case| !case.goldens.is_empty());
        assert_eq!(listed, there.map(|case| case.input).collect());
    }
}

#[test]
fn entries_can_be_read_again_in_any_order() {
    let mut reader = fixture("head_threads_a.clog");
    let mut places = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            places.push((entry.timestamp, located.offset));
        }
    }
    assert_eq!(places.len(), reader.header().entry_count as usize);
    places.sort();
    for (timestamp, offset) in places {
        reader.seek(offset);
        let located = reader.next().unwrap().unwrap();
        assert!(matches!(located.record, Record::Entry(entry) if entry.timestamp == timestamp));
    }
}

#[test]
fn broken_files_are_read_further_than_the_golden() {
    let readable = |mut reader: Reader| {
        let mut entries = 0;
        while let Some(located) = reader.next().unwrap() {
            entries += u32::from(matches!(located.record, Record::Entry(entry) if entry.args().is_some()));
        }
        entries
    };
    assert!(readable(fixture("head_burst_1300.clog")) > 100);
    for name in [
        "bad_magic",
        "dict_bad_magic",
        "dict_offset_into_entries",
        "dict_offset_past_eof",
        "dict_truncated",
        "major2",
        "num_args_17",
    ] {
        assert!(readable(fixture(&format!("invalid/{name}.clog"))) >= 2, "{name}");
    }
}
