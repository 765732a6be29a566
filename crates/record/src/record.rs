//! The records in a ring: a header word, a tick, and the words of the payload.

use crate::sync::{AtomicU64, Ordering};

/// The kind of a record, and its payload.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Kind {
    /// Fills the end of a lap; it has no tick.
    Pad,
    /// A log entry: the arguments.
    Log,
    /// A span starts: nothing, or its text.
    SpanBegin,
    /// The innermost span ends.
    SpanEnd,
    /// Something happened: nothing, or its text.
    Event,
    /// A value: a description, then the bytes.
    Value,
    /// A frame starts: its number.
    FrameBegin,
    /// A frame ends: its number.
    FrameEnd,
    /// The thread gets a name: the text.
    ThreadName,
    /// A bookmark: its text.
    Bookmark,
    /// A flow starts: its number.
    FlowBegin,
    /// A flow continues: its number.
    FlowStep,
    /// A flow ends: its number.
    FlowEnd,
    /// A span that may end on another thread starts: its number.
    RangeBegin,
    /// That span ends: its number.
    RangeEnd,
    /// A complete span: its start and end, and its text.
    Block,
}

impl Kind {
    const ALL: [Self; 16] = [
        Self::Pad,
        Self::Log,
        Self::SpanBegin,
        Self::SpanEnd,
        Self::Event,
        Self::Value,
        Self::FrameBegin,
        Self::FrameEnd,
        Self::ThreadName,
        Self::Bookmark,
        Self::FlowBegin,
        Self::FlowStep,
        Self::FlowEnd,
        Self::RangeBegin,
        Self::RangeEnd,
        Self::Block,
    ];
}

/// Words before the payload: the header and the tick.
pub(crate) const FIXED: u64 = 2;

/// The first word of a record of `words` words.
#[inline(always)]
pub(crate) const fn header(kind: Kind, words: u64, site: u32) -> u64 {
    kind as u64 | words << 8 | (site as u64) << 32
}

/// Kind, words and site of a header; an invalid header is read as padding of one word.
pub(crate) fn split_header(word: u64) -> (Kind, u64, u32) {
    let kind = Kind::ALL.get((word & 0xff) as usize).copied().unwrap_or(Kind::Pad);
    (kind, (word >> 8 & 0xff_ffff).max(1), (word >> 32) as u32)
}

/// The words after the tick.
pub trait Payload {
    /// How many words it takes.
    fn words(&self) -> u64;
    /// Stores the words; there are exactly that many slots.
    fn put(&self, slots: &[AtomicU64]);
}

impl Payload for () {
    #[inline(always)]
    fn words(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn put(&self, _: &[AtomicU64]) {}
}

/// A number.
impl Payload for u64 {
    #[inline(always)]
    fn words(&self) -> u64 {
        1
    }

    #[inline(always)]
    fn put(&self, slots: &[AtomicU64]) {
        if let Some(slot) = slots.first() {
            slot.store(*self, Ordering::Relaxed);
        }
    }
}

/// A length, then bytes; the caller limits them to [`MAX_BYTES`].
impl Payload for &[u8] {
    #[inline(always)]
    fn words(&self) -> u64 {
        // Not `1 + div_ceil`, which takes twice as many instructions, because it excludes an overflow.
        ((self.len() + 15) / 8) as u64
    }

    #[inline(always)]
    fn put(&self, slots: &[AtomicU64]) {
        let Some((first, rest)) = slots.split_first() else { return };
        first.store(self.len() as u64, Ordering::Relaxed);
        put_bytes(self, rest);
    }
}

/// A description, then bytes.
impl Payload for (u64, &[u8]) {
    #[inline(always)]
    fn words(&self) -> u64 {
        1 + self.1.words()
    }

    #[inline(always)]
    fn put(&self, slots: &[AtomicU64]) {
        let Some((first, rest)) = slots.split_first() else { return };
        first.store(self.0, Ordering::Relaxed);
        self.1.put(rest);
    }
}

/// A start, an end, then bytes.
impl Payload for ([u64; 2], &[u8]) {
    fn words(&self) -> u64 {
        2 + self.1.words()
    }

    fn put(&self, slots: &[AtomicU64]) {
        let [first, second, rest @ ..] = slots else { return };
        first.store(self.0[0], Ordering::Relaxed);
        second.store(self.0[1], Ordering::Relaxed);
        self.1.put(rest);
    }
}

/// Words that are already laid out.
#[derive(Clone, Copy, Debug)]
pub struct Ready<'a>(pub &'a [u64]);

impl Payload for Ready<'_> {
    fn words(&self) -> u64 {
        self.0.len() as u64
    }

    fn put(&self, slots: &[AtomicU64]) {
        slots.iter().zip(self.0).for_each(|(slot, word)| slot.store(*word, Ordering::Relaxed));
    }
}

/// Max bytes of a text or array in a record.
pub const MAX_BYTES: usize = 16_000;

#[inline(always)]
fn put_bytes(bytes: &[u8], slots: &[AtomicU64]) {
    let Some((end, before)) = slots.split_last() else { return };
    let word = match bytes.last_chunk::<8>() {
        Some(last) => {
            put_whole(bytes.as_chunks::<8>().0, before);
            // Shifts out the bytes of the word before, which is cheaper than a loop over bytes.
            u64::from_le_bytes(*last) >> (bytes.len().wrapping_neg() % 8 * 8)
        }
        None => short_word(bytes),
    };
    end.store(word, Ordering::Relaxed);
}

/// Stores a word into each slot; up to eight without a loop, from both ends, which may overlap.
#[inline(always)]
fn put_whole(words: &[[u8; 8]], slots: &[AtomicU64]) {
    let Some(words) = words.get(..slots.len()) else { return };
    match slots.len() {
        0 => {}
        1 => put_ends::<1>(words, slots),
        2..=4 => put_ends::<2>(words, slots),
        5..=8 => put_ends::<4>(words, slots),
        _ => put_many(words, slots),
    }
}

#[inline(always)]
fn put_ends<const N: usize>(words: &[[u8; 8]], slots: &[AtomicU64]) {
    if let (Some(words), Some(slots)) = (words.first_chunk::<N>(), slots.first_chunk::<N>()) {
        put_all(words, slots);
    }
    if let (Some(words), Some(slots)) = (words.last_chunk::<N>(), slots.last_chunk::<N>()) {
        put_all(words, slots);
    }
}

/// Not inlined, because a long text costs more than a call.
#[inline(never)]
fn put_many(words: &[[u8; 8]], slots: &[AtomicU64]) {
    put_all(words, slots);
}

#[inline(always)]
fn put_all(words: &[[u8; 8]], slots: &[AtomicU64]) {
    for (slot, word) in slots.iter().zip(words) {
        slot.store(u64::from_le_bytes(*word), Ordering::Relaxed);
    }
}

/// Up to seven bytes as a word, from two halves that may overlap.
#[inline(always)]
fn short_word(bytes: &[u8]) -> u64 {
    let high = |len: usize| 8 * (bytes.len() - len);
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << high(4)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<2>(), bytes.last_chunk::<2>()) {
        u64::from(u16::from_le_bytes(*first)) | u64::from(u16::from_le_bytes(*last)) << high(2)
    } else {
        bytes.first().map_or(0, |byte| u64::from(*byte))
    }
}

/// Reads the words of a [`Payload`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a>(pub(crate) &'a [u64]);

impl Words<'_> {
    pub(crate) fn next(&mut self) -> u64 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn skip(&mut self, count: usize) {
        self.0 = self.0.get(count..).unwrap_or_default();
    }

    /// Appends the bytes of a text or an array.
    pub(crate) fn bytes(&mut self, out: &mut Vec<u8>) {
        let len = self.next() as usize;
        let (words, rest) = self.0.split_at_checked(len.div_ceil(8)).unwrap_or((self.0, &[]));
        self.0 = rest;
        let start = out.len();
        for word in words {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.truncate(start + len);
    }

    /// A text; bytes that became invalid because the text was cut are replaced.
    pub(crate) fn text(&mut self) -> String {
        let mut bytes = Vec::new();
        self.bytes(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whatever_their_length() {
        for len in (0..70).chain([1001]) {
            let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let payload: &[u8] = &bytes;
            let slots: Vec<AtomicU64> = (0..payload.words()).map(|_| AtomicU64::new(u64::MAX)).collect();
            payload.put(&slots);
            let words: Vec<u64> = slots.iter().map(|slot| slot.load(Ordering::Relaxed)).collect();
            let mut back = Vec::new();
            Words(&words).bytes(&mut back);
            assert_eq!(back, bytes);
        }
    }

    #[test]
    fn headers_come_back() {
        for kind in Kind::ALL {
            assert_eq!(split_header(header(kind, 77, 0xdead_beef)), (kind, 77, 0xdead_beef));
        }
    }
}
