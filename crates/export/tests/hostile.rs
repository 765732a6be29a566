//! Hostile names pass through every target unchanged and do no harm.

mod support;

#[path = "hostile/consumers.rs"]
mod consumers;
#[path = "hostile/readers.rs"]
mod readers;
#[path = "hostile/trace.rs"]
mod trace;

use std::{collections::BTreeSet, path::Path};

use serde_json::Value as Json;
use traceloom_core::Source;
use traceloom_export::{Options, by_id, targets, write};
use traceloom_mapping::Trace;
use traceloom_model::{Batches, Filter, Table, TableSource, Tables, Wanted, spans};

use support::{Made, push_trace, span};
use trace::{NAMES, fill, fill_memory};

/// A target, and how it shows names.
struct Case {
    target: &'static str,
    /// The names of spans, or of what the target shows instead, read from the output.
    read: fn(&[u8]) -> BTreeSet<String>,
    /// How a name is shown.
    shown: fn(&str) -> String,
}

/// One per target: a new target must add how it shows names.
const CASES: &[Case] = &[
    Case { target: "arrow", read: readers::arrow, shown: as_it_is },
    Case { target: "callgrind", read: readers::callgrind, shown: on_a_line },
    Case { target: "chrome", read: readers::chrome, shown: as_it_is },
    Case { target: "cnanolog", read: |out| readers::format("cnanolog", out), shown: as_message },
    Case { target: "csv", read: readers::csv, shown: no_formula },
    Case { target: "easyprofiler", read: |out| readers::format("easyprofiler", out), shown: short_and_without_nul },
    Case { target: "firefox", read: readers::firefox, shown: never_empty },
    Case { target: "folded", read: readers::folded, shown: as_frame },
    Case { target: "json", read: readers::json, shown: as_it_is },
    Case { target: "memlyze", read: |out| readers::format("memlyze", out), shown: as_it_is },
    Case { target: "nytprof", read: |out| readers::format("nytprof", out), shown: never_empty },
    Case { target: "otlp", read: readers::otlp, shown: as_it_is },
    Case { target: "perfetto", read: readers::perfetto, shown: as_it_is },
    Case { target: "pprof", read: readers::pprof, shown: never_empty },
    Case { target: "pynytprof", read: |out| readers::format("pynytprof", out), shown: as_key },
    Case { target: "speedscope", read: readers::speedscope, shown: never_empty },
    Case { target: "wtf", read: |out| readers::format("wtf", out), shown: as_scope },
];

fn as_it_is(name: &str) -> String {
    name.to_owned()
}

fn never_empty(name: &str) -> String {
    if name.is_empty() { "(no name)".to_owned() } else { name.to_owned() }
}

fn without_nul(name: &str) -> String {
    name.replace('\0', "\u{fffd}")
}

fn short_and_without_nul(name: &str) -> String {
    without_nul(name).chars().take(32_000).collect()
}

/// An entry can hold only this much text.
fn as_message(name: &str) -> String {
    name[..name.floor_char_boundary(65_531)].to_owned()
}

/// A name in a generic scope may not look like a signature.
fn as_scope(name: &str) -> String {
    let is_generic = name.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
    let name = without_nul(name);
    match (name.is_empty(), is_generic) {
        (true, _) => "unnamed.scope".to_owned(),
        (false, true) => name.replace('(', "["),
        (false, false) => name,
    }
}

/// A key of a table of texts: one line, and not too long for readers.
fn as_key(name: &str) -> String {
    let escaped =
        |letter: char| if letter.is_control() { letter.escape_unicode().to_string() } else { letter.to_string() };
    never_empty(&name.chars().map(escaped).collect::<String>().chars().take((1 << 16) - 1).collect::<String>())
}

fn on_a_line(name: &str) -> String {
    let is_blank = |letter: char| letter.is_whitespace() || letter.is_control();
    never_empty(&name.trim_matches(is_blank).replace(char::is_control, " "))
}

fn as_frame(name: &str) -> String {
    never_empty(&name.replace(';', ":").replace(char::is_control, " "))
}

/// As spreadsheets read it: formulas come after an apostrophe.
fn no_formula(name: &str) -> String {
    let runs = name.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if runs { format!("'{name}") } else { name.to_owned() }
}

fn written(target: &str, variant: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
    write(by_id(target).unwrap(), &Made(fill), &options, &mut out).unwrap();
    out
}

fn written_memory(target: &str, variant: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
    write(by_id(target).unwrap(), &Made(fill_memory), &options, &mut out).unwrap();
    out
}

fn shown_names(shown: fn(&str) -> String) -> BTreeSet<String> {
    NAMES.iter().map(|name| shown(name)).collect()
}

/// Names that differ, shortened for display.
fn difference(found: &BTreeSet<String>, expected: &BTreeSet<String>) -> Vec<String> {
    let brief = |sign: char, name: &String| {
        format!("{sign} {:?}, {} bytes", name.chars().take(60).collect::<String>(), name.len())
    };
    let missing = expected.difference(found).map(|name| brief('-', name));
    missing.chain(found.difference(expected).map(|name| brief('+', name))).collect()
}

/// A span of 167 bytes that lasts 168 years: what counts or divides times must not write as much as it lasts.
#[test]
fn a_long_time_does_not_make_a_long_file() {
    let file = Path::new("tests/hostile/block-of-168-years.prof");
    let trace = traceloom_mapping::open(file, None, &traceloom_mapping::Options::default()).unwrap();
    for target in targets() {
        for variant in [None].into_iter().chain(target.variants.iter().map(|variant| Some(variant.id))) {
            let (mut out, options) =
                (Vec::new(), Options { variant: variant.map(str::to_owned), ..Options::default() });
            write(target, &trace, &options, &mut out).unwrap();
            assert!(out.len() < 32 << 10, "{}:{variant:?} has {} bytes", target.id, out.len());
        }
    }
}

#[test]
fn every_target_has_a_case_and_shows_the_names() {
    let mut wrong = Vec::new();
    for target in targets() {
        let id = target.id;
        let case = CASES.iter().find(|case| case.target == id);
        let case = case.unwrap_or_else(|| panic!("{id} has no case here: what does it make of names?"));
        let out = if id == "memlyze" { written_memory(id, None) } else { written(id, None) };
        let (found, expected) = ((case.read)(&out), shown_names(case.shown));
        if !expected.is_subset(&found) {
            wrong.push(format!("{id}: {:#?}", difference(&found, &expected)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_functions_that_allocate_come_through() {
    let cases = [
        (Some("bytes"), Case { target: "folded", read: readers::folded, shown: as_frame }),
        (Some("allocations"), Case { target: "pprof", read: readers::pprof, shown: never_empty }),
        (None, Case { target: "speedscope", read: readers::speedscope, shown: never_empty }),
    ];
    for (variant, Case { target, read, shown }) in cases {
        let found = read(&written_memory(target, variant));
        let expected = shown_names(shown);
        assert!(expected.is_subset(&found), "{target}: {:#?}", difference(&found, &expected));
    }
}

#[test]
fn text_has_no_control_characters_and_ends_no_script() {
    for target in targets().filter(|target| target.is_text) {
        let id = target.id;
        for out in [written(id, None), written_memory(id, None)] {
            let text = String::from_utf8(out).unwrap_or_else(|_| panic!("{id} is no UTF-8"));
            // A CSV cell is quoted, and has no other way to hold these characters.
            let is_clean = !text.contains(['\0', '\u{1b}', '\u{8}', '\u{85}']);
            assert!(is_clean || id == "csv", "{id} has control characters");
            let is_json = text.starts_with('{');
            assert!(!is_json || !text.contains("</script") && !text.contains("<!--"), "{id} ends a script");
        }
    }
}

#[test]
fn arguments_and_messages_read_back_as_they_were() {
    let chrome: Json = serde_json::from_slice(&written("chrome", None)).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    let spans: Vec<&Json> = events.iter().filter(|event| event["ph"] == "X").collect();
    for (event, name) in spans.iter().zip(NAMES.iter()) {
        assert_eq!(event["args"][trace::key(name)], **name);
    }
    let lines = written("json", Some("logs"));
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages = lines.map(|line| serde_json::from_slice::<Json>(line).unwrap()["message"].clone());
    assert!(messages.eq(NAMES.iter().map(|name| Json::from(*name))));
}

#[test]
fn folded_stacks_keep_one_line_for_each() {
    let folded = String::from_utf8(written("folded", None)).unwrap();
    assert_eq!(folded.lines().count(), NAMES.len());
    assert!(folded.lines().all(|line| line.matches(';').count() == 1 && line.ends_with(" 50")));
}

/// A trace of another format in which the name of a span is replaced by bytes that are not text.
fn patched(target: &str, variant: Option<&str>, bytes: &[u8]) -> Trace {
    const PLACE: &[u8] = b"ABCDEFGHIJ";
    let name = std::str::from_utf8(PLACE).unwrap();
    let source = Made(|tables: &mut Tables<'_>| {
        tables.push(span(0, 0, None, 0, Some(5_000), name))?;
        push_trace("a.prof", 10_000, tables)
    });
    let (mut out, mut patched) = (Vec::new(), Vec::new());
    let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
    write(by_id(target).unwrap(), &source, &options, &mut out).unwrap();
    let mut rest = out.as_slice();
    while let Some(at) = rest.windows(PLACE.len()).position(|part| part == PLACE) {
        patched.extend_from_slice(&rest[..at]);
        patched.extend_from_slice(bytes);
        rest = &rest[at + PLACE.len()..];
    }
    patched.extend_from_slice(rest);
    assert_ne!(out, patched, "the name is there");
    Trace::new(Path::new("patched"), Source::bytes(patched), Some(target), &Default::default()).unwrap()
}

#[test]
fn names_that_are_no_text_become_text_that_every_target_takes() {
    let traces = [
        // As long as the name it replaces: broken sequences, and half of a surrogate pair in three bytes.
        patched("easyprofiler", None, b"a\xff\xfe\xc3(\xed\xa0\x80\x80z"),
        patched("wtf", Some("json-events"), br"a\ud800b\udc00z"),
    ];
    for trace in &traces {
        let mut batches = Batches::of(Wanted::everything());
        trace.pour(&Filter::default(), &mut batches).unwrap();
        let name = batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()).find_map(|view| {
            let name = (0..view.rows).map(|row| view.name.get(row)).find(|name| name.contains('\u{fffd}'));
            name.map(str::to_owned)
        });
        let name = name.unwrap_or_else(|| panic!("{}: no name is replaced", trace.format()));
        for case in CASES.iter().filter(|case| case.target != "memlyze") {
            let Ok(target) = by_id(case.target) else { continue };
            let mut out = Vec::new();
            write(target, trace, &Options::default(), &mut out).unwrap();
            let found = (case.read)(&out);
            let is_shown = |text: &String| *text == (case.shown)(&name) || text.ends_with(&format!("] {name}"));
            assert!(found.iter().any(is_shown), "{} as {}: {found:?}", trace.format(), case.target);
        }
    }
}
