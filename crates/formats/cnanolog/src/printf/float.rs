//! Floating-point conversions, rounding the exact binary value half to even, as C does.

use std::io::Write;

use super::{Field, Number, integer, pad_number, spec::Conversion};

/// Room for any double with the precisions that logs use; longer texts go to the heap.
const STACK_BYTES: usize = 512;
/// Digits after the point that fit in 128-bit integers.
const QUICK_DIGITS: usize = 12;

/// Appends a double.
pub(crate) fn put(value: f64, conversion: Conversion, field: &Field, out: &mut Vec<u8>) {
    let sign: &[u8] = match (value.is_sign_negative(), field.plus, field.space) {
        (true, _, _) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        (false, false, false) => b"",
    };
    if !value.is_finite() {
        let word: &[u8] = match (value.is_nan(), conversion.is_upper()) {
            (true, false) => b"nan",
            (true, true) => b"NAN",
            (false, false) => b"inf",
            (false, true) => b"INF",
        };
        return pad_number(&Number { prefix: sign, zeros: 0, digits: word, zero_fill: false }, field, out);
    }
    let precision = field.precision.unwrap_or(6);
    match conversion {
        Conversion::HexFloat { upper } => put_hex(value.abs(), sign, upper, field, out),
        Conversion::Fixed { .. } if field.width == 0 && !field.alternate => match quick_fixed(value.abs(), precision) {
            Some((whole, fraction)) => {
                out.extend_from_slice(sign);
                integer::put_decimal(whole, false, out);
                put_fraction(fraction, precision, out);
            }
            None => put_slowly(value.abs(), sign, conversion, field, out),
        },
        _ => put_slowly(value.abs(), sign, conversion, field, out),
    }
}

fn put_slowly(value: f64, sign: &[u8], conversion: Conversion, field: &Field, out: &mut Vec<u8>) {
    let precision = field.precision.unwrap_or(6);
    let mut text = Text::default();
    match conversion {
        Conversion::Exponent { .. } => exponent(value, precision, field.alternate, &mut text),
        Conversion::General { .. } => general(value, precision.max(1), field.alternate, &mut text),
        _ => fixed(value, precision, field.alternate, &mut text),
    }
    if conversion.is_upper() {
        text.as_mut().make_ascii_uppercase();
    }
    let number = Number { prefix: sign, zeros: 0, digits: text.as_ref(), zero_fill: field.zero };
    pad_number(&number, field, out);
}

/// A short text on the stack that moves to the heap when it grows.
struct Text {
    short: [u8; STACK_BYTES],
    len: usize,
    long: Vec<u8>,
}

impl Default for Text {
    fn default() -> Self {
        Self { short: [0; STACK_BYTES], len: 0, long: Vec::new() }
    }
}

impl Text {
    fn push(&mut self, more: &[u8]) {
        match self.short.get_mut(self.len..self.len + more.len()) {
            Some(room) if self.long.is_empty() => {
                room.copy_from_slice(more);
                self.len += more.len();
            }
            _ => {
                if self.long.is_empty() {
                    self.long.extend(self.short.iter().take(self.len));
                }
                self.long.extend_from_slice(more);
            }
        }
    }

    fn push_zeros(&mut self, count: usize) {
        for _ in 0..count {
            self.push(b"0");
        }
    }

    fn truncate(&mut self, to: usize) {
        self.len = self.len.min(to);
        self.long.truncate(to);
    }

    fn as_ref(&self) -> &[u8] {
        if self.long.is_empty() { self.short.get(..self.len).unwrap_or_default() } else { &self.long }
    }

    fn as_mut(&mut self) -> &mut [u8] {
        if self.long.is_empty() { self.short.get_mut(..self.len).unwrap_or_default() } else { &mut self.long }
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whole part and rounded fraction, if 128 bits hold them exactly.
#[inline]
fn quick_fixed(value: f64, precision: usize) -> Option<(u64, u64)> {
    if precision > QUICK_DIGITS {
        return None;
    }
    let bits = value.to_bits();
    let biased = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    let scale = 10u64.pow(precision as u32);
    match exponent {
        12.. => None,
        0.. => Some((mantissa << exponent, 0)),
        _ => {
            let shift = exponent.unsigned_abs();
            // So small that it is below half of the last digit.
            if shift >= 120 {
                return Some((0, 0));
            }
            let whole = if shift < 64 { mantissa >> shift } else { 0 };
            let rest = if shift < 64 { mantissa & ((1 << shift) - 1) } else { mantissa };
            let scaled = u128::from(rest) * u128::from(scale);
            let (digits, left) = ((scaled >> shift) as u64, scaled & ((1 << shift) - 1));
            let half = 1u128 << (shift - 1);
            let is_odd = if precision == 0 { whole } else { digits } & 1 == 1;
            let digits = digits + u64::from(left > half || (left == half && is_odd));
            Some(if digits == scale { (whole + 1, 0) } else { (whole, digits) })
        }
    }
}

/// The point and the digits after it; nothing if there are none.
fn put_fraction(fraction: u64, precision: usize, out: &mut Vec<u8>) {
    if precision == 0 {
        return;
    }
    let mut digits = [b'.'; QUICK_DIGITS + 1];
    let (low, high) = ((fraction % 1_000_000) as u32, (fraction / 1_000_000) as u32);
    let split = precision.saturating_sub(6) + 1;
    integer::fill_decimal(low, digits.get_mut(split..precision + 1).unwrap_or_default());
    integer::fill_decimal(high, digits.get_mut(1..split).unwrap_or_default());
    out.extend_from_slice(digits.get(..precision + 1).unwrap_or_default());
}

fn fixed(value: f64, precision: usize, alternate: bool, text: &mut Text) {
    // Writing to memory cannot fail.
    let _ = write!(text, "{value:.precision$}");
    if alternate && precision == 0 {
        text.push(b".");
    }
}

fn exponent(value: f64, precision: usize, alternate: bool, text: &mut Text) {
    let (digits, exponent) = significant(value, precision);
    put_exponent_form(digits.as_ref(), exponent, alternate, text);
}

/// `%g`: chooses by the exponent that `%e` would show, then removes trailing zeros.
fn general(value: f64, precision: usize, alternate: bool, text: &mut Text) {
    let (mut digits, exponent) = significant(value, precision - 1);
    if !alternate {
        let kept = digits.as_ref().iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
        digits.truncate(kept);
    }
    let digits = digits.as_ref();
    let is_fixed = exponent >= -4 && exponent < precision as i32;
    if !is_fixed {
        return put_exponent_form(digits, exponent, alternate, text);
    }
    if exponent < 0 {
        text.push(b"0.");
        text.push_zeros(exponent.unsigned_abs() as usize - 1);
        return text.push(digits);
    }
    let whole = exponent as usize + 1;
    match digits.split_at_checked(whole) {
        Some((whole, fraction)) => {
            text.push(whole);
            if !fraction.is_empty() || alternate {
                text.push(b".");
            }
            text.push(fraction);
        }
        None => {
            text.push(digits);
            text.push_zeros(whole - digits.len());
        }
    }
}

/// `after + 1` significant digits without a point, and the exponent of the first.
fn significant(value: f64, after: usize) -> (Text, i32) {
    let mut shown = Text::default();
    let _ = write!(shown, "{value:.after$e}");
    let shown = shown.as_ref();
    let e = shown.iter().position(|byte| *byte == b'e').unwrap_or(shown.len());
    let exponent = shown.get(e + 1..).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0);
    let mut digits = Text::default();
    for part in shown.get(..e).unwrap_or_default().split(|byte| *byte == b'.') {
        digits.push(part);
    }
    (digits, exponent)
}

fn put_exponent_form(digits: &[u8], exponent: i32, alternate: bool, text: &mut Text) {
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, &[]));
    text.push(first);
    if !rest.is_empty() || alternate {
        text.push(b".");
    }
    text.push(rest);
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(text, "e{sign}{:02}", exponent.unsigned_abs());
}

/// `%a`: the leading digit is 1, or 0 for zero and subnormal numbers.
fn put_hex(value: f64, sign: &[u8], upper: bool, field: &Field, out: &mut Vec<u8>) {
    let bits = value.to_bits();
    let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let (lead, fraction) = round_hex(u64::from(biased != 0) << 52 | fraction, field.precision);
    let shown = field.precision.unwrap_or(13 - (fraction.trailing_zeros() as usize / 4).min(13));
    let mut digits = Text::default();
    let _ = write!(digits, "{fraction:013x}");
    let mut text = Text::default();
    let _ = write!(text, "{lead}");
    if shown > 0 || field.alternate {
        text.push(b".");
    }
    text.push(digits.as_ref().get(..shown.min(13)).unwrap_or_default());
    text.push_zeros(shown.saturating_sub(13));
    let _ = write!(text, "p{exponent:+}");
    if upper {
        text.as_mut().make_ascii_uppercase();
    }
    let mut prefix = Text::default();
    prefix.push(sign);
    prefix.push(if upper { b"0X" } else { b"0x" });
    let number = Number { prefix: prefix.as_ref(), zeros: 0, digits: text.as_ref(), zero_fill: field.zero };
    pad_number(&number, field, out);
}

/// Leading digit and 52 bits after the point, rounded to this many hexadecimal digits.
fn round_hex(mantissa: u64, digits: Option<usize>) -> (u64, u64) {
    let Some(digits @ 0..13) = digits else { return (mantissa >> 52, mantissa & ((1 << 52) - 1)) };
    let dropped = 4 * (13 - digits as u32);
    let (kept, rest, half) = (mantissa >> dropped, mantissa & ((1 << dropped) - 1), 1 << (dropped - 1));
    let kept = kept + u64::from(rest > half || (rest == half && kept & 1 == 1));
    (kept >> (4 * digits as u32), (kept << dropped) & ((1 << 52) - 1))
}
