//! Memlyze in tables: goldens, damage, ranges.

mod checks;
mod common;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use serde_json::{Value as Json, json};
use traceloom_core::{Limits, Source, TimeRange};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_memlyze::sample;
use traceloom_model::{
    Batches, Columns, Filter, Table, Wanted, allocations, args, attributes, definitions, events, files, findings,
    frames, frees, stacks, threads, traces,
};

use crate::checks::{Counted, OneBatch};

/// All rows of a table, each made by `row`.
fn collect<'b, V, R>(
    batches: &'b Batches,
    table: Table,
    view: impl Fn(&'b arrow_array::RecordBatch) -> traceloom_core::Result<V>,
    row: impl Fn(&V, usize) -> R,
) -> Vec<R> {
    batches
        .table(table)
        .flat_map(|batch| {
            let view = view(batch).unwrap();
            (0..batch.num_rows()).map(|number| row(&view, number)).collect::<Vec<_>>()
        })
        .collect()
}

/// An allocation; its stack as frames, the innermost first.
#[derive(Clone, Debug, PartialEq)]
struct Taken {
    id: i64,
    ts_ns: i64,
    thread: i64,
    address: u64,
    size: u64,
    stack: Option<i64>,
    fate: String,
    freed_ts_ns: Option<i64>,
    end_id: Option<i64>,
    lifetime_ns: Option<i64>,
}

fn taken(batches: &Batches) -> Vec<Taken> {
    collect(batches, Table::Allocations, allocations::View::of, |view, row| Taken {
        id: view.id.get(row),
        ts_ns: view.ts_ns.get(row),
        thread: view.thread_id.get(row).expect("an allocation has a thread"),
        address: view.address.get(row),
        size: view.size_bytes.get(row),
        stack: view.stack_id.get(row),
        fate: view.fate.get(row).to_owned(),
        freed_ts_ns: view.freed_ts_ns.get(row),
        end_id: view.end_id.get(row),
        lifetime_ns: view.lifetime_ns.get(row),
    })
}

/// Id, time, address, allocation.
fn given_back(batches: &Batches) -> Vec<(i64, i64, u64, Option<i64>)> {
    collect(batches, Table::Frees, frees::View::of, |view, row| {
        (view.id.get(row), view.ts_ns.get(row), view.address.get(row), view.allocation_id.get(row))
    })
}

/// Id, time, category, name, definition.
fn moments(batches: &Batches) -> Vec<(i64, i64, String, String, Option<i64>)> {
    collect(batches, Table::Events, events::View::of, |view, row| {
        assert_eq!((view.thread_id.get(row), view.span_id.get(row)), (None, None));
        let (category, name) = (view.category.get(row).to_owned(), view.name.get(row).to_owned());
        (view.id.get(row), view.ts_ns.get(row), category, name, view.definition_id.get(row))
    })
}

/// Owner, key, number.
fn arguments(batches: &Batches) -> Vec<(i64, String, u64)> {
    collect(batches, Table::Args, args::View::of, |view, row| {
        assert_eq!((view.owner_table.get(row), view.r#type.get(row)), ("events", "varint"));
        let value = view.uint_value.get(row).expect("the numbers have no sign");
        (view.owner_id.get(row), view.key.get(row).to_owned(), value)
    })
}

type Call = (String, Option<String>, Option<u32>);

/// The calls of each row of `stacks`, the innermost first.
fn stack_rows(batches: &Batches) -> HashMap<i64, Vec<Call>> {
    let calls: HashMap<i64, Call> = collect(batches, Table::Frames, frames::View::of, |view, row| {
        let file = view.file.get(row).map(str::to_owned);
        (view.id.get(row), (view.function.get(row).to_owned(), file, view.line.get(row)))
    })
    .into_iter()
    .collect();
    let rows = collect(batches, Table::Stacks, stacks::View::of, |view, row| {
        (view.id.get(row), view.parent_id.get(row), view.frame_id.get(row), view.depth.get(row))
    });
    let mut stacks: HashMap<i64, Vec<Call>> = HashMap::new();
    for (id, parent, frame, depth) in rows {
        let below = parent.map_or(Vec::new(), |parent| stacks[&parent].clone());
        assert_eq!(below.len(), depth as usize);
        stacks.insert(id, [vec![calls[&frame].clone()], below].concat());
    }
    stacks
}

fn ns(us: u64) -> i64 {
    i64::try_from(u128::from(us) * 1000).unwrap_or(i64::MAX)
}

/// The expected rows, computed from the golden alone.
#[derive(Debug, Default)]
struct Expected {
    taken: BTreeMap<i64, Taken>,
    /// The stack of each allocation, by its id in the file.
    stacks: BTreeMap<i64, u64>,
    given_back: Vec<(i64, i64, u64, Option<i64>)>,
    moments: Vec<(i64, i64, String, String, Option<i64>)>,
    arguments: Vec<(i64, String, u64)>,
}

struct Walk<'a> {
    golden: &'a Json,
    is_growth: bool,
    now_us: u64,
    run: Option<u64>,
    live: HashMap<u64, i64>,
    expected: Expected,
}

impl<'a> Walk<'a> {
    fn new(golden: &'a Json) -> Self {
        let is_growth = is_growth(golden);
        Self { golden, is_growth, now_us: 0, run: None, live: HashMap::new(), expected: Expected::default() }
    }

    fn event(&mut self, id: i64, event: &Json) {
        let number = |place: usize| event[place].as_u64().expect("events hold numbers");
        let delta = number(1);
        let kind = event[0].as_str().expect("events have a letter");
        let is_memory = matches!(kind, "A" | "F");
        if !(self.is_growth && is_memory && self.run == Some(delta)) {
            self.now_us = self.now_us.saturating_add(delta);
        }
        self.run = is_memory.then_some(delta);
        let ts_ns = ns(self.now_us);
        match kind {
            "A" => {
                if !self.is_growth
                    && let Some(old) = self.live.insert(number(2), id)
                {
                    self.end(old, id, "reused");
                }
                let fate = if self.is_growth { "unknown" } else { "live" }.to_owned();
                let (address, size, thread) = (number(2), number(3), number(5).cast_signed());
                let (stack, freed_ts_ns, end_id, lifetime_ns) = (None, None, None, None);
                let row = Taken { id, ts_ns, thread, address, size, stack, fate, freed_ts_ns, end_id, lifetime_ns };
                self.expected.taken.insert(id, row);
                self.expected.stacks.insert(id, number(4));
            }
            "F" => {
                let ended = self.live.remove(&number(2));
                if let Some(old) = ended {
                    self.end(old, id, "freed");
                }
                self.expected.given_back.push((id, ts_ns, number(2), ended));
            }
            "G" => {
                self.expected.moments.push((id, ts_ns, "gc".into(), "gc".into(), None));
                self.expected.arguments.push((id, "objects".into(), number(2)));
                self.expected.arguments.push((id, "bytes".into(), number(3)));
            }
            _ => {
                let name = self.golden["metadata"]["functions"][number(2).to_string()].as_str();
                let shown = name.map_or_else(|| format!("marker {}", number(2)), str::to_owned);
                let definition = name.map(|_| number(2).cast_signed());
                self.expected.moments.push((id, ts_ns, "marker".into(), shown, definition));
            }
        }
    }

    fn end(&mut self, old: i64, id: i64, fate: &str) {
        let now_us = self.now_us;
        let row = self.expected.taken.get_mut(&old).expect("it was taken");
        // No golden has an allocation that lives longer than nanoseconds can represent.
        let lifetime_ns = ns(now_us) - row.ts_ns;
        (row.fate, row.freed_ts_ns, row.end_id) = (fate.to_owned(), Some(ns(now_us)), Some(id));
        row.lifetime_ns = Some(lifetime_ns);
    }
}

fn is_growth(golden: &Json) -> bool {
    golden["metadata"] == json!({ "stack_traces": {}, "files": {}, "functions": {} })
        && golden["summary"]["all_addresses_zero"] == true
        && golden["summary"]["events"] != 0
}

/// The calls of a stack in the golden.
fn expected_calls(golden: &Json, stack: u64) -> Vec<Call> {
    let metadata = &golden["metadata"];
    let Some(frames) = metadata["stack_traces"][stack.to_string()].as_array() else {
        return vec![(format!("stack {stack}"), None, None)];
    };
    let name = |section: &str, what: &str, id: &Json| {
        metadata[section][id.to_string()].as_str().map_or_else(|| format!("{what} {id}"), str::to_owned)
    };
    frames
        .iter()
        .map(|frame| {
            let function = name("functions", "function", &frame["func_id"]);
            let file = name("files", "file", &frame["file_id"]);
            (function, Some(file), frame["line"].as_u64().and_then(|line| line.try_into().ok()))
        })
        .collect()
}

fn check_events(golden: &Json, batches: &Batches, place: &str) {
    let Some(golden_events) = golden["events"].as_array() else { return };
    let mut walk = Walk::new(golden);
    for (id, event) in golden_events.iter().enumerate() {
        walk.event(id as i64, event);
    }
    let expected = walk.expected;
    // The golden's reader stops at a padded varint; ours continues.
    let count = golden_events.len() as i64;
    let is_cut = golden["warnings"].to_string().contains("overlong varint");
    let is_inside = |id: i64| id < count || !is_cut;
    let given_back: Vec<_> = given_back(batches).into_iter().filter(|row| is_inside(row.0)).collect();
    assert_eq!(given_back, expected.given_back, "{place}");
    let moments: Vec<_> = moments(batches).into_iter().filter(|row| is_inside(row.0)).collect();
    assert_eq!(moments, expected.moments, "{place}");
    let arguments: Vec<_> = arguments(batches).into_iter().filter(|row| is_inside(row.0)).collect();
    assert_eq!(arguments, expected.arguments, "{place}");
    let calls = stack_rows(batches);
    let mut found = BTreeMap::new();
    for mut row in taken(batches).into_iter().filter(|row| is_inside(row.id)) {
        let stack = row.stack.take().map_or(Vec::new(), |stack| calls[&stack].clone());
        assert_eq!(stack, expected_calls(golden, expected.stacks[&row.id]), "{place}");
        if row.end_id.is_some_and(|end| !is_inside(end) || is_cut && end >= count) {
            (row.fate, row.freed_ts_ns, row.end_id, row.lifetime_ns) = ("live".into(), None, None, None);
        }
        found.insert(row.id, row);
    }
    assert_eq!(found, expected.taken, "{place}");
}

fn check_metadata(golden: &Json, batches: &Batches, place: &str) {
    for (section, table) in [("files", Table::Files), ("functions", Table::Definitions)] {
        let found: BTreeMap<String, String> = match table {
            Table::Files => collect(batches, table, files::View::of, |view, row| {
                (view.id.get(row).to_string(), view.name.get(row).to_owned())
            }),
            _ => collect(batches, table, definitions::View::of, |view, row| {
                assert_eq!(view.kind.get(row), "function");
                (view.id.get(row).to_string(), view.name.get(row).to_owned())
            }),
        }
        .into_iter()
        .collect();
        let expected = golden["metadata"][section].as_object();
        let text = |(id, name): (&String, &Json)| (id.clone(), name.as_str().expect("a name").to_owned());
        let expected: BTreeMap<String, String> = expected.into_iter().flatten().map(text).collect();
        assert_eq!(found, expected, "{section} of {place}");
    }
    let attributes: HashMap<String, String> = collect(batches, Table::Attributes, attributes::View::of, |view, row| {
        (view.key.get(row).to_owned(), view.value.get(row).unwrap_or_default().to_owned())
    })
    .into_iter()
    .collect();
    for (key, name) in [("version", "version"), ("start_us", "start_us"), ("metadata_length", "metadata_length")] {
        assert_eq!(attributes[key], golden["header"][name].to_string(), "{key} of {place}");
    }
    assert_eq!(attributes["dialect"], if is_growth(golden) { "growth" } else { "document" }, "{place}");
    for (key, value) in golden["metadata"].as_object().into_iter().flatten() {
        if !["stack_traces", "files", "functions"].contains(&key.as_str()) {
            let found: Json = serde_json::from_str(&attributes[&format!("metadata.{key}")]).expect("it is JSON");
            assert_eq!(found, *value, "{key} of {place}");
        }
    }
}

/// The peak of live bytes, from the table alone.
fn peak(rows: &[Taken]) -> i128 {
    let mut changes: BTreeMap<i64, i128> = BTreeMap::new();
    for row in rows {
        *changes.entry(row.id).or_default() += i128::from(row.size);
        if let Some(end) = row.end_id {
            *changes.entry(end).or_default() -= i128::from(row.size);
        }
    }
    let sums = changes.values().scan(0, |sum, change| {
        *sum += change;
        Some(*sum)
    });
    sums.max().unwrap_or(0)
}

fn check_summary(golden: &Json, batches: &Batches, place: &str) {
    let summary = &golden["summary"];
    let rows = taken(batches);
    let of = |fate: &str| rows.iter().filter(|row| row.fate == fate).collect::<Vec<_>>();
    let bytes = |rows: &[&Taken]| rows.iter().map(|row| u128::from(row.size)).sum::<u128>();
    let frees = given_back(batches);
    let unmatched = frees.iter().filter(|free| free.3.is_none() && !is_growth(golden)).count();
    let of_gc = |key: &str| {
        let arguments = arguments(batches).into_iter().filter(|(_, found, _)| found == key);
        arguments.map(|(_, _, value)| u128::from(value)).sum::<u128>()
    };
    let moments = moments(batches);
    let of_category = |category: &str| moments.iter().filter(|moment| moment.2 == category).count();
    let all: Vec<_> = rows.iter().collect();
    for (name, found) in [
        ("alloc", rows.len() as u128),
        ("free", frees.len() as u128),
        ("gc", of_category("gc") as u128),
        ("marker", of_category("marker") as u128),
        ("alloc_bytes", bytes(&all)),
        ("live_at_end", of("live").len() as u128),
        ("live_bytes_at_end", bytes(&of("live"))),
        ("freed_bytes", bytes(&of("freed"))),
        ("unmatched_frees", unmatched as u128),
        ("address_reused_without_free", of("reused").len() as u128),
        ("peak_bytes", peak(&rows).unsigned_abs()),
        ("gc_objects", of_gc("objects")),
        ("gc_bytes", of_gc("bytes")),
    ] {
        assert_eq!(Some(found), summary[name].as_u64().map(u128::from), "{name} of {place}");
    }
    check_threads_and_times(golden, batches, place);
}

fn check_threads_and_times(golden: &Json, batches: &Batches, place: &str) {
    let summary = &golden["summary"];
    let tids: BTreeSet<_> =
        collect(batches, Table::Threads, threads::View::of, |view, row| view.tid.get(row)).into_iter().collect();
    let expected: BTreeSet<_> =
        summary["distinct_threads"].as_array().into_iter().flatten().map(Json::as_u64).collect();
    assert_eq!(tids, if expected.is_empty() { [None].into() } else { expected }, "{place}");
    let rule = if is_growth(golden) { "duration_us_batches" } else { "duration_us_sum" };
    let last = summary[rule].as_u64().filter(|_| summary["events"] != 0).map(ns);
    let start = golden["header"]["start_us"].as_u64().expect("a start");
    let batch = batches.table(Table::Traces).next().expect("a trace has its row");
    let view = traces::View::of(batch).unwrap();
    assert_eq!(view.last_ts_ns.get(0), last, "{place}");
    let found = (view.start_ticks.get(0), view.unix_origin_ns.get(0), view.start_native_ns.get(0));
    assert_eq!(found, (Some(start), Some(ns(start)), ns(start)), "{place}");
    assert_eq!((view.clock.get(0), view.clock_hz.get(0)), ("wall", Some(1_000_000)), "{place}");
}

#[test]
fn the_tables_say_what_the_goldens_say() {
    for folder in checks::folders("memlyze") {
        let mut compared = 0;
        for path in common::below(&folder, ".mlyze") {
            let golden_path = path.with_extension("json");
            let golden = if golden_path.exists() { common::json(&golden_path) } else { continue };
            if golden.get("error").is_some() {
                continue;
            }
            let (batches, verdict) = common::tables(&common::trace(&path));
            assert!(verdict.overlaps.is_empty());
            let place = path.display().to_string();
            check_events(&golden, &batches, &place);
            check_metadata(&golden, &batches, &place);
            if !golden["warnings"].to_string().contains("overlong varint") {
                check_summary(&golden, &batches, &place);
            }
            compared += 1;
        }
        assert!(compared > 20, "{compared} files in {}", folder.display());
    }
}

/// Packed events are the same events; rows have the order that the mapper guarantees.
#[test]
fn packed_files_make_the_same_tables() {
    let fixtures = common::fixtures().join("memlyze");
    let tables = |source: Source| {
        let trace = Trace::new(Path::new("t.mlyze"), source, None, &Options::default()).expect("it opens");
        common::tables(&trace).0
    };
    let file = |name: &str| tables(Source::open(&fixtures.join(name), &Limits::default()).expect("it is there"));
    let shop = tables(Source::bytes(sample::sample().expect("the sample can be written").bytes));
    for (packed, plain) in [("packed/killed.mlyze", file("memlyze-0.1.0/killed.mlyze")), ("packed/shop.mlyze", shop)] {
        let packed = file(packed);
        assert_eq!(taken(&packed), taken(&plain));
        assert_eq!(given_back(&packed), given_back(&plain));
        assert_eq!(moments(&packed), moments(&plain));
        assert_eq!(stack_rows(&packed), stack_rows(&plain));
        let rows = taken(&plain);
        let keys: Vec<_> = rows.iter().map(|row| (row.end_id.is_none(), row.end_id.unwrap_or(row.id))).collect();
        assert!(keys.is_sorted() && keys.len() > 1000);
    }
}

#[test]
fn times_that_do_not_fit_are_reported() {
    let (batches, _) = common::tables(&common::trace(&common::fixtures().join("memlyze/document/spec_extremes.mlyze")));
    let codes = collect(&batches, Table::Findings, findings::View::of, |view, row| view.code.get(row).to_owned());
    assert!(codes.contains(&"tables.time-range".to_owned()), "{codes:?}");
}

#[test]
fn a_part_of_the_tables_is_a_part_of_all() {
    for name in [
        "memlyze-0.1.0-encoder/api_small",
        "memlyze-0.1.0/markers",
        "document/spec_reuse",
        "document/spec_basic",
        "invalid/dangling_file",
        "packed/damaged_block",
    ] {
        let trace = common::trace(&common::fixtures().join(format!("memlyze/{name}.mlyze")));
        let (all, _) = common::tables(&trace);
        assert!(all.rows(Table::Allocations) > 0, "{name}");
        checks::parts_are_those_of_the_whole(&trace, &all);
    }
}

#[test]
fn a_filter_drops_what_is_outside_and_nothing_else() {
    let source = Source::bytes(sample::sample().expect("the sample can be written").bytes);
    let trace = Trace::new(Path::new("t.mlyze"), source, None, &Options::default()).expect("it opens");
    let (all, _) = common::tables(&trace);
    let rows = taken(&all);
    let last = rows.iter().map(|row| row.ts_ns).max().expect("there are rows");
    let filter = Filter { range: TimeRange::between(last / 4, last / 2), threads: Some(vec![1, 2]) };
    let takes = |row: &Taken| filter.takes_time(row.ts_ns) && filter.takes_thread(row.thread);
    let expected: Vec<_> = rows.iter().filter(|row| takes(row)).cloned().collect();
    assert!(expected.len() > 100 && expected.len() < rows.len() / 3);
    let everything = common::filtered(&trace, Wanted::everything(), filter.clone());
    assert_eq!(taken(&everything), expected);
    // If only frees and events are wanted, reading stops at the end of the filter.
    let few = Wanted::nothing().and(Table::Frees, Columns::ALL).and(Table::Events, Columns::ALL);
    for batches in [&everything, &common::filtered(&trace, few.and(Table::Args, Columns::ALL), filter.clone())] {
        let frees: Vec<_> = given_back(&all).into_iter().filter(|free| filter.takes_time(free.1)).collect();
        assert_eq!(given_back(batches), frees);
        let inside: Vec<_> = moments(&all).into_iter().filter(|moment| filter.takes_time(moment.1)).collect();
        assert_eq!(moments(batches), inside);
        let owners: BTreeSet<_> = inside.iter().map(|moment| moment.0).collect();
        let ids = |batches: &Batches| {
            collect(batches, Table::Args, args::View::of, |view, row| (view.id.get(row), view.owner_id.get(row)))
        };
        let expected: Vec<_> = ids(&all).into_iter().filter(|(_, owner)| owners.contains(owner)).collect();
        assert_eq!(ids(batches), expected);
        assert!(!frees.is_empty() && !inside.is_empty());
    }
}

#[test]
fn only_what_is_wanted_is_read() {
    let bytes = sample::write(Vec::new(), 420_000).expect("it can be written");
    let len = bytes.len() as u64;
    let counted = Counted::new(bytes);
    let options = Options::default();
    let trace = Trace::new(Path::new("t.mlyze"), counted.source(), None, &options).expect("it opens");
    let read = |wanted: Wanted, filter: Filter| {
        counted.take();
        let batches = common::filtered(&trace, wanted, filter);
        (Table::ALL.map(|table| batches.rows(table)).iter().sum::<usize>(), counted.take())
    };
    let (rows, all) = read(Wanted::nothing().and(Table::Frees, Columns::ALL), Filter::default());
    assert!(rows > 100_000 && all >= len);
    let header = Wanted::nothing()
        .and(Table::Traces, Columns::named(Table::Traces, &["path", "unix_origin_ns"]))
        .and(Table::Attributes, Columns::ALL)
        .and(Table::Files, Columns::ALL)
        .and(Table::Definitions, Columns::ALL);
    let (rows, few) = read(header, Filter::default());
    assert!(rows > 10 && few < len / 8, "{rows} rows, {few} of {len} bytes");
    let early = Filter::in_range(TimeRange::new(None, Some(1_000_000_000)));
    let (rows, few) = read(Wanted::nothing().and(Table::Frees, Columns::ALL), early);
    assert!(rows > 0 && few < len / 8, "{rows} rows, {few} of {len} bytes");
    let mut sink = OneBatch { table: Table::Allocations, batches: Vec::new() };
    counted.take();
    ingest(&trace, &options, &mut sink).expect("a stop is no error");
    let (found, few) = (sink.batches.len(), counted.take());
    assert!(found == 1 && few < len / 4, "{found} batches, {few} of {len} bytes");
}

/// Every file, cut anywhere after its header or with a byte changed, gives consistent tables.
#[test]
fn cut_and_damaged_files_give_whole_tables() {
    for path in common::below(&common::fixtures().join("memlyze"), ".mlyze") {
        let whole = std::fs::read(&path).expect("the fixture is there");
        for (what, bytes) in checks::damaged(&whole, 8) {
            let is_trace = bytes.starts_with(b"MTRC") && bytes.len() >= 256;
            let tables = checks::tables_if_any(&path, Source::bytes(bytes), "memlyze");
            assert!(tables.is_some() || !is_trace, "{} {what}", path.display());
        }
    }
}

#[test]
fn strict_mode_refuses_what_is_broken() {
    let folder = common::fixtures().join("memlyze");
    assert!(!checks::is_refused(&folder.join("document/spec_basic.mlyze")));
    assert!(checks::is_refused(&folder.join("invalid/unknown_event4.mlyze")));
}
