//! Writing what other programs parse: JSON and numbers.

pub mod json;
pub(crate) mod nearest;
pub mod number;

/// Appends bytes as hexadecimal digits.
pub fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    out.extend(digits.map(|digit| DIGITS[usize::from(digit)]));
}
