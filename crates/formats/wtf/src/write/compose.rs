//! Makes files from events, by rules that every reader of the format accepts.
//!
//! A single header chunk comes first; ids count up; strings come before events; definitions come before use, with one
//! signature per name; every zone is created, and every chunk starts by setting its zone; times do not decrease within
//! a chunk; a chunk has at most a megabyte of events.

use std::{collections::HashMap, io::Write};

use traceloom_core::{Error, Result};

use super::{
    encode::EventBuffer,
    json::TextEvents,
    layout::{Form, Layout},
};
use crate::{
    Argument, FileInfo, Value,
    event::{Definition, builtin_named, parse_arguments},
    raw::{ArgumentType, CHUNK_EVENT_BYTES, ChunkType, Element, EventClass, EventFlags, NO_TIME, PartType},
};

/// The id of a type that was defined here.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TypeId(u32);

/// The id of a zone that was created here.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ZoneId(u32);

#[derive(Debug)]
struct Defined {
    name: Box<str>,
    class: EventClass,
    flags: EventFlags,
    args_text: Box<str>,
    args: Box<[Argument]>,
    /// The types of one chunk are written in the order of their ranks.
    rank: u64,
    /// Its number in the file, once it has been written.
    wire_id: u32,
}

impl Defined {
    fn check(&self, values: &[Value<'_>]) -> Result<()> {
        let (name, expected, found) = (&self.name, self.args.len(), values.len());
        if expected != found {
            return Err(Error::usage(format!("{name} has {expected} arguments, not {found}")));
        }
        match self.args.iter().zip(values).find(|(argument, value)| !fits(argument.kind, value)) {
            Some((argument, _)) => {
                Err(Error::usage(format!("{} of {name} is not a valid {}", argument.name, argument.kind)))
            }
            None => Ok(()),
        }
    }
}

type ZoneNames = [Option<Box<str>>; 3];

/// An event of the current chunk; its arguments are in the buffer.
#[derive(Clone, Copy, Debug)]
struct PendingEvent {
    time_us: i64,
    zone: u32,
    kind: u32,
    start: usize,
    end: usize,
}

/// Definitions have 16 bits for an id.
const MAX_IDS: usize = 65_535;
/// Types that the composer writes itself.
const RESERVED: [&str; 3] = ["wtf.event#define", "wtf.zone#create", "wtf.zone#set"];
const ZONE_CREATE_ID: u32 = 2;
const ZONE_SET_ID: u32 = 3;
const FIRST_TYPE_ID: u32 = 4;

/// Writes a file from definitions, zones and events.
///
/// Call order: `define* zone* (define | zone | event | resource)* finish`.
#[derive(Debug)]
pub struct Composer<W> {
    layout: Layout<W>,
    types: Vec<Defined>,
    by_name: HashMap<Box<str>, u32>,
    zones: Vec<ZoneNames>,
    /// How many types and zones have been written.
    types_written: usize,
    zones_written: usize,
    args: EventBuffer,
    pending: Vec<PendingEvent>,
    resources: Vec<(PartType, Vec<u8>)>,
    text: TextEvents,
}

impl<W: Write> Composer<W> {
    /// Starts a file with its header chunk.
    pub fn new(out: W, form: Form, info: &FileInfo) -> Result<Self> {
        let mut composer = Self {
            layout: Layout::new(out, form)?,
            types: Vec::new(),
            by_name: HashMap::new(),
            zones: Vec::new(),
            types_written: 0,
            zones_written: 0,
            args: EventBuffer::default(),
            pending: Vec::new(),
            resources: Vec::new(),
            text: TextEvents::default(),
        };
        let json = info.to_json();
        composer.layout.put_chunk(ChunkType::FILE_HEADER, (NO_TIME, NO_TIME), &[(PartType::FILE_HEADER, &json)])?;
        Ok(composer)
    }

    /// Defines a type; repeating a definition returns the same type.
    pub fn define(&mut self, name: &str, class: EventClass, flags: EventFlags, args: &str) -> Result<TypeId> {
        if self.is_taken(name, class, flags, args) {
            return Err(Error::usage(format!("{name} is taken by another definition")));
        }
        if let Some(known) = self.type_named(name) {
            return Ok(known);
        }
        if name.is_empty() || name.contains('\0') {
            return Err(Error::usage(format!("{name:?} is not a valid name for an event type")));
        }
        if !self.has_room_for_types() {
            return Err(Error::limit("event types", self.types.len() as u64 + 1, MAX_IDS as u64));
        }
        let parsed = parse_arguments(args).map_err(|argument| {
            Error::usage(format!("{argument:?} in the signature of {name} is not a valid argument"))
        })?;
        let index = self.types.len() as u32;
        self.by_name.insert(name.into(), index);
        let (name, args_text) = (name.into(), args.into());
        self.types.push(Defined { name, class, flags, args_text, args: parsed, rank: index.into(), wire_id: 0 });
        Ok(TypeId(index))
    }

    /// Sets the position of a type among those of its chunk; by default, types are in the order of definition.
    pub(crate) fn rank(&mut self, kind: TypeId, rank: u64) {
        if let Some(defined) = self.types.get_mut(kind.0 as usize) {
            defined.rank = rank;
        }
    }

    /// Whether another type can be defined.
    pub(crate) fn has_room_for_types(&self) -> bool {
        self.types.len() + FIRST_TYPE_ID as usize <= MAX_IDS
    }

    /// Defines a type that every recording has, like `wtf.scope#leave`.
    pub fn builtin(&mut self, name: &str) -> Result<TypeId> {
        let builtin = builtin_named(name).ok_or_else(|| Error::usage(format!("{name} is not a built-in event")))?;
        self.define(name, builtin.class, EventFlags(builtin.flags), builtin.args)
    }

    /// The type with this name, if it is defined.
    pub fn type_named(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied().map(TypeId)
    }

    /// Whether the name belongs to another type, or to one that is written automatically.
    pub fn is_taken(&self, name: &str, class: EventClass, flags: EventFlags, args: &str) -> bool {
        let known = self.by_name.get(name).and_then(|index| self.types.get(*index as usize));
        RESERVED.contains(&name)
            || known.is_some_and(|known| known.class != class || known.flags != flags || *known.args_text != *args)
    }

    /// Creates a zone.
    pub fn zone(&mut self, name: Option<&str>, kind: Option<&str>, location: Option<&str>) -> Result<ZoneId> {
        if self.zones.len() >= MAX_IDS {
            return Err(Error::limit("zones", self.zones.len() as u64 + 1, MAX_IDS as u64));
        }
        self.zones.push([name, kind, location].map(|text| text.map(Into::into)));
        Ok(ZoneId(self.zones.len() as u32 - 1))
    }

    /// Adds an event; its arguments are in the order of the signature.
    pub fn event<'v>(
        &mut self,
        zone: ZoneId,
        kind: TypeId,
        time_us: i64,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<()> {
        if time_us < 0 {
            return Err(Error::usage(format!("the time {time_us} is before the timebase")));
        }
        let Some(defined) = self.types.get(kind.0 as usize) else {
            return Err(Error::usage("the type was defined in another file"));
        };
        if self.zones.len() <= zone.0 as usize {
            return Err(Error::usage("the zone was created in another file"));
        }
        let values: Vec<Value<'v>> = values.into_iter().collect();
        defined.check(&values)?;
        if self.layout.form() == Form::JsonEvents {
            self.text_event(zone, kind, time_us, &values);
        } else {
            let start = self.args.events.len();
            values.iter().try_for_each(|value| self.args.value(value))?;
            let end = self.args.events.len();
            self.pending.push(PendingEvent { time_us, zone: zone.0, kind: kind.0, start, end });
        }
        if self.chunk_bytes() >= CHUNK_EVENT_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds bytes that are stored with the events around it.
    pub fn resource(&mut self, kind: PartType, bytes: &[u8]) -> Result<()> {
        if !kind.is_resource() {
            return Err(Error::usage(format!("a {kind} part is not a resource")));
        }
        self.resources.push((kind, bytes.to_vec()));
        Ok(())
    }

    /// Number of strings in which a NUL had to be replaced.
    pub fn nuls_replaced(&self) -> u64 {
        self.args.nuls_replaced
    }

    /// Ends the current chunk and passes it on; a file that is cut off after it can be read up to here.
    pub fn end_chunk(&mut self) -> Result<()> {
        self.flush()
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<W> {
        self.flush()?;
        self.layout.finish()
    }

    fn chunk_bytes(&self) -> usize {
        self.args.events.len() + 8 * self.pending.len() + self.text.len()
    }

    fn text_event(&mut self, zone: ZoneId, kind: TypeId, time_us: i64, values: &[Value<'_>]) {
        self.define_in_text(time_us);
        let Some(defined) = self.types.get(kind.0 as usize) else { return };
        self.text.set_zone(zone.0, time_us);
        self.text.event(&defined.name, time_us, &defined.args, values);
    }

    /// Writes the definitions since the last event.
    fn define_in_text(&mut self, time_us: i64) {
        for defined in self.types.get(self.types_written..).unwrap_or_default() {
            self.text.define(&defined.name, defined.class, defined.flags, &defined.args_text);
        }
        for (index, zone) in self.zones.iter().enumerate().skip(self.zones_written) {
            self.text.create_zone(index as u32, zone, time_us);
        }
        (self.types_written, self.zones_written) = (self.types.len(), self.zones.len());
    }

    /// Writes the current chunk.
    fn flush(&mut self) -> Result<()> {
        let is_news = self.types_written < self.types.len() || self.zones_written < self.zones.len();
        if self.layout.form() == Form::JsonEvents {
            if is_news {
                self.define_in_text(0);
            }
            return self.flush_text();
        }
        if self.pending.is_empty() && self.resources.is_empty() && !is_news {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        if !pending.is_sorted_by_key(|event| event.time_us) {
            pending.sort_by_key(|event| event.time_us);
            self.reorder(&mut pending);
        }
        let args = std::mem::take(&mut self.args.events);
        let first_us = pending.first().map_or(0, |event| event.time_us);
        self.put_news(first_us as u32);
        // Stored times wrap after 2^32 microseconds; within a chunk they must not.
        let mut rest = pending.as_slice();
        loop {
            let turn = rest.first().map_or(0, |event| event.time_us >> 32);
            let same = rest.iter().take_while(|event| event.time_us >> 32 == turn).count();
            let (now, later) = rest.split_at_checked(same).unwrap_or((rest, &[]));
            self.put_pending(now, &args);
            self.put_events(now)?;
            self.args.events.clear();
            if later.is_empty() {
                break;
            }
            rest = later;
        }
        self.args.clear();
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    fn flush_text(&mut self) -> Result<()> {
        let resources = std::mem::take(&mut self.resources);
        let events = self.text.take();
        if events.is_empty() && resources.is_empty() {
            return Ok(());
        }
        let mut parts: Vec<(PartType, &[u8])> = vec![(PartType::JSON_EVENT_BUFFER, &events)];
        parts.extend(resources.iter().map(|(kind, bytes)| (*kind, bytes.as_slice())));
        self.layout.put_chunk(ChunkType::EVENT_DATA, (NO_TIME, NO_TIME), &parts)
    }

    fn put_news(&mut self, time: u32) {
        let args = &mut self.args;
        if self.types_written == 0 && self.zones_written == 0 {
            for (wire_id, name) in [(ZONE_CREATE_ID, "wtf.zone#create"), (ZONE_SET_ID, "wtf.zone#set")] {
                if let Some(builtin) = builtin_named(name) {
                    args.define(time, &builtin.definition(wire_id));
                }
            }
        }
        let mut news: Vec<&mut Defined> = self.types.iter_mut().skip(self.types_written).collect();
        news.sort_by_key(|defined| defined.rank);
        for (defined, wire_id) in news.into_iter().zip(FIRST_TYPE_ID + self.types_written as u32..) {
            defined.wire_id = wire_id;
            let Defined { name, class, flags, args_text, .. } = &*defined;
            let list = Some(&**args_text).filter(|text| !text.is_empty());
            args.define(time, &Definition { wire_id, class: *class, flags: *flags, name, args: list });
        }
        for (index, names) in self.zones.iter().enumerate().skip(self.zones_written) {
            args.begin(ZONE_CREATE_ID, time);
            args.word(index as u32 + 1);
            names.iter().for_each(|name| args.text(name.as_deref().map(str::as_bytes)));
        }
        (self.types_written, self.zones_written) = (self.types.len(), self.zones.len());
    }

    /// Encodes the arguments again, so that strings are in the order in which a reader meets them: the same events give
    /// the same bytes, in whichever order they arrived.
    fn reorder(&mut self, pending: &mut [PendingEvent]) {
        let old = std::mem::take(&mut self.args);
        self.args.nuls_replaced = old.nuls_replaced;
        let texts: Vec<&[u8]> = old.strings.split(|byte| *byte == 0).collect();
        for event in pending {
            let start = self.args.events.len();
            let mut left = old.events.get(event.start..event.end).unwrap_or_default();
            let kinds = self.types.get(event.kind as usize).map_or(&[][..], |defined| &defined.args);
            for kind in kinds.iter().map(|argument| argument.kind) {
                left = self.args.copy(kind, left, &texts);
            }
            (event.start, event.end) = (start, self.args.events.len());
        }
    }

    fn put_pending(&mut self, events: &[PendingEvent], args: &[u8]) {
        let mut zone = None;
        for event in events {
            let time = event.time_us as u32;
            if zone != Some(event.zone) {
                zone = Some(event.zone);
                self.args.begin(ZONE_SET_ID, time);
                self.args.word(event.zone + 1);
            }
            let wire_id = self.types.get(event.kind as usize).map_or(0, |defined| defined.wire_id);
            self.args.begin(wire_id, time);
            self.args.events.extend_from_slice(args.get(event.start..event.end).unwrap_or_default());
        }
    }

    fn put_events(&mut self, pending: &[PendingEvent]) -> Result<()> {
        let time = |event: Option<&PendingEvent>| event.map_or(NO_TIME, |event| event.time_us as u32);
        let times = (time(pending.first()), time(pending.last()));
        let resources = std::mem::take(&mut self.resources);
        let strings = std::mem::take(&mut self.args.strings);
        let events = std::mem::take(&mut self.args.events);
        let mut parts: Vec<(PartType, &[u8])> = vec![(PartType::STRING_TABLE, &strings)];
        parts.extend(resources.iter().map(|(kind, bytes)| (*kind, bytes.as_slice())));
        parts.push((PartType::BINARY_EVENT_BUFFER, &events));
        self.layout.put_chunk(ChunkType::EVENT_DATA, times, &parts)?;
        // The next chunk of the same batch refers to the same strings.
        self.args.strings = strings;
        self.args.events = events;
        Ok(())
    }
}

fn fits(kind: ArgumentType, value: &Value<'_>) -> bool {
    match (kind, value) {
        (ArgumentType::Bool, Value::Bool(_))
        | (ArgumentType::Ascii | ArgumentType::Utf8, Value::Text(_))
        | (ArgumentType::Any, Value::Any(_))
        | (ArgumentType::FlowId, Value::Flow(_))
        | (ArgumentType::Time32, Value::Time(_))
        | (ArgumentType::Array(_), Value::Array(None)) => true,
        (ArgumentType::Array(element), Value::Array(Some(array))) => element == array.element,
        (ArgumentType::Number(element), value) => matches!(
            (element, value),
            (Element::Int8 | Element::Int16 | Element::Int32, Value::Int(_))
                | (Element::Uint8 | Element::Uint16 | Element::Uint32, Value::Uint(_))
                | (Element::Float32, Value::Float(_))
                | (Element::Char, Value::Char(_))
                | (Element::Wchar, Value::Wchar(_))
        ),
        _ => false,
    }
}
