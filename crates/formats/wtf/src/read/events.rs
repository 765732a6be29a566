//! Reads events from their buffers.

use traceloom_core::{ErrorKind, Finding, Located, Result};

use super::{Buffer, BytesKind, Next, Reader, State};
use crate::{Args, Encoding, Event, EventType, Record, StringTable, event::measure, findings::ARRAY_TOO_LONG};

/// Size of wire id and time in words.
pub(super) const WORDS_HEAD: usize = 8;
/// Size of wire id and time in the packed encoding.
const LEGACY_HEAD: usize = 6;
/// Size of an array that WTF cannot allocate; for a shorter one, it reads zeros after the end of the buffer.
const TOO_LONG: u64 = 1 << 30;

/// An event whose bytes are at the front of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    /// Index of its type.
    pub(super) kind: u32,
    pub(super) wire_id: u32,
    pub(super) time: u32,
    pub(super) time_us: i64,
    pub(super) zone: u32,
    pub(super) encoding: Encoding,
    pub(super) len: usize,
}

impl Ready {
    /// Size of the event before its arguments.
    #[inline]
    pub(super) const fn head(&self) -> usize {
        head_bytes(self.encoding)
    }
}

/// Size of an event, or how many bytes it would need.
enum Size {
    Whole(usize),
    Needs(u64),
}

impl Reader {
    /// An event that is complete, of fixed length, in the window, and irrelevant to the loader, as nearly all are.
    #[inline]
    pub(super) fn plain_event(&mut self, end: u64) -> Option<Ready> {
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
        let encoding = Encoding::Words;
        Some(Ready { kind, wire_id, time, time_us, zone: self.zones.current(), encoding, len })
    }

    /// Any event in words.
    pub(super) fn prepare_words(&mut self, buffer: Buffer) -> Result<Option<Ready>> {
        let left = buffer.end.saturating_sub(self.body.offset());
        let Some(head) = self.body.fill(WORDS_HEAD)?.first_chunk::<WORDS_HEAD>().filter(|_| left >= WORDS_HEAD as u64)
        else {
            return self.torn_head(buffer);
        };
        let [a, b, c, d, e, f, g, h] = *head;
        let (wire_id, time) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let Some(kind) = self.types.by_wire(wire_id) else {
            return self.undefined(wire_id, buffer);
        };
        let Some(fixed) = kind.fixed_bytes else {
            return self.prepare_slow(wire_id, time, buffer);
        };
        let len = WORDS_HEAD + fixed as usize;
        let kind = kind.index;
        if len as u64 > left || self.body.fill(len)?.len() < len {
            return self.torn(len as u64, buffer);
        }
        self.watch(Ready { kind, wire_id, time, time_us: 0, zone: 0, encoding: Encoding::Words, len }, buffer.end)
    }

    /// Any event in the packed encoding.
    pub(super) fn prepare_legacy(&mut self, buffer: Buffer) -> Result<Option<Ready>> {
        let left = buffer.end.saturating_sub(self.body.offset());
        let Some(head) =
            self.body.fill(LEGACY_HEAD)?.first_chunk::<LEGACY_HEAD>().filter(|_| left >= LEGACY_HEAD as u64)
        else {
            return self.torn_head(buffer);
        };
        let [a, b, c, d, e, f] = *head;
        let (wire_id, time) = (u16::from_be_bytes([a, b]).into(), u32::from_be_bytes([c, d, e, f]));
        if self.types.by_wire(wire_id).is_none() {
            return self.undefined(wire_id, buffer);
        }
        self.prepare_slow(wire_id, time, buffer)
    }

    /// Events whose length depends on their contents.
    fn prepare_slow(&mut self, wire_id: u32, time: u32, buffer: Buffer) -> Result<Option<Ready>> {
        let Buffer { end, encoding, .. } = buffer;
        let Some(kind) = self.types.by_wire(wire_id) else { return Ok(None) };
        let index = kind.index;
        if kind.args.is_none() {
            return self.unreadable(index, buffer);
        }
        let left = end.saturating_sub(self.body.offset());
        match self.size_of(index, left, encoding)? {
            Size::Whole(len) => {
                self.watch(Ready { kind: index, wire_id, time, time_us: 0, zone: 0, encoding, len }, end)
            }
            Size::Needs(needed) if needed < TOO_LONG => self.torn(needed, buffer),
            Size::Needs(needed) => {
                let name = self.types.get(index).map(|kind| shown(&kind.name)).unwrap_or_default();
                let offset = self.body.offset();
                let values = |odd: Finding| odd.with("name", name).with("needed", needed).with("left", left);
                self.report(&ARRAY_TOO_LONG, offset, values)?;
                self.state = State::Bytes { end, kind: BytesKind::Residue, then: Next::Events(buffer) };
                Ok(None)
            }
        }
    }

    /// Measures the event at the front, reading no more than it needs.
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

    /// Returns the event at the front.
    #[inline]
    pub(super) fn lend_event(&mut self, ready: Ready) -> Located<Record<'_>> {
        let offset = self.place.unwrap_or(self.body.offset());
        let record = match self.event(ready) {
            Some(event) => Record::Event(event),
            None => Record::Residue(&[]),
        };
        Located { offset, len: ready.len as u64, record }
    }

    #[inline]
    pub(super) fn event(&mut self, ready: Ready) -> Option<Event<'_>> {
        let Self { body, types, strings, .. } = self;
        let bytes = body.take(ready.len).get(ready.head()..)?;
        let kind = types.get(ready.kind)?;
        let Ready { wire_id, time, time_us, zone, encoding, .. } = ready;
        Some(Event { kind, wire_id, time, time_us, zone, args: args_of(kind, bytes, encoding, strings) })
    }
}

/// Text from the file, safe to show.
pub(super) fn shown(text: &str) -> String {
    traceloom_core::Text(text.as_bytes()).to_string()
}

pub(super) const fn head_bytes(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Words => WORDS_HEAD,
        Encoding::Legacy => LEGACY_HEAD,
    }
}

#[inline]
pub(super) fn args_of<'a>(
    kind: &'a EventType,
    bytes: &'a [u8],
    encoding: Encoding,
    strings: &'a StringTable,
) -> Args<'a> {
    Args { bytes, encoding, signature: kind.args.as_deref().unwrap_or_default(), strings }
}
