//! Writes JSON and numbers for other programs, and text that is safe to display.

pub mod json;
pub(crate) mod nearest;
pub mod number;

/// Appends bytes as hexadecimal digits.
pub fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    out.extend(digits.map(|digit| DIGITS[usize::from(digit)]));
}

/// Whether a character changes the direction of a line: such characters can make a name look like another.
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text with bidirectional control characters escaped.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_bidi_control(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}
