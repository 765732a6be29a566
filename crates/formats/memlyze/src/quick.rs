//! The way that nearly every ALLOC and FREE goes: little-endian, whole, with shortest varints of at most four bytes.
//!
//! Everything else gives `None` here and is taken apart by [`crate::decode::thorough`], which knows every shape.
//! Lengths of varints follow no pattern that a processor could guess, so nothing here branches on them.

use crate::{
    Padding,
    decode::{Body, Event},
    raw::EventType,
};

/// Bytes that must be there for the quick way, whatever the event.
pub(crate) const QUICK_BYTES: usize = 32;

/// The front of an ALLOC or FREE of usual shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuickMemory {
    pub(crate) delta_us: u64,
    pub(crate) address: u64,
    /// Bytes in the file up to the address: all of a FREE.
    pub(crate) len: usize,
}

/// The back of an ALLOC of usual shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuickAlloc {
    pub(crate) size_bytes: u64,
    pub(crate) stack: u64,
    pub(crate) thread: u16,
    /// Bytes in the file, the front included.
    pub(crate) len: usize,
}

/// Reads an ALLOC or FREE of usual shape from the front of `bytes`.
#[inline]
pub(crate) fn event(bytes: &[u8]) -> Option<Event> {
    let bytes = bytes.first_chunk()?;
    let front = memory(bytes)?;
    let QuickMemory { delta_us, address, len } = front;
    let (body, len) = match EventType(bytes[0]) {
        EventType::ALLOC => {
            let QuickAlloc { size_bytes, stack, thread, len } = alloc(bytes, &front)?;
            (Body::Alloc { address, size_bytes, stack, thread }, len)
        }
        EventType::FREE => (Body::Free { address }, len),
        _ => return None,
    };
    Some(Event { delta_us, body, padding: Padding::default(), len })
}

/// Reads what ALLOC and FREE have in common from the front of `bytes`.
///
/// This is done before anybody asks which of them it is: that is the one thing that cannot be guessed.
#[inline(always)]
pub(crate) fn memory(bytes: &[u8; QUICK_BYTES]) -> Option<QuickMemory> {
    let delta = Short::read(u32_at(bytes, 1)?)?;
    let delta_len = (delta.bits / 8) as usize;
    let address = u64_at(bytes, 1 + delta_len)?;
    Some(QuickMemory { delta_us: delta.value.into(), address, len: 9 + delta_len })
}

/// Reads the rest of an ALLOC.
#[inline(always)]
pub(crate) fn alloc(bytes: &[u8; QUICK_BYTES], front: &QuickMemory) -> Option<QuickAlloc> {
    let numbers = u64_at(bytes, front.len)?;
    let size = Short::read(numbers as u32)?;
    // At most half of the eight bytes are gone, so what is left begins with four that are real.
    let stack = Short::read((numbers >> size.bits) as u32)?;
    let thread_place = front.len + ((size.bits + stack.bits) / 8) as usize;
    let thread = u16_at(bytes, thread_place)?;
    Some(QuickAlloc { size_bytes: size.value.into(), stack: stack.value.into(), thread, len: thread_place + 2 })
}

/// A varint of at most four bytes in its shortest form.
struct Short {
    value: u32,
    /// Bits in the file, eight for a byte.
    bits: u32,
}

const TOP_BITS: u32 = 0x8080_8080;
/// The smallest value that needs this many bytes.
const SMALLEST: [u32; 8] = [0, 0, 1 << 7, 1 << 14, 1 << 21, 0, 0, 0];

impl Short {
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

    use traceloom_bytes::ByteOrder;

    use super::*;
    use crate::{decode, varint};

    proptest! {
        /// Where the quick way gives anything, it is what the thorough way gives.
        #[test]
        fn agrees_with_the_thorough_way(
            kind in 0u8..3,
            values in prop::array::uniform3(prop_oneof![0u64..300, any::<u32>().prop_map(u64::from), any::<u64>()]),
            padding in prop::array::uniform3(prop_oneof![4 => Just(0u8), 1 => 0u8..3]),
            noise in prop::collection::vec(any::<u8>(), 48),
        ) {
            let mut bytes = vec![kind];
            for (place, (value, padding)) in values.into_iter().zip(padding).enumerate() {
                let surplus = (crate::raw::VARINT_BYTES - varint::len(value)) as u8;
                varint::write(&mut bytes, value, padding.min(surplus));
                if place == 0 {
                    bytes.extend_from_slice(noise.first_chunk::<8>().unwrap());
                }
            }
            let usual = padding == [0; 3] && values.iter().all(|value| *value < 1 << 28);
            bytes.extend_from_slice(&noise);
            let quick = event(&bytes);
            prop_assert!(quick.is_none() || quick == decode::thorough(&bytes, ByteOrder::Little).ok());
            prop_assert!(quick.is_some() || !usual || kind > 1);
        }

        #[test]
        fn agrees_on_any_bytes(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(0x80), any::<u8>()], 0..64)) {
            let quick = event(&bytes);
            prop_assert!(quick.is_none() || quick == decode::thorough(&bytes, ByteOrder::Little).ok());
        }
    }
}
