//! OpenTelemetry's library reads our output and finds the contents of the tables.

mod support;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use traceloom_core::Loss;
use traceloom_export::{Options, by_id, write};
use traceloom_mapping::Trace;
use traceloom_model::{
    Batches, Filter, Table, TableSource, Tables, Wanted, args, attributes, events, links, logs, logs::Log, spans,
    switches, threads, traces as trace_table,
};

use support::{
    Made, place, push_trace,
    python::{Script, script_or_skip},
    span, traces,
};

fn script() -> Option<Script> {
    script_or_skip("otlp/read.py", &["opentelemetry-proto==1.45.0"])
}

type Counts = BTreeMap<String, i128>;

/// A cell of `args` as text.
fn text_of(view: &args::View<'_>, row: usize) -> String {
    if let Some(text) = view.text_value.get(row) {
        return format!("text {text}");
    }
    if let Some(number) = view.int_value.get(row) {
        let is_bool = view.r#type.get(row) == "bool" && (0..=1).contains(&number);
        return format!("{} {number}", if is_bool { "bool" } else { "int" });
    }
    if let Some(number) = view.uint_value.get(row) {
        let kind = if i64::try_from(number).is_ok() { "int" } else { "text" };
        return format!("{kind} {number}");
    }
    if let Some(number) = view.float_value.get(row) {
        return format!("float {:016x}", number.to_bits());
    }
    match view.bytes_value.get(row) {
        Some(bytes) => format!("bytes {}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        None => "null".to_owned(),
    }
}

/// Arguments by owner, in table order: key, whether it is an element, and the value.
type Arguments = BTreeMap<(String, i64), Vec<(String, bool, String)>>;

fn arguments(batches: &Batches) -> Arguments {
    let mut all = Arguments::new();
    for view in batches.table(Table::Args).map(|batch| args::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let owner = (view.owner_table.get(row).to_owned(), view.owner_id.get(row));
            let element = view.idx.get(row).is_some();
            all.entry(owner).or_default().push((view.key.get(row).to_owned(), element, text_of(&view, row)));
        }
    }
    all
}

/// Counts the arguments of a row as attributes: elements of one array together, repeated keys with a number.
///
/// `own` are the keys that the row has besides its arguments.
fn count_arguments(all: &Arguments, table: &str, id: i64, own: &[&str], counts: &mut Counts) {
    let mut repeats: BTreeMap<&str, u32> = own.iter().map(|key| (*key, 1)).collect();
    let mut attributes: Vec<(String, bool, Vec<&str>)> = Vec::new();
    let mut last = None;
    for (key, element, text) in all.get(&(table.to_owned(), id)).into_iter().flatten() {
        if *element && last == Some(key) {
            attributes.last_mut().unwrap().2.push(text);
            continue;
        }
        last = element.then_some(key);
        let count = repeats.entry(key).or_default();
        *count += 1;
        let name = if *count == 1 { key.clone() } else { format!("{key} ({count})") };
        let name = if name.is_empty() { "(no name)".to_owned() } else { name };
        attributes.push((name, *element, vec![text]));
    }
    for (name, is_array, texts) in attributes {
        let value = if is_array { format!("array {}", texts.join(", ")) } else { texts[0].to_owned() };
        *counts.entry(format!("{name} = {value}")).or_default() += 1;
    }
}

struct Facts {
    batches: Batches,
    args: Arguments,
    /// Added to all times.
    shift_ns: i128,
    threads: BTreeMap<i64, Vec<String>>,
}

impl Facts {
    fn of(trace: &dyn TableSource) -> Self {
        let mut batches = Batches::of(Wanted::everything());
        trace.pour(&Filter::default(), &mut batches).unwrap();
        let mut threads = BTreeMap::new();
        for view in batches.table(Table::Threads).map(|batch| threads::View::of(batch).unwrap()) {
            for row in 0..view.rows {
                let tid = view.tid.get(row).map(|tid| match i64::try_from(tid) {
                    Ok(tid) => format!("thread.id = int {tid}"),
                    Err(_) => format!("thread.id = text {tid}"),
                });
                let name = view.name.get(row).map(|name| format!("thread.name = text {name}"));
                threads.insert(view.id.get(row), tid.into_iter().chain(name).collect());
            }
        }
        let args = arguments(&batches);
        let shift_ns = shift_ns(&batches);
        Self { batches, args, shift_ns, threads }
    }

    fn count_thread(&self, thread_id: Option<i64>, own: &mut Counts) {
        let texts = thread_id.and_then(|id| self.threads.get(&id)).into_iter().flatten();
        texts.for_each(|text| *own.entry(text.clone()).or_default() += 1);
    }

    fn resource_texts(&self) -> Vec<String> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut texts = Vec::new();
        for view in self.batches.table(Table::Attributes).map(|batch| attributes::View::of(batch).unwrap()) {
            for row in 0..view.rows {
                let count = counts.entry(view.key.get(row)).or_default();
                *count += 1;
                let key = view.key.get(row);
                let key = if *count == 1 { key.to_owned() } else { format!("{key} ({count})") };
                texts.push(format!("{key} = text {}", view.value.get(row).unwrap_or("")));
            }
        }
        texts
    }
}

/// The time of day if it is known, otherwise an offset that makes all times positive.
fn shift_ns(batches: &Batches) -> i128 {
    let view = batches.table(Table::Traces).map(|batch| trace_table::View::of(batch).unwrap()).next().unwrap();
    if let Some(origin) = view.unix_origin_ns.get(0) {
        return origin.into();
    }
    let begins = batches
        .table(Table::Spans)
        .map(|batch| spans::View::of(batch).unwrap())
        .flat_map(|view| view.ts_ns.values().to_vec());
    let earliest = begins.chain(view.first_ts_ns.get(0)).min().unwrap_or(0).min(0);
    // A second into 1970: 0 means that there is no time.
    1_000_000_000 - i128::from(earliest)
}

fn add(counts: &mut Counts, key: String, number: i128) {
    *counts.entry(key).or_default() += number;
}

fn put_source(file: Option<&str>, line: Option<u32>, own: &mut Counts) {
    let Some(file) = file else { return };
    add(own, format!("code.file.path = text {file}"), 1);
    line.into_iter().for_each(|line| add(own, format!("code.line.number = int {line}"), 1));
}

const EVENT_KEYS: [&str; 1] = ["category"];
const LOG_KEYS: [&str; 7] =
    ["thread.id", "thread.name", "category", "code.file.path", "code.line.number", "format", "level"];
const SPAN_KEYS: [&str; 7] =
    ["thread.id", "thread.name", "category", "code.file.path", "code.line.number", "color", "target_tid"];

/// The expected contents of a file of traces.
fn expected_traces(facts: &Facts) -> Json {
    let batches = &facts.batches;
    let (mut kinds, mut durations, mut own) = (Counts::new(), Counts::new(), Counts::new());
    let (mut begins, mut open, mut roots) = (0, 0, 0);
    let mut names: BTreeMap<i64, &str> = BTreeMap::new();
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        names.extend((0..view.rows).map(|row| (view.id.get(row), view.name.get(row))));
    }
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let parent = view.parent_id.get(row).map(|id| names[&id]);
            let key = json!([view.name.get(row), parent]).to_string();
            add(&mut kinds, key.clone(), 1);
            begins += i128::from(view.ts_ns.get(row)) + facts.shift_ns;
            match view.dur_ns.get(row) {
                Some(dur_ns) => add(&mut durations, key, dur_ns.into()),
                None => open += 1,
            }
            roots += usize::from(parent.is_none());
            facts.count_thread(Some(view.thread_id.get(row)), &mut own);
            add(&mut own, format!("category = text {}", view.category.get(row)), 1);
            put_source(view.file.get(row), view.line.get(row), &mut own);
            let color = view.color.get(row);
            color.into_iter().for_each(|color| add(&mut own, format!("color = text #{color:08x}"), 1));
            count_arguments(&facts.args, "spans", view.id.get(row), &SPAN_KEYS, &mut own);
        }
    }
    for view in batches.table(Table::Switches).map(|batch| switches::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let key = json!([view.name.get(row), null]).to_string();
            add(&mut kinds, key.clone(), 1);
            add(&mut durations, key, view.dur_ns.get(row).into());
            begins += i128::from(view.ts_ns.get(row)) + facts.shift_ns;
            roots += 1;
            facts.count_thread(Some(view.thread_id.get(row)), &mut own);
            add(&mut own, "category = text switch".to_owned(), 1);
            add(&mut own, format!("target_tid = int {}", view.target_tid.get(row)), 1);
        }
    }
    let (mut inside, mut event_times) = (Counts::new(), 0);
    for view in batches.table(Table::Events).map(|batch| events::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let Some(span_id) = view.span_id.get(row) else { continue };
            add(&mut inside, json!([view.name.get(row), names[&span_id]]).to_string(), 1);
            event_times += i128::from(view.ts_ns.get(row)) + facts.shift_ns;
            add(&mut own, format!("category = text {}", view.category.get(row)), 1);
            count_arguments(&facts.args, "events", view.id.get(row), &EVENT_KEYS, &mut own);
        }
    }
    let mut arrows = Counts::new();
    for view in batches.table(Table::Links).map(|batch| links::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let (Some(from), Some(to)) = (view.from_span_id.get(row), view.to_span_id.get(row)) else { continue };
            add(&mut arrows, json!([names[&from], names[&to]]).to_string(), 1);
            add(&mut own, format!("flow.id = int {}", view.flow_id.get(row)), 1);
            add(&mut own, format!("flow.kind = text {}", view.kind.get(row)), 1);
        }
    }
    json!({
        "spans": numbers(&kinds), "durations": numbers(&durations), "begins": begins.to_string(), "open": open,
        "roots": roots, "events": numbers(&inside), "event_times": event_times.to_string(), "links": numbers(&arrows),
        "attributes": numbers(&own),
    })
}

/// Counts as JSON; an empty sum may be present or absent.
fn numbers(counts: &Counts) -> Json {
    let number = |number: &i128| Json::from(i64::try_from(*number).expect("the fixtures are short"));
    counts.iter().filter(|(_, count)| **count != 0).map(|(key, count)| (key.clone(), number(count))).collect()
}

/// The expected contents of a file of logs.
fn expected_logs(facts: &Facts) -> Json {
    let (mut kinds, mut own, mut times) = (Counts::new(), Counts::new(), 0);
    for view in facts.batches.table(Table::Logs).map(|batch| logs::View::of(batch).unwrap()) {
        for row in 0..view.rows {
            let level = view.level_name.get(row);
            let key = json!([level, severity(level), "", view.message.get(row)]);
            add(&mut kinds, key.to_string(), 1);
            times += view.ts_ns.get(row).map_or(0, |ts_ns| i128::from(ts_ns) + facts.shift_ns);
            facts.count_thread(view.thread_id.get(row), &mut own);
            put_source(view.file.get(row), view.line.get(row), &mut own);
            let format = view.format.get(row);
            format.into_iter().for_each(|format| add(&mut own, format!("format = text {format}"), 1));
            if view.level.get(row) >= 0 {
                add(&mut own, format!("level = int {}", view.level.get(row)), 1);
            }
            count_arguments(&facts.args, "logs", view.id.get(row), &LOG_KEYS, &mut own);
        }
    }
    for view in facts.batches.table(Table::Events).map(|batch| events::View::of(batch).unwrap()) {
        for row in (0..view.rows).filter(|row| view.span_id.get(*row).is_none()) {
            let name = view.name.get(row);
            add(&mut kinds, json!(["", 0, name, name]).to_string(), 1);
            times += i128::from(view.ts_ns.get(row)) + facts.shift_ns;
            facts.count_thread(view.thread_id.get(row), &mut own);
            add(&mut own, format!("category = text {}", view.category.get(row)), 1);
            count_arguments(&facts.args, "events", view.id.get(row), &LOG_KEYS, &mut own);
        }
    }
    json!({
        "records": numbers(&kinds), "times": times.to_string(), "attributes": numbers(&own),
    })
}

/// The severity of CNanoLog's level names.
fn severity(level: &str) -> u32 {
    let known = [("TRACE", 1), ("DEBUG", 5), ("INFO", 9), ("WARN", 13), ("ERROR", 17), ("FATAL", 21)];
    known.iter().find(|(name, _)| level.eq_ignore_ascii_case(name)).map_or(0, |(_, severity)| *severity)
}

/// The keys in the order of Python's JSON, because objects are compared by contents.
fn normal(json: &Json) -> Json {
    match json {
        Json::Object(map) => {
            let pairs: BTreeMap<String, Json> = map
                .iter()
                .filter(|(_, value)| value.as_i64() != Some(0))
                .map(|(key, value)| (normal_key(key), normal(value)))
                .collect();
            json!(pairs)
        }
        other => other.clone(),
    }
}

/// Keys that are JSON themselves are written by two programs, which differ in spaces and escapes.
fn normal_key(key: &str) -> String {
    match serde_json::from_str::<Json>(key) {
        Ok(list @ Json::Array(_)) => list.to_string(),
        _ => key.to_owned(),
    }
}

fn loses(loss: &Loss, what: &str) -> bool {
    loss.entries().any(|(entry, ..)| entry == what)
}

fn compare(variant: &str, expected: fn(&Facts) -> Json) -> usize {
    let Some(script) = script() else { return usize::MAX };
    let (place, traces) = (place(&format!("otlp-{variant}")), traces());
    let files: Vec<_> = traces.iter().map(|(name, _)| place.join(format!("{name}.{variant}.otlp"))).collect();
    let options = Options { variant: Some(variant.to_owned()), ..Options::default() };
    let written = |((_, trace), file): (&(String, Trace), &std::path::PathBuf)| {
        let mut out = Vec::new();
        let loss = write(by_id("otlp").unwrap(), trace, &options, &mut out).unwrap();
        std::fs::write(file, out).unwrap();
        loss
    };
    let losses: Vec<Loss> = traces.iter().zip(&files).map(written).collect();
    let answers = script.ask(&files);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (((name, trace), answer), loss) in traces.iter().zip(&answers).zip(&losses) {
        // Spans that extend beyond their parents, or beyond representable times, differ from the tables and are
        // reported.
        if loses(loss, "timestamps too far from the origin") || loses(loss, "parents of spans that start outside them")
        {
            continue;
        }
        let facts = Facts::of(trace);
        for (key, expected) in expected(&facts).as_object().unwrap() {
            let (found, expected) = (normal(&answer[key]), normal(expected));
            if found != expected {
                wrong.push(format!("{name}: {key}\n  found    {found}\n  expected {expected}"));
            }
        }
        let resources = answer["resources"].to_string();
        for text in facts.resource_texts() {
            let text = json!(text).to_string();
            if !resources.contains(text.trim_matches('"')) && !loses(loss, "attributes of the trace") {
                wrong.push(format!("{name}: no resource says {text}"));
            }
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    compared
}

#[test]
fn traces_hold_what_the_tables_hold() {
    assert!(compare("traces", expected_traces) > 40);
}

#[test]
fn logs_hold_what_the_tables_hold() {
    assert!(compare("logs", expected_logs) > 40);
}

#[test]
fn a_log_entry_names_the_span_that_it_lies_in() {
    let Some(script) = script() else { return };
    let trace = Made(|tables: &mut Tables<'_>| {
        tables.push(span(0, 0, None, 0, Some(100), "outer"))?;
        tables.push(span(1, 1, Some(0), 10, Some(10), "inner"))?;
        for (id, ts_ns, thread_id) in [(0, 500, 0), (1, 15, 0), (2, 50, 0), (3, 15, 1)] {
            let (level_name, file, line, format, definition_id) = ("WARN".into(), None, None, None, None);
            let (ts_ns, thread_id, message) = (Some(ts_ns), Some(thread_id), "text");
            tables.push(Log {
                id,
                ts_ns,
                thread_id,
                level: 2,
                level_name,
                file,
                line,
                format,
                message,
                definition_id,
            })?;
        }
        push_trace("a.prof", 500, tables)
    });
    let mut out = Vec::new();
    let options = Options { variant: Some("logs".to_owned()), ..Options::default() };
    let loss = write(by_id("otlp").unwrap(), &trace, &options, &mut out).unwrap();
    assert!(loss.entries().any(|(what, count, _)| (what, count) == ("spans", 2)));
    let file = place("otlp-around").join("a.logs.otlp");
    std::fs::write(&file, out).unwrap();
    let answer = &script.ask(&[file])[0];
    assert_eq!((&answer["inside"], &answer["times"]), (&json!(2), &json!("4000000580")));
}

#[test]
fn many_spans_come_in_several_parts() {
    let Some(script) = script() else { return };
    const SPANS: i64 = 40_000;
    let trace = Made(|tables: &mut Tables<'_>| {
        (0..SPANS).try_for_each(|id| tables.push(span(id, 0, None, id, Some(1), "one of many")))?;
        push_trace("a.prof", SPANS, tables)
    });
    let mut out = Vec::new();
    write(by_id("otlp").unwrap(), &trace, &Options::default(), &mut out).unwrap();
    let file = place("otlp-parts").join("a.traces.otlp");
    std::fs::write(&file, out).unwrap();
    let answer = &script.ask(&[file])[0];
    assert!(answer["parts"].as_i64() > Some(2), "{}", answer["parts"]);
    assert_eq!((&answer["roots"], &answer["resources"].as_array().unwrap().len()), (&json!(SPANS), &1));
}
