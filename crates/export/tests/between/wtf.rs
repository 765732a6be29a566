//! Conversion to the Web Tracing Framework's format.

use std::{
    fs,
    path::{Path, PathBuf},
};

use traceloom_core::{Loss, Source};
use traceloom_model::{Table, args::Arg, events::Event, spans::Span as Row, threads::Thread};
use traceloom_testkit::OriginalWtf;
use traceloom_wtf::{
    Composer, FileInfo, Form, Text, Value,
    raw::{EventClass, EventFlags},
    recorded,
};

use crate::{
    Converted, assert_equal, convert, loses,
    picture::{Arguments, Picture, Point, Span, spread},
    support::{Made, place, push_trace, span, traces},
};

/// The expected spans of the result.
fn expected_spans(from: &Picture, is_wtf: bool, loss: &Loss) -> Vec<Span> {
    let closes = loses(loss, "spans that were never closed, now closed");
    let time = |ns: i64| time(from, ns);
    let mut spans: Vec<Span> = from.spans.clone();
    for span in &mut spans {
        let is_flat = matches!(&*span.category, "frame" | "range");
        span.end_ns = span.end_ns.or(closes.then_some(from.last_ns)).map(time);
        span.ts_ns = time(span.ts_ns);
        span.name = name(&span.name, "unnamed.scope");
        if !is_flat {
            span.category = "scope".to_owned();
        }
        if !is_wtf {
            span.args.extend(source(span.source.take()));
        }
    }
    spans.sort_unstable();
    spans
}

fn expected_events(from: &Picture, is_wtf: bool) -> Vec<Point> {
    let process = "process";
    let told = |point: &&Point| {
        let by_spans = matches!(&*point.category, "frame" | "range" | "append" | "leave");
        !(is_wtf && by_spans)
    };
    let mut points: Vec<Point> = from.events.iter().filter(told).chain(&from.counters).cloned().collect();
    for log in from.logs.iter().cloned() {
        let mut args = log.args;
        args.extend(source(log.source));
        args.insert("level".to_owned(), vec![log.level]);
        args.insert("message".to_owned(), vec![log.message]);
        let (name, category) = (log.format.unwrap_or_else(|| "log".to_owned()), "log".to_owned());
        let ts_ns = log.ts_ns.unwrap_or(0);
        points.push(Point { thread: log.thread, category, ts_ns, name, args });
    }
    for point in &mut points {
        point.ts_ns = time(from, point.ts_ns);
        // A mark may have an empty name, an event type may not.
        let is_mark = matches!(&*point.category, "bookmark" | "marker" | "mark");
        point.name = name(&point.name, if is_mark { "" } else { "unnamed.instance" });
        point.thread.get_or_insert_with(|| process.to_owned());
    }
    comparable(points)
}

/// Generic types have their name among the arguments, and all other arguments in one.
fn comparable(mut points: Vec<Point>) -> Vec<Point> {
    for point in &mut points {
        point.category.clear();
        // Names of arguments cannot start with a digit there.
        let args = std::mem::take(&mut point.args).into_iter();
        point.args = args.map(|(key, value)| (without_mark(&key).to_owned(), value)).collect();
        point.args.remove("name");
        spread(&mut point.args, "value");
        spread(&mut point.args, "args");
        if point.args.get("value").is_some_and(|value| value == &["null"]) {
            point.args.remove("value");
        }
        if point.args.get("args").is_some_and(|value| value == &["null"]) {
            point.args.remove("args");
        }
    }
    points.sort_unstable();
    points
}

fn without_mark(key: &str) -> &str {
    key.strip_prefix('_').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(key)
}

/// Microseconds from the earliest time.
fn time(from: &Picture, ns: i64) -> i64 {
    let unit = if from.clock == "count" { 1 } else { 1000 };
    ns.saturating_sub(from.start_ns) / unit * unit
}

fn name(name: &str, empty: &str) -> String {
    match name {
        "" => empty.to_owned(),
        name => name.replace('\0', "\u{fffd}"),
    }
}

fn source(source: Option<(String, Option<u32>)>) -> Arguments {
    let Some((file, line)) = source else { return Arguments::default() };
    let line = line.map(|line| ("source_line".to_owned(), vec![line.to_string()]));
    [("source_file".to_owned(), vec![file.replace('\0', "\u{fffd}")])].into_iter().chain(line).collect()
}

/// Compares the result with its source.
pub(crate) fn assert_same(from: &Picture, is_wtf: bool, to: &Converted, what: &str) {
    let mut spans = to.picture.spans.clone();
    let is_lost = loses(&to.loss, "gaps of more than 71 minutes");
    let overlaps = to.picture.threads.iter().any(|thread| thread.contains("(overlapping"));
    let mut expected = expected_spans(from, is_wtf, &to.loss);
    for span in spans.iter_mut().chain(&mut expected) {
        // Data appended without a name gets WTF's key for it; both sides use that key.
        if overlaps {
            span.depth = 0;
            span.thread = span.thread.replace(" (overlapping or too deep)", "");
        }
        span.args.remove("name");
        if is_lost {
            (span.ts_ns, span.end_ns, span.depth) = (0, None, 0);
        }
    }
    spans.sort_unstable();
    expected.sort_unstable();
    assert_equal(&spans, &expected, what);

    // If nesting is lost, too, a leave may find nothing to leave.
    let is_left = |point: &Point| is_lost && point.name == "wtf.scope#leave";
    let is_told = |point: &&Point| !matches!(&*point.category, "frame" | "range" | "append") && !is_left(point);
    let events = comparable(to.picture.events.iter().filter(is_told).cloned().collect());
    let mut expected = expected_events(from, is_wtf);
    let whole = |point: &mut Point| {
        if !from.threads.contains(point.thread.as_ref().unwrap()) {
            point.thread = None;
        }
        if is_lost {
            point.ts_ns = 0;
        }
    };
    expected.iter_mut().for_each(whole);
    let mut events = events;
    events.iter_mut().for_each(whole);
    events.sort_unstable();
    expected.sort_unstable();
    assert_equal(&events, &expected, what);
    for thread in &from.threads {
        assert!(to.picture.threads.contains(&thread.replace('\0', "\u{fffd}")), "{what}: thread {thread:?}");
    }
}

#[test]
fn traces_of_every_format_keep_spans_events_and_arguments() {
    let (mut spans, mut points) = (0, 0);
    for (name, trace) in traces() {
        let from = Picture::of(&trace);
        let to = convert(&trace, "wtf", None, &name);
        assert_same(&from, trace.format() == "wtf", &to, &name);
        spans += to.picture.spans.len();
        points += to.picture.events.len();
    }
    assert!(spans > 4_000 && points > 3_000, "{spans} spans and {points} events");
}

#[test]
fn text_forms_hold_the_same() {
    let (name, trace) = traces().into_iter().find(|(_, trace)| trace.format() == "easyprofiler").unwrap();
    let from = Picture::of(&trace);
    for variant in ["json", "json-partial", "json-events"] {
        let mut bytes = Vec::new();
        let options = traceloom_export::Options { variant: Some(variant.to_owned()), ..Default::default() };
        let target = traceloom_export::by_id("wtf").unwrap();
        let loss = traceloom_export::write(target, &trace, &options, &mut bytes).unwrap();
        let source = traceloom_core::Source::bytes(bytes.clone());
        let read = traceloom_mapping::Trace::new(Path::new("text"), source, Some("wtf"), &Default::default()).unwrap();
        let picture = Picture::of(&read);
        assert_same(&from, false, &Converted { bytes, loss, picture }, &format!("{name} as {variant}"));
    }
}

#[test]
fn log_entries_and_values_of_the_recorder_stay_what_they_are() {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).unwrap();
    let zone = composer.zone(Some("Main"), None, None).unwrap();
    let mut define = |name: &str, args| composer.define(name, EventClass::INSTANCE, EventFlags(0), args).unwrap();
    let [log, enemies, level] = [
        define(recorded::LOG, recorded::LOG_ARGS),
        define("traceloom.value#enemies", recorded::NUMBER_ARGS),
        define("traceloom.value#level", recorded::TEXT_ARGS),
    ];
    let text = |text: &'static str| Value::Text(Some(Text::utf8(text.as_bytes())));
    let json = |text: &'static str| Value::Any(Some(Text::utf8(text.as_bytes())));
    let known = vec![text("WARN"), text("took 7"), text("took %d"), text("main.rs"), Value::Uint(12)];
    let bare = vec![text("loud"), text("what?"), text(""), text(""), Value::Uint(0)];
    for (time_us, kind, values) in [
        (1, log, known),
        (2, enemies, vec![json("7")]),
        (3, enemies, vec![json("[1,2]")]),
        (4, level, vec![text("castle")]),
        (5, log, bare),
    ] {
        composer.event(zone, kind, time_us, values).unwrap();
    }
    let bytes = composer.finish().unwrap();
    let read = |bytes| {
        let source = Source::bytes(bytes);
        traceloom_mapping::Trace::new(Path::new("own"), source, Some("wtf"), &Default::default()).unwrap()
    };
    let trace = read(bytes);
    let from = Picture::of(&trace);
    let logs: Vec<_> = from.logs.iter().map(|log| (&*log.level, &*log.message, log.format.as_deref())).collect();
    assert_eq!(logs, [("WARN", "took 7", Some("took %d")), ("loud", "what?", None)]);
    assert_eq!(from.logs[0].source, Some(("main.rs".to_owned(), Some(12))));
    let names: Vec<_> = from.counters.iter().map(|value| &*value.name).collect();
    assert_eq!((names, from.events.len()), (vec!["enemies", "enemies", "level"], 0));
    let to = convert(&trace, "wtf", None, "own").picture;
    assert_eq!((&to.logs, &to.counters, &to.events), (&from.logs, &from.counters, &from.events));
}

#[test]
fn text_that_should_be_json_becomes_a_string() {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).unwrap();
    let zone = composer.zone(Some("Main"), None, None).unwrap();
    let kind = composer.define("fetch", EventClass::INSTANCE, EventFlags(0), "any value").unwrap();
    for json in ["{\"n\":1}", "say \"fetch\"", ""] {
        composer.event(zone, kind, 1, [Value::Any(Some(Text::utf8(json.as_bytes())))]).unwrap();
    }
    let source = Source::bytes(composer.finish().unwrap());
    let trace = traceloom_mapping::Trace::new(Path::new("own"), source, Some("wtf"), &Default::default()).unwrap();
    let to = convert(&trace, "wtf", None, "not-json");
    let values: Vec<_> = to.picture.events.iter().map(|event| event.args["value"].concat()).collect();
    assert_eq!(values, ["{\"n\":1}", "say \"fetch\"", ""]);
    assert!(to.loss.entries().any(|(what, count, _)| (what, count) == ("values that are not JSON, now strings", 2)));
}

/// Hostile names, and names that mean something to the loader.
const NAMES: [&str; 12] = [
    "plain",
    "\"quoted\" \\ back\\slash\\",
    "line\nfeed('\r\ttab",
    "\u{1}\u{1b}[31m\u{7f}",
    "</script><script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "int main(int argc, char** argv)",
    "a#b:c(uint32 x",
    "größe😀\u{2028}\u{feff}",
    "__proto__",
    "wtf.scope#leave",
    "wtf.event#define",
];

fn hostile(tables: &mut traceloom_model::Tables<'_>) -> Result<(), traceloom_model::Halt> {
    for (id, name) in (0..).zip(NAMES) {
        tables.push(Row {
            line: Some(7),
            file: Some(name.into()),
            ..span(id, 0, None, id * 5000, Some(4000), name)
        })?;
        let (thread_id, span_id, definition_id) = (Some(0), Some(id), None);
        let (ts_ns, category) = (id * 5000, "event".into());
        let name = format!("event {name}");
        let name = name.as_str().into();
        tables.push(Event { id, ts_ns, thread_id, span_id, name, category, definition_id })?;
        for (place, table) in [Table::Spans, Table::Events].into_iter().enumerate() {
            tables.push(Arg {
                id: id * 2 + place as i64,
                owner_table: table.name().into(),
                owner_id: id,
                key: NAMES[id as usize].into(),
                r#type: "string".into(),
                text_value: Some(NAMES[id as usize]),
                ..Arg::default()
            })?;
        }
    }
    let name = Some(NAMES[4].into());
    tables.push(Thread { id: 0, tid: Some(7), process_id: 0, name, kind: None, location: None })?;
    push_trace(NAMES[1], 100_000, tables)
}

#[test]
fn hostile_names_come_through() {
    let trace = Made(hostile);
    let from = Picture::of(&trace);
    let to = convert(&trace, "wtf", None, "hostile");
    let mut found: Vec<_> = to.picture.spans.iter().map(|span| (span.ts_ns, span.name.clone())).collect();
    let mut expected: Vec<_> = from.spans.iter().map(|span| (span.ts_ns, span.name.clone())).collect();
    found.sort_unstable();
    expected.sort_unstable();
    // Brackets in a name without a type would make it a signature.
    expected[2].1 = expected[2].1.replace('(', "[");
    assert_eq!(found, expected);
    let mut events: Vec<_> = to.picture.events.iter().filter(|event| event.category == "instance").collect();
    events.sort_unstable_by_key(|event| event.ts_ns);
    for (event, name) in events.iter().zip(NAMES) {
        let name = if name.contains('\n') { name.replace('(', "[") } else { name.to_owned() };
        assert_eq!(event.name, format!("event {name}"));
    }
    for (span, name) in to.picture.spans.iter().zip(NAMES) {
        let file = vec![name.to_owned()];
        assert_eq!((span.args.get("source_file"), span.args.get(name)), (Some(&file), Some(&file)), "{name}");
    }
    let Some(original) = original() else { return };
    let loaded = load(&original, "hostile", &[("hostile".to_owned(), to)]);
    assert_eq!(loaded, 12);
}

fn original() -> Option<OriginalWtf> {
    OriginalWtf::install(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// WTF loads the files and finds the scopes that we read from them, with the same times; returns their number.
fn load(original: &OriginalWtf, name: &str, files: &[(String, Converted)]) -> usize {
    let place = place(&format!("between-wtf-{name}"));
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| place.join(format!("{name}.wtf-trace"))).collect();
    for (path, (_, converted)) in paths.iter().zip(files) {
        fs::write(path, &converted.bytes).unwrap();
    }
    let answers = original.load(&paths);
    let mut count = 0;
    for (path, (name, converted)) in paths.iter().zip(files) {
        let answer = answers.get(path).unwrap_or_else(|| panic!("{name}: the original says nothing"));
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        let mut found: Vec<(String, i64, u64)> = Vec::new();
        for zone in answer["zones"].as_array().unwrap() {
            let scopes = zone["events"].as_array().unwrap().iter().filter(|event| event["scope"] == true);
            found.extend(scopes.map(|event| {
                let zone = zone["name"].as_str().unwrap_or_default().to_owned();
                (zone, event["t"].as_i64().unwrap() * 1000, event["depth"].as_u64().unwrap())
            }));
        }
        // WTF does not treat a scope that was never left as a scope.
        let is_scope = |span: &&Span| span.category == "scope" && span.end_ns.is_some();
        let scopes = converted.picture.spans.iter().filter(is_scope);
        let mut expected: Vec<_> =
            scopes.map(|span| (span.thread.clone(), span.ts_ns, u64::from(span.depth))).collect();
        // WTF shows nothing of a trace that ends in the microsecond in which it starts.
        if expected.iter().all(|(_, ts_ns, _)| *ts_ns == 0) && found.is_empty() {
            continue;
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{name}");
        count += found.len();
    }
    count
}

#[test]
fn the_original_loads_what_other_formats_become() {
    let Some(original) = original() else { return };
    let fits = |picture: &Picture| picture.clock != "count";
    let files: Vec<(String, Converted)> = traces()
        .into_iter()
        .filter(|(_, trace)| trace.format() != "wtf")
        .map(|(name, trace)| (name.clone(), convert(&trace, "wtf", None, &name)))
        .filter(|(_, converted)| fits(&converted.picture))
        .collect();
    assert!(files.len() > 40, "{} files", files.len());
    let scopes = load(&original, "formats", &files);
    assert!(scopes > 1_000, "{scopes} scopes");
}
