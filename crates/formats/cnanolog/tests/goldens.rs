//! Every file of the corpus, against what an independent reader found in it.

mod support;

use serde_json::{Value, json};
use traceloom_bytes::{ByteOrder, Options, Records, Source};
use traceloom_cnanolog::{Arg, Clock, Entry, Form, Numbering, Reader, Record, findings, open, text};

/// The full JSON of a golden, from our reader.
fn reproduce(source: Source, golden: &Value) -> Value {
    if golden.get("error").is_some() {
        let error =
            open(source, &Options::strict()).map(walk).and_then(|walked| walked).expect_err("the golden is an error");
        return json!({ "error": error.to_string() });
    }
    let mut reader = open(source, &Options::default()).expect("the golden is readable");
    let mut out = serde_json::Map::new();
    out.insert("header".into(), header(&reader));
    let dictionary = reader.dictionary().cloned();
    // Without a site there is nothing to tell the two widths by.
    let sized = dictionary.as_ref().filter(|dictionary| !dictionary.is_empty());
    out.insert("dict_entry_size".into(), sized.map_or(Value::Null, |dictionary| json!(14 + dictionary.slots())));
    let swapped = reader.header().has_swapped_magic() == (reader.header().order == ByteOrder::Little);
    let numbering = dictionary
        .as_ref()
        .map_or(if swapped { Numbering::Document } else { Numbering::Library }, |dictionary| dictionary.numbering());
    let scheme = match numbering {
        Numbering::Document => "spec",
        Numbering::Library => "upstream",
    };
    out.insert("level_scheme".into(), json!(scheme));
    out.insert("prefer".into(), sized.map_or(Value::Null, |dictionary| json!(dictionary.prefers().as_str())));
    let levels = dictionary.iter().flat_map(|it| it.levels().map(|(level, name)| json!([level, text_or_hex(name)])));
    out.insert("levels".into(), levels.collect());
    out.insert("sites".into(), sites(&reader));
    let mut warnings = golden_warnings(&reader);
    let (entries, stop) = entries(&mut reader);
    if let Some((index, offset, id)) = stop.unknown {
        warnings.push(format!("entry {index} at {offset}: unknown log_id {id}, stopped"));
    }
    if let Some((offset, end)) = stop.at {
        warnings.push(format!("stopped at offset {offset} of {end}"));
    }
    let counted = reader.header().entry_count;
    if u64::from(counted) != entries.len() as u64 {
        warnings.push(format!("header entry_count {counted} != {} read", entries.len()));
    }
    out.insert("entries".into(), entries.into());
    out.insert("warnings".into(), warnings.into());
    let recovered = reader.findings().counts().contains_key(findings::DICTIONARY_OFFSET_ZERO.code);
    out.insert("recovered_dictionary".into(), json!(recovered));
    out.into()
}

fn walk(mut reader: Reader) -> traceloom_bytes::Result<Reader> {
    while reader.next()?.is_some() {}
    Ok(reader)
}

fn header(reader: &Reader) -> Value {
    let header = reader.header();
    let spelled = match (header.has_swapped_magic(), header.order) {
        (false, ByteOrder::Little) | (true, ByteOrder::Big) => "ONAN",
        _ => "NANO",
    };
    json!({
        "magic": spelled,
        "endian": if header.order == ByteOrder::Little { "little" } else { "big" },
        "native_magic": !header.has_swapped_magic(),
        "major": header.version_major,
        "minor": header.version_minor,
        "frequency": header.timestamp_frequency,
        "start_timestamp": header.start_timestamp,
        "start_sec": header.start_time_sec,
        "start_nsec": header.start_time_nsec,
        "dictionary_offset": header.dictionary_offset,
        "entry_count": header.entry_count,
        "flags": header.flags,
        "reserved": hex(&header.reserved),
        "has_timestamps": header.has_timestamps,
    })
}

fn sites(reader: &Reader) -> Value {
    let Some(dictionary) = reader.dictionary() else { return json!([]) };
    let site = |(index, site): (usize, traceloom_cnanolog::Site<'_>)| {
        let types: Vec<String> = dictionary.arg_types(index).iter().map(ToString::to_string).collect();
        let mut out = json!({
            "id": site.id, "level": site.level, "types": types, "file": text_or_hex(site.file),
            "line": site.line, "fmt": text_or_hex(site.format),
        });
        if dictionary.has_recovered_types(index) {
            out["types_recovered"] = json!(true);
        }
        let name = dictionary.level_name(site.level).map_or(json!(format!("LEVEL_{}", site.level)), text_or_hex);
        out["level_name"] = name;
        out
    };
    dictionary.sites().enumerate().map(site).collect()
}

/// What the golden's reader says before it walks the entries.
fn golden_warnings(reader: &Reader) -> Vec<String> {
    let mut warnings = Vec::new();
    for finding in reader.findings().kept() {
        let code = finding.rule.code;
        if code == findings::NO_DICTIONARY.code {
            warnings.push("no dictionary (writer did not shut down)".to_owned());
        } else if code == findings::DUPLICATE_ID.code {
            warnings.push("duplicate log_id in dictionary".to_owned());
        } else if code == findings::TYPES_RECOVERED.code {
            let dictionary = reader.dictionary().expect("types belong to one");
            let id = finding.values.iter().find(|(name, _)| *name == "id").map(|(_, id)| id.to_string()).unwrap();
            let index = dictionary.find(id.parse().unwrap()).unwrap() as usize;
            let stored: Vec<u8> = dictionary.site(index).unwrap().stored_types().map(|code| code.0).collect();
            let found: Vec<String> = dictionary.arg_types(index).iter().map(|code| format!("'{code}'")).collect();
            warnings.push(format!("site {id}: dictionary types {stored:?} unusable, recovered [{}]", found.join(", ")));
        }
    }
    warnings
}

/// Where the golden's reader, which does not look for more after damage, stops.
#[derive(Default)]
struct Stop {
    unknown: Option<(usize, u64, u32)>,
    at: Option<(u64, u64)>,
}

fn entries(reader: &mut Reader) -> (Vec<Value>, Stop) {
    let clock = reader.clock();
    let has_dictionary = reader.dictionary().is_some();
    let mut messages = text::Messages::default();
    let (mut out, mut stop) = (Vec::new(), Stop::default());
    let mut end = 0;
    while let Some(located) = reader.next().expect("lenient") {
        if stop.at.is_none() {
            match &located.record {
                Record::Entry(entry) if !has_dictionary || entry.site().is_some() => {
                    out.push(entry_json(entry, located.offset, clock, &mut messages));
                }
                Record::Entry(_) | Record::Residue(_) => stop.at = Some((located.offset, 0)),
                _ => {}
            }
        }
        if matches!(located.record, Record::Entry(_) | Record::Residue(_)) {
            end = located.offset + located.len;
        }
    }
    if let Some((offset, _)) = stop.at {
        stop.at = Some((offset, end));
        let unknown = reader.findings().kept().iter().find(|finding| finding.rule.code == findings::UNKNOWN_ID.code);
        stop.unknown = unknown.filter(|finding| finding.position.offset == offset).map(|finding| {
            let id = finding.values.iter().find(|(name, _)| *name == "id").map(|(_, id)| id.to_string()).unwrap();
            (out.len(), offset, id.parse().unwrap())
        });
    }
    (out, stop)
}

fn entry_json(entry: &Entry<'_>, offset: u64, clock: Clock, messages: &mut text::Messages) -> Value {
    let mut out = serde_json::Map::new();
    out.insert("off".into(), json!(offset));
    out.insert("id".into(), json!(entry.id));
    out.insert("ts".into(), json!(entry.timestamp));
    out.insert("len".into(), json!(entry.data.len()));
    match (entry.site(), entry.args()) {
        (Some(_), Some(args)) => {
            out.insert("enc".into(), json!(args.form().as_str()));
            out.insert("args".into(), args.map(arg_json).collect());
            if entry.is_ambiguous() && args.form() != Form::Same {
                out.insert("ambiguous".into(), json!(true));
            }
            let mut message = Vec::new();
            messages.put(entry, &mut message);
            out.insert("msg".into(), text_or_hex(&message));
        }
        (Some(_), None) => {
            out.insert("enc".into(), json!("undecodable"));
            out.insert("data".into(), json!(hex(entry.data)));
        }
        (None, _) => {
            out.insert("data".into(), json!(hex(entry.data)));
        }
    }
    if let Some(ticks) = entry.timestamp {
        out.insert("t_ns".into(), json!(clock.moment(ticks).unix_ns()));
    }
    out.into()
}

fn arg_json(arg: Arg<'_>) -> Value {
    let value = match arg {
        Arg::Char(value) => json!(value),
        Arg::Double(value) => json!(python_float(value)),
        Arg::Int32(value) => json!(value),
        Arg::Int64(value) => json!(value),
        Arg::Pointer(value) | Arg::Uint64(value) => json!(value),
        Arg::String(text) => text_or_hex(text),
        Arg::Uint32(value) => json!(value),
    };
    json!([arg.arg_type().to_string(), value])
}

/// The golden's spelling of a double: shortest digits, exponents of two digits from 1e16 and below 1e-4.
fn python_float(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        Some((mantissa, exponent)) => {
            let exponent: i32 = exponent.parse().expect("Rust wrote it");
            let mantissa = mantissa.strip_suffix(".0").unwrap_or(mantissa);
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.abs())
        }
        None => text,
    }
}

fn text_or_hex(text: &[u8]) -> Value {
    match std::str::from_utf8(text) {
        Ok(text) => json!(text),
        Err(_) => json!({ "hex": hex(text) }),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The golden's errors name what was wrong; ours name the rule.
fn expected_error(golden: &str) -> &'static str {
    match golden {
        "bad magic 454c4621" => "cnanolog.magic",
        "no DICT at 1549" | "no DICT at 70" => "cnanolog.dictionary-magic",
        "no DICT at 1000000000" => "cnanolog.dictionary-offset",
        "unsupported major version 2" => "cnanolog.major-version",
        "dictionary does not parse with 30 or 64 byte entries" => "cnanolog.",
        "short header" => "",
        other => panic!("no rule for the golden's error {other:?}"),
    }
}

#[test]
fn every_golden_is_reproduced() {
    let mut failures = Vec::new();
    for name in support::logs() {
        let golden = support::golden(&name);
        let found = reproduce(support::source(&name), &golden);
        if let Some(error) = golden.get("error").and_then(Value::as_str) {
            let found = found["error"].as_str().expect("we wrote it");
            if !found.contains(expected_error(error)) {
                failures.push(format!("{name}: {error} became {found}"));
            }
        } else if let Some(path) = support::first_difference(&golden, &found, String::new()) {
            failures.push(format!("{name}: {path}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_folder_is_what_the_manifest_lists() {
    let manifest: Vec<Value> = serde_json::from_slice(&support::bytes("manifest.json")).unwrap();
    let files = manifest.iter().map(|item| item["file"].as_str().unwrap().to_owned());
    let mut listed: Vec<String> = files.filter(|name| name.ends_with(".clog")).collect();
    listed.sort();
    assert_eq!(support::logs(), listed);
}

#[test]
fn entries_can_be_read_again_in_any_order() {
    let mut reader = open(support::source("head_threads_a.clog"), &Options::default()).unwrap();
    let mut places = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            places.push((entry.timestamp, located.offset));
        }
    }
    let count = places.len();
    places.sort();
    for (timestamp, offset) in places {
        reader.seek(offset);
        let located = reader.next().unwrap().unwrap();
        assert!(matches!(located.record, Record::Entry(entry) if entry.timestamp == timestamp));
    }
    assert_eq!(count, reader.header().entry_count as usize);
}

#[test]
fn broken_files_are_read_further_than_the_golden() {
    let mut reader = open(support::source("head_burst_1300.clog"), &Options::default()).unwrap();
    let mut entries = 0;
    while let Some(located) = reader.next().unwrap() {
        entries += u32::from(matches!(located.record, Record::Entry(_)));
    }
    assert!(entries > 100, "{entries}");
    for name in [
        "dict_bad_magic",
        "dict_offset_into_entries",
        "dict_offset_past_eof",
        "dict_truncated",
        "major2",
        "num_args_17",
        "bad_magic",
    ] {
        let mut reader = open(support::source(&format!("invalid/{name}.clog")), &Options::default()).unwrap();
        let mut entries = 0;
        while let Some(located) = reader.next().unwrap() {
            entries += u32::from(matches!(located.record, Record::Entry(entry) if entry.args().is_some()));
        }
        assert!(entries >= 2, "{name}: {entries}");
    }
}
