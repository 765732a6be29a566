//! `.wtf-trace`: spans, flows, frames, ranges, values and log entries, streamed chunk by chunk, a zone per thread.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, atomic::Ordering},
};

use traceloom_core::{Result, text::json};
use traceloom_easyprofiler::{Element, Value as Stored, raw::DataType};
use traceloom_wtf::{
    Builtins, Composer, FileInfo, Form, HAS_HIGH_RESOLUTION_TIMES, Text, TypeId, Value, ZoneId,
    raw::{EventClass, EventFlags},
    recorded,
};

use super::{
    Rec, Sink,
    file::{Medium, Output},
    text::Messages,
};
use crate::{
    clock::{Timeline, tick},
    hub::ThreadInfo,
    record::{Kind, Words},
    span::described,
    stats::COUNTERS,
};

/// Bytes that the composer has written and that are not in the file yet.
#[derive(Clone, Default)]
struct Chunks(Arc<Mutex<Vec<u8>>>);

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Chunks {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

pub(crate) struct WtfTrace {
    composer: Composer<Chunks>,
    chunks: Chunks,
    output: Output,
    types: HashMap<(u32, Kind), TypeId>,
    zones: HashMap<u32, Zone>,
    /// The open spans of each thread: their sites, and whether their starts are in the file.
    open: HashMap<u32, Vec<(u32, bool)>>,
    /// Open ranges whose starts are not in the file.
    missed_ranges: HashSet<u64>,
    /// Whether a zone has a name or losses to write.
    has_untold: bool,
    builtins: Builtins,
    discontinuity: TypeId,
    log: TypeId,
    dropped: TypeId,
    lost: TypeId,
    messages: Messages,
    timeline: Timeline,
}

/// A thread: its name until it is written, and losses that are not reported yet.
#[derive(Default)]
struct Zone {
    name: String,
    id: Option<ZoneId>,
    /// Records that were dropped because the ring was full.
    dropped: u64,
    /// Records that were lost while the file could not be written.
    lost: u64,
}

/// The outcome of writing a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    Written,
    /// There was no room for it.
    Missed,
    /// It ends a span that is not in the file.
    Unknown,
}

impl WtfTrace {
    pub(crate) fn create(path: &Path, timeline: &Timeline) -> Result<Self> {
        let output = Output::new(Box::new(File::create(path)?)).at(path);
        Self::new(output, timeline)
    }

    /// A trace that is not written to a file.
    pub(super) fn with_medium(medium: Box<dyn Medium>, timeline: &Timeline) -> Result<Self> {
        Self::new(Output::new(medium), timeline)
    }

    fn new(output: Output, timeline: &Timeline) -> Result<Self> {
        let chunks = Chunks::default();
        let pair = |key: &str, value: String| (key.to_owned(), value);
        let info = FileInfo {
            flags: HAS_HIGH_RESOLUTION_TIMES,
            timebase_ms: timeline.first.wall_ns as f64 / 1e6,
            context: vec![
                pair("contextType", "script".to_owned()),
                pair("uri", std::env::args().next().unwrap_or_default()),
                pair("title", "traceloom-record".to_owned()),
                pair("taskId", std::process::id().to_string()),
            ],
            metadata: Vec::new(),
            json: Vec::new(),
        };
        let mut composer = Composer::new(chunks.clone(), Form::Binary, &info)?;
        let (instance, plain) = (EventClass::INSTANCE, EventFlags(0));
        let mut trace = Self {
            builtins: Builtins::define(&mut composer)?,
            discontinuity: composer.builtin("wtf.trace#discontinuity")?,
            log: composer.define(recorded::LOG, instance, plain, recorded::LOG_ARGS)?,
            dropped: composer.define("records_dropped", instance, plain, "uint32 count")?,
            lost: composer.define("records_lost", instance, plain, "uint32 count")?,
            composer,
            chunks,
            output,
            types: HashMap::new(),
            zones: HashMap::new(),
            open: HashMap::new(),
            missed_ranges: HashSet::new(),
            has_untold: false,
            messages: Messages::default(),
            timeline: *timeline,
        };
        trace.pass_on()?;
        Ok(trace)
    }

    fn pass_on(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut *self.chunks.lock());
        Ok(self.output.write(&bytes)?)
    }

    /// Returns whether it was written.
    fn event<'v>(
        &mut self,
        thread: &ThreadInfo,
        kind: TypeId,
        tick: u64,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> bool {
        let time_us = (self.timeline.ns(tick) / 1000.0).max(0.0) as i64;
        let zone = self.zone_id(thread);
        let outcome = zone.and_then(|zone| self.composer.event(zone, kind, time_us, values));
        if outcome.is_err() {
            COUNTERS.lost.fetch_add(1, Ordering::Relaxed);
        }
        let is_chunk = !self.chunks.lock().is_empty();
        if is_chunk {
            // The output keeps the bytes and counts the error.
            let _ = self.pass_on();
        }
        outcome.is_ok()
    }

    fn zone(&mut self, thread: &ThreadInfo) -> &mut Zone {
        self.zones.entry(thread.index).or_insert_with(|| Zone { name: thread.name(), ..Zone::default() })
    }

    fn zone_id(&mut self, thread: &ThreadInfo) -> Result<ZoneId> {
        let zone = self.zone(thread);
        if let Some(id) = zone.id {
            return Ok(id);
        }
        let (name, location) = (zone.name.clone(), format!("thread {}", thread.tid));
        let id = self.composer.zone(Some(&name), Some("native_thread"), Some(&location))?;
        self.zone(thread).id = Some(id);
        Ok(id)
    }

    /// The zone of a thread, marked as having something to report.
    fn owe(&mut self, thread: &ThreadInfo) -> &mut Zone {
        // If there are too many zones, the loss is counted.
        let _ = self.zone_id(thread);
        self.has_untold = true;
        self.zone(thread)
    }

    /// Records in each zone how many of its records are missing.
    fn tell(&mut self, tick: u64) {
        if !std::mem::take(&mut self.has_untold) {
            return;
        }
        let time_us = (self.timeline.ns(tick) / 1000.0).max(0.0) as i64;
        for zone in self.zones.values_mut() {
            let Some(id) = zone.id else { continue };
            for (kind, count) in [(self.dropped, &mut zone.dropped), (self.lost, &mut zone.lost)] {
                let count = std::mem::take(count);
                if count > 0 {
                    let values = [Value::Uint(count.try_into().unwrap_or(u32::MAX))];
                    // The types and the zone are known to the composer.
                    let _ = self.composer.event(id, self.discontinuity, time_us, []);
                    let _ = self.composer.event(id, kind, time_us, values);
                }
            }
        }
    }

    /// Writes a record, or skips it if there is no space. The end of a span is written if and only if its start was, so
    /// that the spans in the file nest; the ends of open spans take little space.
    pub(super) fn put_if(&mut self, rec: &Rec<'_>, has_room: bool) -> Fate {
        match rec.kind {
            Kind::SpanBegin | Kind::FrameBegin => {
                let is_written = has_room && self.write(rec);
                self.open.entry(rec.thread.index).or_default().push((rec.id, is_written));
                return if is_written { Fate::Written } else { Fate::Missed };
            }
            Kind::SpanEnd | Kind::FrameEnd if !self.end_inner(rec) => return Fate::Unknown,
            Kind::RangeBegin if !has_room => {
                self.missed_ranges.insert({ rec.words }.next());
                return Fate::Missed;
            }
            Kind::RangeEnd if self.missed_ranges.remove(&{ rec.words }.next()) => return Fate::Unknown,
            Kind::SpanEnd | Kind::FrameEnd | Kind::RangeEnd | Kind::ThreadName => {}
            _ if !has_room => return Fate::Missed,
            _ => {}
        }
        self.write(rec);
        Fate::Written
    }

    /// Ends the spans inside the innermost span of this site; returns whether the start of that span is in the file.
    fn end_inner(&mut self, rec: &Rec<'_>) -> bool {
        let Some(open) = self.open.get_mut(&rec.thread.index) else { return false };
        let Some(at) = open.iter().rposition(|(site, _)| *site == rec.id) else { return false };
        let unended = open.drain(at + 1..).filter(|(_, is_known)| *is_known).count();
        let is_known = open.pop().is_some_and(|(_, is_known)| is_known);
        for _ in 0..unended {
            self.event(rec.thread, self.builtins.leave, rec.tick, []);
        }
        is_known
    }

    /// The type for the records of a site; a name that another type already has gets a suffix.
    fn type_of(&mut self, rec: &Rec<'_>, class: EventClass, args: &str) -> Result<TypeId> {
        let key = (rec.id, rec.kind);
        if let Some(known) = self.types.get(&key) {
            return Ok(*known);
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.#:$[]\"'-".contains(c);
        let prefix = if rec.kind == Kind::Value { recorded::VALUE } else { "" };
        let plain = rec.site.name.chars().map(|c| if is_name(c) { c } else { '_' });
        let mut name: String = prefix.chars().chain(plain).collect();
        while name.is_empty() || self.composer.is_taken(&name, class, EventFlags(0), args) {
            name.push('_');
        }
        let defined = self.composer.define(&name, class, EventFlags(0), args)?;
        self.types.insert(key, defined);
        Ok(defined)
    }

    fn typed<const N: usize>(&mut self, rec: &Rec<'_>, class: EventClass, args: &str, values: [Value<'_>; N]) -> bool {
        match self.type_of(rec, class, args) {
            Ok(kind) => self.event(rec.thread, kind, rec.tick, values),
            Err(_) => {
                COUNTERS.lost.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }

    fn put_log(&mut self, rec: &Rec<'_>) -> bool {
        let message = self.messages.render(rec).to_vec();
        let level = rec.site.level.as_ref().map_or("", |(_, name)| name);
        let (format, file, line) = (text(&rec.site.name), text(&rec.site.file), Value::Uint(rec.site.line));
        let values = [text(level), bytes(&message), format, file, line];
        self.event(rec.thread, self.log, rec.tick, values)
    }

    fn put_flow(&mut self, rec: &Rec<'_>, number: u32) -> bool {
        let (name, none) = (text(&rec.site.name), Value::Any(None));
        match rec.kind {
            Kind::FlowBegin => {
                let values = [Value::Flow(number), Value::Flow(0), name, none];
                self.event(rec.thread, self.builtins.branch, rec.tick, values)
            }
            Kind::FlowStep => self.event(rec.thread, self.builtins.extend, rec.tick, [Value::Flow(number), name, none]),
            _ => self.event(rec.thread, self.builtins.terminate, rec.tick, [Value::Flow(number), none]),
        }
    }

    /// A frame is also a scope, so that it is shown around its contents.
    fn put_frame(&mut self, rec: &Rec<'_>, number: u32) -> bool {
        let values = [Value::Uint(number)];
        if rec.kind == Kind::FrameBegin {
            self.event(rec.thread, self.builtins.frame_start, rec.tick, values)
                && self.typed(rec, EventClass::SCOPE, "", [])
        } else {
            self.event(rec.thread, self.builtins.leave, rec.tick, [])
                && self.event(rec.thread, self.builtins.frame_end, rec.tick, values)
        }
    }

    /// Returns whether it was written.
    fn write(&mut self, rec: &Rec<'_>) -> bool {
        let mut words = rec.words;
        match rec.kind {
            Kind::Log => self.put_log(rec),
            Kind::SpanBegin => {
                let is_written = self.typed(rec, EventClass::SCOPE, "", []);
                if is_written && !words.0.is_empty() {
                    let json = quoted(&words.text());
                    self.event(rec.thread, self.builtins.append, rec.tick, [text("text"), any(&json)]);
                }
                is_written
            }
            Kind::SpanEnd => self.event(rec.thread, self.builtins.leave, rec.tick, []),
            Kind::Event => {
                let told = if words.0.is_empty() { String::new() } else { words.text() };
                self.typed(rec, EventClass::INSTANCE, "utf8 text", [text(&told)])
            }
            Kind::Value => {
                let (data_type, is_array, _) = described(words.next());
                let mut stored = Vec::new();
                words.bytes(&mut stored);
                if matches!(data_type, DataType::STRING | DataType::CHAR) {
                    self.typed(rec, EventClass::INSTANCE, recorded::TEXT_ARGS, [bytes(&stored)])
                } else {
                    let json = value_json(data_type, is_array, &stored);
                    self.typed(rec, EventClass::INSTANCE, recorded::NUMBER_ARGS, [any(&json)])
                }
            }
            Kind::FrameBegin | Kind::FrameEnd => self.put_frame(rec, words.next() as u32),
            Kind::FlowBegin | Kind::FlowStep | Kind::FlowEnd => self.put_flow(rec, words.next() as u32),
            Kind::RangeBegin => {
                let values = [Value::Uint(words.next() as u32), text(&rec.site.name), Value::Any(None)];
                self.event(rec.thread, self.builtins.range_begin, rec.tick, values)
            }
            Kind::RangeEnd => {
                self.event(rec.thread, self.builtins.range_end, rec.tick, [Value::Uint(words.next() as u32)])
            }
            Kind::Bookmark => {
                let told = words.text();
                self.event(rec.thread, self.builtins.mark, rec.tick, [text(&told), Value::Any(None)])
            }
            Kind::ThreadName => {
                self.zone(rec.thread).name = words.text();
                true
            }
            Kind::Block => {
                let [_, _, rest @ ..] = words.0 else { return false };
                let told = Words(rest).text();
                self.typed(rec, EventClass::INSTANCE, "utf8 text", [text(&told)])
            }
            Kind::Pad => true,
        }
    }
}

impl Sink for WtfTrace {
    fn put(&mut self, rec: &Rec<'_>) {
        let has_room = !self.output.is_full();
        if has_room {
            self.tell(rec.tick);
        }
        if self.put_if(rec, has_room) == Fate::Missed && !has_room {
            COUNTERS.lost.fetch_add(1, Ordering::Relaxed);
            self.owe(rec.thread).lost += 1;
        }
    }

    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64) {
        self.owe(thread).dropped += count;
        if !self.output.is_full() {
            self.tell(tick);
        }
    }

    fn gap(&mut self, thread: &ThreadInfo, tick: u64) {
        let open = self.open.remove(&thread.index).unwrap_or_default();
        for _ in open.iter().filter(|(_, is_known)| *is_known) {
            self.event(thread, self.builtins.leave, tick, []);
        }
    }

    fn tick(&mut self, timeline: &Timeline) {
        self.timeline = *timeline;
        // The output keeps the bytes and counts the error.
        let _ = self.flush();
    }

    fn flush(&mut self) -> Result<()> {
        self.composer.end_chunk()?;
        self.pass_on()?;
        if self.has_untold {
            self.tell(tick());
            self.composer.end_chunk()?;
            self.pass_on()?;
        }
        Ok(())
    }

    /// One chunk per pause of a thread would make many small ones: chunks end when they are full, or once per second.
    fn idle(&mut self) -> Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        Ok(self.output.sync()?)
    }

    fn close(mut self: Box<Self>, _: &Timeline) -> Result<()> {
        self.flush()
    }
}

fn text(text: &str) -> Value<'_> {
    bytes(text.as_bytes())
}

fn bytes(text: &[u8]) -> Value<'_> {
    Value::Text(Some(Text::utf8(text)))
}

fn any(text: &str) -> Value<'_> {
    Value::Any(Some(Text::utf8(text.as_bytes())))
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    json::push_string(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

/// Numbers as JSON.
fn value_json(data_type: DataType, is_array: bool, stored: &[u8]) -> String {
    let value = Stored::new(0, 0, data_type, stored);
    let shown: Vec<String> = value.elements().into_iter().flatten().map(element_json).collect();
    if is_array { format!("[{}]", shown.join(",")) } else { shown.into_iter().next().unwrap_or("null".to_owned()) }
}

fn element_json(element: Element) -> String {
    match element {
        Element::Bool(flag) => flag.to_string(),
        Element::Signed(number) => number.to_string(),
        Element::Unsigned(number) => number.to_string(),
        Element::Float(number) if number.is_finite() => number.to_string(),
        Element::Double(number) if number.is_finite() => number.to_string(),
        // JSON cannot represent the other numbers.
        Element::Float(_) | Element::Double(_) => "null".to_owned(),
    }
}
