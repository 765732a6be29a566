//! Takes events out of their buffers and acts on those that tell the loader something.

use std::collections::HashMap;

use traceloom_core::{ErrorKind, Finding, Limits, Located, Result, Window, json};

use crate::{
    Args, Argument, Encoding, Event, EventType, EventTypes, Reader, Record, Role, StringTable, Value, Zone,
    args::measure,
    findings::*,
    raw::{ArgumentType, DEFINE_WIRE_ID, EventClass, EventFlags},
    read::{BytesKind, Next, State},
    types::{Defined, Definition, is_fatal_name, parse_arguments},
};

/// What ends a line of a script, and a comment with it.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];
/// Bytes of wire id and time in words.
const WORDS_HEAD: usize = 8;
/// Bytes of wire id and time in the packed encoding.
const LEGACY_HEAD: usize = 6;
/// How far ahead a readable event is looked for behind an unreadable one.
const SEARCH_BYTES: usize = 4096;
/// Bytes of an array that the original cannot allocate; of a shorter one it reads zeros behind the end of the buffer.
const TOO_LONG: u64 = 1 << 30;
/// Events in a row that make a place believable.
const CHAIN: usize = 3;

/// An event whose bytes are at the front of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    kind: u32,
    wire_id: u32,
    time: u32,
    time_us: i64,
    zone: u32,
    head: usize,
    pub(crate) len: usize,
}

/// Bytes of an event, or how many it would need.
enum Size {
    Whole(usize),
    Needs(u64),
}

impl Reader {
    /// An event that is whole, of a fixed length, in the window, and of no further interest to the loader: nearly all.
    #[inline]
    pub(crate) fn plain_event(&mut self, end: u64) -> Option<Ready> {
        let bytes = self.body.bytes();
        let [a, b, c, d, e, f, g, h] = *bytes.first_chunk::<WORDS_HEAD>()?;
        let wire_id = u32::from_le_bytes([a, b, c, d]);
        let kind = self.types.by_wire(wire_id)?;
        let len = WORDS_HEAD + kind.fixed_bytes? as usize;
        let is_here = len <= bytes.len() && len as u64 <= end.saturating_sub(self.body.offset());
        if !is_here || kind.is_watched || self.zones.pending_unknown.is_some() {
            return None;
        }
        let kind = kind.index;
        let time = u32::from_le_bytes([e, f, g, h]);
        let time_us = self.zones.time_us(time);
        Some(Ready { kind, wire_id, time, time_us, zone: self.zones.current(), head: WORDS_HEAD, len })
    }

    /// Any event in words.
    pub(crate) fn prepare_words(&mut self, end: u64, then: usize) -> Result<Option<Ready>> {
        let left = end.saturating_sub(self.body.offset());
        let Some(head) = self.body.fill(WORDS_HEAD)?.first_chunk::<WORDS_HEAD>().filter(|_| left >= WORDS_HEAD as u64)
        else {
            return self.torn_head(end, then);
        };
        let [a, b, c, d, e, f, g, h] = *head;
        let (wire_id, time) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let Some(kind) = self.types.by_wire(wire_id) else {
            return self.undefined(wire_id, end, then, Encoding::Words);
        };
        let Some(fixed) = kind.fixed_bytes else {
            return self.prepare_slow(wire_id, time, end, then, Encoding::Words);
        };
        let len = WORDS_HEAD + fixed as usize;
        let kind = kind.index;
        if len as u64 > left || self.body.fill(len)?.len() < len {
            return self.torn(len as u64, end, then);
        }
        self.watch(Ready { kind, wire_id, time, time_us: 0, zone: 0, head: WORDS_HEAD, len }, end)
    }

    pub(crate) fn prepare_legacy(&mut self, end: u64, then: usize) -> Result<Option<Ready>> {
        let left = end.saturating_sub(self.body.offset());
        let Some(head) =
            self.body.fill(LEGACY_HEAD)?.first_chunk::<LEGACY_HEAD>().filter(|_| left >= LEGACY_HEAD as u64)
        else {
            return self.torn_head(end, then);
        };
        let [a, b, c, d, e, f] = *head;
        let (wire_id, time) = (u16::from_be_bytes([a, b]).into(), u32::from_be_bytes([c, d, e, f]));
        if self.types.by_wire(wire_id).is_none() {
            return self.undefined(wire_id, end, then, Encoding::Legacy);
        }
        self.prepare_slow(wire_id, time, end, then, Encoding::Legacy)
    }

    /// Events whose length depends on their contents.
    fn prepare_slow(
        &mut self,
        wire_id: u32,
        time: u32,
        end: u64,
        then: usize,
        encoding: Encoding,
    ) -> Result<Option<Ready>> {
        let head = head_bytes(encoding);
        let Some(kind) = self.types.by_wire(wire_id) else { return Ok(None) };
        let index = kind.index;
        if kind.args.is_none() {
            return self.unreadable(index, end, then, encoding);
        }
        let left = end.saturating_sub(self.body.offset());
        match self.size_of(index, left, encoding)? {
            Size::Whole(len) => self.watch(Ready { kind: index, wire_id, time, time_us: 0, zone: 0, head, len }, end),
            Size::Needs(needed) => {
                let kind = self.types.get(index);
                if needed < TOO_LONG {
                    return self.torn(needed, end, then);
                }
                let name = kind.map(|kind| shown(&kind.name)).unwrap_or_default();
                let offset = self.body.offset();
                let values = |odd: Finding| odd.with("name", name).with("needed", needed).with("left", left);
                self.report(&ARRAY_TOO_LONG, offset, values)?;
                self.set_state(State::Bytes {
                    end,
                    kind: BytesKind::Residue,
                    then: Next::Events { end, encoding, then },
                });
                Ok(None)
            }
        }
    }

    /// Measures the event at the front, fetching no more than it needs.
    fn size_of(&mut self, index: u32, left: u64, encoding: Encoding) -> Result<Size> {
        let head = head_bytes(encoding);
        let signature = self.types.get(index).and_then(|kind| kind.args.as_deref()).unwrap_or_default();
        loop {
            let bytes = self.body.bytes();
            let bytes = bytes.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(bytes);
            let available = bytes.len();
            let args = bytes.get(head..).unwrap_or_default();
            let needed = match measure(signature, args, encoding) {
                Ok(len) => return Ok(Size::Whole(head + len)),
                Err(error) => match error.kind() {
                    ErrorKind::Truncated { needed, left } => (available as u64 - left).saturating_add(*needed),
                    _ => u64::MAX,
                },
            };
            if needed > left {
                return Ok(Size::Needs(needed));
            }
            let wanted = usize::try_from(needed).unwrap_or(usize::MAX);
            if self.body.fill(wanted)?.len() < wanted {
                return Ok(Size::Needs(needed));
            }
        }
    }

    /// Takes the event at the front.
    #[inline]
    pub(crate) fn lend_event(&mut self, ready: Ready, encoding: Encoding) -> Located<Record<'_>> {
        let offset = self.place.unwrap_or(self.body.offset());
        let record = match self.event(ready, encoding) {
            Some(event) => Record::Event(event),
            None => Record::Residue(&[]),
        };
        Located { offset, len: ready.len as u64, record }
    }

    #[inline]
    pub(crate) fn event(&mut self, ready: Ready, encoding: Encoding) -> Option<Event<'_>> {
        let Self { body, types, strings, .. } = self;
        let bytes = body.take(ready.len).get(ready.head..)?;
        let kind = types.get(ready.kind)?;
        let Ready { wire_id, time, time_us, zone, .. } = ready;
        Some(Event { kind, wire_id, time, time_us, zone, args: args_of(kind, bytes, encoding, strings) })
    }

    /// A second look at events that change the loader's mind or may be wrong.
    #[inline(never)]
    fn watch(&mut self, mut ready: Ready, end: u64) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let encoding = if ready.head == WORDS_HEAD { Encoding::Words } else { Encoding::Legacy };
        let Some(kind) = self.types.get(ready.kind) else { return Ok(None) };
        let (role, is_structural, has_strings) = (kind.role, kind.is_structural(), kind.has_strings);
        let differs = kind.original != kind.index;
        if has_strings {
            self.check_strings(ready, encoding)?;
        }
        if differs && encoding == Encoding::Words && self.shadowed_until != end {
            self.follow_original(ready, end)?;
        }
        match role {
            Role::Define => self.define(ready, encoding)?,
            Role::ZoneCreate => self.create_zone(ready, encoding)?,
            Role::ZoneSet => self.zones.set(self.number_argument(ready, encoding, "zoneId")),
            _ => {}
        }
        if is_structural {
            ready.time_us = i64::from(ready.time) + self.zones.shift_us;
        } else {
            if let Some(zone) = self.zones.pending_unknown {
                self.report(&ZONE_UNKNOWN, offset, |odd| odd.with("zone", zone))?;
                self.zones.adopt_unknown()?;
            }
            ready.time_us = self.zones.time_us(ready.time);
        }
        ready.zone = self.zones.current();
        Ok(Some(ready))
    }

    fn args(&self, ready: Ready, encoding: Encoding) -> Option<Args<'_>> {
        let bytes = self.body.bytes().get(ready.head..ready.len)?;
        Some(args_of(self.types.get(ready.kind)?, bytes, encoding, &self.strings))
    }

    fn text_argument(&self, ready: Ready, encoding: Encoding, name: &str) -> Option<String> {
        let text = self.args(ready, encoding)?.get(name)?.as_text()?;
        Some(text.to_str().into_owned())
    }

    fn number_argument(&self, ready: Ready, encoding: Encoding, name: &str) -> u32 {
        match self.args(ready, encoding).and_then(|args| args.get(name)) {
            // An odd definition may declare it signed.
            Some(Value::Int(number)) => number as u32,
            value => value.and_then(|value| value.as_u32()).unwrap_or(0),
        }
    }

    fn define(&mut self, ready: Ready, encoding: Encoding) -> Result<()> {
        let offset = self.body.offset();
        let name = self.text_argument(ready, encoding, "name");
        let args = self.text_argument(ready, encoding, "args");
        let mut wire_id = self.number_argument(ready, encoding, "wireId");
        if self.is_wide {
            // What was made from text has room for more types than 16 bits can count.
            let word = self.body.bytes().get(ready.head..).and_then(|args| args.first_chunk::<4>());
            wire_id = word.map_or(wire_id, |word| u32::from_le_bytes(*word));
        }
        let class = EventClass(self.number_argument(ready, encoding, "eventClass") as u16);
        let flags = EventFlags(self.number_argument(ready, encoding, "flags"));
        let parsed = parse_arguments(args.as_deref().unwrap_or_default());
        if let Err(argument) = &parsed {
            let (name, argument) = (shown(name.as_deref().unwrap_or_default()), shown(argument));
            self.report(&DEFINE_ARGS, offset, |odd| odd.with("name", name).with("argument", argument))?;
        }
        self.check_program(name.as_deref().unwrap_or_default(), parsed.as_deref().unwrap_or_default(), offset)?;
        if name.is_none() {
            let has_args = parsed.is_ok_and(|args| !args.is_empty());
            let rule = if has_args { &DEFINE_NAME } else { &DEFINE_UNNAMED };
            self.report(rule, offset, |odd| odd.with("wire", wire_id))?;
        }
        let name = name.unwrap_or_default();
        let definition = Definition { wire_id, class, flags, name: &name, args: args.as_deref() };
        if self.types.define(definition)? == Defined::Differently {
            self.report(&SAME_NAME, offset, |odd| odd.with("name", shown(&name)))?;
        }
        Ok(())
    }

    /// The original makes a function of each type with arguments: the name is a comment in it, arguments are variables.
    fn check_program(&mut self, name: &str, args: &[Argument], offset: u64) -> Result<()> {
        if !args.is_empty() && name.contains(LINE_ENDS) {
            self.report(&DEFINE_LINE_END, offset, |odd| odd.with("name", shown(name)))?;
        }
        for argument in args.iter().filter(|argument| argument.name.starts_with(|c: char| c.is_ascii_digit())) {
            let argument = &*argument.name;
            self.report(&DEFINE_NUMBER, offset, |odd| odd.with("name", shown(name)).with("argument", argument))?;
        }
        Ok(())
    }

    fn create_zone(&mut self, ready: Ready, encoding: Encoding) -> Result<()> {
        let text = |name| self.text_argument(ready, encoding, name).map(Into::into);
        let id = Some(self.number_argument(ready, encoding, "zoneId"));
        let zone = Zone { id, name: text("name"), kind: text("type"), location: text("location") };
        self.zones.create(zone)
    }

    fn check_strings(&mut self, ready: Ready, encoding: Encoding) -> Result<()> {
        let Some(args) = self.args(ready, encoding) else { return Ok(()) };
        let mut odd = Vec::new();
        let position = self.at(self.body.offset());
        for (argument, ordinal) in args.ordinals() {
            if !self.strings.has(ordinal) {
                let finding = Finding::new(&STRING_ORDINAL, position).with("argument", &*argument.name);
                odd.push(finding.with("ordinal", ordinal).with("count", self.strings.len()));
            }
        }
        for (argument, value) in args.iter() {
            if let Value::Any(Some(text)) = value
                && !json::is_value(text.to_str().as_bytes())
            {
                let text: String = shown(&text.to_str()).chars().take(80).collect();
                odd.push(Finding::new(&ANY_JSON, position).with("argument", &*argument.name).with("text", text));
            }
        }
        let role = self.types.get(ready.kind).map(|kind| kind.role);
        if let Some(Role::ScopeEnter | Role::TimeStamp) = role
            && let Some(name) = self.text_argument(ready, encoding, "name").filter(|name| is_fatal_name(name))
        {
            odd.push(Finding::new(&GENERIC_NAME, position).with("name", shown(&name)));
        }
        odd.into_iter().try_for_each(|finding| self.findings.report(finding))
    }

    /// The original reads this event by another signature; finds out whether it gets through its buffer.
    #[cold]
    fn follow_original(&mut self, ready: Ready, end: u64) -> Result<()> {
        let offset = self.body.offset();
        let mut window = Window::new(self.body.source().clone(), &Limits::default());
        window.seek(offset);
        self.shadowed_until = end;
        let mut defined = HashMap::new();
        while window.offset() < end {
            let left = usize::try_from(end - window.offset()).unwrap_or(usize::MAX);
            let Some(word) = window.fill(4)?.first_chunk::<4>() else { break };
            let wire_id = u32::from_le_bytes(*word);
            let known = self.types.by_wire(wire_id).and_then(|kind| self.types.get(kind.original));
            let signature = match defined.get(&wire_id) {
                Some(signature) => Some(signature),
                None => known.and_then(|kind| kind.args.as_ref()),
            };
            let Some(signature) = signature else {
                let name = self.types.get(ready.kind).map(|kind| shown(&kind.name)).unwrap_or_default();
                return self.report(&SAME_NAME_FATAL, offset, |odd| odd.with("name", name).with("wire", wire_id));
            };
            let Some(len) = shadow_size(signature, &mut window, left)? else { break };
            if wire_id == DEFINE_WIRE_ID
                && let Some((wire_id, signature)) =
                    self.shadow_definition(window.fill(len)?.get(..len).unwrap_or_default())
            {
                defined.insert(wire_id, signature);
            }
            // Not all of it need be in the window.
            window.seek(window.offset().saturating_add(len as u64));
        }
        Ok(())
    }

    /// What the original takes from a definition: the first signature of the name, wherever it was given.
    fn shadow_definition(&self, bytes: &[u8]) -> Option<(u32, Box<[Argument]>)> {
        let word = |place: usize| bytes.get(place * 4..)?.first_chunk().copied().map(u32::from_le_bytes);
        let text = |place| self.strings.get(word(place)?).map(String::from_utf8_lossy);
        let known = self.types.first_by_name(&text(5)?).and_then(|kind| kind.args.clone());
        let args = known.or_else(|| parse_arguments(&text(6).unwrap_or_default()).ok())?;
        Some((word(2)? & 0xffff, args))
    }

    /// Nothing defines this wire id.
    #[cold]
    fn undefined(&mut self, wire_id: u32, end: u64, then: usize, encoding: Encoding) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let next = self.find_event(2, end, encoding)?;
        let bytes = next.unwrap_or(end - offset);
        self.report(&EVENT_UNDEFINED, offset, |odd| odd.with("wire", wire_id).with("bytes", bytes))?;
        self.pass_over(bytes, end, then, encoding);
        Ok(None)
    }

    /// The type is defined, but nobody knows how long its events are.
    #[cold]
    fn unreadable(&mut self, index: u32, end: u64, then: usize, encoding: Encoding) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let next = self.find_event(head_bytes(encoding), end, encoding)?;
        let bytes = next.unwrap_or(end - offset);
        let name = self.types.get(index).map(|kind| shown(&kind.name)).unwrap_or_default();
        self.report(&EVENT_UNREADABLE, offset, |odd| odd.with("name", name).with("bytes", bytes))?;
        self.pass_over(bytes, end, then, encoding);
        Ok(None)
    }

    fn pass_over(&mut self, bytes: u64, end: u64, then: usize, encoding: Encoding) {
        let until = self.body.offset().saturating_add(bytes);
        if self.place.is_some() {
            // Bytes that were lent raw are not lent again.
            self.body.seek(until);
            return;
        }
        let then = Next::Events { end, encoding, then };
        self.set_state(State::Bytes { end: until, kind: BytesKind::Residue, then });
    }

    /// How many bytes ahead events begin that make sense one after the other.
    fn find_event(&mut self, from: usize, end: u64, encoding: Encoding) -> Result<Option<u64>> {
        let left = usize::try_from(end - self.body.offset()).unwrap_or(usize::MAX);
        let wanted = left.min(SEARCH_BYTES);
        let bytes = self.body.fill(wanted)?;
        let bytes = bytes.get(..wanted).unwrap_or(bytes);
        let step = if encoding == Encoding::Words { 4 } else { 1 };
        let mut places = (from.next_multiple_of(step)..bytes.len()).step_by(step);
        let chain = Chain { ends_here: wanted == left, encoding, types: &self.types, strings: &self.strings };
        let last = self.zones.last_stamp();
        let found = places.find(|place| chain.begins_at(bytes.get(*place..).unwrap_or_default(), last));
        Ok(found.map(|place| place as u64))
    }

    #[cold]
    fn torn_head(&mut self, end: u64, then: usize) -> Result<Option<Ready>> {
        let left = end.saturating_sub(self.body.offset());
        if left == 0 || self.body.fill(1)?.is_empty() {
            self.leave_events(then);
            return Ok(None);
        }
        if let Some(word) = self.body.bytes().first_chunk::<4>().filter(|_| left >= 4) {
            let wire_id = u32::from_le_bytes(*word);
            if self.types.by_wire(wire_id).is_none() {
                return self.undefined(wire_id, end, then, Encoding::Words);
            }
        }
        self.torn(WORDS_HEAD as u64, end, then)
    }

    /// The buffer ends inside an event.
    #[cold]
    fn torn(&mut self, needed: u64, end: u64, then: usize) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let left = end - offset;
        self.report(&EVENT_CUT, offset, |odd| odd.with("needed", needed).with("left", left))?;
        if self.place.is_some() {
            self.body.seek(end);
            return Ok(None);
        }
        // The buffer is over after this; the encoding no longer matters.
        let then = Next::Events { end, encoding: Encoding::Words, then };
        self.set_state(State::Bytes { end, kind: BytesKind::Torn, then });
        Ok(None)
    }
}

/// Text of the file, safe to show.
fn shown(text: &str) -> String {
    traceloom_core::Text(text.as_bytes()).to_string()
}

fn head_bytes(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Words => WORDS_HEAD,
        Encoding::Legacy => LEGACY_HEAD,
    }
}

fn args_of<'a>(kind: &'a EventType, bytes: &'a [u8], encoding: Encoding, strings: &'a StringTable) -> Args<'a> {
    Args { bytes, encoding, signature: kind.args.as_deref().unwrap_or_default(), strings }
}

fn has_array(signature: &[Argument]) -> bool {
    signature.iter().any(|argument| matches!(argument.kind, ArgumentType::Array(_)))
}

/// Bytes that the original takes for an event of this signature, if they are there.
fn shadow_size(signature: &[Argument], window: &mut Window, left: usize) -> Result<Option<usize>> {
    if !has_array(signature) {
        return Ok(Some(WORDS_HEAD + 4 * signature.len()).filter(|len| *len <= left));
    }
    let wanted = left.min(SEARCH_BYTES);
    let bytes = window.fill(wanted)?;
    let args = bytes.get(..wanted).unwrap_or(bytes).get(WORDS_HEAD..).unwrap_or_default();
    Ok(measure(signature, args, Encoding::Words).ok().map(|len| WORDS_HEAD + len))
}

/// Judges whether bytes could be events.
struct Chain<'r> {
    /// The buffer ends with the bytes.
    ends_here: bool,
    encoding: Encoding,
    types: &'r EventTypes,
    strings: &'r StringTable,
}

impl Chain<'_> {
    /// Whether events can be read, a few in a row or up to the end, with times that do not fall.
    fn begins_at(&self, mut bytes: &[u8], mut last: u32) -> bool {
        for _ in 0..CHAIN {
            let Some((time, rest)) = self.one_event(bytes).filter(|(time, _)| *time >= last) else { return false };
            (last, bytes) = (time, rest);
            if bytes.is_empty() {
                return self.ends_here;
            }
        }
        true
    }

    /// The time of the event at the front, if it makes sense, and what comes after it.
    fn one_event<'b>(&self, bytes: &'b [u8]) -> Option<(u32, &'b [u8])> {
        let (head, args) = bytes.split_at_checked(head_bytes(self.encoding))?;
        let (wire_id, time) = match (self.encoding, head) {
            (Encoding::Words, [a, b, c, d, e, f, g, h]) => {
                (u32::from_le_bytes([*a, *b, *c, *d]), u32::from_le_bytes([*e, *f, *g, *h]))
            }
            (Encoding::Legacy, [a, b, c, d, e, f]) => {
                (u16::from_be_bytes([*a, *b]).into(), u32::from_be_bytes([*c, *d, *e, *f]))
            }
            _ => return None,
        };
        let kind = self.types.by_wire(wire_id)?;
        let len = measure(kind.args.as_deref()?, args, self.encoding).ok()?;
        let (args, rest) = args.split_at_checked(len)?;
        let args = args_of(kind, args, self.encoding, self.strings);
        let strings_exist = args.ordinals().all(|(_, ordinal)| self.strings.has(ordinal));
        // The number 1 is common, and every definition begins with it.
        let is_definition = kind.role == Role::Define;
        let class = args.get("eventClass").and_then(|class| class.as_u32());
        (strings_exist && (!is_definition || class <= Some(1))).then_some((time, rest))
    }
}
