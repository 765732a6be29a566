//! Lines by pattern and JSON objects.

mod support;

use serde_json::Value;
use traceloom_cnanolog::{
    Entry, Header, Reader, Record, Section, Site, open,
    raw::{ArgType, CNANOLOG_DICT_MAGIC, SECTION_HEADER_BYTES, SITE_FIXED, SLOTS_DOCUMENT, SLOTS_LIBRARY},
    text,
};
use traceloom_core::{ByteOrder, Options, Records, Source};

fn reader(name: &str) -> Reader {
    open(support::source(name), &Options::default()).unwrap()
}

fn lines(name: &str, pattern: text::Pattern) -> Vec<String> {
    let mut reader = reader(name);
    let mut lines = text::Lines::new(pattern, reader.clock(), text::utc);
    let mut out = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            lines.put(&entry, &mut out);
        }
    }
    String::from_utf8_lossy(&out).lines().map(str::to_owned).collect()
}

#[test]
fn the_tokens_of_the_text_mode() {
    let json = br#"{"time":"%t","short":"%T","date":"%d","clock":"%D","level":"%l","l":"%L","file":"%f","path":"%F","line":%n,"msg":"%m","pct":"%%","unk":"%q"}"#;
    let found = lines("head_levels.clog", text::Pattern::library(json));
    let golden = support::golden("head_levels.clog");
    assert_eq!(found.len(), golden["entries"].as_array().unwrap().len());
    for (line, entry) in found.iter().zip(golden["entries"].as_array().unwrap()) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["msg"], entry["msg"]);
        let nanos = entry["t_ns"].as_i64().unwrap() % 1_000_000_000;
        let time = line["time"].as_str().unwrap();
        assert!(time.ends_with(&format!(".{nanos:09}")), "{time}");
        assert_eq!(line["short"].as_str().unwrap(), &time[11..23]);
        assert_eq!((line["date"].as_str().unwrap(), line["clock"].as_str().unwrap()), (&time[..10], &time[11..19]));
        assert_eq!(line["l"].as_str().unwrap(), &line["level"].as_str().unwrap()[..1]);
        assert_eq!((&line["pct"], &line["unk"]), (&Value::from("%"), &Value::from("%q")));
        assert_eq!((line["file"].as_str(), line["line"].as_u64().unwrap() > 0), (Some("levels.c"), true));
    }
}

#[test]
fn the_tokens_of_the_decompressor() {
    let expected = String::from_utf8(support::bytes("head_levels.fmt.txt")).unwrap();
    let found = lines("head_levels.clog", text::Pattern::decompressor(b"%T|%r|%l|%f|%L|%m"));
    for (expected, found) in expected.lines().zip(&found) {
        // Ours rounds the exact quotient down; CNanoLog rounds a double to nearest.
        let parts = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
        let (expected, found) = (parts(expected), parts(found));
        assert_eq!((&expected[0], &expected[2..]), (&found[0], &found[2..]));
        let seconds = |text: &str| text.parse::<f64>().unwrap();
        assert!((seconds(&expected[1]) - seconds(&found[1])).abs() < 1.5e-9);
    }
}

#[test]
fn entries_without_time_site_or_sense_are_shown() {
    assert!(lines("head_notime_levels.clog", text::Pattern::default())[0].starts_with("[NO-TIMESTAMP] [INFO] "));
    let crashed = lines("head_crash_a.clog", text::Pattern::library(b"%l %f:%n %m"));
    assert_eq!(crashed[0], "- -:0 id 0 [10 argument bytes: 81000000000000000000]");
    let short = lines("invalid/args_too_short.clog", text::Pattern::library(b"%m"));
    assert_eq!(short.last().unwrap(), "Processing %d items [3 argument bytes: 010203]");
    let odd = lines("seed_time_odd.clog", text::Pattern::library(b"%r"));
    assert_eq!((odd[2].as_str(), odd[3].as_str()), ("-1.000000000", "0.000000000"));
}

#[test]
fn a_pointer_under_a_conversion_of_32_bits_prints_32_bits() {
    let lines = lines("ptr-typed-percent-d.clog", text::Pattern::library(b"%m"));
    assert_eq!(lines[..8], ["f 99.500000", "0", "f 99.500000", "1", "g 1.500000", "c8", "g 1.500000", "200"]);
}

/// The decompressors that read 16 slots came before custom levels.
#[test]
fn the_decompressor_of_the_time_names_a_level_that_is_not_registered() {
    let line = |slots: usize| {
        let arg_types = vec![0; slots];
        let site = Site { id: 0, level: 5, num_args: 0, line: 7, arg_types: &arg_types, file: b"a.c", format: b"hi" };
        let total_size = (SECTION_HEADER_BYTES + SITE_FIXED + slots + 5) as u32;
        let section = Section { magic: CNANOLOG_DICT_MAGIC, count: 1, total_size, reserved: 0 };
        let records = [Record::Entry(Entry::new(0, Some(0), b"")), Record::Dictionary(section), Record::Site(site)];
        let log = support::file(Header::new(ByteOrder::Little), &records);
        let mut reader = open(Source::bytes(log), &Options::default()).unwrap();
        let mut compat = text::Compat::new(&reader, Some(b"%l %m"), text::utc);
        let mut out = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            compat.put(&located.record, &mut out);
        }
        String::from_utf8(out).unwrap()
    };
    assert_eq!(line(SLOTS_DOCUMENT), "UNKNOWN hi\n");
    assert_eq!(line(SLOTS_LIBRARY), "LEVEL_5 hi\n");
}

#[test]
fn json_objects_say_what_the_goldens_say() {
    for name in support::logs().into_iter().filter(|name| !name.contains("found/")) {
        let golden = support::golden(&name);
        let Some(entries) = golden["entries"].as_array() else { continue };
        let mut reader = reader(&name);
        let mut json = text::Json::new(reader.clock());
        let mut out = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            if let Record::Entry(entry) = located.record {
                json.put(&entry, located.offset, &mut out);
            }
        }
        let objects = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let objects: Vec<Value> = objects.map(|line| serde_json::from_slice(line).unwrap()).collect();
        assert!(objects.len() >= entries.len(), "{name}");
        for entry in entries {
            let object = objects.iter().find(|object| object["offset"] == entry["off"]).unwrap();
            assert_eq!(object["ts_unix_ns"], entry.get("t_ns").cloned().unwrap_or(Value::Null), "{name}");
            let site = golden["sites"].as_array().unwrap().iter().rev().find(|site| site["id"] == entry["id"]);
            for (ours, theirs) in [("level", "level_name"), ("file", "file"), ("line", "line")] {
                assert_eq!(object[ours], site.map_or(Value::Null, |site| site[theirs].clone()), "{name}");
            }
            match &entry["msg"] {
                Value::Null => {}
                Value::Object(hex) => assert_eq!(object["message_hex"], hex["hex"], "{name}"),
                message => assert_eq!(&object["message"], message, "{name}"),
            }
            match entry["args"].as_array() {
                Some(args) => assert_eq!(object["args"].as_array().unwrap().len(), args.len(), "{name}"),
                None => assert_eq!(object["data_hex"], entry["data"], "{name}"),
            }
        }
    }
}

#[test]
fn formats_do_not_make_gigabytes_of_a_small_log() {
    let mut arg_types = [0; SLOTS_LIBRARY];
    arg_types[0] = ArgType::INT32.0;
    let format = b"%1$60000d".repeat(6_000);
    let site = Site { id: 0, level: 0, num_args: 1, line: 1, arg_types: &arg_types, file: b"", format: &format };
    let total_size = (SECTION_HEADER_BYTES + SITE_FIXED + SLOTS_LIBRARY + format.len()) as u32;
    let section = Section { magic: CNANOLOG_DICT_MAGIC, count: 1, total_size, reserved: 0 };
    let mut records = vec![Record::Entry(Entry::new(0, Some(0), &[1, 255])); 300];
    records.extend([Record::Dictionary(section), Record::Site(site)]);
    let log = support::file(Header::new(ByteOrder::Little), &records);
    let mut reader = open(Source::bytes(log), &Options::default()).unwrap();
    let mut bytes = 0;
    let (mut messages, mut message) = (text::Messages::default(), Vec::new());
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            message.clear();
            messages.put(&entry, &mut message);
            bytes += message.len();
        }
    }
    assert!(messages.cut() > 0);
    assert!(bytes < 100 << 20, "{bytes}");
}
