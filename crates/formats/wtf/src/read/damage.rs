//! Events that cannot be read: finds the next one that can.

use traceloom_core::Result;

use super::{
    Buffer, BytesKind, Next, Reader, State,
    events::{Ready, WORDS_HEAD, args_of, head_bytes, shown},
};
use crate::{
    Encoding, EventTypes, Role, StringTable,
    event::measure,
    findings::{EVENT_CUT, EVENT_UNDEFINED, EVENT_UNREADABLE},
};

/// How far ahead to search for a readable event after an unreadable one.
pub(super) const SEARCH_BYTES: usize = 4096;
/// Number of consecutive events that make an offset plausible.
const CHAIN: usize = 3;

impl Reader {
    /// This wire id is not defined.
    #[cold]
    pub(super) fn undefined(&mut self, wire_id: u32, buffer: Buffer) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let next = self.find_event(2, buffer)?;
        let bytes = next.unwrap_or(buffer.end - offset);
        self.report(&EVENT_UNDEFINED, offset, |odd| odd.with("wire", wire_id).with("bytes", bytes))?;
        self.pass_over(bytes, buffer);
        Ok(None)
    }

    /// The type is defined, but the length of its events is unknown.
    #[cold]
    pub(super) fn unreadable(&mut self, index: u32, buffer: Buffer) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let next = self.find_event(head_bytes(buffer.encoding), buffer)?;
        let bytes = next.unwrap_or(buffer.end - offset);
        let name = self.types.get(index).map(|kind| shown(&kind.name)).unwrap_or_default();
        self.report(&EVENT_UNREADABLE, offset, |odd| odd.with("name", name).with("bytes", bytes))?;
        self.pass_over(bytes, buffer);
        Ok(None)
    }

    fn pass_over(&mut self, bytes: u64, buffer: Buffer) {
        let until = self.body.offset().saturating_add(bytes);
        if self.place.is_some() {
            // Bytes that were returned raw are not returned again.
            self.body.seek(until);
            return;
        }
        self.state = State::Bytes { end: until, kind: BytesKind::Residue, then: Next::Events(buffer) };
    }

    /// The distance in bytes to the next plausible sequence of events.
    fn find_event(&mut self, from: usize, buffer: Buffer) -> Result<Option<u64>> {
        let Buffer { end, encoding, .. } = buffer;
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
    pub(super) fn torn_head(&mut self, buffer: Buffer) -> Result<Option<Ready>> {
        let left = buffer.end.saturating_sub(self.body.offset());
        if left == 0 || self.body.fill(1)?.is_empty() {
            self.leave_events(buffer);
            return Ok(None);
        }
        if let Some(word) = self.body.bytes().first_chunk::<4>().filter(|_| left >= 4) {
            let wire_id = u32::from_le_bytes(*word);
            if self.types.by_wire(wire_id).is_none() {
                return self.undefined(wire_id, Buffer { encoding: Encoding::Words, ..buffer });
            }
        }
        self.torn(WORDS_HEAD as u64, buffer)
    }

    /// The buffer ends inside an event.
    #[cold]
    pub(super) fn torn(&mut self, needed: u64, buffer: Buffer) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let left = buffer.end - offset;
        self.report(&EVENT_CUT, offset, |odd| odd.with("needed", needed).with("left", left))?;
        if self.place.is_some() {
            self.body.seek(buffer.end);
        } else {
            self.state = State::Bytes { end: buffer.end, kind: BytesKind::Torn, then: Next::Events(buffer) };
        }
        Ok(None)
    }
}

/// Decides whether bytes could be events.
struct Chain<'r> {
    /// Whether the buffer ends with the bytes.
    ends_here: bool,
    encoding: Encoding,
    types: &'r EventTypes,
    strings: &'r StringTable,
}

impl Chain<'_> {
    /// Whether events can be read, a few in a row or up to the end, with times that do not decrease.
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

    /// The time of the event at the front, if it is plausible, and the bytes after it.
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
        // The number 1 is common, and every definition starts with it.
        let is_definition = kind.role == Role::Define;
        let class = args.get("eventClass").and_then(|class| class.as_u32());
        (strings_exist && (!is_definition || class <= Some(1))).then_some((time, rest))
    }
}
