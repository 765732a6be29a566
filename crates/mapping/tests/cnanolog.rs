//! CNanoLog in tables: goldens, damage, ranges.

mod checks;
mod common;

use std::{collections::HashMap, path::Path};

use serde_json::{Value as Json, json};
use traceloom_cnanolog::{Record, sample, text};
use traceloom_core::{Limits, Records, Source, TimeRange};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Batches, Columns, Filter, Table, Wanted, args, attributes, definitions, logs, select, traces};

use crate::checks::{Counted, OneBatch};

/// A log entry from the tables, in the form of `traceloom log --json`.
fn log_rows(batches: &Batches) -> Vec<Json> {
    let mut rows = Vec::new();
    for batch in batches.table(Table::Logs) {
        let view = logs::View::of(batch).unwrap();
        rows.extend((0..view.rows).map(|row| {
            json!({
                "id": view.id.get(row), "ts_ns": view.ts_ns.get(row), "thread_id": view.thread_id.get(row),
                "level": view.level.get(row), "level_name": view.level_name.get(row), "file": view.file.get(row),
                "line": view.line.get(row), "format": view.format.get(row), "message": view.message.get(row),
                "definition_id": view.definition_id.get(row),
            })
        }));
    }
    rows
}

/// The arguments of each entry: key, type, value.
fn arg_rows(batches: &Batches) -> HashMap<i64, Vec<Json>> {
    let mut owners: HashMap<i64, Vec<Json>> = HashMap::new();
    for batch in batches.table(Table::Args) {
        let view = args::View::of(batch).unwrap();
        for row in 0..view.rows {
            assert_eq!((view.owner_table.get(row), view.idx.get(row)), ("logs", None));
            let values = [
                view.int_value.get(row).map(|value| json!(value)),
                view.uint_value.get(row).map(|value| json!(value)),
                view.float_value.get(row).map(|value| json!(value.to_bits())),
                view.text_value.get(row).map(|value| json!(value)),
                view.bytes_value.get(row).map(|value| json!({ "hex": hex(value) })),
            ];
            let mut values = values.into_iter().flatten();
            let value = values.next().expect("an argument has a value");
            assert_eq!(values.next(), None, "an argument has one value");
            owners.entry(view.owner_id.get(row)).or_default().push(json!([
                view.key.get(row),
                view.r#type.get(row),
                value
            ]));
        }
    }
    owners
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|digit| digit.to_digit(16).expect("a digit") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// A text in the golden, which has hexadecimal bytes if it is not UTF-8.
fn shown(value: &Json) -> Json {
    match value["hex"].as_str() {
        Some(bytes) => json!(String::from_utf8_lossy(&unhex(bytes))),
        None => value.clone(),
    }
}

fn unix_origin_ns(batches: &Batches) -> Option<i64> {
    let batch = batches.table(Table::Traces).next().expect("a trace has its row");
    traces::View::of(batch).unwrap().unix_origin_ns.get(0)
}

/// The row that the golden requires.
fn expected_row(id: usize, entry: &Json, sites: &HashMap<u64, &Json>, origin: Option<i64>) -> Json {
    let site = sites.get(&entry["id"].as_u64().expect("an entry has the id of its site"));
    let ts_ns = entry["t_ns"].as_i64().map(|time| time - origin.expect("times have an origin"));
    let data = entry["data"].as_str().unwrap_or_default();
    let bytes = match data.len() / 2 {
        0 => String::new(),
        len => format!(" [{len} argument bytes: {data}]"),
    };
    let message = match (site, entry.get("msg")) {
        (_, Some(message)) => shown(message),
        (Some(site), None) => json!(format!("{}{bytes}", shown(&site["fmt"]).as_str().expect("a format is text"))),
        (None, None) => json!(format!("id {}{bytes}", entry["id"])),
    };
    let of_site = |name: &str| site.map_or(Json::Null, |site| shown(&site[name]));
    json!({
        "id": id, "ts_ns": ts_ns, "thread_id": null, "level": site.map_or(json!(-1), |site| site["level"].clone()),
        "level_name": site.map_or(json!("-"), |site| shown(&site["level_name"])), "file": of_site("file"),
        "line": of_site("line"), "format": of_site("fmt"), "message": message, "definition_id": of_site("id"),
    })
}

/// The arguments that the golden requires.
fn expected_args(entry: &Json, is_known: bool) -> Vec<Json> {
    if let Some(args) = entry["args"].as_array() {
        return args.iter().enumerate().map(|(number, arg)| expected_arg(number, arg)).collect();
    }
    let mut args = Vec::new();
    if !is_known {
        args.push(json!(["id", "u32", entry["id"]]));
    }
    match entry["data"].as_str() {
        None | Some("") => {}
        Some(data) => args.push(json!(["data", "bytes", { "hex": data }])),
    }
    args
}

fn expected_arg(number: usize, arg: &Json) -> Json {
    let value = match arg[0].as_str() {
        Some("f64") => {
            let text = arg[1].as_str().expect("the golden spells numbers out");
            let value: f64 = text.parse().expect("a number");
            json!(value.to_bits())
        }
        _ => arg[1].clone(),
    };
    json!([number.to_string(), arg[0], value])
}

fn check_sites(golden: &Json, batches: &Batches, path: &Path) {
    let mut found = Vec::new();
    for batch in batches.table(Table::Definitions) {
        let view = definitions::View::of(batch).unwrap();
        found.extend((0..view.rows).map(|row| {
            assert_eq!(view.kind.get(row), "site");
            let args = view.args.get(row).map_or(Vec::new(), |args| args.split(", ").collect());
            json!([
                view.id.get(row) & i64::from(u32::MAX),
                view.level.get(row),
                args,
                view.file.get(row),
                view.line.get(row),
                view.name.get(row)
            ])
        }));
    }
    let site = |site: &Json| {
        json!([site["id"], site["level"], site["types"], shown(&site["file"]), site["line"], shown(&site["fmt"])])
    };
    let expected: Vec<_> = golden["sites"].as_array().into_iter().flatten().map(site).collect();
    assert_eq!(found, expected, "{}", path.display());
}

fn check_header(golden: &Json, batches: &Batches, path: &Path) {
    let header = &golden["header"];
    let mut found = HashMap::new();
    for batch in batches.table(Table::Attributes) {
        let view = attributes::View::of(batch).unwrap();
        found.extend((0..view.rows).map(|row| (view.key.get(row), view.value.get(row).unwrap_or_default())));
    }
    for (key, name) in [
        ("byte_order", "endian"),
        ("timestamp_frequency", "frequency"),
        ("start_timestamp", "start_timestamp"),
        ("start_time_sec", "start_sec"),
        ("start_time_nsec", "start_nsec"),
        ("dictionary_offset", "dictionary_offset"),
        ("entry_count", "entry_count"),
        ("has_timestamps", "has_timestamps"),
    ] {
        let expected = &header[name];
        let expected = expected.as_str().map_or_else(|| expected.to_string(), |text| format!("{text}-endian"));
        assert_eq!(found.get(key).copied(), Some(expected.as_str()), "{key} of {}", path.display());
    }
    for level in golden["levels"].as_array().into_iter().flatten() {
        let name = shown(&level[1]);
        assert_eq!(found.get(format!("level.{}", level[0]).as_str()).copied(), name.as_str(), "{}", path.display());
    }
    let trace = batches.table(Table::Traces).next().expect("a trace has its row");
    let trace = traces::View::of(trace).unwrap();
    let frequency = header["frequency"].as_u64().filter(|frequency| *frequency != 0);
    let start = header["start_timestamp"].as_u64().filter(|start| *start != 0);
    assert_eq!((trace.clock_hz.get(0), trace.start_ticks.get(0)), (frequency, start), "{}", path.display());
    let clock = match (header["has_timestamps"].as_bool(), frequency) {
        (Some(false), _) => "wall",
        (_, Some(1_000_000_000)) => "monotonic",
        _ => "tsc",
    };
    assert_eq!(trace.clock.get(0), clock, "{}", path.display());
    let seconds = header["start_sec"].as_i64().expect("a start");
    let nanoseconds = header["start_nsec"].as_i64().expect("a start");
    assert_eq!(trace.unix_origin_ns.get(0), Some(seconds * 1_000_000_000 + nanoseconds), "{}", path.display());
}

/// Compares a log with its golden, whose reader stops at damage, while ours continues.
fn check(path: &Path, golden: &Json) -> usize {
    let trace = common::trace(path);
    let (batches, verdict) = common::tables(&trace);
    assert!(verdict.overlaps.is_empty());
    check_sites(golden, &batches, path);
    check_header(golden, &batches, path);
    let sites: HashMap<u64, &Json> = golden["sites"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|site| (site["id"].as_u64().expect("a site has an id"), site))
        .collect();
    let (found, args, origin) = (log_rows(&batches), arg_rows(&batches), unix_origin_ns(&batches));
    let expected = golden["entries"].as_array().expect("a golden has entries");
    let stops = golden["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|warning| warning.as_str().is_some_and(|text| text.starts_with("stopped at offset")));
    assert!(found.len() == expected.len() || stops && found.len() > expected.len(), "{}", path.display());
    for (id, (entry, found)) in expected.iter().zip(&found).enumerate() {
        let place = format!("entry {id} of {}", path.display());
        assert_eq!(*found, expected_row(id, entry, &sites, origin), "{place}");
        let is_known = sites.contains_key(&entry["id"].as_u64().unwrap_or(0));
        let found = args.get(&(id as i64)).cloned().unwrap_or_default();
        assert_eq!(found, expected_args(entry, is_known), "{place}");
    }
    expected.len()
}

#[test]
fn the_tables_say_what_the_goldens_say() {
    for folder in checks::folders("cnanolog") {
        let mut entries = 0;
        for path in common::below(&folder, ".clog") {
            let golden_path = path.with_extension("json");
            if !golden_path.exists() {
                continue;
            }
            let golden = common::json(&golden_path);
            if golden.get("error").is_none() {
                entries += check(&path, &golden);
            }
        }
        assert!(entries > 1000, "{entries} entries in {}", folder.display());
    }
}

/// The rows of any file are those of `traceloom log --json`.
#[test]
fn every_log_is_told_as_the_log_command_tells_it() {
    for path in common::below(&common::fixtures().join("cnanolog"), ".clog") {
        let source = Source::open(&path, &Limits::default()).expect("the fixture is there");
        let Some((trace, batches)) = checks::tables_if_any(&path, source, "cnanolog") else { continue };
        let (found, args, origin) = (log_rows(&batches), arg_rows(&batches), unix_origin_ns(&batches));
        let expected = json_lines(&trace);
        assert_eq!(found.len(), expected.len(), "{}", path.display());
        for (row, line) in found.iter().zip(&expected) {
            let unix_ns = row["ts_ns"].as_i64().zip(origin).map(|(ts_ns, origin)| origin + ts_ns);
            let level = Some(&row["level_name"]).filter(|_| !row["definition_id"].is_null());
            let told = json!([unix_ns, level, row["file"], row["line"], row["message"]]);
            let expected = ["ts_unix_ns", "level", "file", "line", "message"].map(|key| line[key].clone());
            assert_eq!(told, json!(expected), "{}", path.display());
            let args = args.get(&row["id"].as_i64().expect("a row has an id")).cloned().unwrap_or_default();
            let data = args.iter().find(|arg| arg[0] == "data").map_or("", |arg| arg[2]["hex"].as_str().expect("hex"));
            assert_eq!(data, line["data_hex"].as_str().unwrap_or_default(), "{}", path.display());
        }
    }
}

fn json_lines(trace: &Trace) -> Vec<Json> {
    let mut reader =
        traceloom_cnanolog::open(trace.opened.source.clone(), &traceloom_core::Options::default()).expect("it opens");
    let mut lines = text::Json::new(reader.clock());
    let mut out = Vec::new();
    while let Some(located) = reader.next().expect("it can be read") {
        if let Record::Entry(entry) = &located.record {
            lines.put(entry, located.offset, &mut out);
        }
    }
    let out = String::from_utf8(out).expect("JSON is text");
    out.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn a_part_of_the_tables_is_a_part_of_all() {
    for name in ["head_types", "head_notime_types", "head_crash_a", "head_burst_1300", "invalid/duplicate_id"] {
        let trace = common::trace(&common::fixture(format!("cnanolog/{name}.clog")));
        let (all, _) = common::tables(&trace);
        assert!(all.rows(Table::Logs) > 0, "{name}");
        checks::parts_are_those_of_the_whole(&trace, &all);
    }
}

#[test]
fn a_filter_drops_what_is_outside_and_nothing_else() {
    let trace = common::trace(&common::fixture("cnanolog/head_threads_a.clog"));
    let (all, _) = common::tables(&trace);
    let rows = log_rows(&all);
    let mut times: Vec<_> = rows.iter().map(|row| row["ts_ns"].as_i64().expect("a time")).collect();
    times.sort_unstable();
    let (from_ns, to_ns) = (times[times.len() / 4], times[times.len() / 2]);
    let filter = Filter::in_range(TimeRange::between(from_ns, to_ns));
    let wanted = Wanted::nothing().and(Table::Logs, Columns::ALL).and(Table::Args, Columns::ALL);
    let part = common::filtered(&trace, wanted.and(Table::Traces, Columns::ALL), filter.clone());
    let inside: Vec<_> = rows.into_iter().filter(|row| filter.takes_time(row["ts_ns"].as_i64().unwrap())).collect();
    assert!(inside.len() > 10 && inside.len() < times.len() * 2 / 3);
    assert_eq!(log_rows(&part), inside);
    let ids: Vec<_> = inside.iter().map(|row| row["id"].as_i64().expect("an id")).collect();
    let is_inside = |owner: i64| ids.contains(&owner);
    assert_eq!(arg_ids(&part), arg_ids(&all).into_iter().filter(|(_, owner)| is_inside(*owner)).collect::<Vec<_>>());
    let extent = |batches: &Batches| {
        let view = traces::View::of(batches.table(Table::Traces).next().expect("a trace has its row")).unwrap();
        (view.first_ts_ns.get(0), view.last_ts_ns.get(0))
    };
    assert_eq!(extent(&part), extent(&all));
    assert_eq!(extent(&all), (times.first().copied(), times.last().copied()));
}

fn arg_ids(batches: &Batches) -> Vec<(i64, i64)> {
    let mut ids = Vec::new();
    for batch in batches.table(Table::Args) {
        let view = args::View::of(batch).unwrap();
        ids.extend((0..view.rows).map(|row| (view.id.get(row), view.owner_id.get(row))));
    }
    ids
}

#[test]
fn only_what_is_wanted_is_read() {
    let bytes = sample::write(Vec::new(), 40_000).expect("the sample can be written");
    let len = bytes.len() as u64;
    let counted = Counted::new(bytes);
    // With more threads, walks are several batches ahead of the sink.
    let limits = Limits::with(|limits| (limits.window_bytes, limits.threads) = (16 << 10, 1));
    let options = Options { read: traceloom_core::Options::default().with_limits(limits), ..Options::default() };
    let trace = Trace::new(Path::new("s.clog"), counted.source(), Some("cnanolog"), &options).expect("it opens");
    let rows = |wanted: Wanted| {
        counted.take();
        let mut batches = Batches::of(wanted);
        ingest(&trace, &options, &mut batches).expect("the trace can be read");
        (Table::ALL.map(|table| batches.rows(table)).iter().sum::<usize>(), counted.take())
    };
    let (entries, read) = rows(Wanted::nothing().and(Table::Logs, Columns::ALL));
    assert!(entries > 100_000 && read >= len);
    let header = Wanted::nothing()
        .and(Table::Traces, Columns::named(Table::Traces, &["path", "clock_hz", "unix_origin_ns"]))
        .and(Table::Attributes, Columns::ALL)
        .and(Table::Definitions, Columns::ALL);
    let (found, read) = rows(header);
    assert!(found > 20 && read < len / 10, "{found} rows, {read} of {len} bytes");
    let mut sink = OneBatch { table: Table::Logs, batches: Vec::new() };
    ingest(&trace, &options, &mut sink).expect("a stop is no error");
    let (found, read) = (sink.batches.len(), counted.take());
    assert!(found == 1 && read < len / 4, "{found} batches, {read} of {len} bytes");
}

/// Without a start in the header, the first entry is the origin.
#[test]
fn the_first_entry_is_the_origin_where_the_header_has_none() {
    let mut bytes = sample::sample().expect("the sample can be written").bytes;
    let usual = clock_of(bytes.clone(), Columns::ALL);
    assert_eq!((usual.start_ticks, usual.unix_ns), (Some(7_200_000_000_000), Some(1_767_607_200_250_000_000)));
    assert_eq!(usual.native_ns, 3_000_000_000_000);
    bytes[16..24].fill(0);
    // The whole file is read for the first and last timestamp, and only the first entry for the rest.
    for columns in [Columns::ALL, ClockRows::COLUMNS] {
        let found = clock_of(bytes.clone(), columns);
        let first = found.start_ticks.expect("the first entry has a time");
        assert!(first > 7_200_000_000_000);
        let since_zero = i64::try_from(u128::from(first) * 1_000_000_000 / 2_400_000_000).expect("it fits");
        assert_eq!(found.unix_ns, Some(1_767_607_200_250_000_000 + since_zero));
        assert_eq!(found.native_ns, since_zero);
        assert_eq!(found.first_ts_ns, (columns == Columns::ALL).then_some(0));
    }
}

select! {
    /// The clock columns that are known before the first entry.
    struct ClockRows of traces { start_ticks, unix_origin_ns, start_native_ns }
}

#[derive(Debug)]
struct Clock {
    start_ticks: Option<u64>,
    unix_ns: Option<i64>,
    native_ns: i64,
    first_ts_ns: Option<i64>,
}

fn clock_of(bytes: Vec<u8>, columns: Columns) -> Clock {
    let options = Options::default();
    let source = Source::bytes(bytes);
    let trace = Trace::new(Path::new("s.clog"), source, Some("cnanolog"), &options).expect("it opens");
    let mut batches = Batches::of(Wanted::nothing().and(Table::Traces, columns));
    ingest(&trace, &options, &mut batches).expect("the trace can be read");
    let batch = batches.table(Table::Traces).next().expect("a trace has its row");
    let view = ClockRows::of(batch).unwrap();
    Clock {
        start_ticks: view.start_ticks.get(0),
        unix_ns: view.unix_origin_ns.get(0),
        native_ns: view.start_native_ns.get(0),
        first_ts_ns: traces::View::of(batch).ok().and_then(|view| view.first_ts_ns.get(0)),
    }
}

/// Cut anywhere after its header or with a byte changed, a file still gives consistent tables.
#[test]
fn cut_and_damaged_files_give_whole_tables() {
    for path in common::below(&common::fixtures().join("cnanolog"), ".clog") {
        let whole = std::fs::read(&path).expect("the fixture is there");
        for (what, bytes) in checks::damaged(&whole, 12) {
            let is_log = bytes.len() >= 64 && bytes[..4] == whole[..4];
            let tables = checks::tables_if_any(&path, Source::bytes(bytes), "cnanolog");
            assert!(tables.is_some() || !is_log || path.ends_with("bad_magic.clog"), "{} {what}", path.display());
        }
    }
}

#[test]
fn strict_mode_refuses_what_is_broken() {
    assert!(!checks::is_refused(&common::fixture("cnanolog/head_types.clog")));
    assert!(checks::is_refused(&common::fixture("cnanolog/invalid/entry_overrun.clog")));
}
