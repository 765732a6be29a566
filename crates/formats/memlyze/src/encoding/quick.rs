//! The fast path for nearly every event: little-endian, whole, with shortest varints of at most four bytes, and without
//! findings.
//!
//! For everything else this returns `None`, and [`super::thorough::decode`], which handles every shape, takes over. The
//! start of the next event is known only once the lengths of all varints are, so the dependency chain for it is kept
//! short; and since lengths follow no pattern that a processor could predict, nothing branches on them.

use crate::{Alloc, Clock, Free, Gc, Marker, Padding, Record, metadata::IdSet, raw::EventType};

/// Number of bytes that must be available for the fast path, whatever the event.
pub(crate) const QUICK_BYTES: usize = 32;

/// What an event may refer to without further checks.
#[derive(Debug)]
pub(crate) struct QuickRules {
    /// All stacks below this one are in the metadata.
    pub(crate) dense_stacks: u64,
    /// Other stacks that were already looked up.
    pub(crate) seen_stacks: IdSet,
    /// All marker names below this one are in the metadata.
    pub(crate) dense_names: u64,
    /// Bits of an address that the dialect does not use.
    pub(crate) odd_address_bits: u64,
}

/// The decoded front of an ordinary ALLOC or FREE; for a FREE, this is everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front {
    pub(crate) is_free: bool,
    delta_us: u64,
    address: u64,
    pub(crate) len: usize,
}

impl Front {
    /// Returns the FREE and advances the clock.
    #[inline(always)]
    pub(crate) fn free(&self, clock: &mut Clock) -> Option<Record<'static>> {
        let Self { delta_us, address, .. } = *self;
        let time_us = clock.pass_memory_if_it_fits(delta_us)?;
        Some(Record::Free(Free { delta_us, time_us, address, padding: Padding::default() }))
    }
}

impl QuickRules {
    /// Reads an ordinary event from the front of `bytes` and advances the clock; also returns its length.
    ///
    /// `None` leaves the clock unchanged, here and below.
    #[inline(always)]
    pub(crate) fn event(&self, bytes: &[u8; QUICK_BYTES], clock: &mut Clock) -> Option<(Record<'static>, usize)> {
        let [kind, ..] = *bytes;
        if kind > EventType::FREE.0 {
            return self.other(bytes, clock);
        }
        let front = self.front(bytes)?;
        if front.is_free { Some((front.free(clock)?, front.len)) } else { self.alloc(bytes, &front, clock) }
    }

    /// Reads the front of an ALLOC or FREE.
    ///
    /// The common part is read before the type is checked: the type is the one thing that cannot be predicted.
    #[inline(always)]
    pub(crate) fn front(&self, bytes: &[u8; QUICK_BYTES]) -> Option<Front> {
        let [kind, ..] = *bytes;
        let delta = Short::read(u32_at(bytes, 1)?)?;
        let place = 1 + delta.len();
        let address = u64_at(bytes, place)?;
        let is_usual = kind <= EventType::FREE.0 && address & self.odd_address_bits == 0;
        let is_free = kind == EventType::FREE.0;
        is_usual.then_some(Front { is_free, delta_us: delta.value.into(), address, len: place + 8 })
    }

    /// Reads the rest of an ALLOC and advances the clock.
    #[inline(always)]
    pub(crate) fn alloc(
        &self,
        bytes: &[u8; QUICK_BYTES],
        front: &Front,
        clock: &mut Clock,
    ) -> Option<(Record<'static>, usize)> {
        let &Front { delta_us, address, len: place, .. } = front;
        let (size, stack, len) = pair(u64_at(bytes, place)?)?;
        let (size_bytes, stack, place) = (size.value.into(), stack.value.into(), place + len);
        let thread = u16_at(bytes, place)?;
        if stack >= self.dense_stacks && !self.seen_stacks.contains(stack) {
            return None;
        }
        let (time_us, padding) = (clock.pass_memory_if_it_fits(delta_us)?, Padding::default());
        let alloc = Alloc { delta_us, time_us, address, size_bytes, stack, thread, padding };
        Some((Record::Alloc(alloc), place + 2))
    }

    /// Reads a GC or MARKER and advances the clock.
    #[inline(always)]
    fn other(&self, bytes: &[u8; QUICK_BYTES], clock: &mut Clock) -> Option<(Record<'static>, usize)> {
        let [kind, ..] = *bytes;
        let delta = Short::read(u32_at(bytes, 1)?)?;
        let (delta_us, place) = (delta.value.into(), 1 + delta.len());
        let (numbers, padding) = (u64_at(bytes, place)?, Padding::default());
        if kind == EventType::GC.0 {
            let (objects, size, len) = pair(numbers)?;
            let (objects, size_bytes) = (objects.value.into(), size.value.into());
            let time_us = clock.pass_other_if_it_fits(delta_us)?;
            return Some((Record::Gc(Gc { delta_us, time_us, objects, size_bytes, padding }), place + len));
        }
        let name = Short::read(numbers as u32)?;
        let (len, name) = (name.len(), name.value.into());
        if kind != EventType::MARKER.0 || name >= self.dense_names {
            return None;
        }
        let time_us = clock.pass_other_if_it_fits(delta_us)?;
        Some((Record::Marker(Marker { delta_us, time_us, name, padding }), place + len))
    }
}

/// Two consecutive varints, and their total length.
#[inline(always)]
fn pair(word: u64) -> Option<(Short, Short, usize)> {
    const TOP_BITS: u64 = 0x8080_8080_8080_8080;
    let ends = !word & TOP_BITS;
    let first = Short::read(word as u32)?;
    // At most half of the eight bytes are used, so at least four valid bytes remain.
    let second = Short::read((word >> first.bits) as u32)?;
    // Equal to the sum of both lengths, and known sooner.
    let second_end = ends & ends.wrapping_sub(1);
    Some((first, second, (second_end.trailing_zeros() as usize + 1) / 8))
}

/// A varint of at most four bytes in its shortest form.
struct Short {
    value: u32,
    /// Size in the file, in bits.
    bits: u32,
}

const TOP_BITS: u32 = 0x8080_8080;
/// The smallest value that needs this many bytes.
const SMALLEST: [u32; 8] = [0, 0, 1 << 7, 1 << 14, 1 << 21, 0, 0, 0];

impl Short {
    #[inline(always)]
    const fn len(&self) -> usize {
        self.bits as usize / 8
    }

    #[inline(always)]
    fn read(word: u32) -> Option<Self> {
        let ends = !word & TOP_BITS;
        if ends == 0 {
            return None;
        }
        // Everything up to the lowest end bit; the bits above belong to the next field.
        let value = join_groups(word & (ends ^ (ends - 1)));
        let bits = ends.trailing_zeros() + 1;
        let smallest = SMALLEST.get(bits as usize / 8).copied().unwrap_or(0);
        (value >= smallest).then_some(Self { value, bits })
    }
}

/// Closes the gaps that the top bits leave between four groups of seven bits.
#[inline(always)]
const fn join_groups(word: u32) -> u32 {
    let pairs = (word & 0x007f_007f) | (word & 0x7f00_7f00) >> 1;
    (pairs & 0x3fff) | (pairs & 0x3fff_0000) >> 2
}

#[inline(always)]
fn u16_at(bytes: &[u8; QUICK_BYTES], place: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(place..)?.first_chunk()?))
}

#[inline(always)]
fn u32_at(bytes: &[u8; QUICK_BYTES], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(place..)?.first_chunk()?))
}

#[inline(always)]
fn u64_at(bytes: &[u8; QUICK_BYTES], place: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(place..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use traceloom_core::ByteOrder;

    use super::*;
    use crate::{
        encoding::{thorough, varint},
        raw::{Dialect, NO_RUN},
    };

    /// The result of the fast path, if any; it may refer to any stack and name.
    fn quick(bytes: &[u8]) -> Option<(Record<'static>, usize)> {
        let seen_stacks = IdSet::default();
        let rules = QuickRules { dense_stacks: u64::MAX, seen_stacks, dense_names: u64::MAX, odd_address_bits: 0 };
        rules.event(bytes.first_chunk()?, &mut Clock::new(Dialect::Document))
    }

    fn thorough(bytes: &[u8]) -> Option<(Record<'static>, usize)> {
        let event = thorough::decode(bytes, ByteOrder::Little).ok()?;
        Some((event.record(event.delta_us), event.len))
    }

    proptest! {
        /// Whenever the fast path returns an event, the thorough path returns the same.
        #[test]
        fn agrees_with_the_thorough_way(
            kind in 0u8..5,
            values in prop::array::uniform3(prop_oneof![0u64..300, any::<u32>().prop_map(u64::from), any::<u64>()]),
            padding in prop::array::uniform3(prop_oneof![4 => Just(0u8), 1 => 0u8..3]),
            noise in prop::collection::vec(any::<u8>(), 48),
        ) {
            let mut bytes = vec![kind];
            for (place, (value, padding)) in values.into_iter().zip(padding).enumerate() {
                let surplus = (crate::raw::VARINT_BYTES - varint::len(value)) as u8;
                varint::write(&mut bytes, value, padding.min(surplus));
                if place == 0 && kind < 2 {
                    bytes.extend_from_slice(noise.first_chunk::<8>().unwrap());
                }
            }
            let is_usual = padding == [0; 3] && values.iter().all(|value| *value < 1 << 28);
            bytes.extend_from_slice(&noise);
            let quick = quick(&bytes);
            prop_assert!(quick.is_none() || quick == thorough(&bytes));
            prop_assert!(quick.is_some() || !is_usual || kind > 3);
        }

        #[test]
        fn agrees_on_any_bytes(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(0x80), any::<u8>()], 0..64)) {
            let quick = quick(&bytes);
            prop_assert!(quick.is_none() || quick == thorough(&bytes));
        }
    }

    /// Everything that has to be looked up or reported is left to the thorough path, and the clock is unchanged.
    #[test]
    fn what_is_unknown_is_left_to_the_thorough_way() {
        let mut alloc = [0; QUICK_BYTES];
        (alloc[1], alloc[2], alloc[11]) = (5, 16, 70);
        let mut marker = [0; QUICK_BYTES];
        (marker[0], marker[1], marker[2]) = (EventType::MARKER.0, 5, 70);
        let rules = |bound, odd_address_bits| {
            let seen_stacks = IdSet::default();
            QuickRules { dense_stacks: bound, seen_stacks, dense_names: bound, odd_address_bits }
        };
        let mut late = Clock::at(Dialect::Document, u64::MAX - 4, NO_RUN);
        for (rules, is_quick) in [(rules(71, 0), true), (rules(70, 0), false), (rules(71, 16), false)] {
            for bytes in [&alloc, &marker] {
                let mut clock = Clock::new(Dialect::Document);
                let is_quick = is_quick || bytes == &marker && rules.dense_names == 71;
                assert_eq!(rules.event(bytes, &mut clock).is_some(), is_quick, "{rules:?}");
                assert_eq!(clock.now_us(), if is_quick { 5 } else { 0 });
                assert_eq!(rules.event(bytes, &mut late), None);
            }
        }
        assert_eq!(late.now_us(), u64::MAX - 4);
    }
}
