//! Integer conversions.

use super::{
    Field, Number, integer_value, pad, pad_number,
    spec::{Conversion, Length},
};
use crate::args::Arg;

/// The digits of every number below 100, in pairs.
#[allow(clippy::indexing_slicing, reason = "done by the compiler")]
static PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
};

/// Digits of one number, filled from the end.
struct Digits<const N: usize> {
    bytes: [u8; N],
    start: usize,
}

impl<const N: usize> Digits<N> {
    #[inline]
    fn decimal(mut value: u64) -> Self {
        let mut digits = Self { bytes: [0; N], start: N };
        while value >= 100 {
            let pair = 2 * (value % 100) as usize;
            value /= 100;
            digits.push_pair(pair);
        }
        if value >= 10 {
            digits.push_pair(2 * value as usize);
        } else {
            digits.push(b'0' + value as u8);
        }
        digits
    }

    /// In a base of 2, 8 or 16.
    fn power(mut value: u64, bits: u32, upper: bool) -> Self {
        let mut digits = Self { bytes: [0; N], start: N };
        let (letters, mask) = (if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" }, (1 << bits) - 1);
        for slot in digits.bytes.iter_mut().rev() {
            *slot = letters.get((value & mask) as usize).copied().unwrap_or(b'0');
            digits.start -= 1;
            value >>= bits;
            if value == 0 {
                break;
            }
        }
        digits
    }

    #[inline]
    fn push(&mut self, digit: u8) {
        self.start = self.start.saturating_sub(1);
        if let Some(slot) = self.bytes.get_mut(self.start) {
            *slot = digit;
        }
    }

    #[inline]
    fn push_pair(&mut self, pair: usize) {
        self.start = self.start.saturating_sub(2);
        if let (Some(slot), Some(pair)) = (self.bytes.get_mut(self.start..self.start + 2), PAIRS.get(pair..pair + 2)) {
            slot.copy_from_slice(pair);
        }
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

/// Appends a number as `%d` does.
#[inline]
pub(crate) fn put_decimal(magnitude: u64, is_negative: bool, out: &mut Vec<u8>) {
    // Most numbers are small; the sign is part of the digits, so a single append is enough.
    if magnitude < 10 && !is_negative {
        return out.push(b'0' + magnitude as u8);
    }
    let mut digits = Digits::<24>::decimal(magnitude);
    if is_negative {
        digits.push(b'-');
    }
    out.extend_from_slice(digits.as_bytes());
}

/// Writes a number into all of `digits`, as far as they have room.
#[inline]
pub(crate) fn fill_decimal(mut value: u32, digits: &mut [u8]) {
    for slot in digits.rchunks_mut(2) {
        let pair = 2 * (value % 100) as usize;
        value /= 100;
        match (slot, PAIRS.get(pair..pair + 2)) {
            ([ten, one], Some([first, second])) => (*ten, *one) = (*first, *second),
            ([one], Some([_, second])) => *one = *second,
            _ => {}
        }
    }
}

/// Appends an integer argument.
pub(crate) fn put(arg: Arg<'_>, conversion: Conversion, length: Length, field: &Field, out: &mut Vec<u8>) {
    let Some(value) = integer_value(arg) else { return };
    if conversion == Conversion::Decimal {
        let value = match (length, arg) {
            (Length::Char, _) => (value as i8).into(),
            (Length::Short, _) => (value as i16).into(),
            // Wider than it was stored: its value counts.
            (Length::Long, Arg::Uint32(value)) => value.into(),
            // The library stores bool and similar types as pointers, with whatever the upper half of the register held.
            (Length::None, Arg::Pointer(value)) => (value as i32).into(),
            _ => value,
        };
        return put_signed(value, field, out);
    }
    let bits = match (length, arg) {
        (Length::Char, _) => (value as u8).into(),
        (Length::Short, _) => (value as u16).into(),
        (_, Arg::Uint32(value)) => value.into(),
        (Length::Long, _) => value as u64,
        (_, Arg::Int32(_) | Arg::Char(_)) | (Length::None, Arg::Pointer(_)) => (value as u32).into(),
        _ => value as u64,
    };
    put_unsigned(bits, conversion, field, out);
}

/// Appends an address as glibc does: `(nil)`, or prefixed hexadecimal.
pub(crate) fn put_pointer(value: u64, field: &Field, out: &mut Vec<u8>) {
    if value == 0 {
        return pad(b"(nil)", field, out);
    }
    let digits = Digits::<64>::power(value, 4, false);
    let prefix: &[u8] = match (field.plus, field.space) {
        (true, _) => b"+0x",
        (false, true) => b" 0x",
        (false, false) => b"0x",
    };
    put_digits(prefix, digits.as_bytes(), field, out);
}

fn put_signed(value: i64, field: &Field, out: &mut Vec<u8>) {
    let prefix: &[u8] = match (value < 0, field.plus, field.space) {
        (true, _, _) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        (false, false, false) => b"",
    };
    let digits = Digits::<64>::decimal(value.unsigned_abs());
    // Zero with a precision of zero has no digits.
    let digits = if (value, field.precision) == (0, Some(0)) { &[] } else { digits.as_bytes() };
    put_digits(prefix, digits, field, out);
}

fn put_unsigned(value: u64, conversion: Conversion, field: &Field, out: &mut Vec<u8>) {
    let digits = match conversion {
        Conversion::Binary { .. } => Digits::<64>::power(value, 1, false),
        Conversion::Octal => Digits::power(value, 3, false),
        Conversion::Hex { upper } => Digits::power(value, 4, upper),
        _ => Digits::decimal(value),
    };
    let is_nothing = (value, field.precision) == (0, Some(0));
    let digits = if is_nothing { &[] } else { digits.as_bytes() };
    let mut field = *field;
    let mut prefix: &[u8] = b"";
    if field.alternate && value != 0 {
        prefix = match conversion {
            Conversion::Binary { upper: false } => b"0b",
            Conversion::Binary { upper: true } => b"0B",
            Conversion::Hex { upper: false } => b"0x",
            Conversion::Hex { upper: true } => b"0X",
            _ => b"",
        };
    }
    // The octal prefix is a leading zero and counts as a digit, unless the precision or the number already provides
    // one.
    if field.alternate && conversion == Conversion::Octal && digits.first() != Some(&b'0') {
        let wanted = digits.len() + 1;
        match field.precision {
            Some(precision) => field.precision = Some(precision.max(wanted)),
            None => prefix = b"0",
        }
    }
    put_digits(prefix, digits, &field, out);
}

/// A precision is the minimum number of digits, and turns the zero flag off.
fn put_digits(prefix: &[u8], digits: &[u8], field: &Field, out: &mut Vec<u8>) {
    let zeros = field.precision.unwrap_or(0).saturating_sub(digits.len());
    let zero_fill = field.zero && field.precision.is_none();
    pad_number(&Number { prefix, zeros, digits, zero_fill }, field, out);
}
