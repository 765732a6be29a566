//! Names that were made to do harm come through every target as they are, and do none.

mod support;

use std::collections::BTreeSet;

use serde_json::Value as Json;
use traceloom_export::{Options, TARGETS, by_id, write};
use traceloom_model::{
    Halt, Table, Tables, args::Arg, events::Event, logs::Log, processes::Process, spans::Span, threads::Thread,
};

use support::{Synthetic, ask, engine_or_skip, place, push_trace, span};

const NAMES: [&str; 14] = [
    "plain",
    "\"quoted\" \\ back\\slash\\",
    "line\nfeed\r\ttab",
    "\u{0}\u{1}\u{1b}[31m\u{7f}",
    "</script><script>alert(1)</script>",
    "<!-- comment",
    "=cmd|' /C calc'!A0",
    "@SUM(1,2)",
    "a;b,c 17",
    "\u{2028}\u{2029}\u{feff}\u{202e}",
    "\u{fffd}replaced",
    "größe😀",
    "%s%n ${jndi}",
    "",
];

/// One span, event and log entry of each name, with an argument.
fn fill(tables: &mut Tables<'_>) -> Result<(), Halt> {
    for (id, name) in (0..).zip(NAMES) {
        push_span(id, name, tables)?;
        let (thread_id, span_id, definition_id) = (Some(0), None, None);
        let (ts_ns, category) = (id * 100, "event".into());
        tables.push(Event { id, ts_ns, thread_id, span_id, name: name.into(), category, definition_id })?;
        let (ts_ns, level_name, file, line, format) = (Some(id * 100), "INFO".into(), Some(name.into()), Some(1), None);
        tables.push(Log {
            id,
            ts_ns,
            thread_id,
            level: 1,
            level_name,
            file,
            line,
            format,
            message: name,
            definition_id,
        })?;
    }
    let name = Some(NAMES[4].into());
    tables.push(Thread { id: 0, tid: Some(7), process_id: 0, name, kind: None, location: None })?;
    tables.push(Process { id: 0, pid: Some(7), ppid: None, name, start_ts_ns: None, end_ts_ns: None })?;
    push_trace(NAMES[1], 10_000, tables)
}

fn push_span(id: i64, name: &str, tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(Span { file: Some(name.into()), ..span(id, 0, None, id * 100, Some(50), name) })?;
    tables.push(Arg {
        id,
        owner_table: Table::Spans.name().into(),
        owner_id: id,
        key: format!("key {name}").as_str().into(),
        idx: None,
        r#type: "string".into(),
        int_value: None,
        uint_value: None,
        float_value: None,
        text_value: Some(name),
        bytes_value: None,
    })
}

fn written(target: &str, variant: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
    write(by_id(target).unwrap(), &Synthetic(fill), &options, &mut out).unwrap();
    out
}

#[test]
fn every_target_takes_them() {
    for target in TARGETS {
        let id = target.descriptor().id;
        let out = written(id, None);
        assert!(!out.is_empty(), "{id}");
        if target.descriptor().is_text {
            let text = String::from_utf8(out).unwrap_or_else(|_| panic!("{id} is no UTF-8"));
            assert!(!text.contains('\0') && !text.contains('\u{1b}') || id == "csv", "{id} has control characters");
        }
    }
}

#[test]
fn json_reads_back_as_it_was() {
    let chrome: Json = serde_json::from_slice(&written("chrome", None)).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    let spans: Vec<&Json> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(spans.iter().map(|event| event["name"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    for (event, name) in spans.iter().zip(NAMES) {
        assert_eq!(event["args"][format!("key {name}")], name);
    }
    let lines = written("json", Some("logs"));
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages = lines.map(|line| serde_json::from_slice::<Json>(line).unwrap()["message"].clone());
    assert_eq!(messages.collect::<Vec<_>>(), NAMES);
}

#[test]
fn no_cell_of_a_spreadsheet_is_a_formula() {
    let csv = String::from_utf8(written("csv", Some("spans"))).unwrap();
    let starts: Vec<&str> = csv.split([',', '\n']).map(|cell| cell.trim_start_matches('"')).collect();
    assert!(starts.iter().all(|cell| !cell.starts_with(['=', '@', '+'])), "{starts:?}");
}

#[test]
fn folded_stacks_keep_one_line_for_each() {
    let folded = String::from_utf8(written("folded", None)).unwrap();
    assert_eq!(folded.lines().count(), NAMES.len());
    assert!(folded.lines().all(|line| line.matches(';').count() == 1 && line.ends_with(" 50")), "{folded}");
}

#[test]
fn the_engine_shows_them_as_they_are() {
    let Some(engine) = engine_or_skip() else { return };
    let file = place("hostile").join("hostile.pftrace");
    std::fs::write(&file, written("perfetto", None)).unwrap();
    let queries = [
        "SELECT name FROM slice WHERE category = 'block' ORDER BY ts",
        "SELECT string_value FROM args WHERE flat_key GLOB 'debug.key *'",
        "SELECT msg FROM android_logs ORDER BY ts",
        "SELECT name FROM thread WHERE tid = 7",
    ];
    let answers = ask(&engine, std::slice::from_ref(&file), &queries);
    let answer = &answers[&file];
    assert_eq!(answer["error"], Json::Null);
    let texts = |query: usize| {
        let rows = answer["answers"][query].as_array().unwrap().iter();
        rows.map(|row| row[0].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    // The engine ends a text at a zero, and so does its answer.
    let shown = |name: &str| name.split('\0').next().unwrap_or("").to_owned();
    assert_eq!(texts(0), NAMES.map(shown));
    let values: BTreeSet<String> = texts(1).into_iter().collect();
    assert_eq!(values, NAMES.map(shown).into_iter().collect());
    assert_eq!(texts(2), NAMES.map(shown));
    assert_eq!(texts(3), [NAMES[4]]);
}
