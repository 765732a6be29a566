//! Every rule is broken once, by a file made for it.

mod support;

use std::{collections::BTreeSet, fs};

use support::{each_event, traces};
use traceloom_core::{Limits, Options, Records, Result, Severity, Source};
use traceloom_wtf::{Record, findings::RULES};

const HEADER: u32 = 1;
const EVENTS: u32 = 2;
const FILE_HEADER: u32 = 0x10000;
const JSON_EVENTS: u32 = 0x20000;
const LEGACY: u32 = 0x20001;
const WORDS: u32 = 0x20002;
const STRINGS: u32 = 0x30000;

/// Bytes built word by word.
#[derive(Clone, Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn words(words: &[u32]) -> Self {
        Self(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    fn then(mut self, more: impl AsRef<[u8]>) -> Self {
        self.0.extend_from_slice(more.as_ref());
        self
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn file(chunks: &[Bytes]) -> Vec<u8> {
    let start = Bytes::words(&[0xDEAD_BEEF, 0x90BA_3800, 10]);
    chunks.iter().fold(start, |file, chunk| file.then(chunk)).0
}

/// A chunk whose parts follow one another.
fn chunk(kind: u32, parts: &[(u32, &[u8])]) -> Bytes {
    let mut offset = 0;
    let mut table = Bytes::default();
    let mut body = Bytes::default();
    for (kind, bytes) in parts {
        table = table.then(Bytes::words(&[*kind, offset, bytes.len() as u32]));
        body = body.then(bytes).then(vec![0; bytes.len().next_multiple_of(4) - bytes.len()]);
        offset += bytes.len().next_multiple_of(4) as u32;
    }
    let length = 24 + table.0.len() + body.0.len();
    Bytes::words(&[7, kind, length as u32, u32::MAX, u32::MAX, parts.len() as u32]).then(table).then(body)
}

fn header_json(json: &str) -> Bytes {
    chunk(HEADER, &[(FILE_HEADER, json.as_bytes())])
}

fn header() -> Bytes {
    header_json(r#"{"timebase":5,"contextInfo":{"contextType":"script"}}"#)
}

const TABLE: &[u8] = b"a#e\0uint32 n\0uint64 n\0any v\0{bad\0a#f\0uint8[] v\0wtf.scope#enter\0ascii name\0f(x y z)\0wtf.zone#set\0uint16 zoneId\0uint32 n, uint32 m\0a#e\nfeed tab\0uint32 1st\0";
const NAME: u32 = 0;
const UINT32: u32 = 1;
const UINT64: u32 = 2;
const ANY: u32 = 3;
const BAD: u32 = 4;
const OTHER: u32 = 5;
const BYTES: u32 = 6;
const ENTER: u32 = 7;
const ENTER_ARGS: u32 = 8;
const FATAL: u32 = 9;
const ZONE_SET: u32 = 10;
const ZONE_ARGS: u32 = 11;
const TWO: u32 = 12;
const LINE_END: u32 = 13;
const NUMBER: u32 = 14;
const NULL: u32 = u32::MAX;

fn define(wire: u32, class: u32, flags: u32, name: u32, args: u32) -> Vec<u32> {
    vec![1, 0, wire, class, flags, name, args]
}

/// A file with one buffer of events.
fn events(words: &[&[u32]]) -> Vec<u8> {
    let events = Bytes::words(&words.concat());
    file(&[header(), chunk(EVENTS, &[(STRINGS, TABLE), (WORDS, &events.0)])])
}

fn json(chunks: &str) -> Vec<u8> {
    format!("{{\"wtfVersion\":1,\"formatVersion\":10,\"chunks\":[{chunks}]}}").into_bytes()
}

fn calls(header: &str, records: &[u32]) -> Vec<u8> {
    let mut bytes = Bytes::words(&[header.len() as u32]).then(header);
    bytes.0.resize(bytes.0.len().next_multiple_of(4), 0);
    bytes.then(Bytes::words(records)).0
}

fn patched(mut bytes: Vec<u8>, word: usize, value: u32) -> Vec<u8> {
    bytes[word * 4..word * 4 + 4].copy_from_slice(&value.to_le_bytes());
    bytes
}

/// A chunk in which this many resources are the same bytes.
fn overlapping(parts: u32) -> Vec<u8> {
    let body = vec![0; 20_000];
    let length = 24 + 12 * parts + body.len() as u32;
    let table = [0x4_0001, 0, body.len() as u32].repeat(parts as usize);
    let head = [2, EVENTS, length, u32::MAX, u32::MAX, parts];
    file(&[header(), Bytes::words(&[&head[..], &table].concat()).then(body)])
}

/// The amount read from overlapping parts stays in proportion to the file, and so does a repair.
#[test]
fn parts_on_one_another_are_not_all_kept() {
    for parts in [500, 1000, 2000] {
        let bytes = overlapping(parts);
        let (mut reader, mut kept) =
            (traceloom_wtf::open(Source::bytes(bytes.as_slice()), &Options::default()).unwrap(), 0);
        reader
            .walk(|located| {
                if let Record::Resource(resource) = located.record {
                    kept += resource.bytes.len();
                }
                Ok::<_, traceloom_core::Error>(())
            })
            .unwrap();
        assert!(kept > 20_000 && kept <= 5 * bytes.len() + (64 << 10), "{kept} bytes of {}", bytes.len());
    }
}

/// One file per rule.
fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let plain = define(10, 0, 0, NAME, UINT32);
    let good = || events(&[&define(10, 0, 0, NAME, UINT32), &[10, 5, 1]]);
    let script = chunk(EVENTS, &[(WORDS, &[])]);
    let good_len = good().len();
    let program = r#"{"version":1,"context":{},"modules":{"0":{"src":"a","fns":[1,"f",0,9]}}}"#;
    vec![
        ("wtf.short-file", file(&[])),
        ("wtf.file-size", [good(), vec![0]].concat()),
        ("wtf.newer-writer", br#"{"wtfVersion":9436947200000,"formatVersion":10,"chunks":[]}"#.to_vec()),
        ("wtf.legacy-header", [&[0xDE, 0xAD, 0xBE, 0xEF, 0, 0, 0, 1, 0, 0, 0, 3][..], &[0; 16]].concat()),
        ("wtf.legacy", [&[0xDE, 0xAD, 0xBE, 0xEF, 0, 0, 0, 1, 0, 0, 0, 3][..], &[0; 16]].concat()),
        ("wtf.chunk-short", file(&[header(), Bytes::words(&[1, 2, 20, 0, 0, 0]), script.clone()])),
        ("wtf.chunk-lost", file(&[header(), Bytes::words(&[1, 2, 20, 0, 0, 0]), script.clone()])),
        ("wtf.chunk-cut", good()[..good_len - 4].to_vec()),
        ("wtf.chunk-overlong", overlong()),
        (
            "wtf.chunk-unaligned",
            file(&[header(), Bytes::words(&[1, 9, 26, 0, 0, 0]).then([0; 2]), script.clone().then([0; 2])]),
        ),
        ("wtf.chunk-unknown", file(&[header(), chunk(9, &[])])),
        ("wtf.trailing", [good(), vec![0; 8]].concat()),
        ("wtf.part-unknown", file(&[header(), chunk(EVENTS, &[(0x50000, b"x"), (WORDS, b"")])])),
        ("wtf.part-misplaced", file(&[chunk(HEADER, &[(STRINGS, b"x"), (FILE_HEADER, b"{\"timebase\":1}")])])),
        (
            "wtf.part-past-chunk",
            patched(file(&[header(), chunk(EVENTS, &[(WORDS, b"")]), chunk(9, &[])]), good_header() + 8, 4),
        ),
        ("wtf.part-past-end", patched(file(&[header(), chunk(EVENTS, &[(WORDS, b"")])]), good_header() + 8, 4)),
        (
            "wtf.part-overlap",
            patched(file(&[header(), chunk(EVENTS, &[(STRINGS, b"abc\0"), (WORDS, b"")])]), good_header() + 10, 2),
        ),
        ("wtf.part-left-out", overlapping(200)),
        ("wtf.part-replaced", file(&[header(), chunk(EVENTS, &[(WORDS, b""), (WORDS, b"")])])),
        (
            "wtf.part-unaligned",
            patched(file(&[header(), chunk(EVENTS, &[(STRINGS, b"abc\0"), (WORDS, b"")])]), good_header() + 10, 2),
        ),
        ("wtf.buffer-tail", file(&[header(), chunk(EVENTS, &[(WORDS, b"ab")])])),
        ("wtf.no-event-buffer", file(&[header(), chunk(EVENTS, &[(STRINGS, b"a\0")])])),
        ("wtf.no-header-part", file(&[chunk(HEADER, &[]), script.clone()])),
        ("wtf.no-header", file(&[chunk(EVENTS, &[(STRINGS, b"abcdefghijk\0"), (WORDS, b"")])])),
        ("wtf.second-header", file(&[header(), header_json(r#"{"timebase":7}"#)])),
        ("wtf.header-json", file(&[header_json("{nope      ")])),
        ("wtf.header-timebase", file(&[header_json("{}         ")])),
        ("wtf.header-flags", file(&[header_json(r#"{"timebase":1,"flags":"x"}"#)])),
        ("wtf.header-context", file(&[header_json(r#"{"timebase":1,"contextInfo":{"contextType":"x"}}"#)])),
        ("wtf.header-metadata", file(&[header_json(r#"{"timebase":1,"metadata":"x"}"#)])),
        ("wtf.timebase-odd", file(&[header_json(r#"{"timebase":"1"}"#)])),
        ("wtf.event-undefined", events(&[&[99, 5]])),
        ("wtf.event-unreadable", events(&[&define(10, 0, 0, NAME, UINT64), &[10, 5, 1, 2]])),
        ("wtf.event-cut", events(&[&plain, &[10, 5]])),
        ("wtf.array-too-long", events(&[&define(10, 0, 0, OTHER, BYTES), &[10, 5, 0x7fff_ffff]])),
        ("wtf.define-name", events(&[&define(10, 0, 0, NULL, UINT32)])),
        ("wtf.define-unnamed", events(&[&define(10, 0, 0, NULL, NULL)])),
        ("wtf.define-args", events(&[&define(10, 0, 0, NAME, UINT64)])),
        ("wtf.define-line-end", events(&[&define(10, 0, 0, LINE_END, UINT32), &[10, 5, 1]])),
        ("wtf.define-number", events(&[&define(10, 0, 0, NAME, NUMBER), &[10, 5, 1]])),
        ("wtf.same-name", events(&[&plain, &define(11, 0, 0, NAME, TWO)])),
        ("wtf.same-name-fatal", events(&[&plain, &define(11, 0, 0, NAME, TWO), &[11, 5, 1, 99, 10, 6, 1]])),
        ("wtf.string-ordinal", events(&[&define(10, 0, 0, OTHER, ENTER_ARGS), &[10, 5, 77]])),
        ("wtf.any-json", events(&[&define(10, 0, 0, OTHER, ANY), &[10, 5, BAD]])),
        ("wtf.generic-name", events(&[&define(10, 1, 32, ENTER, ENTER_ARGS), &[10, 5, FATAL]])),
        ("wtf.zone-unknown", events(&[&plain, &define(11, 0, 40, ZONE_SET, ZONE_ARGS), &[11, 0, 9], &[10, 5, 1]])),
        ("wtf.json-syntax", br#"{"wtfVersion":1,"formatVersion":10,"chunks":[{]}"#.to_vec()),
        ("wtf.json-partial", b"{\"wtfVersion\":1,\"formatVersion\":10}\n{\"chunks\":[]}\n".to_vec()),
        ("wtf.json-keys", br#"{"wtf_version":1,"format_version":10,"chunks":[]}"#.to_vec()),
        ("wtf.json-shape", json("7")),
        (
            "wtf.json-base64",
            json(
                r#"{"id":1,"type":"event_data","parts":[{"type":"binary_event_buffer","mode":"base64","value":"*"}]}"#,
            ),
        ),
        (
            "wtf.json-length",
            json(
                r#"{"id":1,"type":"event_data","parts":[{"type":"binary_event_buffer","mode":"base64","byteLength":4,"value":""}]}"#,
            ),
        ),
        ("wtf.json-events", json(r#"{"id":1,"type":"event_data","parts":[{"type":"json_event_buffer","events":[]}]}"#)),
        ("wtf.json-events-syntax", file(&[header(), chunk(EVENTS, &[(JSON_EVENTS, b"[nope")])])),
        ("wtf.script", br#"[{"type":"wtf.json#header","format_version":2}]"#.to_vec()),
        ("wtf.script-relaxed", br#"[{"type":"wtf.json#header","format_version":2},"#.to_vec()),
        ("wtf.script-event", br#"[{"type":"wtf.json#header"},{"event":"nobody","time":1}]"#.to_vec()),
        ("wtf.calls-header", calls(r#"{"version":1,"modules":{}}"#, &[])),
        ("wtf.calls-function", calls(program, &[1, 5])),
        ("wtf.calls-tail", [calls(program, &[1]), vec![9; 3]].concat()),
    ]
}

/// The first of two event chunks has lost some of its bytes.
fn overlong() -> Vec<u8> {
    let mut bytes =
        file(&[header(), chunk(EVENTS, &[(STRINGS, TABLE), (WORDS, &[0; 64])]), chunk(EVENTS, &[(WORDS, &[0; 64])])]);
    let at = (good_header() + 20) * 4;
    bytes.drain(at..at + 40);
    bytes
}

/// Number of words before the second chunk of a file that starts with the usual header.
fn good_header() -> usize {
    3 + header().0.len() / 4
}

fn codes(bytes: &[u8], options: &Options) -> Result<Vec<(&'static str, Severity)>> {
    let mut reader = traceloom_wtf::open(Source::bytes(bytes), options)?;
    while reader.next()?.is_some() {}
    Ok(reader.into_findings().kept().iter().map(|finding| (finding.rule.code, finding.rule.severity)).collect())
}

#[test]
fn every_rule_can_be_broken() {
    for (code, bytes) in cases() {
        let found = codes(&bytes, &Options::default()).unwrap_or_else(|error| panic!("{code}: {error}"));
        assert!(found.iter().any(|(found, _)| *found == code), "{code}: {found:?}");
        let is_fatal = found.iter().any(|(_, severity)| *severity == Severity::Error);
        assert_eq!(codes(&bytes, &Options::strict()).is_err(), is_fatal, "{code}");
    }
    let tried: BTreeSet<&str> = cases().iter().map(|(code, _)| *code).collect();
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(tried, all);
}

/// Every placeholder of a message is filled in.
#[test]
fn findings_speak_in_whole_sentences() {
    for (code, bytes) in cases() {
        let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::default()).unwrap();
        while reader.next().unwrap().is_some() {}
        for finding in reader.findings().kept() {
            assert!(!finding.message().contains(['{', '}']) || code == "wtf.any-json", "{finding}");
        }
    }
}

/// After something unreadable, reading continues as soon as the data is plausible.
#[test]
fn one_bad_event_costs_one_event() {
    let good: Vec<Vec<u32>> = (0..4).map(|n| vec![10, 10 + n, n]).collect();
    for bad in [vec![99, 6, 1, 2, 3], vec![12, 6, 1, 2]] {
        let mut words = vec![define(10, 0, 0, NAME, UINT32), define(12, 0, 0, OTHER, UINT64), vec![10, 5, 77], bad];
        words.extend(good.iter().cloned());
        let bytes = events(&words.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::default()).unwrap();
        let mut times = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            if let Record::Event(event) = located.record
                && !event.kind.is_structural()
            {
                times.push(event.time_us);
            }
        }
        assert_eq!(times, [5, 10, 11, 12, 13], "{:?}", reader.findings().kept());
    }
}

/// A damaged chunk costs only itself, not those after it.
#[test]
fn one_bad_chunk_costs_one_chunk() {
    let words = [define(10, 0, 0, NAME, UINT32), vec![10, 5, 1]].concat();
    let good = chunk(EVENTS, &[(STRINGS, TABLE), (WORDS, &Bytes::words(&words).0)]);
    let count = |bytes: Vec<u8>| {
        let mut events = 0;
        let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::default()).unwrap();
        each_event(&mut reader, |event| {
            events += u32::from(!event.kind.is_structural());
            Ok(())
        })
        .unwrap();
        events
    };
    let bytes = file(&[header(), good.clone(), good.clone(), good.clone()]);
    assert_eq!(count(bytes.clone()), 3);
    let second = good_header() + good.0.len() / 4;
    assert_eq!(count(patched(bytes.clone(), second + 2, 8)), 2, "a length that is too small");
    assert_eq!(count(patched(bytes.clone(), second + 2, 0x7000_0000)), 3, "a length past the end");
    let mut torn = bytes;
    torn.drain((second + 20) * 4..(second + 40) * 4);
    assert!(count(torn) >= 2, "bytes that are missing");
}

/// A packed buffer may be in a chunk and refer to its strings.
#[test]
fn packed_events_may_refer_to_strings() {
    let mut bytes = Vec::new();
    for part in [&1_u16.to_be_bytes()[..], &[0; 4], &10_u16.to_be_bytes(), &[0, 0], &[0; 4]] {
        bytes.extend_from_slice(part);
    }
    for ordinal in [NAME, ENTER_ARGS] {
        bytes.extend_from_slice(&[0xff, 0xff]);
        bytes.extend_from_slice(&ordinal.to_be_bytes());
    }
    bytes.extend_from_slice(&[0, 10, 0, 0, 0, 5, 0xff, 0xff]);
    bytes.extend_from_slice(&OTHER.to_be_bytes());
    let file = file(&[header(), chunk(EVENTS, &[(STRINGS, TABLE), (LEGACY, &bytes)])]);
    let mut reader = traceloom_wtf::open(Source::bytes(file), &Options::strict()).unwrap();
    let mut names = Vec::new();
    each_event(&mut reader, |event| {
        names.extend(event.args.get("name").and_then(|name| name.as_text()).map(|name| name.to_str().into_owned()));
        Ok(())
    })
    .unwrap();
    assert_eq!(names, ["a#e", "a#f"]);
}

#[test]
fn formats_are_recognized_by_content() {
    use traceloom_core::Sniff;
    for (name, path) in traces() {
        let bytes = fs::read(&path).unwrap();
        let opens = traceloom_wtf::open(Source::bytes(bytes.clone()), &Options::default()).is_ok();
        let sniffed = traceloom_wtf::sniff(&bytes);
        assert!(!opens || sniffed != Sniff::No, "{name}");
    }
    for other in [&b""[..], b"{\"traceEvents\":[]}", b"[1,2]", b"MLYZ", b"\x1f\x8b\x08", b"yesaE\0\0\0"] {
        assert_eq!(traceloom_wtf::sniff(other), Sniff::No);
    }
}

#[test]
fn limits_are_kept() {
    let mut many = Vec::new();
    for wire in 10..200 {
        many.push(define(wire, 0, 0, NAME + (wire % 2) * 5, if wire % 3 == 0 { UINT32 } else { NULL }));
    }
    let bytes = events(&many.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let options = Options::default().with_limits(Limits::with(|limits| limits.entries = 2));
    assert!(codes(&bytes, &options).is_err());
    let options = Options::default().with_limits(Limits::with(|limits| limits.record_bytes = 16));
    assert!(codes(&bytes, &options).is_err());
}
