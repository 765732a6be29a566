//! Compares tables with what easy_profiler's reader reports about the same file.

use std::collections::HashMap;

use serde_json::Value as Json;
use traceloom_model::{
    Batches, Table, args, attributes, counters, definitions, events, processes, spans, switches, threads, traces,
};

/// Rows of one table, by id.
macro_rules! rows {
    ($batches:expr, $table:ident, $module:ident, $view:ident, $row:ident => $make:expr) => {{
        let mut rows = Vec::new();
        for batch in $batches.table(Table::$table) {
            let $view = $module::View::of(batch).unwrap();
            rows.extend((0..$view.rows).map(|$row| ($view.id.get($row), $make)));
        }
        rows
    }};
}

/// A block, event or value of the golden.
struct Node<'a> {
    json: &'a Json,
    tid: u64,
    /// Ids of the spans around and inside it.
    parent: Option<i64>,
    children_ns: u64,
}

impl Node<'_> {
    fn dur_ns(&self) -> u64 {
        number(&self.json["end"]).saturating_sub(number(&self.json["begin"]))
    }
}

/// Compares all tables with the golden of an accepted file.
pub(crate) fn compare(batches: &Batches, golden: &Json) {
    let nodes = nodes(golden);
    let origin = compare_trace(batches, golden, &nodes);
    let tids = compare_threads(batches, golden);
    compare_definitions(batches, golden);
    compare_spans(batches, golden, &nodes, origin, &tids);
    compare_events(batches, golden, &nodes, origin, &tids);
    compare_switches(batches, golden, origin, &tids);
    compare_values(batches, &nodes, origin, &tids);
}

/// The records in file order: the index of a record is its id.
fn nodes(golden: &Json) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    for thread in list(&golden["threads"]) {
        nodes.extend(list(&thread["tree"]).map(|json| (number(&thread["id"]), thread, json)));
    }
    nodes.sort_by_key(|(_, _, json)| number(&json["file_index"]));
    let ids: HashMap<(u64, i64), i64> =
        (0..).zip(&nodes).map(|(id, (tid, _, json))| ((*tid, json["n"].as_i64().unwrap()), id)).collect();
    let node = |(tid, thread, json): (u64, &Json, &'_ Json)| {
        let children = list(&thread["tree"]).filter(|child| child["parent"] == json["n"]);
        let dur = |child: &Json| number(&child["end"]).saturating_sub(number(&child["begin"]));
        (tid, children.map(dur).sum::<u64>(), ids.get(&(tid, json["parent"].as_i64().unwrap())).copied())
    };
    let found: Vec<_> = nodes.iter().map(|(tid, thread, json)| node((*tid, thread, json))).collect();
    let places = nodes.into_iter().zip(found);
    places.map(|((_, _, json), (tid, children_ns, parent))| Node { json, tid, parent, children_ns }).collect()
}

fn compare_trace(batches: &Batches, golden: &Json, nodes: &[Node<'_>]) -> u64 {
    let header = &golden["header_raw"];
    let found = rows!(batches, Traces, traces, view, row => {
        assert_eq!(view.format.get(row), "easyprofiler");
        assert_eq!(Some(view.version.get(row)), header["version"].as_str());
        assert_eq!(view.bytes.get(row), number(&golden["file_size"]));
        let frequency = header["cpu_frequency"].as_u64().filter(|frequency| *frequency != 0);
        assert_eq!(view.clock_hz.get(row), frequency);
        assert_eq!(view.clock.get(row), if frequency.is_some() { "tsc" } else { "monotonic" });
        let begin = number(&header["begin_time"]);
        if begin != 0 {
            assert_eq!(view.start_native_ns.get(row), number(&golden["begin_ns"]) as i64);
            assert_eq!(view.start_ticks.get(row), frequency.map(|_| begin));
        }
        let switches = list(&golden["threads"]).flat_map(|thread| list(&thread["context_switches"]));
        let bookmarks = list(&golden["bookmarks"]).map(|bookmark| number(&bookmark["pos"]));
        let ends = nodes.iter().map(|node| number(&node.json["end"]));
        let last = ends.chain(switches.map(|switch| number(&switch["end"]))).chain(bookmarks).max();
        let start = view.start_native_ns.get(row);
        assert_eq!(view.last_ts_ns.get(row), last.map(|last| last as i64 - start));
        start as u64
    });
    assert_eq!(found.len(), 1);
    let attributes: HashMap<_, _> = rows!(batches, Attributes, attributes, view, row => {
        (view.key.get(row).to_owned(), view.value.get(row).unwrap().to_owned())
    })
    .into_iter()
    .map(|(_, pair)| pair)
    .collect();
    for (key, value) in header.as_object().unwrap() {
        if !value.is_null() && !["version_int", "header_size"].contains(&key.as_str()) {
            let expected = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(attributes.get(key), Some(&expected), "{key}");
        }
    }
    let pids = rows!(batches, Processes, processes, view, row => view.pid.get(row));
    assert_eq!(pids, [(0, header["pid"].as_u64())]);
    found[0].1
}

fn compare_threads(batches: &Batches, golden: &Json) -> HashMap<i64, u64> {
    let mut found = rows!(batches, Threads, threads, view, row => {
        (view.tid.get(row).unwrap(), view.name.get(row).unwrap_or("").to_owned())
    });
    let tids = found.iter().map(|(id, (tid, _))| (*id, *tid)).collect();
    found.sort_by_key(|(_, (tid, _))| *tid);
    let expected: Vec<_> =
        list(&golden["threads"]).map(|thread| (number(&thread["id"]), text(thread, "name"))).collect();
    assert_eq!(found.into_iter().map(|(_, thread)| thread).collect::<Vec<_>>(), expected);
    tids
}

fn compare_definitions(batches: &Batches, golden: &Json) {
    let found = rows!(batches, Definitions, definitions, view, row => (
        view.kind.get(row).to_owned(),
        view.name.get(row).to_owned(),
        view.file.get(row).unwrap_or("").to_owned(),
        view.line.get(row).map(u64::from),
        view.color.get(row),
        view.flags.get(row),
        view.status.get(row).map(str::to_owned),
    ));
    let mut ids: HashMap<i64, u64> = HashMap::new();
    for (id, (key, value)) in rows!(batches, Args, args, view, row => {
        let is_ours = view.owner_table.get(row) == "definitions" && view.key.get(row) == "id";
        (is_ours.then(|| view.owner_id.get(row)), view.uint_value.get(row))
    }) {
        if let (Some(owner), Some(value)) = (key, value) {
            assert!(ids.insert(owner, value).is_none(), "argument {id}");
        }
    }
    let expected = (0..).zip(list(&golden["descriptors"])).filter(|(_, descriptor)| !descriptor.is_null());
    let expected: Vec<_> = expected
        .map(|(id, descriptor): (i64, _)| {
            assert_eq!(ids.get(&id).copied().unwrap_or(id as u64), number(&descriptor["id"]));
            let kind = ["event", "block", "value"][number(&descriptor["type"]) as usize].to_owned();
            let status = number(&descriptor["status"]);
            let words = ["off", "on", "2", "force-on", "off-recursive", "on-without-children", "6"];
            let word = words.get(status as usize).copied().unwrap_or("force-on-without-children").to_owned();
            let (name, file) = (text(descriptor, "name"), text(descriptor, "file"));
            let (line, color) = (descriptor["line"].as_u64(), color(descriptor));
            (id, (kind, name, file, line, color, Some(status), Some(word)))
        })
        .collect();
    assert_eq!(found, expected);
}

fn compare_spans(batches: &Batches, golden: &Json, nodes: &[Node<'_>], origin: u64, tids: &HashMap<i64, u64>) {
    let found = rows!(batches, Spans, spans, view, row => (
        (tids[&view.thread_id.get(row)], view.parent_id.get(row), u64::from(view.depth.get(row))),
        origin.wrapping_add_signed(view.ts_ns.get(row)),
        (view.dur_ns.get(row).unwrap() as u64, view.self_ns.get(row).unwrap() as u64),
        (view.name.get(row).to_owned(), view.category.get(row).to_owned(), view.definition_id.get(row)),
        (view.file.get(row).unwrap_or("").to_owned(), view.line.get(row).map(u64::from), view.color.get(row)),
    ));
    let blocks = (0..).zip(nodes).filter(|(_, node)| node.json["kind"] == "block");
    let expected: Vec<_> = blocks
        .map(|(id, node)| {
            let json = node.json;
            let descriptor = &golden["descriptors"][number(&json["desc"]) as usize];
            let place = (node.tid, node.parent, number(&json["depth"]));
            let times = (node.dur_ns(), node.dur_ns().saturating_sub(node.children_ns));
            let name = (text(json, "name"), "block".to_owned(), json["desc"].as_i64());
            let look = (text(descriptor, "file"), descriptor["line"].as_u64(), color(descriptor));
            (id, (place, number(&json["begin"]), times, name, look))
        })
        .collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

fn compare_events(batches: &Batches, golden: &Json, nodes: &[Node<'_>], origin: u64, tids: &HashMap<i64, u64>) {
    let found = rows!(batches, Events, events, view, row => (
        view.thread_id.get(row).map(|id| tids[&id]),
        view.span_id.get(row),
        origin.wrapping_add_signed(view.ts_ns.get(row)),
        view.name.get(row).to_owned(),
        view.category.get(row).to_owned(),
        view.definition_id.get(row),
    ));
    let events = (0..).zip(nodes).filter(|(_, node)| node.json["kind"] == "event");
    let events = events.map(|(id, node)| {
        let json = node.json;
        let (begin, name) = (number(&json["begin"]), text(json, "name"));
        (id, (Some(node.tid), node.parent, begin, name, "event".to_owned(), json["desc"].as_i64()))
    });
    let bookmarks = (nodes.len() as i64..).zip(list(&golden["bookmarks"]));
    let bookmarks = bookmarks.map(|(id, bookmark)| {
        (id, (None, None, number(&bookmark["pos"]), text(bookmark, "text"), "bookmark".to_owned(), None))
    });
    assert_eq!(found, events.chain(bookmarks).collect::<Vec<_>>());
    let colors = rows!(batches, Args, args, view, row => {
        let is_color = view.owner_table.get(row) == "events" && view.key.get(row) == "color";
        is_color.then(|| (view.owner_id.get(row), view.uint_value.get(row)))
    });
    let colors: Vec<_> = colors.into_iter().filter_map(|(_, color)| color).collect();
    let expected = (nodes.len() as i64..).zip(list(&golden["bookmarks"]));
    let expected: Vec<_> = expected.map(|(id, bookmark)| (id, color(bookmark).map(u64::from))).collect();
    assert_eq!(colors, expected);
}

fn compare_switches(batches: &Batches, golden: &Json, origin: u64, tids: &HashMap<i64, u64>) {
    let found = rows!(batches, Switches, switches, view, row => (
        tids[&view.thread_id.get(row)],
        origin.wrapping_add_signed(view.ts_ns.get(row)),
        view.dur_ns.get(row) as u64,
        view.target_tid.get(row),
        view.name.get(row).to_owned(),
    ));
    let mut found: Vec<_> = found.into_iter().map(|(_, switch)| switch).collect();
    // The golden sorts threads; records of one thread are in file order.
    found.sort_by_key(|(tid, ..)| *tid);
    let switches = list(&golden["threads"])
        .flat_map(|thread| list(&thread["context_switches"]).map(|switch| (number(&thread["id"]), switch)));
    let expected: Vec<_> = switches
        .map(|(tid, switch)| {
            let (begin, end) = (number(&switch["begin"]), number(&switch["end"]));
            (tid, begin, end.saturating_sub(begin), number(&switch["tid"]), text(switch, "name"))
        })
        .collect();
    assert_eq!(found, expected);
}

/// One cell of a value: its element, and its columns in the tables.
#[derive(Debug, PartialEq)]
struct Cell {
    when: (u64, u64, Option<u64>, String),
    kind: String,
    idx: Option<u32>,
    shown: String,
    exact: String,
}

fn compare_values(batches: &Batches, nodes: &[Node<'_>], origin: u64, tids: &HashMap<i64, u64>) {
    let exact = rows!(batches, Args, args, view, row => {
        let number = |row| match (view.int_value.get(row), view.uint_value.get(row), view.float_value.get(row)) {
            (Some(value), ..) => value.to_string(),
            (_, Some(value), _) => value.to_string(),
            (.., value) => real(value.unwrap(), view.r#type.get(row)),
        };
        let value = match (view.text_value.get(row), view.bytes_value.get(row)) {
            (Some(text), _) => text.to_owned(),
            (_, Some(bytes)) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            _ => number(row),
        };
        let is_ours = view.owner_table.get(row) == "counters";
        is_ours.then(|| (view.owner_id.get(row), (view.r#type.get(row).to_owned(), view.idx.get(row), value)))
    });
    let mut exact: HashMap<_, _> = exact.into_iter().filter_map(|(_, row)| row).collect();
    let found = rows!(batches, Counters, counters, view, row => {
        let (kind, idx, exact) = exact.remove(&view.id.get(row)).expect("every value is there exactly");
        let tid = tids[&view.thread_id.get(row).unwrap()];
        let begin = origin.wrapping_add_signed(view.ts_ns.get(row));
        let when = (tid, begin, view.value_id.get(row), view.name.get(row).to_owned());
        let shown = match (view.value.get(row), view.text.get(row)) {
            (Some(value), None) => real(value, "float"),
            (None, text) => text.unwrap_or("nothing").to_owned(),
            both => panic!("{both:?}"),
        };
        Cell { when, kind, idx, shown, exact }
    });
    assert!(exact.is_empty(), "arguments without a row");
    let values = nodes.iter().filter(|node| node.json["kind"] == "value");
    let expected: Vec<_> = values.flat_map(|node| cells(node)).collect();
    assert_eq!(found.len(), expected.len());
    for ((id, found), expected) in found.iter().zip(&expected) {
        assert_eq!(found.when, expected.when, "row {id}");
        assert_eq!((&found.kind, found.idx), (&expected.kind, expected.idx), "row {id}");
        assert_eq!(found.exact, expected.exact, "row {id}");
        assert_eq!(found.shown, expected.shown, "row {id}");
    }
}

fn cells(node: &Node<'_>) -> Vec<Cell> {
    let value = &node.json["value"];
    let kind = value["type"].as_str().map_or_else(|| value["type"].to_string(), str::to_owned);
    let cell = |idx, shown: String, exact: String| Cell {
        when: (node.tid, number(&node.json["begin"]), value["vin"].as_u64(), text(node.json, "name")),
        kind: kind.clone(),
        idx,
        shown,
        exact,
    };
    if kind == "string" {
        return vec![cell(None, text(value, "data"), text(value, "data"))];
    }
    if let Some(hex) = value["data_hex"].as_str() {
        return vec![cell(None, "nothing".into(), hex.into())];
    }
    let number = |element: &Json| match element {
        Json::Bool(value) => (f64::from(u8::from(*value)), u8::from(*value).to_string()),
        Json::String(word) => (word.parse().unwrap(), word.parse::<f64>().map(|it| real(it, &kind)).unwrap()),
        number if kind == "float" || kind == "double" => {
            let value = number.as_f64().unwrap();
            (value, real(value, &kind))
        }
        number => (number.as_f64().unwrap(), number.to_string()),
    };
    let print = |idx, element: &Json| {
        let (value, exact) = number(element);
        cell(idx, real(value, "float"), exact)
    };
    match &value["data"] {
        Json::Array(elements) if elements.is_empty() => vec![cell(None, "nothing".into(), String::new())],
        Json::Array(elements) => (0..).zip(elements).map(|(idx, element)| print(Some(idx), element)).collect(),
        Json::Null => vec![cell(None, "nothing".into(), String::new())],
        element => vec![print(None, element)],
    }
}

/// The golden has nine digits of a float; of a double it has all, but parsing JSON may miss the last bit.
fn real(value: f64, kind: &str) -> String {
    if kind == "float" { format!("{value:.8e}") } else { format!("{value:.14e}") }
}

fn list(json: &Json) -> std::slice::Iter<'_, Json> {
    json.as_array().expect("a list").iter()
}

fn number(json: &Json) -> u64 {
    json.as_u64().unwrap_or_else(|| panic!("{json} is no number"))
}

fn color(json: &Json) -> Option<u32> {
    json["color"].as_str().map(|color| u32::from_str_radix(color.trim_start_matches("0x"), 16).expect("a color"))
}

/// Text with invalid UTF-8 replaced; the golden has such bytes in hexadecimal.
fn text(json: &Json, key: &str) -> String {
    if let Some(text) = json[key].as_str() {
        return text.to_owned();
    }
    let hex = json[format!("{key}_hex")].as_str().unwrap_or("").as_bytes();
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    String::from_utf8_lossy(&hex.chunks(2).map(digits).collect::<Vec<_>>()).into_owned()
}
