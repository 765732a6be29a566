//! The bytes of arguments: how both forms are written, and what the packer could have written.

use traceloom_core::ByteOrder;

use crate::{Arg, raw::ArgType};

/// Whether the packed form preserves the value: a number of eight bytes has no room for a sign bit.
pub(crate) fn survives_packing(arg: &Arg<'_>) -> bool {
    !matches!(arg, Arg::Int64(value) if value.unsigned_abs() >> 56 != 0)
}

/// Appends arguments in full width.
pub fn put_raw<'a>(args: impl Iterator<Item = Arg<'a>>, order: ByteOrder, out: &mut Vec<u8>) {
    for arg in args {
        match arg {
            Arg::Char(value) => out.push(value),
            Arg::Double(value) => out.extend_from_slice(&order.put_f64(value)),
            Arg::Int32(value) => out.extend_from_slice(&order.put_i32(value)),
            Arg::Int64(value) => out.extend_from_slice(&order.put_i64(value)),
            Arg::Uint32(value) => out.extend_from_slice(&order.put_u32(value)),
            Arg::Pointer(value) | Arg::Uint64(value) => out.extend_from_slice(&order.put_u64(value)),
            Arg::String(text) => put_string(text, order, out),
        }
    }
}

/// Appends arguments as the library's packer does, in little-endian order.
pub fn put_packed<'a>(args: impl Iterator<Item = Arg<'a>> + Clone, out: &mut Vec<u8>) {
    let numbers = args.clone().filter(|arg| !matches!(arg, Arg::String(_))).count();
    let nibbles_at = out.len();
    out.resize(nibbles_at + numbers.div_ceil(2), 0);
    let mut index = 0;
    for arg in args.clone() {
        let (magnitude, is_negative, fixed) = match arg {
            Arg::String(_) => continue,
            Arg::Char(value) => (value.into(), false, None),
            Arg::Double(value) => (value.to_bits(), false, Some(8)),
            Arg::Int32(value) => (value.unsigned_abs().into(), value < 0, None),
            Arg::Int64(value) => (value.unsigned_abs(), value < 0, None),
            Arg::Uint32(value) => (value.into(), false, None),
            Arg::Pointer(value) | Arg::Uint64(value) => (value, false, None),
        };
        let bytes = fixed.unwrap_or_else(|| fewest_bytes(magnitude));
        let nibble = (bytes as u8) | if is_negative { 8 } else { 0 };
        if let Some(byte) = out.get_mut(nibbles_at + index / 2) {
            *byte |= nibble << (4 * (index % 2));
        }
        index += 1;
        out.extend(magnitude.to_le_bytes().into_iter().take(bytes));
    }
    for arg in args {
        if let Arg::String(text) = arg {
            put_string(text, ByteOrder::Little, out);
        }
    }
}

/// Whether CNanoLog's test takes `data` as packed; it is looser than ours.
pub(crate) fn original_takes_for_packed(codes: &[ArgType], data: &[u8]) -> bool {
    original_packed(codes, data, &mut |_, _| {}).is_some()
}

/// Walks `data` like CNanoLog's unpacker; returns the offset of the strings if it accepts.
///
/// `value` is called with each number: its magnitude and whether it is negative.
pub(crate) fn original_packed(codes: &[ArgType], data: &[u8], value: &mut impl FnMut(u64, bool)) -> Option<usize> {
    let numbers = codes.iter().filter(|code| **code != ArgType::STRING).count();
    let (nibbles, mut left) = data.split_at_checked(numbers.div_ceil(2))?;
    let mut index = 0;
    for code in codes {
        let nibble = match *code {
            ArgType::STRING => continue,
            _ => nibble(nibbles, index)?,
        };
        let (bytes, most, is_negative) = match *code {
            ArgType::CHAR if nibble == 1 => (1, 1, false),
            ArgType::INT32 => (nibble & 7, 4, nibble & 8 != 0),
            ArgType::INT64 => (nibble & 7, 8, nibble & 8 != 0),
            ArgType::UINT32 => (nibble, 4, false),
            ArgType::UINT64 | ArgType::POINTER => (nibble, 8, false),
            ArgType::DOUBLE => (8, 8, false),
            _ => return None,
        };
        if bytes == 0 || bytes > most {
            return None;
        }
        let (bytes, rest) = left.split_at_checked(bytes.into())?;
        value(little_endian(bytes), is_negative);
        index += 1;
        left = rest;
    }
    let at = data.len() - left.len();
    for _ in codes.iter().filter(|code| **code == ArgType::STRING) {
        (_, left) = split_string(left, ByteOrder::Little)?;
    }
    left.is_empty().then_some(at)
}

#[inline]
pub(crate) fn split_string(bytes: &[u8], order: ByteOrder) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(order.u32(*len)).ok()?)
}

/// The n-th nibble, the low half of a byte first.
#[inline]
pub(crate) fn nibble(nibbles: &[u8], index: usize) -> Option<u8> {
    nibbles.get(index / 2).map(|byte| byte >> (4 * (index % 2)) & 15)
}

/// Size of the value that a nibble declares; 8 means eight bytes, whatever the sign.
#[inline]
pub(crate) fn value_bytes(nibble: u8) -> usize {
    const BYTES: [u8; 16] = [1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7];
    BYTES.get(usize::from(nibble)).copied().unwrap_or(1).into()
}

/// Reads a number of one to eight bytes, least significant first.
#[inline]
pub(crate) fn load(bytes: &[u8], len: usize) -> Option<u64> {
    match bytes.first_chunk::<8>() {
        Some(chunk) => Some(u64::from_le_bytes(*chunk) & (u64::MAX >> (64 - 8 * len.clamp(1, 8)))),
        None => bytes.get(..len).map(little_endian),
    }
}

/// Smallest and largest magnitude that the packer writes for each nibble, by type; an empty range if it writes none.
#[allow(clippy::indexing_slicing, reason = "done by the compiler")]
static PACKED: [[(u64, u64); 16]; 9] = {
    let mut table = [[(1, 0); 16]; 9];
    let mut nibble = 1;
    while nibble < 16 {
        let bytes = if nibble > 8 { nibble - 8 } else { nibble };
        let all = u64::MAX >> (64 - 8 * bytes);
        // The fewest bytes, and no negative zero.
        let fewest = if bytes == 1 { (nibble > 8) as u64 } else { 1 << (8 * (bytes - 1)) };
        let half = 1 << 31;
        table[ArgType::INT32.0 as usize][nibble] = match nibble {
            1..=3 | 9..=11 => (fewest, all),
            4 => (fewest, half - 1),
            12 => (fewest, half),
            _ => (1, 0),
        };
        // With eight bytes, the sign is lost: any magnitude up to that of the smallest number.
        table[ArgType::INT64.0 as usize][nibble] = (fewest, if nibble == 8 { 1 << 63 } else { all });
        if nibble <= 4 {
            table[ArgType::UINT32.0 as usize][nibble] = (fewest, all);
        }
        if nibble <= 8 {
            table[ArgType::UINT64.0 as usize][nibble] = (fewest, all);
            table[ArgType::POINTER.0 as usize][nibble] = (fewest, all);
        }
        nibble += 1;
    }
    table[ArgType::DOUBLE.0 as usize][8] = (0, u64::MAX);
    table[ArgType::CHAR.0 as usize][1] = (0, u64::MAX);
    table
};

/// Whether the packer could have written this value of this type.
#[inline]
pub(crate) fn is_packed_value(code: ArgType, nibble: u8, magnitude: u64) -> bool {
    let range = PACKED.get(usize::from(code.0)).and_then(|ranges| ranges.get(usize::from(nibble)));
    range.is_some_and(|(least, most)| (*least..=*most).contains(&magnitude))
}

fn put_string(text: &[u8], order: ByteOrder, out: &mut Vec<u8>) {
    // An entry holds at most 65 535 bytes; the writer refuses longer ones.
    out.extend_from_slice(&order.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX)));
    out.extend_from_slice(text);
}

fn fewest_bytes(magnitude: u64) -> usize {
    (8 - magnitude.leading_zeros() as usize / 8).max(1)
}

#[inline]
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
