//! Packets: events with their interned names.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::Result;

use super::{
    fields::{clock, event, interned, packet, trace},
    wire::{LookBytes, Wire},
};
use traceloom_passes::{Look, LookId, NameId, NamePool};

/// All packets belong to one sequence.
const SEQUENCE: u64 = 1;
/// Bytes that are buffered before they are written.
const BUFFER_BYTES: usize = 256 << 10;

/// Writes packets one after the other.
pub(super) struct Packets<'o> {
    out: &'o mut dyn Write,
    buffer: Wire,
    /// The event under construction.
    pub(super) event: Wire,
    /// Interned data that the event is the first to use.
    fresh: Wire,
    is_first: bool,
    names: Interned,
    categories: Interned,
    keys: Interned,
    locations: HashMap<(NameId, u32), u64>,
    next_body: u64,
    /// Name, category and source location of each look.
    looks: LookBytes,
}

/// Names of one kind, and which of them are already in the output.
#[derive(Debug)]
struct Interned {
    slot: Slot,
    seen: Vec<bool>,
}

impl Interned {
    fn new(slot: Slot) -> Self {
        Self { slot, seen: Vec::new() }
    }

    /// Returns whether the name is new.
    #[inline]
    fn insert(&mut self, id: NameId) -> bool {
        if self.seen.len() <= id.index() {
            self.seen.resize(id.index() + 1, false);
        }
        !std::mem::replace(&mut self.seen[id.index()], true)
    }

    /// Writes a name: by number if it is interned, which the first use declares in `fresh`.
    fn mention(&mut self, wire: &mut Wire, fresh: &mut Wire, id: NameId, names: &mut NamePool) -> Result<()> {
        let Some(text) = names.resident(id) else {
            wire.text(self.slot.text, names.get(id)?);
            return Ok(());
        };
        if self.insert(id) {
            fresh.message(self.slot.interned, |wire| {
                wire.uint(interned::IID, iid(id));
                wire.text(interned::TEXT, text);
            });
        }
        wire.uint(self.slot.iid, iid(id));
        Ok(())
    }
}

/// The number of an interned name; 0 would mean none.
fn iid(id: NameId) -> u64 {
    id.index() as u64 + 1
}

/// The fields that may hold a name.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The number of the interned text, in the event.
    iid: u32,
    /// The text itself, in the event.
    text: u32,
    /// The text, in the interned data.
    interned: u32,
}

const NAME: Slot = Slot { iid: event::NAME_IID, text: event::NAME, interned: interned::EVENT_NAMES };
const CATEGORY: Slot =
    Slot { iid: event::CATEGORY_IIDS, text: event::CATEGORIES, interned: interned::EVENT_CATEGORIES };
const KEY: Slot = Slot {
    iid: super::fields::annotation::NAME_IID,
    text: super::fields::annotation::NAME,
    interned: interned::DEBUG_ANNOTATION_NAMES,
};

impl<'o> Packets<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self {
            out,
            buffer: Wire::default(),
            event: Wire::default(),
            fresh: Wire::default(),
            is_first: true,
            names: Interned::new(NAME),
            categories: Interned::new(CATEGORY),
            keys: Interned::new(KEY),
            locations: HashMap::new(),
            next_body: 1,
            looks: LookBytes::new(MAX_LOOK_BYTES),
        }
    }

    /// Relates the time of the trace to the time of day.
    pub(super) fn clocks(&mut self, unix_ns: u64) -> Result<()> {
        self.plain(|wire| {
            wire.uint(packet::TIMESTAMP, 0);
            wire.message(packet::CLOCK_SNAPSHOT, |wire| {
                for (id, time) in [(clock::BOOTTIME, 0), (clock::REALTIME, unix_ns)] {
                    wire.message(clock::CLOCKS, |wire| {
                        wire.uint(clock::CLOCK_ID, id);
                        wire.uint(clock::TIMESTAMP, time);
                    });
                }
            });
        })
    }

    /// Declares a track.
    pub(super) fn track(&mut self, fill: impl FnOnce(&mut Wire)) -> Result<()> {
        self.plain(|wire| wire.message(packet::TRACK_DESCRIPTOR, fill))
    }

    /// Writes a packet that is not an event.
    fn plain(&mut self, fill: impl FnOnce(&mut Wire)) -> Result<()> {
        self.buffer.message(trace::PACKET, |wire| {
            wire.uint(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            fill(wire);
        });
        self.flush_if_full()
    }

    /// Starts an event.
    #[inline]
    pub(super) fn begin(&mut self, kind: u64, track: u64) {
        self.event.clear();
        self.event.uint(event::TYPE, kind);
        self.event.uint(event::TRACK_UUID, track);
    }

    /// Writes the event with its new interned data.
    #[inline]
    pub(super) fn finish(&mut self, ts_ns: u64) -> Result<()> {
        let flags = if self.is_first {
            packet::SEQ_INCREMENTAL_STATE_CLEARED | packet::SEQ_NEEDS_INCREMENTAL_STATE
        } else {
            packet::SEQ_NEEDS_INCREMENTAL_STATE
        };
        self.is_first = false;
        let rest = self.event.len();
        if self.fresh.len() > 0 || Head::MAX + rest >= 0x80 {
            return self.finish_slowly(ts_ns, flags);
        }
        self.short(rest, |head| {
            head.uint(packet::TIMESTAMP, ts_ns);
            head.uint(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            head.uint(packet::SEQUENCE_FLAGS, flags);
            head.length(packet::TRACK_EVENT, rest);
        });
        self.buffer.bytes.extend_from_slice(&self.event.bytes);
        self.flush_if_full()
    }

    /// Writes the end of the innermost slice of a track: half of all packets.
    #[inline]
    pub(super) fn end(&mut self, ts_ns: u64, track: u64) -> Result<()> {
        self.short(0, |head| head.slice(ts_ns, event::TYPE_SLICE_END, track, 0));
        self.flush_if_full()
    }

    /// Writes the start of a slice that has only a look, as most have; returns false if the look is not known.
    #[inline]
    pub(super) fn known_slice(&mut self, ts_ns: u64, track: u64, look: LookId) -> Result<bool> {
        // The look is known, so there is no new interned data, and this is not the first event.
        let Some(rest) = self.looks.get(look).map(<[u8]>::len) else { return Ok(false) };
        self.short(rest, |head| head.slice(ts_ns, event::TYPE_SLICE_BEGIN, track, rest));
        self.looks.put(look, &mut self.buffer.bytes);
        self.flush_if_full()?;
        Ok(true)
    }

    /// Writes the frame and the first fields of a packet shorter than 128 bytes, of which `rest` bytes follow.
    #[inline(always)]
    fn short(&mut self, rest: usize, fill: impl FnOnce(&mut Head<'_>)) {
        let bytes = &mut self.buffer.bytes;
        let start = bytes.len();
        // Filled in place: a copy right after many small writes would have to wait for them.
        bytes.extend_from_slice(&[0; Head::ROOM]);
        let Some(room) = bytes.last_chunk_mut() else { return };
        let mut head = Head { bytes: room, len: Head::FRAME };
        fill(&mut head);
        let len = head.len;
        head.bytes[0] = Head::tag(trace::PACKET, 2);
        head.bytes[1] = (len - Head::FRAME + rest) as u8;
        bytes.truncate(start + len);
    }

    #[cold]
    fn finish_slowly(&mut self, ts_ns: u64, flags: u64) -> Result<()> {
        let (event, fresh) = (&self.event, &self.fresh);
        self.buffer.message(trace::PACKET, |wire| {
            wire.uint(packet::TIMESTAMP, ts_ns);
            wire.uint(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            wire.uint(packet::SEQUENCE_FLAGS, flags);
            wire.bytes(packet::TRACK_EVENT, &event.bytes);
            if fresh.len() > 0 {
                wire.bytes(packet::INTERNED_DATA, &fresh.bytes);
            }
        });
        self.fresh.clear();
        self.flush_if_full()
    }

    /// The name of the event.
    pub(super) fn name(&mut self, id: NameId, names: &mut NamePool) -> Result<()> {
        self.names.mention(&mut self.event, &mut self.fresh, id, names)
    }

    /// The name of the event, if it is not worth interning.
    pub(super) fn name_text(&mut self, text: &str) {
        self.event.text(event::NAME, text);
    }

    /// The category of the event.
    pub(super) fn category(&mut self, id: NameId, names: &mut NamePool) -> Result<()> {
        self.categories.mention(&mut self.event, &mut self.fresh, id, names)
    }

    /// The name of an annotation, inside its message.
    pub(super) fn key(&mut self, wire: &mut Wire, id: NameId, names: &mut NamePool) -> Result<()> {
        self.keys.mention(wire, &mut self.fresh, id, names)
    }

    /// Name, category and source location of a span whose look is known.
    #[inline]
    pub(super) fn known_look(&mut self, id: LookId) -> bool {
        self.looks.put(id, &mut self.event.bytes)
    }

    /// Name, category and source location of the first span of a look.
    #[cold]
    pub(super) fn new_look(&mut self, id: LookId, look: &Look, names: &mut NamePool) -> Result<()> {
        let begin = self.event.len();
        self.name(look.name, names)?;
        self.category(look.category, names)?;
        if let Some(file) = look.file {
            let iid = self.location(file, look.line.unwrap_or(0), names)?;
            self.event.uint(event::SOURCE_LOCATION_IID, iid);
        }
        self.looks.keep(id, &self.event.bytes[begin..]);
        Ok(())
    }

    /// The number of a source location.
    pub(super) fn location(&mut self, file: NameId, line: u32, names: &mut NamePool) -> Result<u64> {
        let next = self.locations.len() as u64 + 1;
        if let Some(iid) = self.locations.get(&(file, line)) {
            return Ok(*iid);
        }
        self.locations.insert((file, line), next);
        let text = names.get(file)?;
        self.fresh.message(interned::SOURCE_LOCATIONS, |wire| {
            wire.uint(interned::IID, next);
            wire.text(interned::TEXT, text);
            wire.uint(interned::LINE_NUMBER, line.into());
        });
        Ok(next)
    }

    /// The number of the text of a log entry.
    pub(super) fn body(&mut self, text: &str) -> u64 {
        let iid = self.next_body;
        self.next_body += 1;
        self.fresh.message(interned::LOG_MESSAGE_BODY, |wire| {
            wire.uint(interned::IID, iid);
            wire.text(interned::TEXT, text);
        });
        iid
    }

    #[inline]
    fn flush_if_full(&mut self) -> Result<()> {
        if self.buffer.len() < BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    /// Writes all buffered bytes.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer.bytes)?;
        self.buffer.clear();
        Ok(())
    }
}

/// The first fields of a packet, after the two bytes of the frame of a short packet. The array is long enough for all
/// of them.
#[derive(Debug)]
struct Head<'b> {
    bytes: &'b mut [u8; Head::ROOM],
    len: usize,
}

impl Head<'_> {
    /// A tag and a length.
    const FRAME: usize = 2;
    /// Two numbers of ten bytes and four of one, each with a tag of one byte.
    const MAX: usize = 2 * 11 + 4 * 2;
    /// A number is written as eight bytes, of which only some count.
    const ROOM: usize = Self::FRAME + Self::MAX + 8;

    /// A packet with the start or end of a slice, without the last `rest` bytes of its event, which are few.
    #[inline(always)]
    fn slice(&mut self, ts_ns: u64, kind: u64, track: u64, rest: usize) {
        self.uint(packet::TIMESTAMP, ts_ns);
        self.raw([
            Self::tag(packet::TRUSTED_PACKET_SEQUENCE_ID, 0),
            SEQUENCE as u8,
            Self::tag(packet::SEQUENCE_FLAGS, 0),
            packet::SEQ_NEEDS_INCREMENTAL_STATE as u8,
            Self::tag(packet::TRACK_EVENT, 2),
            (3 + varint_len(track) + rest) as u8,
            Self::tag(event::TYPE, 0),
            kind as u8,
            Self::tag(event::TRACK_UUID, 0),
        ]);
        self.varint(track);
    }

    /// Fields below 16 have tags of one byte.
    const fn tag(field: u32, kind: u32) -> u8 {
        (field << 3 | kind) as u8
    }

    #[inline]
    fn uint(&mut self, field: u32, number: u64) {
        self.raw([Self::tag(field, 0)]);
        self.varint(number);
    }

    /// The length of the following bytes.
    #[inline]
    fn length(&mut self, field: u32, len: usize) {
        self.raw([Self::tag(field, 2)]);
        self.varint(len as u64);
    }

    #[inline(always)]
    fn raw<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes[self.len..self.len + N].copy_from_slice(&bytes);
        self.len += N;
    }

    /// Timestamps take many bytes of seven bits each, so all of them are spread at once.
    #[inline(always)]
    fn varint(&mut self, number: u64) {
        if number < 0x80 {
            return self.raw([number as u8]);
        }
        if number >> 56 != 0 {
            return self.long_varint(number);
        }
        let len = varint_len(number);
        let spread = (number & 0xfff_ffff) | (number & 0xff_ffff_f000_0000) << 4;
        let spread = (spread & 0x3fff_0000_3fff) | (spread & 0xfff_c000_0fff_c000) << 2;
        let spread = (spread & 0x7f_007f_007f_007f) | (spread & 0x3f80_3f80_3f80_3f80) << 1;
        // The high bit of all bytes but the last means that another byte follows.
        let follows = 0x80_8080_8080_8080 & ((1 << (8 * (len - 1))) - 1);
        self.raw((spread | follows).to_le_bytes());
        self.len -= 8 - len;
    }

    #[cold]
    fn long_varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.raw([number as u8 | 0x80]);
            number >>= 7;
        }
        self.raw([number as u8]);
    }
}

/// Bytes that a number takes.
#[inline]
fn varint_len(number: u64) -> usize {
    // A seventh of the bits, rounded up; exact for 1 to 64 bits.
    ((64 - (number | 1).leading_zeros() as usize) * 9 + 64) / 64
}

/// Long texts are not worth caching. A slice with a known look is always a short packet.
const MAX_LOOK_BYTES: usize = 64;
const _: () = assert!(Head::MAX + MAX_LOOK_BYTES < 0x80);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_the_bytes_of_a_message() {
        let powers = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, (1 << bit) + (1 << bit) / 3]);
        for number in powers.chain([u64::MAX]) {
            let (mut wire, mut room) = (Wire::default(), [0; Head::ROOM]);
            wire.uint(packet::TIMESTAMP, number);
            wire.length(packet::TRACK_EVENT, 7);
            let mut head = Head { bytes: &mut room, len: Head::FRAME };
            head.uint(packet::TIMESTAMP, number);
            head.length(packet::TRACK_EVENT, 7);
            assert_eq!(head.bytes[Head::FRAME..head.len], wire.bytes, "{number:#x}");
            assert_eq!(varint_len(number), wire.bytes.len() - 3);
        }
    }

    #[test]
    fn a_slice_of_a_known_look_is_the_same_packet_as_any_other() {
        let look = LookId(3);
        for (ts_ns, track) in [(0, 1), (0x7f, 0x80), (123_456_789_012, 300), (u64::MAX, u64::MAX)] {
            let mut outs = [Vec::new(), Vec::new()];
            for (out, is_quick) in outs.iter_mut().zip([true, false]) {
                let mut packets = Packets::new(out);
                packets.is_first = false;
                packets.looks.keep(look, &[0x50, 9, 0x18, 4]);
                if is_quick {
                    assert!(packets.known_slice(ts_ns, track, look).unwrap());
                    assert!(!packets.known_slice(ts_ns, track, LookId(4)).unwrap());
                    packets.end(ts_ns, track).unwrap();
                } else {
                    packets.begin(event::TYPE_SLICE_BEGIN, track);
                    assert!(packets.known_look(look));
                    packets.finish(ts_ns).unwrap();
                    packets.begin(event::TYPE_SLICE_END, track);
                    packets.finish(ts_ns).unwrap();
                }
                packets.flush().unwrap();
            }
            assert_eq!(outs[0], outs[1], "{ts_ns} {track}");
        }
    }
}
