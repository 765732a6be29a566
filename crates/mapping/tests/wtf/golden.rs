//! Compares the tables of a trace with the output of WTF's reader, except for its known mistakes.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value as Json};
use traceloom_model::Table;

use super::rows::{Arg, Event, Rows, Span, object, same};

/// How much was compared.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    pub(crate) scopes: usize,
    pub(crate) instances: usize,
    pub(crate) args: usize,
    pub(crate) frames: usize,
    pub(crate) marks: usize,
    pub(crate) ranges: usize,
    pub(crate) links: usize,
    pub(crate) definitions: usize,
    pub(crate) attributes: usize,
}

/// Number of open scopes at which WTF stops nesting.
const MAX_LEVELS: u64 = 1024;
/// Types that WTF replaces with one named by the argument, which it then drops.
const GENERIC: [&str; 2] = ["wtf.scope#enter", "wtf.trace#timeStamp"];
/// Microseconds after which stored times wrap.
const TURN_US: i64 = 1 << 32;

pub(crate) struct Golden<'g> {
    name: &'g str,
    json: &'g Json,
    rows: &'g Rows,
    compared: &'g mut Compared,
    /// Types that exist only in WTF: made up for generic events.
    made_up: HashSet<u64>,
    /// Ids of ranges, which WTF renumbers.
    range_ids: HashMap<u64, u64>,
}

impl<'g> Golden<'g> {
    pub(crate) fn new(name: &'g str, json: &'g Json, rows: &'g Rows, compared: &'g mut Compared) -> Self {
        Self { name, json, rows, compared, made_up: HashSet::new(), range_ids: HashMap::new() }
    }

    pub(crate) fn compare(mut self) {
        let zones = list(&self.json["zones"]);
        assert_eq!(zones.len(), self.rows.threads.len(), "{}: zones", self.name);
        for (thread, zone) in zones.iter().enumerate() {
            self.thread(thread, zone);
            let thread = thread as i64;
            if self.is_wrapped() {
                self.wrapped_events(thread, zone);
                continue;
            }
            self.events(thread, zone);
            self.frames(thread, zone);
            self.marks(thread, zone);
            self.ranges(thread, zone);
        }
        if !self.is_wrapped() {
            self.times();
        }
        self.links();
        self.definitions();
        self.header();
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.json["ok"] != true
    }

    /// Compares what WTF had read before it refused the file; Traceloom reads on. Returns the number of events.
    pub(crate) fn compare_begun(mut self) -> usize {
        let zones = list(&self.json["zones"]);
        for (thread, zone) in zones.iter().enumerate().filter(|(_, zone)| zone["count"] != 0) {
            self.thread(thread, zone);
            self.events(thread as i64, zone);
        }
        zones.iter().map(|zone| list(&zone["events"]).len()).sum()
    }

    fn kind(&self, event: &Json) -> &'g Json {
        &self.json["eventTypes"][number(&event["type"]) as usize - 1]
    }

    fn is_wrapped(&self) -> bool {
        self.rows.times[1].is_some_and(|last| last >= TURN_US * self.rows.unit_ns())
    }

    fn thread(&self, index: usize, zone: &Json) {
        let ours = self.rows.threads[index].each_ref().map(|text| text.as_deref().unwrap_or_default());
        let theirs = ["name", "type", "location"].map(|key| zone[key].as_str().unwrap_or_default());
        assert_eq!(ours, theirs, "{}: zone {index}", self.name);
    }

    fn times(&self) {
        let zones = list(&self.json["zones"]).iter();
        if zones.clone().flat_map(|zone| list(&zone["events"])).any(is_torn) {
            return;
        }
        let is_empty = zones.clone().all(|zone| zone["count"] == 0);
        let mut theirs = ["firstEventTimeUs", "lastEventTimeUs"]
            .map(|key| (!is_empty).then(|| signed(&self.json[key]) * self.rows.unit_ns()));
        // WTF lets a zone without events start at 0.
        if zones.clone().any(|zone| zone["count"] == 0) {
            theirs[0] = self.rows.times[0];
        }
        assert_eq!(self.rows.times, theirs, "{}: first and last time", self.name);
    }

    /// Every event of a zone, in time order.
    fn events(&mut self, thread: i64, zone: &Json) {
        let mut spans = self.scopes(thread).into_iter();
        let mut instances = self.instances(thread).into_iter();
        let is_too_deep = number(&zone["maxScopeDepth"]) >= MAX_LEVELS;
        let mut is_nested = true;
        let mut ids: HashMap<i64, i64> = HashMap::new();
        for (index, event) in list(&zone["events"]).iter().enumerate() {
            let at = format!("{} zone {thread} event {index} {event}", self.name);
            let parent = ids.get(&signed(&event["parent"])).copied();
            let kind = self.kind(event);
            // WTF reads past the end of its buffer; Traceloom reports the truncated event.
            if is_torn(event) {
                continue;
            }
            if kind["class"] == 1 {
                let span = spans.next().unwrap_or_else(|| panic!("{at}: no scope is left"));
                self.scope(span, event, &at, is_too_deep);
                if is_nested {
                    assert_eq!((span.parent, u64::from(span.depth)), (parent, number(&event["depth"])), "{at}");
                }
                ids.insert(index as i64, span.id);
            } else if kind["name"] != "wtf.scope#leave" || (parent.is_none() && is_nested) {
                let row = instances.next().unwrap_or_else(|| panic!("{at}: no event is left"));
                self.instance(row, event, &at);
                assert!(!is_nested || row.span == parent, "{at}: in {:?}, not {parent:?}", row.span);
            }
            is_nested &= !is_too_deep || number(&event["depth"]) + 1 < MAX_LEVELS;
        }
        let left = spans.count() + instances.count();
        assert!(left == 0 || self.is_refused(), "{}: {left} rows beyond the original's", self.name);
    }

    fn scopes(&self, thread: i64) -> Vec<&'g Span> {
        self.spans(thread, "scope")
    }

    fn spans(&self, thread: i64, category: &str) -> Vec<&'g Span> {
        let spans = self.rows.spans.iter().filter(|span| span.thread == thread && span.category == category);
        let mut spans: Vec<_> = spans.collect();
        spans.sort_by_key(|span| (span.ts, span.id));
        spans
    }

    fn instances(&self, thread: i64) -> Vec<&'g Event> {
        let mut events: Vec<_> = self.rows.events.iter().filter(|event| event.thread == thread).collect();
        events.sort_by_key(|event| (event.ts, event.id));
        events
    }

    fn scope(&mut self, span: &Span, event: &Json, at: &str, is_too_deep: bool) {
        let unit = self.rows.unit_ns();
        assert_eq!(span.ts, signed(&event["t"]) * unit, "{at}");
        match event.get("end") {
            Some(end) => {
                assert_eq!(span.dur, Some((signed(end) - signed(&event["t"])) * unit), "{at}");
                assert_eq!(span.own, Some(signed(&event["own"]) * unit), "{at}");
            }
            // WTF treats a scope closed at time 0 as not closed.
            None => assert!(is_too_deep || span.dur.is_none_or(|dur| span.ts + dur == 0), "{at}: {:?}", span.dur),
        }
        let definition = span.definition.expect("a scope has a type");
        self.name(definition, &span.name, event, at);
        let args = self.rows.args_of(Table::Spans, span.id);
        self.args(definition, args, event, at);
        self.compared.scopes += 1;
    }

    fn instance(&mut self, row: &Event, event: &Json, at: &str) {
        assert_eq!(row.ts, signed(&event["t"]) * self.rows.unit_ns(), "{at}");
        if row.category == "mark" {
            assert_eq!(self.kind(event)["name"], "wtf.trace#mark", "{at}");
        } else {
            self.name(row.definition, &row.name, event, at);
        }
        // WTF drops data that is appended outside any scope.
        if row.category != "append" || row.span.is_some() {
            self.args(row.definition, self.rows.args_of(Table::Events, row.id), event, at);
        }
        self.compared.instances += 1;
    }

    fn name(&mut self, definition: i64, name: &str, event: &Json, at: &str) {
        let theirs = self.kind(event)["name"].as_str().unwrap();
        let is_generic = GENERIC.contains(&&*self.rows.definition(definition).name);
        if is_generic {
            self.made_up.insert(number(&event["type"]));
            // WTF parses the name as a signature; an invalid one gets a number.
            let head = name.trim().split('(').next().unwrap().replace(' ', "");
            assert!(theirs == name || theirs == head || theirs.starts_with("invalid_"), "{at}: {name}");
        } else {
            assert_eq!(name, theirs, "{at}");
        }
    }

    fn args(&mut self, definition: i64, args: &[Arg], event: &Json, at: &str) {
        let definition = self.rows.definition(definition);
        let mut ours = object(args);
        let mut theirs = event.get("args").map_or_else(Map::new, |args| args.as_object().unwrap().clone());
        if GENERIC.contains(&&*definition.name) {
            for own in definition.args.split(',').filter_map(|arg| Some(arg.rsplit_once(' ')?.1)) {
                if !theirs.contains_key(own) {
                    ours.remove(own);
                }
            }
        }
        if definition.name.starts_with("wtf.timeRange#") {
            let ids = [ours.remove("id"), theirs.remove("id")].map(|id| number(&id.expect("a range has an id")));
            assert_eq!(*self.range_ids.entry(ids[0]).or_insert(ids[1]), ids[1], "{at}");
        }
        self.compared.args += ours.len();
        let (ours, theirs) = (Json::Object(ours), Json::Object(theirs));
        assert!(same(&ours, &theirs), "{at}: {ours}");
    }

    /// Where WTF's time wraps and ours does not, order and positions differ, but the events are the same.
    fn wrapped_events(&mut self, thread: i64, zone: &Json) {
        let turn = TURN_US * self.rows.unit_ns();
        let mut ours: Vec<(i64, String)> =
            self.scopes(thread).iter().map(|row| (row.ts % turn, row.name.clone())).collect();
        ours.extend(self.instances(thread).iter().map(|row| (row.ts % turn, row.name.clone())));
        let theirs = list(&zone["events"]).iter().filter(|event| self.kind(event)["name"] != "wtf.scope#leave");
        let time = |event: &Json| signed(&event["t"]) * self.rows.unit_ns();
        let mut theirs: Vec<(i64, String)> =
            theirs.map(|event| (time(event), self.kind(event)["name"].as_str().unwrap().to_owned())).collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{}: events past the turn", self.name);
        let scopes = self.scopes(thread);
        assert!(scopes.iter().any(|scope| scope.ts >= turn) && scopes.iter().all(|scope| scope.dur.is_some()));
    }

    /// WTF has no frames that start or end at time 0, or that have no end.
    fn frames(&mut self, thread: i64, zone: &Json) {
        let unit = self.rows.unit_ns();
        let mut ours = BTreeMap::new();
        for span in self.spans(thread, "frame") {
            let number = self.rows.args_of(Table::Spans, span.id)[0].unsigned.unwrap();
            let end = span.dur.map_or(0, |dur| span.ts + dur);
            if span.ts != 0 && end != 0 {
                ours.insert(number, (span.ts, end));
            }
        }
        let frame =
            |frame: &Json| (number(&frame["number"]), (signed(&frame["t"]) * unit, signed(&frame["end"]) * unit));
        let theirs: BTreeMap<_, _> = list(&zone["frames"]).iter().map(frame).collect();
        assert_eq!(ours, theirs, "{}: frames", self.name);
        self.compared.frames += theirs.len();
    }

    fn marks(&mut self, thread: i64, zone: &Json) {
        let rows: Vec<_> = self.instances(thread).into_iter().filter(|event| event.category == "mark").collect();
        let marks = list(&zone["marks"]);
        assert_eq!(rows.len(), marks.len(), "{}: marks", self.name);
        for (row, mark) in rows.iter().zip(marks) {
            assert_eq!(row.ts, signed(&mark["t"]) * self.rows.unit_ns(), "{}: {mark}", self.name);
            assert_eq!(mark["name"], row.name, "{}: {mark}", self.name);
            let value = object(self.rows.args_of(Table::Events, row.id)).remove("value").unwrap_or_default();
            assert!(same(&value, &mark["value"]), "{}: {mark}", self.name);
            self.compared.marks += 1;
        }
    }

    /// WTF treats a range that ends in another zone as two halves; Traceloom makes no range of a lone end.
    fn ranges(&mut self, thread: i64, zone: &Json) {
        let unit = self.rows.unit_ns();
        let mut rows = self.spans(thread, "range").into_iter();
        for range in list(&zone["timeRanges"]) {
            let at = format!("{}: {range}", self.name);
            let end = Some(signed(&range["end"]) * unit).filter(|end| *end != 0);
            if signed(&range["begin"]) < 0 {
                let crosses = |span: &Span| span.thread != thread && span.dur.map(|dur| span.ts + dur) == end;
                let is_whole = self.rows.spans.iter().any(|span| span.category == "range" && crosses(span));
                assert!(is_whole || self.is_spare_end(thread, end), "{at}");
                continue;
            }
            let row = rows.next().unwrap_or_else(|| panic!("{at}: no range is left"));
            assert_eq!((row.parent, row.depth, row.own), (None, 0, None), "{at}");
            assert_eq!(row.ts, signed(&range["t"]) * unit, "{at}");
            assert_eq!(range["name"], row.name, "{at}");
            let value = object(self.rows.args_of(Table::Spans, row.id)).remove("value").unwrap();
            assert!(same(&value, &range["value"]), "{at}: {value}");
            assert!(end.is_none() || row.dur.map(|dur| row.ts + dur) == end, "{at}: {:?}", row.dur);
            self.compared.ranges += 1;
        }
        assert_eq!(rows.count(), 0, "{}: ranges beyond the original's", self.name);
    }

    /// Whether this end belongs to a range without a start, or to one that ends more than once.
    fn is_spare_end(&self, thread: i64, end: Option<i64>) -> bool {
        let id = |event: &Event| object(self.rows.args_of(Table::Events, event.id)).remove("id");
        let named = |name: &'static str| self.rows.events.iter().filter(move |event| event.name == name);
        let mut here = named("wtf.timeRange#end").filter(|event| event.thread == thread && Some(event.ts) == end);
        here.any(|ended| {
            let of_range = |name| named(name).filter(|event| id(event) == id(ended)).count();
            of_range("wtf.timeRange#begin") == 0 || of_range("wtf.timeRange#end") > 1
        })
    }

    /// WTF keeps flows only as events; the steps follow from these.
    fn links(&mut self) {
        let mut last: HashMap<u64, Option<i64>> = HashMap::new();
        let mut links = self.rows.links.iter();
        for event in &self.rows.events {
            let Some(kind) = event.name.strip_prefix("wtf.flow#").filter(|kind| *kind != "appendData") else {
                continue;
            };
            let args = object(self.rows.args_of(Table::Events, event.id));
            let id = |key: &str| args.get(key).and_then(Json::as_u64).unwrap_or(0);
            let before = if kind == "branch" { id("parentId") } else { id("id") };
            let from = last.get(&before).copied().flatten().filter(|_| before != 0);
            let link = links.next().unwrap_or_else(|| panic!("{}: no link for event {}", self.name, event.id));
            let ours = (link.id, link.flow, link.from, link.to, link.ts, &*link.kind);
            assert_eq!(ours, (event.id, id("id"), from, event.span, event.ts, kind), "{}", self.name);
            match kind {
                "terminate" => last.remove(&id("id")),
                _ => last.insert(id("id"), event.span),
            };
            self.compared.links += 1;
        }
        assert_eq!(links.count(), 0, "{}: links without events", self.name);
    }

    fn definitions(&mut self) {
        for kind in list(&self.json["eventTypes"]) {
            let name = kind["name"].as_str().unwrap();
            let ours = self.rows.definitions.iter().find(|definition| definition.name == name);
            let Some(ours) = ours else {
                assert!(self.made_up.contains(&number(&kind["id"])), "{}: {kind} is missing", self.name);
                continue;
            };
            let class = if kind["class"] == 1 { "scope" } else { "instance" };
            assert_eq!((&*ours.kind, ours.flags), (class, number(&kind["flags"])), "{}: {kind}", self.name);
            let names = |args: Vec<&str>| -> Vec<String> {
                args.iter().filter_map(|arg| Some(arg.rsplit_once(' ')?.1.to_owned())).collect()
            };
            let theirs = list(&kind["args"]).iter().map(|arg| arg.as_str().unwrap()).collect();
            assert_eq!(names(ours.args.split(',').collect()), names(theirs), "{}: {kind}", self.name);
            self.compared.definitions += 1;
        }
    }

    /// Every header value, except the defaults that WTF fills in.
    fn header(&mut self) {
        let Some(header) = self.json.get("header").and_then(Json::as_object) else { return };
        let mut theirs = Vec::new();
        for key in ["contextInfo", "metadata"] {
            flatten(key, &header[key], &mut theirs);
        }
        for (key, value) in theirs {
            match self.rows.attributes.get(&key) {
                Some(ours) => assert_eq!(*ours, value, "{}: {key}", self.name),
                None => assert!(["", "unknown", "other", "desktop"].contains(&&*value), "{}: {key} {value}", self.name),
            }
            self.compared.attributes += 1;
        }
        let timebase: f64 = self.rows.attributes["timebase"].parse().unwrap();
        let stored = &header["timebase"];
        assert_eq!(stored.as_f64().or_else(|| stored.as_str()?.parse().ok()), Some(timebase), "{}", self.name);
        let has =
            |word: &str| self.rows.attributes.iter().any(|(key, value)| key.starts_with("flags.") && value == word);
        let flags = u64::from(has("has_high_resolution_times")) + 2 * u64::from(has("times_as_count"));
        assert_eq!(number(&header["flags"]), flags, "{}", self.name);
    }
}

fn flatten(path: &str, value: &Json, into: &mut Vec<(String, String)>) {
    match value {
        Json::Null => {}
        Json::Object(members) => members.iter().for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, into)),
        Json::Array(list) => {
            list.iter().enumerate().for_each(|(place, value)| flatten(&format!("{path}.{place}"), value, into));
        }
        Json::String(text) => into.push((path.to_owned(), text.clone())),
        other => into.push((path.to_owned(), other.to_string())),
    }
}

fn is_torn(event: &Json) -> bool {
    event["args"].as_object().is_some_and(|args| args.values().any(|value| value.get("$undefined").is_some()))
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Json) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

fn signed(value: &Json) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is a number"))
}
