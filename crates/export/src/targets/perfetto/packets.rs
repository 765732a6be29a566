//! Packets: events with their interned names.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_bytes::Result;

use super::{
    fields::{clock, event, interned, packet, trace},
    wire::Wire,
};
use crate::{Look, LookId, NameId, NamePool};

/// All packets are of one writer.
const SEQUENCE: u64 = 1;
/// Bytes collected before they go out.
const BUFFER_BYTES: usize = 256 << 10;

/// Writes packets one after the other.
pub(super) struct Packets<'o> {
    out: &'o mut dyn Write,
    buffer: Wire,
    /// The event under construction.
    pub(super) event: Wire,
    /// What the event is the first to mention.
    fresh: Wire,
    is_first: bool,
    names: Seen,
    categories: Seen,
    keys: Seen,
    locations: HashMap<(NameId, u32), u64>,
    next_body: u64,
    /// Name, category and place of each look, laid out once: where they are in `look_bytes`.
    looks: Vec<Option<(u32, u32)>>,
    look_bytes: Vec<u8>,
}

/// Names that the output has.
#[derive(Debug, Default)]
struct Seen(Vec<bool>);

impl Seen {
    /// Whether it is the first time.
    #[inline]
    fn insert(&mut self, id: NameId) -> bool {
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, false);
        }
        !std::mem::replace(&mut self.0[id.index()], true)
    }
}

/// The number of an interned name; 0 would mean none.
fn iid(id: NameId) -> u64 {
    id.index() as u64 + 1
}

/// Where a name may stand.
#[derive(Clone, Copy)]
struct Slot {
    /// Of the interned text, in the event.
    iid: u32,
    /// Of the text itself, in the event.
    text: u32,
    /// Of the text, in the interned data.
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
            names: Seen::default(),
            categories: Seen::default(),
            keys: Seen::default(),
            locations: HashMap::new(),
            next_body: 1,
            looks: Vec::new(),
            look_bytes: Vec::new(),
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

    /// A packet that is no event.
    fn plain(&mut self, fill: impl FnOnce(&mut Wire)) -> Result<()> {
        self.buffer.message(trace::PACKET, |wire| {
            wire.uint(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            fill(wire);
        });
        self.flush_if_full()
    }

    /// Begins an event.
    #[inline]
    pub(super) fn begin(&mut self, kind: u64, track: u64) {
        self.event.clear();
        self.event.uint(event::TYPE, kind);
        self.event.uint(event::TRACK_UUID, track);
    }

    /// Writes the event with what it mentions first.
    #[inline]
    pub(super) fn finish(&mut self, ts_ns: u64) -> Result<()> {
        let flags = if self.is_first {
            packet::SEQ_INCREMENTAL_STATE_CLEARED | packet::SEQ_NEEDS_INCREMENTAL_STATE
        } else {
            packet::SEQ_NEEDS_INCREMENTAL_STATE
        };
        self.is_first = false;
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
        mention(&mut self.event, &mut self.fresh, &mut self.names, NAME, id, names)
    }

    /// The name of the event, where it is not worth being kept.
    pub(super) fn name_text(&mut self, text: &str) {
        self.event.text(event::NAME, text);
    }

    /// The category of the event.
    pub(super) fn category(&mut self, id: NameId, names: &mut NamePool) -> Result<()> {
        mention(&mut self.event, &mut self.fresh, &mut self.categories, CATEGORY, id, names)
    }

    /// The name of an annotation, inside of it.
    pub(super) fn key(&mut self, wire: &mut Wire, id: NameId, names: &mut NamePool) -> Result<()> {
        mention(wire, &mut self.fresh, &mut self.keys, KEY, id, names)
    }

    /// Name, category and place of a span; true where the look is new.
    #[inline]
    pub(super) fn look(&mut self, id: LookId, look: &Look, names: &mut NamePool) -> Result<bool> {
        if let Some((begin, end)) = self.looks.get(id.index()).copied().flatten() {
            self.event.bytes.extend_from_slice(&self.look_bytes[begin as usize..end as usize]);
            return Ok(false);
        }
        self.new_look(id, look, names)
    }

    #[cold]
    fn new_look(&mut self, id: LookId, look: &Look, names: &mut NamePool) -> Result<bool> {
        let begin = self.event.len();
        self.name(look.name, names)?;
        self.category(look.category, names)?;
        if let Some(file) = look.file {
            let iid = self.location(file, look.line.unwrap_or(0), names)?;
            self.event.uint(event::SOURCE_LOCATION_IID, iid);
        }
        // Looks beyond those in memory come once, and long texts are not worth keeping.
        let laid_out = &self.event.bytes[begin..];
        if id.index() < MOST_LOOKS && laid_out.len() <= 64 {
            if self.looks.len() <= id.index() {
                self.looks.resize(id.index() + 1, None);
            }
            let at = self.look_bytes.len();
            self.look_bytes.extend_from_slice(laid_out);
            self.looks[id.index()] = Some((at as u32, self.look_bytes.len() as u32));
        }
        Ok(true)
    }

    /// The number of a place in the source.
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
        match self.buffer.len() < BUFFER_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Sends everything out.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer.bytes)?;
        self.buffer.clear();
        Ok(())
    }
}

/// As many as [`crate::Looks`] keeps in memory.
const MOST_LOOKS: usize = 1 << 18;

/// Mentions a name: by number where it is one of those kept once, which its first mention declares.
fn mention(
    wire: &mut Wire,
    fresh: &mut Wire,
    seen: &mut Seen,
    slot: Slot,
    id: NameId,
    names: &mut NamePool,
) -> Result<()> {
    let Some(text) = names.resident(id) else {
        wire.text(slot.text, names.get(id)?);
        return Ok(());
    };
    if seen.insert(id) {
        fresh.message(slot.interned, |wire| {
            wire.uint(interned::IID, iid(id));
            wire.text(interned::TEXT, text);
        });
    }
    wire.uint(slot.iid, iid(id));
    Ok(())
}
