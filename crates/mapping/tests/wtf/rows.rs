//! The rows of a trace as plain values, and arguments in the form of the goldens.

use std::collections::HashMap;

use serde_json::{Map, Value as Json, json};
use traceloom_model::{Batches, Table, args, attributes, definitions, events, links, spans, threads, traces};

pub(crate) struct Span {
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    pub(crate) thread: i64,
    pub(crate) depth: u32,
    pub(crate) ts: i64,
    pub(crate) dur: Option<i64>,
    pub(crate) own: Option<i64>,
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) definition: Option<i64>,
}

pub(crate) struct Event {
    pub(crate) id: i64,
    pub(crate) ts: i64,
    pub(crate) thread: i64,
    pub(crate) span: Option<i64>,
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) definition: i64,
}

pub(crate) struct Link {
    pub(crate) id: i64,
    pub(crate) flow: u64,
    pub(crate) from: Option<i64>,
    pub(crate) to: Option<i64>,
    pub(crate) ts: i64,
    pub(crate) kind: String,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Arg {
    pub(crate) id: i64,
    pub(crate) key: String,
    pub(crate) idx: Option<u32>,
    pub(crate) kind: String,
    pub(crate) int: Option<i64>,
    pub(crate) unsigned: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) text: Option<String>,
    pub(crate) bytes: Option<Vec<u8>>,
}

pub(crate) struct Definition {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) flags: u64,
    pub(crate) args: String,
}

/// Rows in the order of their ids, which all tables have except `spans`, where frames and ranges come last.
pub(crate) struct Rows {
    pub(crate) spans: Vec<Span>,
    pub(crate) events: Vec<Event>,
    pub(crate) links: Vec<Link>,
    pub(crate) args: HashMap<(String, i64), Vec<Arg>>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) attributes: HashMap<String, String>,
    /// Name, kind and location.
    pub(crate) threads: Vec<[Option<String>; 3]>,
    pub(crate) clock: String,
    /// First and last.
    pub(crate) times: [Option<i64>; 2],
}

impl Rows {
    pub(crate) fn of(batches: &Batches) -> Self {
        let mut rows = Self {
            spans: Vec::new(),
            events: Vec::new(),
            links: Vec::new(),
            args: HashMap::new(),
            definitions: Vec::new(),
            attributes: HashMap::new(),
            threads: Vec::new(),
            clock: String::new(),
            times: [None; 2],
        };
        for batch in batches.table(Table::Spans) {
            let view = spans::View::of(batch).unwrap();
            rows.spans.extend((0..view.rows).map(|row| span(&view, row)));
        }
        for batch in batches.table(Table::Events) {
            let view = events::View::of(batch).unwrap();
            rows.events.extend((0..view.rows).map(|row| event(&view, row)));
        }
        for batch in batches.table(Table::Links) {
            let view = links::View::of(batch).unwrap();
            rows.links.extend((0..view.rows).map(|row| link(&view, row)));
        }
        for batch in batches.table(Table::Args) {
            let view = args::View::of(batch).unwrap();
            for row in 0..view.rows {
                let owner = (view.owner_table.get(row).to_owned(), view.owner_id.get(row));
                rows.args.entry(owner).or_default().push(arg(&view, row));
            }
        }
        rows.declared(batches);
        rows
    }

    fn declared(&mut self, batches: &Batches) {
        for batch in batches.table(Table::Definitions) {
            let view = definitions::View::of(batch).unwrap();
            self.definitions.extend((0..view.rows).map(|row| Definition {
                kind: view.kind.get(row).to_owned(),
                name: view.name.get(row).to_owned(),
                flags: view.flags.get(row).expect("every type has flags"),
                args: view.args.get(row).unwrap_or_default().to_owned(),
            }));
        }
        for batch in batches.table(Table::Attributes) {
            let view = attributes::View::of(batch).unwrap();
            let pair = |row| (view.key.get(row).to_owned(), view.value.get(row).unwrap_or_default().to_owned());
            self.attributes.extend((0..view.rows).map(pair));
        }
        for batch in batches.table(Table::Threads) {
            let view = threads::View::of(batch).unwrap();
            let zone = |row| [view.name.get(row), view.kind.get(row), view.location.get(row)];
            self.threads.extend((0..view.rows).map(|row| zone(row).map(|text| text.map(str::to_owned))));
        }
        for batch in batches.table(Table::Traces) {
            let view = traces::View::of(batch).unwrap();
            self.clock = view.clock.get(0).to_owned();
            self.times = [view.first_ts_ns.get(0), view.last_ts_ns.get(0)];
        }
    }

    pub(crate) fn args_of(&self, table: Table, id: i64) -> &[Arg] {
        self.args.get(&(table.name().to_owned(), id)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn definition(&self, id: i64) -> &Definition {
        &self.definitions[id as usize]
    }

    /// Nanoseconds per unit of the goldens.
    pub(crate) fn unit_ns(&self) -> i64 {
        if self.clock == "count" { 1 } else { 1000 }
    }
}

fn span(view: &spans::View<'_>, row: usize) -> Span {
    Span {
        id: view.id.get(row),
        parent: view.parent_id.get(row),
        thread: view.thread_id.get(row),
        depth: view.depth.get(row),
        ts: view.ts_ns.get(row),
        dur: view.dur_ns.get(row),
        own: view.self_ns.get(row),
        name: view.name.get(row).to_owned(),
        category: view.category.get(row).to_owned(),
        definition: view.definition_id.get(row),
    }
}

fn event(view: &events::View<'_>, row: usize) -> Event {
    Event {
        id: view.id.get(row),
        ts: view.ts_ns.get(row),
        thread: view.thread_id.get(row).expect("every event happens in a zone"),
        span: view.span_id.get(row),
        name: view.name.get(row).to_owned(),
        category: view.category.get(row).to_owned(),
        definition: view.definition_id.get(row).expect("every event has a type"),
    }
}

fn link(view: &links::View<'_>, row: usize) -> Link {
    Link {
        id: view.id.get(row),
        flow: view.flow_id.get(row),
        from: view.from_span_id.get(row),
        to: view.to_span_id.get(row),
        ts: view.ts_ns.get(row),
        kind: view.kind.get(row).to_owned(),
    }
}

fn arg(view: &args::View<'_>, row: usize) -> Arg {
    Arg {
        id: view.id.get(row),
        key: view.key.get(row).to_owned(),
        idx: view.idx.get(row),
        kind: view.r#type.get(row).to_owned(),
        int: view.int_value.get(row),
        unsigned: view.uint_value.get(row),
        float: view.float_value.get(row),
        text: view.text_value.get(row).map(str::to_owned),
        bytes: view.bytes_value.get(row).map(<[u8]>::to_vec),
    }
}

/// Arguments in the form of the goldens: of several with one name, the last counts.
pub(crate) fn object(args: &[Arg]) -> Map<String, Json> {
    let mut object = Map::new();
    let mut rest = args;
    while let Some(first) = rest.first() {
        // An array continues as long as its indices do.
        let more =
            rest.iter().zip(0..).skip(1).take_while(|(arg, place)| arg.idx == Some(*place) && first.idx.is_some());
        let (one, after) = rest.split_at(1 + more.count());
        object.insert(first.key.clone(), value(one));
        rest = after;
    }
    object
}

fn value(rows: &[Arg]) -> Json {
    let Some(element) = rows[0].kind.strip_suffix("[]") else { return scalar(&rows[0]) };
    let is_null = rows[0].idx.is_none() && rows[0].text.is_none();
    let elements = if rows[0].idx.is_some() { rows } else { &[] };
    let class = match element {
        _ if is_null => return Json::Null,
        "char" | "wchar" => {
            let units: Vec<u16> = elements.iter().flat_map(units).collect();
            return json!(String::from_utf16_lossy(&units));
        }
        "int8" => "Int8Array",
        "uint8" => "Uint8Array",
        "int16" => "Int16Array",
        "uint16" => "Uint16Array",
        "int32" => "Int32Array",
        "uint32" => "Uint32Array",
        "float32" => "Float32Array",
        other => panic!("an array of {other}"),
    };
    json!({"$array": class, "values": elements.iter().map(scalar).collect::<Vec<_>>()})
}

fn units(arg: &Arg) -> Vec<u16> {
    match &arg.bytes {
        Some(bytes) => bytes.chunks(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect(),
        None => arg.text.as_ref().expect("a character is text").encode_utf16().collect(),
    }
}

fn scalar(arg: &Arg) -> Json {
    let Arg { int, unsigned, float, text, .. } = arg;
    match arg.kind.trim_end_matches("[]") {
        "bool" => json!(int.expect("a bool is 0 or 1") == 1),
        "int8" | "int16" | "int32" => json!(int.expect("the number is signed")),
        "uint8" | "uint16" | "uint32" | "flowId" => json!(unsigned.expect("the number is unsigned")),
        "time32" => json!(unsigned.expect("the time is unsigned") as f64 / 1000.0),
        "float32" => match float.expect("the number is a float") {
            number if number.is_nan() => json!({"$float": "NaN"}),
            f64::INFINITY => json!({"$float": "Infinity"}),
            f64::NEG_INFINITY => json!({"$float": "-Infinity"}),
            number if number == 0.0 && number.is_sign_negative() => json!({"$float": "-0"}),
            number => json!(number),
        },
        "char" | "wchar" => json!(String::from_utf16_lossy(&units(arg))),
        "ascii" | "utf8" => json!(text),
        "any" => text.as_ref().map_or(Json::Null, |text| serde_json::from_str(text).expect("any is JSON")),
        other => panic!("a value of the type {other}"),
    }
}

/// Whether two values mean the same: JSON has one kind of number, and its parser may miss the last bit.
pub(crate) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            let [a, b] = [a, b].map(|number| number.as_f64().expect("every number is a float"));
            (a - b).abs() <= a.abs() * f64::EPSILON
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
