//! One file per rule.

mod support;

use std::collections::BTreeSet;

use support::read;
use traceloom_core::{Codec, Findings, Options, Records, Severity, Source};
use traceloom_nytprof::{Nytprof, findings::RULES, open, pynytprof};

/// A small valid profile, to be changed.
const TEXT: &str = "NYTProf 5 0\n#made for a test\n:basetime=1700000000\n:nv_size=8\n:ticks_per_sec=10000000\n";
const START: &[u8] = b"P\x07\x01\x00\x00\x20\x40\xfc\x54\xd9\x41";
const FILE: &[u8] = b"@\x01\0\0\x02\0\0'\x05/t.pl";
const TIME: &[u8] = b"+\x05\x01\x02";
const SUB: &[u8] = b"s\x01'\x07main::f\x02\x04";
const CALLS: &[u8] =
    b"c\x01\x02'\x0dmain::RUNTIME\x01\0\0\0\0\0\0\xe0\x3f\0\0\0\0\0\0\xd0\x3f\0\0\0\0\0\0\0\0\0'\x07main::f";
const OVERHEAD: &[u8] = b":cumulative_overhead_ticks=10\n";
const END: &[u8] = b"p\x07\x00\x00\x60\x40\xfc\x54\xd9\x41";

fn profile(text: &str, records: &[&[u8]]) -> Vec<u8> {
    [text.as_bytes(), &records.concat()].concat()
}

fn whole(extra: &[u8]) -> Vec<u8> {
    profile(TEXT, &[START, FILE, TIME, extra, OVERHEAD, SUB, CALLS, END])
}

fn zlib(text: &str, records: &[&[u8]], trailer: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&records.concat()).unwrap();
    [text.as_bytes(), b"z", &encoder.finish().unwrap(), trailer].concat()
}

fn findings(bytes: &[u8]) -> Findings {
    Nytprof::check(&Source::bytes(bytes), &Options::default()).unwrap()
}

#[test]
fn every_rule_of_the_real_stream_has_a_file_that_breaks_it() {
    assert!(findings(&whole(b"")).kept().is_empty(), "{:?}", findings(&whole(b"")).kept());
    let all = [START, FILE, TIME, OVERHEAD, SUB, CALLS, END];
    let text = |from: &str, to: &str| profile(&TEXT.replace(from, to), &all);
    let big_start = [b"P\x07\x01", &1_700_000_000.5f64.to_be_bytes()[..]].concat();
    let big_end = [b"p\x07", &1_700_000_001.5f64.to_be_bytes()[..]].concat();
    let nan = [&b"<\x01"[..], &f64::NAN.to_le_bytes(), &1f64.to_le_bytes(), b"'\x01f"].concat();
    let negative = CALLS.iter().copied().map(|byte| if byte == 0x3f { 0xbf } else { byte }).collect::<Vec<_>>();
    let long = [b":long=", &[b'y'; 9000][..], b"\n"].concat();
    let wide = format!(":wide={}\n", "y".repeat(8000));
    let many = wide.repeat(21);
    let slow = [b"+\xff\x7f\0\0\0\x01\x02".as_slice(); 3].concat();
    let cases: &[(&str, Vec<u8>)] = &[
        ("version-line", text("5 0", "5 0 and more")),
        ("version-newer", text("5 0", "5 3")),
        ("empty-profile", profile(TEXT, &[OVERHEAD])),
        ("attribute-malformed", whole(b":nothing\n")),
        ("option-malformed", whole(b"!nothing\n")),
        ("attribute-repeated", whole(b":basetime=1\n")),
        ("text-nul", whole(b":a=b\0c\n")),
        ("text-long", zlib(TEXT, &[START, FILE, TIME, &long, OVERHEAD, END], b"")),
        ("text-straddles", zlib(TEXT, &[START, FILE, TIME, many.as_bytes(), OVERHEAD, END], b"")),
        ("ticks-missing", text(":ticks_per_sec=10000000\n", "")),
        ("ticks-zero", text("10000000", "0")),
        (
            "ticks-late",
            profile(&TEXT.replace(":ticks_per_sec=10000000\n", ""), &[START, FILE, TIME, b":ticks_per_sec=5\n"]),
        ),
        ("ticks-change", whole(b":ticks_per_sec=1000000\n")),
        ("nv-size", text("nv_size=8", "nv_size=16")),
        ("nv-size-missing", text(":nv_size=8\n", "")),
        ("nv-size-wrong", text("nv_size=8", "nv_size=12")),
        ("nv-big-endian", profile(TEXT, &[&big_start, FILE, TIME, OVERHEAD, &big_end])),
        ("nv-not-finite", whole(&nan)),
        ("integer-padded", whole(b"+\x80\x05\x01\x02")),
        ("string-not-utf8", whole(b"S\x01\x01\"\x01\xff")),
        ("unknown-tag", whole(b"Q")),
        ("string-tag", whole(b"S\x01\x01x")),
        ("truncated", profile(TEXT, &[START, FILE, b"+\x05"])),
        ("zlib-header", read("z-gzip")),
        ("zlib-truncated", read("z-truncated")),
        ("zlib-damaged", read("z-corrupt")),
        ("zlib-checksum", read("z-checksum")),
        ("zlib-nested", zlib(TEXT, &[START, FILE, TIME, b"z"], b"")),
        ("zlib-trailing", zlib(TEXT, &all, b"surprise")),
        ("pid-unknown", whole(b"p\x63\x00\x00\x60\x40\xfc\x54\xd9\x41")),
        ("pid-nested", whole(START)),
        ("pid-unfinished", profile(TEXT, &[START, FILE, TIME, OVERHEAD])),
        ("fid-redefined", whole(FILE)),
        ("fid-undefined", whole(b"+\x05\x09\x02")),
        ("fid-zero", whole(b"+\x05\x00\x02")),
        ("fid-stray", whole(b">\x09\x01")),
        ("fid-gap", whole(b"@\x03\0\0\x02\0\0'\x05/u.pl")),
        ("eval-parent", whole(b"@\x02\x03\x04\0\0\0'\x01e@\x03\0\0\x02\0\0'\x05/u.pl")),
        ("eval-self", whole(b"@\x02\x02\x04\0\0\0'\x01e")),
        ("discount-twice", whole(b"--+\x05\x01\x02")),
        ("discount-unused", whole(b"-")),
        ("ticks-negative", whole(b"+\xff\xff\xff\xff\x00\x01\x02")),
        ("line-huge", whole(b"+\x05\x01\xff\x01\0\0\x01")),
        ("times-exceed", whole(&slow)),
        ("sub-repeated", whole(SUB)),
        ("sub-homeless", profile(TEXT, &[START, FILE, TIME, OVERHEAD, CALLS, END])),
        ("sub-negative", whole(&negative)),
        ("depth-huge", whole(b"<\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'\x01f")),
        ("overhead-missing", profile(TEXT, &[START, FILE, TIME, END])),
    ];
    for (name, bytes) in cases {
        let (code, found) = (format!("nytprof.{name}"), findings(bytes));
        let of_rule = found.kept().iter().find(|finding| finding.rule.code == code);
        let of_rule = of_rule.unwrap_or_else(|| panic!("{code} is not found: {:?}", found.kept()));
        assert!(!of_rule.message().contains('{'), "{}", of_rule.message());
        let refuses = open(Source::bytes(bytes.clone()), &Options::strict()).and_then(|mut reader| {
            while reader.next()?.is_some() {}
            Ok(())
        });
        let worst = found.worst() == Some(Severity::Error);
        assert_eq!(refuses.is_err(), worst, "{code}: {refuses:?}");
    }
    let broken: BTreeSet<_> = cases.iter().map(|(name, _)| format!("nytprof.{name}")).collect();
    assert_eq!(broken, RULES.iter().map(|rule| rule.code.to_owned()).collect());
}

const BANNER: &str = "NYTProf 5 0\n#Perl profile database. Generated by Pynytprof on today\n:basetime=1\n\
:application=-e\n:perl_version=3\n:nv_size=8\n:clock_mod=cpu\n:ticks_per_sec=10000000\n:osname=linux\n:hz=100\n\
!subs=1\n!evals=0\n";
const PROCESS: &[u8] = b"P\xe1\x10\0\0\xd2\x04\0\0\0\0\x10\x10\x2a\x1f\xda\x41";

#[test]
fn a_rule_names_the_byte_that_breaks_it() {
    let at = |bytes: &[u8]| {
        let all = findings(bytes);
        let [found] = all.kept() else { panic!("{:?}", all.kept()) };
        (found.rule.code, found.position.offset, found.position.field)
    };
    let plain = (TEXT.len() + [START, FILE, TIME].concat().len()) as u64;
    assert_eq!(at(&whole(b"-")), ("nytprof.discount-unused", plain, ""));
    let source = b"S\x01\xff\xff\xff\xff\xf0'\x02x\n";
    assert_eq!(at(&whole(source)), ("nytprof.line-huge", plain, ""));
    let records = [START, FILE, TIME, b"-", OVERHEAD, SUB, CALLS, END];
    let inflated = plain - TEXT.len() as u64;
    // After the compressed part, offsets are those in the file again.
    assert_eq!(at(&zlib(TEXT, &records, b"")), ("nytprof.discount-unused", inflated, "inflated"));
}

#[test]
fn a_byte_too_many_makes_no_other_dialect() {
    // Two process numbers of two bytes each and a stray byte: the time is where four plus four bytes put it.
    let time = 1_794_750_724.5f64.to_le_bytes();
    let start = |pids: &[u8]| [b"P", pids, &time[..]].concat();
    let made = |text: &str, pids: &[u8]| profile(text, &[&start(pids), FILE, TIME, OVERHEAD, END]);
    let stray = b"\xa1\x8d\x8c\x22\x08\x94\x7e\x01";
    assert_eq!(open(Source::bytes(made(TEXT, stray)), &Options::default()).map(|_| ()).ok(), Some(()));
    // Pynytprof's latest writer has numbers from a system, or names itself.
    let last = [b"\x0d\xa1\0\0\x0c\xa1\0\0".as_slice(), stray];
    for (text, pids) in [TEXT.to_owned(), TEXT.replace("#made", "#by Pynytprof, made")].iter().zip(last) {
        assert!(open(Source::bytes(made(text, pids)), &Options::default()).is_err());
        assert!(pynytprof::open(Source::bytes(made(text, pids)), &Options::default()).is_ok());
    }
}

fn chunk(tag: u8, payload: &[u8]) -> Vec<u8> {
    [&[tag], &(payload.len() as u32).to_le_bytes()[..], payload].concat()
}

fn figures(numbers: [u32; 3]) -> Vec<u8> {
    [numbers.map(u32::to_le_bytes).as_flattened(), &[10; 16]].concat()
}

/// The figures of a line with short times.
fn short_line(line: u32) -> Vec<u8> {
    [[1, line, 3].map(u32::to_le_bytes).as_flattened(), [700u64, 900].map(u64::to_le_bytes).as_flattened()].concat()
}

fn subs() -> Vec<u8> {
    b"\0\0\0\0\0\0\0\0main\0\x01\0\0\0\0\0\0\0f\0".to_vec()
}

fn document(chunks: &[Vec<u8>]) -> Vec<u8> {
    [BANNER.as_bytes(), PROCESS, &chunks.concat()].concat()
}

#[test]
fn every_rule_of_the_document_has_a_file_that_breaks_it() {
    let (s, d) = (chunk(b'S', &figures([1, 2, 3])), chunk(b'D', &subs()));
    let (c, e) = (chunk(b'C', &figures([0, 1, 3])), chunk(b'E', b""));
    let plain = document(&[s.clone(), d.clone(), c.clone(), e.clone()]);
    let chunks = |chunks: &[&Vec<u8>]| document(&chunks.iter().map(|chunk| (*chunk).clone()).collect::<Vec<_>>());
    let text = |from: &str, to: &str| {
        [BANNER.replace(from, to).as_bytes(), PROCESS, &[s.clone(), d.clone(), c.clone(), e.clone()].concat()].concat()
    };
    let no_newlines = chunk(b'S', &[9, 1, 11].map(short_line).concat());
    let ancestor = [b"NYTPROF\0\x05\0\0\0\0\0\0\0".to_vec(), s.clone(), e.clone()].concat();
    let mut zlib = zlib(BANNER, &[PROCESS, &s, &d, &c, &e], b"");
    let compressed = zlib.clone();
    zlib.truncate(zlib.len() - 20);
    let cases: &[(&str, Vec<u8>)] = &[
        ("ancestor", ancestor),
        ("version", text("NYTProf 5 0", "NYTProf 5 1")),
        ("comment-missing", text("Pynytprof", "somebody")),
        ("line-malformed", text(":hz=100\n", ":hz=100\n:nothing\n")),
        ("attribute-missing", text(":hz=100\n", "")),
        ("option-missing", text("!evals=0\n", "")),
        ("ticks-per-sec", text("10000000", "1000000")),
        ("nv-size", text("nv_size=8", "nv_size=16")),
        ("blank-line", text("!evals=0\n", "!evals=0\n\n")),
        ("zlib", compressed),
        ("zlib-damaged", zlib),
        ("process-missing", [BANNER.as_bytes(), &s, &d, &c, &e].concat()),
        ("process-length", read("p-with-length")),
        ("process-integers", [BANNER.as_bytes(), b"P\x80\xc8\x01\0\0\0\0\0\x10\xd0\x41", &s, &d, &c, &e].concat()),
        (
            "process-fields",
            [BANNER.as_bytes(), b"P\0\0\x32\x8d\x24\x0a\x06\0\x07\0\0\0\x01\0\0\0", &s, &d, &c, &e].concat(),
        ),
        ("framing", chunks(&[&s, &d, &c, &b"E".to_vec()])),
        ("process-time", [BANNER.as_bytes(), b"P", &[0; 16], &s, &d, &c, &e].concat()),
        ("tokens", read("head-py")),
        ("chunk-order", chunks(&[&d, &s, &c, &e])),
        ("chunk-repeated", chunks(&[&s, &s, &d, &c, &e])),
        ("chunk-missing", chunks(&[&s, &c, &e])),
        ("chunk-foreign", chunks(&[&s, &chunk(b'B', b"x"), &d, &c, &e])),
        ("chunk-unknown", chunks(&[&s, &b"\0\0\0\0\0".to_vec()])),
        ("chunk-form", read("tracer-cwriter")),
        ("chunk-length", read("bad-S-length")),
        ("truncated", read("bad-truncated")),
        ("flags", read("seed-utf8")),
        ("name", chunks(&[&s, &chunk(b'D', b"\0\0\0\0\0\0\0\0\xffoo\0"), &c, &e])),
        ("sub-repeated", chunks(&[&s, &chunk(b'D', &subs().repeat(2)), &c, &e])),
        ("sub-unknown", chunks(&[&s, &d, &chunk(b'C', &figures([0, 9, 3])), &e])),
        ("newline-damage", chunks(&[&no_newlines, &chunk(b'D', b""), &chunk(b'C', b""), &e])),
        ("end-missing", chunks(&[&s, &d, &c])),
        ("end-repeated", chunks(&[&s, &d, &c, &e, &e])),
        ("end-not-empty", chunks(&[&s, &d, &c, &chunk(b'E', b"12345678")])),
        ("after-end", chunks(&[&s, &d, &c, &e, &b"more".to_vec()])),
    ];
    for (name, bytes) in cases {
        let code = format!("pynytprof.{name}");
        let mut reader = pynytprof::open(Source::bytes(bytes.clone()), &Options::default()).expect(name);
        while reader.next().unwrap().is_some() {}
        let found = reader.findings().kept().iter().find(|finding| finding.rule.code == code);
        let found = found.unwrap_or_else(|| panic!("{code} is not found: {:?}", reader.findings().kept()));
        assert!(!found.message().contains('{'), "{}", found.message());
    }
    let broken: BTreeSet<_> = cases.iter().map(|(name, _)| format!("pynytprof.{name}")).collect();
    assert_eq!(broken, pynytprof::findings::RULES.iter().map(|rule| rule.code.to_owned()).collect());

    let mut reader = pynytprof::open(Source::bytes(plain), &Options::strict()).unwrap();
    while reader.next().unwrap().is_some() {}
    assert!(reader.findings().kept().is_empty(), "a sound file has findings: {:?}", reader.findings().kept());
}

#[test]
fn what_the_document_s_function_wrote_breaks_no_rule() {
    for name in ["seed-aligned-pid", "seed-empty", "seed-large", "seed-many", "seed-small", "seed-utf8"] {
        let mut reader = pynytprof::open(Source::bytes(read(name)), &Options::strict()).unwrap();
        while reader.next().unwrap_or_else(|error| panic!("{name}: {error}")).is_some() {}
    }
}

/// Most bytes of a profile are zeros and small numbers, so a short one often has no byte 0a.
#[test]
fn a_sound_profile_needs_no_newline() {
    let codes_with = |lines: &[u32], visits: &[u8]| {
        let lines = lines.iter().copied().flat_map(short_line).collect::<Vec<_>>();
        let bytes = document(&[chunk(b'S', &lines), chunk(b'D', visits), chunk(b'C', b""), chunk(b'E', b"")]);
        let mut reader = pynytprof::open(Source::bytes(bytes), &Options::default()).unwrap();
        while reader.next().unwrap().is_some() {}
        reader.findings().kept().iter().map(|finding| finding.rule.code).collect::<Vec<_>>()
    };
    let codes = |lines: &[u32]| codes_with(lines, b"");
    let lines: Vec<u32> = (1..40).filter(|line| *line != 10).collect();
    assert_eq!(codes(&lines), [""; 0]);
    // Each line is written once, so a line 1 after line 9 was line 10.
    assert_eq!(codes(&[1, 9, 1, 11]), ["pynytprof.newline-damage"]);
    // There is a visit for each call.
    let visits = |count| [b"\x01\x01\0\0\0\x09\0\0\0\x07\0\0\0\0\0\0\0".repeat(count), vec![0]].concat();
    assert_eq!(codes_with(&[9], &visits(3)), ["pynytprof.chunk-form"]);
    assert_eq!(codes_with(&[9], &visits(4)), ["pynytprof.chunk-form", "pynytprof.newline-damage"]);
    // Among thousands of times, one has such a byte.
    let lines: Vec<u32> =
        (0x1000u32..0x2000).filter(|line| line.to_le_bytes().iter().all(|byte| *byte != 10)).collect();
    assert_eq!(codes(&lines), ["pynytprof.newline-damage"]);
}

/// A profile of a command has no files; an empty list says nothing about the integers of the others.
#[test]
fn an_empty_chunk_has_the_documented_form() {
    let chunks = [chunk(b'F', b""), chunk(b'S', &figures([1, 2, 3])), chunk(b'D', b""), chunk(b'C', b"")];
    for tags in [&chunks[..], &[chunk(b'F', b""), chunk(b'S', b""), chunk(b'D', b""), chunk(b'C', b"")]] {
        let bytes = document(&[tags, &[chunk(b'E', b"")]].concat());
        let mut reader = pynytprof::open(Source::bytes(bytes), &Options::default()).unwrap();
        while reader.next().unwrap().is_some() {}
        let codes: Vec<_> = reader.findings().kept().iter().map(|finding| finding.rule.code).collect();
        assert_eq!(codes, ["pynytprof.chunk-foreign"]);
    }
}

#[test]
fn findings_stay_small() {
    let name = "x".repeat(1 << 20);
    let sub = [b"s\x01'\xff\x00\x10\x00\x00", name.as_bytes(), b"\x01\x01"].concat();
    let found = findings(&whole(&sub.repeat(5)));
    let longest = found.kept().iter().map(|finding| finding.message().len()).max();
    assert!(longest < Some(400), "{longest:?}");
    assert_eq!(found.counts()["nytprof.sub-repeated"], 4);
}
