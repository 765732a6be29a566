//! Builds from our records what WTF's reader makes of a file, including its mistakes.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value as Json, json};
use traceloom_core::{Mode, Options, Records, Result, Source};
use traceloom_wtf::{
    Container, Event, Reader, Record, Role,
    findings::SAME_NAME_FATAL,
    open,
    raw::{ArgumentType, EventClass},
};

use super::golden_json::{header_info, header_json, value_json};

/// The parts of a golden that are wrong for files that WTF misreads: it decodes events with the first signature of
/// their name.
const MISREAD: [&str; 5] = ["zones", "statistics", "eventTypes", "firstEventTimeUs", "lastEventTimeUs"];

/// Builds the golden of a file from our records. Parts that are not about reading (`queries`, `log`, the wording of
/// `errors`) are copied, and so are the tables of a file that WTF misreads.
pub(super) fn reproduce(source: Source, golden: &Json) -> Result<Json> {
    let is_misread = misreads(&source);
    let mut ours = Reference::load(source).into_json();
    if golden.get("crashed").is_some() && ours["ok"] == false {
        return Ok(golden.clone());
    }
    let given = ["reader", "queries", "log", "errors"];
    for key in given.into_iter().chain(MISREAD.into_iter().filter(|_| is_misread)) {
        if let Some(value) = golden.get(key) {
            ours.insert(key.to_owned(), value.clone());
        }
    }
    Ok(Json::Object(ours))
}

/// WTF's data after loading a file, in the form of the goldens; `None` if it refuses the file.
pub(super) fn tables(source: Source) -> Option<Json> {
    let reference = Reference::load(source);
    reference.ok.then(|| Json::Object(reference.into_json()))
}

/// Whether two definitions share a name in a way that WTF misreads.
fn misreads(source: &Source) -> bool {
    let Ok(mut reader) = open(source.clone(), &Options::default()) else { return false };
    while let Ok(Some(_)) = reader.next() {}
    reader.findings().counts().contains_key(SAME_NAME_FATAL.code)
}

struct Type {
    name: String,
    class: u16,
    flags: u32,
    args: Vec<String>,
}

#[derive(Clone)]
struct Stored {
    time: i64,
    kind: usize,
    args: Option<Map<String, Json>>,
}

#[derive(Default)]
struct ZoneEvents {
    events: Vec<Stored>,
}

/// WTF's data after loading.
struct Reference {
    types: Vec<Type>,
    by_name: HashMap<String, usize>,
    zones: Vec<ZoneEvents>,
    names: Vec<[Json; 3]>,
    header: Option<Json>,
    timebase: Option<Json>,
    ok: bool,
    refusal: Option<String>,
    ranges: HashMap<u32, u32>,
    invalid: u32,
    is_calls: bool,
}

impl Reference {
    fn load(source: Source) -> Self {
        let mut reference = Self {
            types: Vec::new(),
            by_name: HashMap::new(),
            zones: vec![ZoneEvents::default()],
            names: vec![[json!(""), json!(""), json!("")]],
            header: None,
            timebase: None,
            ok: true,
            refusal: None,
            ranges: HashMap::new(),
            invalid: 0,
            is_calls: false,
        };
        let is_calls = source.prefix(5).unwrap().last() == Some(&b'{');
        let options = Options::default().with_mode(Mode::Strict);
        match open(source, &options) {
            Ok(reader) => reference.read(reader),
            Err(error) => {
                reference.refusal = Some(error.to_string());
                if !is_calls {
                    reference.define("wtf.event#define", 0, 40, define_args());
                }
                reference.ok = false;
            }
        }
        reference
    }

    fn read(&mut self, mut reader: Reader) {
        reader.unwrap_times(false);
        let container = reader.header().container;
        self.is_calls = container == Container::Calls;
        if !self.is_calls {
            self.define("wtf.event#define", 0, 40, define_args());
        }
        let info = reader.header().info.clone();
        let is_script = container == Container::Script;
        if matches!(container, Container::Legacy | Container::Calls) {
            self.header = Some(header_json(&info, json!(info.timebase_ms), None, self.is_calls));
            self.timebase = Some(json!(info.timebase_ms));
        }
        let (mut delay, mut skips, mut json_lists) = (0.0, false, 0);
        loop {
            let seen = reader.findings().counts().get("wtf.json-events").copied().unwrap_or(0);
            let mut torn = None;
            match reader.next() {
                Ok(None) => break,
                Err(error) => {
                    self.ok = false;
                    self.refusal = Some(error.to_string());
                    break;
                }
                Ok(Some(located)) => match located.record {
                    Record::Chunk(chunk) => {
                        // WTF never reads events in JSON.
                        skips = chunk.carried && seen > json_lists;
                        json_lists = seen;
                    }
                    Record::FileHeader(text) => delay = self.take_header(text),
                    Record::Event(event) if !is_script && !skips => self.insert(&event, delay),
                    Record::Torn(bytes) => torn = Some(bytes.to_vec()),
                    _ => {}
                },
            }
            if let Some(bytes) = torn {
                self.insert_torn(&bytes, &reader);
            }
        }
        let zones = if is_script { &[] } else { reader.zones() };
        for (index, zone) in zones.iter().enumerate() {
            self.zone(index);
            if zone.id.is_some() {
                let text = |text: &Option<Box<str>>| text.as_deref().map_or(Json::Null, |text| json!(text));
                self.names[index] = [text(&zone.name), text(&zone.kind), text(&zone.location)];
            }
        }
    }

    fn zone(&mut self, index: usize) -> &mut ZoneEvents {
        while self.zones.len() <= index {
            self.zones.push(ZoneEvents::default());
            self.names.push([json!(""), json!(""), json!("")]);
        }
        &mut self.zones[index]
    }

    /// The number of a type; the first definition of a name counts.
    fn define(&mut self, name: &str, class: u16, flags: u32, args: Vec<String>) -> usize {
        if let Some(index) = self.by_name.get(name) {
            return *index;
        }
        self.types.push(Type { name: name.to_owned(), class, flags, args });
        self.by_name.insert(name.to_owned(), self.types.len() - 1);
        self.types.len() - 1
    }

    fn take_header(&mut self, text: &[u8]) -> f64 {
        let value: Json = serde_json::from_slice(text).unwrap();
        let (info, timebase) = (header_info(text), value["timebase"].clone());
        self.header = Some(header_json(&info, timebase.clone(), Some(&value), false));
        let number = |value: &Json| value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0.0);
        let first = self.timebase.get_or_insert(timebase.clone());
        number(first) - number(&timebase)
    }

    fn insert(&mut self, event: &Event<'_>, delay: f64) {
        if event.kind.role == Role::Define {
            let text = |name: &str| event.args.get(name).and_then(|value| value.as_text()).map(|text| text.to_str());
            let number = |name: &str| event.args.get(name).and_then(|value| value.as_u32()).unwrap_or(0);
            let args = text("args").unwrap_or_default().into_owned();
            let name = text("name").unwrap_or_default().into_owned();
            self.define(&name, number("eventClass") as u16, number("flags"), canonical_args(&args));
        }
        if event.kind.is_structural() {
            return;
        }
        let args = event.kind.args.as_deref().unwrap_or_default();
        let names = args.iter().map(|argument| format!("{} {}", argument.kind, argument.name)).collect();
        let kind = self.define(&event.kind.name, event.kind.class.0, event.kind.flags.0, names);
        let mut values: Map<String, Json> =
            event.args.iter().map(|(argument, value)| (argument.name.to_string(), value_json(value))).collect();
        if matches!(event.kind.role, Role::RangeBegin | Role::RangeEnd)
            && let Some(id) = values.get("id").and_then(Json::as_u64)
        {
            let next = self.ranges.len() as u32 + 1;
            values.insert("id".to_owned(), json!(*self.ranges.entry(id as u32).or_insert(next)));
        }
        let time = (f64::from(event.time) + delay).max(0.0) as i64;
        let stored = Stored { time, kind, args: (!args.is_empty()).then_some(values) };
        self.zone(event.zone as usize).events.push(stored);
    }

    /// WTF reads past the end of the buffer and finds nothing there.
    fn insert_torn(&mut self, bytes: &[u8], reader: &Reader) {
        let wire_id = u32::from_le_bytes(*bytes.first_chunk().unwrap());
        let kind = reader.types().by_wire(wire_id).unwrap();
        let names = kind.args.as_deref().unwrap();
        let args = names.iter().map(|argument| (argument.name.to_string(), json!({"$undefined": true}))).collect();
        let stored = Stored { time: i64::MAX, kind: self.by_name[&*kind.name], args: Some(args) };
        let zone = self.zones.len() - 1;
        self.zone(zone).events.push(stored);
    }

    fn into_json(mut self) -> Map<String, Json> {
        let zones: Vec<Json> = (0..self.zones.len()).map(|index| self.zone_json(index)).collect();
        let mut all = Map::new();
        all.insert("ok".to_owned(), json!(self.ok));
        if let Some(header) = self.header.clone() {
            all.insert("header".to_owned(), header);
            all.insert("timebase".to_owned(), self.timebase.clone().unwrap());
        }
        let times = |key: &str| -> Vec<i64> {
            let filled = zones.iter().filter(|zone| zone["count"] != 0);
            filled.map(|zone| zone[key].as_i64().unwrap()).collect()
        };
        all.insert("firstEventTimeUs".to_owned(), json!(times("firstUs").into_iter().min().unwrap_or(0)));
        all.insert("lastEventTimeUs".to_owned(), json!(times("lastUs").into_iter().max().unwrap_or(0)));
        all.insert("statistics".to_owned(), self.statistics(&zones));
        all.insert("zones".to_owned(), json!(zones));
        let types = self.types.iter().enumerate().map(|(index, kind)| {
            json!({"id": index + 1, "name": kind.name, "class": kind.class, "flags": kind.flags, "args": kind.args})
        });
        all.insert("eventTypes".to_owned(), types.collect());
        all
    }

    fn zone_json(&mut self, index: usize) -> Json {
        let mut events = std::mem::take(&mut self.zones[index].events);
        events.sort_by_key(|event| event.time);
        // An event without a time compares to nothing, stays last and is stored as 0.
        events.iter_mut().filter(|event| event.time == i64::MAX).for_each(|event| event.time = 0);
        let mut scopes = Scopes { hidden: 0, deepest: 0, generic: [0; 3] };
        let nested = scopes.nest(&mut events, self);
        let list: Vec<Json> = events.iter().zip(&nested).map(|(event, nest)| self.event_json(event, nest)).collect();
        let [name, kind, location] = self.names[index].clone();
        let [enters, stamps, appends] = scopes.generic;
        let (first, last) = (events.first().map_or(0, |e| e.time), events.last().map_or(0, |e| e.time));
        json!({
            "name": name, "type": kind, "location": location,
            "count": events.len(), "visibleCount": events.len() as i64 - scopes.hidden as i64, "maxScopeDepth": scopes.deepest,
            "firstUs": first, "lastUs": last,
            "stats": {"totalCount": events.len(), "genericEnterScope": enters, "genericTimeStamp": stamps,
                "appendScopeData": appends},
            "frames": self.frames(&events), "marks": self.marks(&events), "timeRanges": self.time_ranges(&events),
            "events": list,
        })
    }

    fn event_json(&self, event: &Stored, nest: &Nest) -> Json {
        let kind = &self.types[event.kind];
        let mut json = json!({"t": event.time, "type": event.kind + 1, "depth": nest.depth, "parent": nest.parent});
        if kind.flags & 0x58 != 0 {
            json["hidden"] = json!(true);
        }
        // WTF stores the end in the event, and 0 means none.
        if let Some(end) = nest.end.filter(|end| *end != 0) {
            let total = end - event.time;
            json["end"] = json!(end);
            json["own"] = json!(total - nest.children);
            json["user"] = json!(total - nest.system);
            json["maxDepth"] = json!(nest.max_depth);
        }
        if let Some(args) = &event.args {
            json["args"] = json!(args);
        }
        json
    }

    fn named<'a>(&'a self, events: &'a [Stored], name: &'a str) -> impl Iterator<Item = (usize, &'a Stored)> {
        let kind = self.by_name.get(name).copied();
        events.iter().enumerate().filter(move |(_, event)| Some(event.kind) == kind)
    }

    fn frames(&self, events: &[Stored]) -> Json {
        let mut frames: BTreeMap<u64, [i64; 2]> = BTreeMap::new();
        for (side, name) in ["wtf.timing#frameStart", "wtf.timing#frameEnd"].iter().enumerate() {
            for (_, event) in self.named(events, name) {
                frames.entry(argument(event, "number").as_u64().unwrap()).or_default()[side] = event.time;
            }
        }
        let whole = frames.into_iter().filter(|(_, [start, end])| *start != 0 && *end != 0);
        whole.map(|(number, [start, end])| json!({"number": number, "t": start, "end": end})).collect()
    }

    fn marks(&self, events: &[Stored]) -> Json {
        let marks: Vec<_> = self.named(events, "wtf.trace#mark").collect();
        let ends = marks.iter().skip(1).map(|(_, next)| next.time).chain(events.last().map(|last| last.time));
        let list = marks.iter().zip(ends).map(|((index, mark), end)| {
            json!({"name": argument(mark, "name"), "value": argument(mark, "value"), "t": mark.time, "end": end,
                "event": index})
        });
        list.collect()
    }

    fn time_ranges(&self, events: &[Stored]) -> Json {
        let mut ranges: Vec<Json> = Vec::new();
        let mut open: BTreeMap<u64, (usize, u32)> = BTreeMap::new();
        let mut by_id: BTreeMap<u64, usize> = BTreeMap::new();
        let kinds = ["wtf.timeRange#begin", "wtf.timeRange#end"].map(|name| self.by_name.get(name).copied());
        for (index, event) in events.iter().enumerate() {
            if !kinds.contains(&Some(event.kind)) {
                continue;
            }
            let id = argument(event, "id").as_u64().unwrap();
            let range = *by_id.entry(id).or_insert_with(|| {
                ranges.push(json!({"name": "", "value": null, "t": 0, "end": 0, "level": 0, "overlap": 0,
                    "begin": -1, "endEvent": -1}));
                ranges.len() - 1
            });
            let json = &mut ranges[range];
            if Some(event.kind) == kinds[0] {
                let level = (0..).find(|level| open.values().all(|(_, taken)| taken != level)).unwrap();
                json["name"] = argument(event, "name");
                json["value"] = argument(event, "value");
                json["t"] = json!(event.time);
                json["begin"] = json!(index);
                json["level"] = json!(level);
                json["overlap"] = json!(open.len());
                open.insert(id, (range, level));
            } else {
                json["end"] = json!(event.time);
                json["endEvent"] = json!(index);
                open.remove(&id);
            }
        }
        json!(ranges)
    }

    /// One row per visible type; WTF omits the last event of every zone.
    fn statistics(&self, zones: &[Json]) -> Json {
        let mut rows: BTreeMap<usize, ([i64; 4], f64)> = BTreeMap::new();
        for zone in zones {
            let events = zone["events"].as_array().unwrap();
            for event in events.iter().take(events.len().saturating_sub(1)) {
                let kind = event["type"].as_u64().unwrap() as usize - 1;
                let is_open_scope = self.types[kind].class == 1 && event.get("end").is_none();
                if self.types[kind].flags & 8 != 0 || is_open_scope {
                    continue;
                }
                let (row, total_ms) = rows.entry(kind).or_default();
                row[0] += 1;
                if let Some(end) = event["end"].as_i64() {
                    let total = end - event["t"].as_i64().unwrap();
                    row[1] += total;
                    *total_ms += total as f64 / 1000.0;
                    row[2] += event["user"].as_i64().unwrap();
                    row[3] += event["own"].as_i64().unwrap();
                }
            }
        }
        let rows = rows.into_iter().map(|(kind, ([count, total, user, own], total_ms))| {
            let kind = &self.types[kind];
            let mut row = json!({"name": kind.name, "class": kind.class, "count": count});
            if kind.class == EventClass::SCOPE.0 {
                row["totalUs"] = json!(total);
                row["userUs"] = json!(user);
                row["ownUs"] = json!(own);
                row["meanUs"] = json!((total_ms / count as f64 * 1000.0).round());
            }
            row
        });
        rows.collect()
    }

    /// The type that WTF makes up for a generic scope or time stamp.
    fn on_demand(&mut self, name: Option<&str>, class: EventClass) -> usize {
        let fallback = if class == EventClass::SCOPE { "unnamed.scope" } else { "unnamed.instance" };
        let text = name.filter(|name| !name.is_empty()).unwrap_or(fallback);
        if let Some(known) = self.by_name.get(text) {
            return *known;
        }
        let (head, args) = text.trim().split_once('(').map_or((text.trim(), None), |(head, args)| (head, Some(args)));
        let head = head.replace(' ', "");
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.#:$[]\"'-".contains(c);
        let args = args.map(|args| args.strip_suffix(')'));
        if head.is_empty() || !head.chars().all(is_name) || args == Some(None) {
            let name = format!("invalid_{}", self.invalid);
            self.invalid += 1;
            return self.define(&name, class.0, 0, Vec::new());
        }
        self.define(&head, class.0, 0, canonical_args(args.flatten().unwrap_or_default()))
    }
}

#[derive(Clone, Default)]
struct Nest {
    depth: usize,
    parent: i64,
    end: Option<i64>,
    children: i64,
    system: i64,
    max_depth: usize,
}

struct Scopes {
    hidden: usize,
    deepest: usize,
    generic: [usize; 3],
}

impl Scopes {
    fn nest(&mut self, events: &mut [Stored], reference: &mut Reference) -> Vec<Nest> {
        let mut nested = vec![Nest { parent: -1, ..Nest::default() }; events.len()];
        let mut stack: Vec<usize> = Vec::new();
        let mut times = [[0_i64; 2]; 1100];
        for index in 0..events.len() {
            let height = stack.len();
            nested[index].depth = height;
            nested[index].parent = stack.last().map_or(-1, |scope| *scope as i64);
            let kind = events[index].kind;
            let name = reference.types[kind].name.clone();
            match name.as_str() {
                "wtf.scope#enter" | "wtf.trace#timeStamp" => {
                    let is_scope = name == "wtf.scope#enter";
                    let class = if is_scope { EventClass::SCOPE } else { EventClass::INSTANCE };
                    let args = events[index].args.take().unwrap_or_default();
                    events[index].kind = reference.on_demand(args["name"].as_str(), class);
                    self.generic[usize::from(!is_scope)] += 1;
                    if is_scope {
                        stack.push(index);
                    }
                }
                "wtf.scope#leave" => {
                    self.hidden += 1;
                    if let Some(scope) = stack.pop() {
                        let [begin, end] = [scope, index].map(|event| events[event].time);
                        let around = stack.last().map(|around| reference.types[events[*around].kind].flags);
                        nested[scope].end = Some(end);
                        [nested[scope].children, nested[scope].system] =
                            leave(&mut times[..=stack.len()], end - begin, around);
                    }
                }
                _ => {
                    let (class, flags) = (reference.types[kind].class, reference.types[kind].flags);
                    if class == 1 {
                        stack.push(index);
                    }
                    // An event that is both internal and appended counts twice, unless it is the built-in one.
                    self.hidden += usize::from(flags & 8 != 0 && name != "wtf.scope#appendData");
                    if flags & 16 != 0 {
                        self.hidden += 1;
                        self.append(index, &name, events, &stack);
                    }
                }
            }
            self.deepest = self.deepest.max(stack.len());
            if stack.len() > height {
                for scope in &stack {
                    nested[*scope].max_depth = nested[*scope].max_depth.max(height);
                }
            }
            if stack.len() >= 1024 {
                break;
            }
        }
        nested
    }

    fn append(&mut self, index: usize, name: &str, events: &mut [Stored], stack: &[usize]) {
        let args = events[index].args.take().unwrap_or_default();
        self.generic[2] += 1;
        let Some(scope) = stack.last() else { return };
        let into = events[*scope].args.get_or_insert_default();
        if name == "wtf.scope#appendData" {
            into.insert(args["name"].as_str().unwrap_or("null").to_owned(), args["value"].clone());
        } else {
            into.extend(args);
        }
    }
}

/// Takes the times of the innermost of the open scopes, and adds its duration to the scope around it.
fn leave(times: &mut [[i64; 2]], duration: i64, flags_around: Option<u32>) -> [i64; 2] {
    let (inner, outer) = times.split_last_mut().expect("a scope is open");
    if let (Some(flags), Some(around)) = (flags_around, outer.last_mut()) {
        around[0] += duration;
        // WTF uses the flags of the wrong scope, and does not pass the time further up.
        if flags & 4 != 0 {
            around[1] += duration;
        }
    }
    std::mem::take(inner)
}

fn argument(event: &Stored, name: &str) -> Json {
    event.args.as_ref().and_then(|args| args.get(name)).cloned().unwrap_or(Json::Null)
}

fn define_args() -> Vec<String> {
    ["uint16 wireId", "uint16 eventClass", "uint32 flags", "ascii name", "ascii args"].map(str::to_owned).to_vec()
}

fn canonical_args(text: &str) -> Vec<String> {
    let list = text.split(',').map(str::trim).filter(|argument| !argument.is_empty());
    let canonical = list.map(|argument| {
        let (kind, name) = argument.rsplit_once(' ').unwrap();
        format!("{} {name}", ArgumentType::parse(kind).unwrap())
    });
    canonical.collect()
}
