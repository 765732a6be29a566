//! Strings: escapes and unpaired surrogates.

use super::{Fault, Input, Parser};
use crate::Result;

impl<I: Input> Parser<I> {
    /// Reads from the opening quote to the closing one.
    pub(super) fn string(&mut self) -> Result<(), Fault> {
        let start = self.offset();
        self.input.take(1);
        self.text.clear();
        loop {
            while self.keep_while(|byte| *byte >= 0x20 && !matches!(byte, b'"' | b'\\'))? {}
            match self.input.ahead(1)?.first() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.fault("a string has a control character")),
                None => return Err(self.fault("the text ends inside a string")),
            }
        }
        self.input.take(1);
        if self.not_utf8.is_none() && !self.text.is_ascii() && !is_utf8(&self.text) {
            self.not_utf8 = Some(start);
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let byte = match self.input.ahead(2)?.get(1).copied() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => return self.unicode_escape(),
            Some(_) => return Err(self.fault("invalid escape")),
            None => return Err(self.fault("the text ends inside an escape")),
        };
        self.input.take(2);
        Ok(self.put(&[byte])?)
    }

    /// Reads a UTF-16 unit; the second half of a pair must follow immediately.
    fn unicode_escape(&mut self) -> Result<(), Fault> {
        let Some(unit) = unit(self.input.ahead(UNIT_BYTES)?) else {
            return Err(self.fault("an escape has no four hexadecimal digits"));
        };
        self.input.take(UNIT_BYTES);
        let low = match unit {
            0xd800..0xdc00 => self::unit(self.input.ahead(UNIT_BYTES)?).filter(|low| (0xdc00..0xe000).contains(low)),
            _ => None,
        };
        let Some(low) = low else { return Ok(self.put_code_point(unit)?) };
        self.input.take(UNIT_BYTES);
        Ok(self.put_code_point(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))?)
    }

    fn put_code_point(&mut self, code_point: u32) -> Result<()> {
        let replaced = if self.keeps_surrogates { None } else { Some(char::REPLACEMENT_CHARACTER) };
        match char::from_u32(code_point).or(replaced) {
            Some(c) => self.put(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {
                let (middle, last) = (code_point >> 6 & 0x3f, code_point & 0x3f);
                self.put(&[0xed, 0x80 | middle as u8, 0x80 | last as u8])
            }
        }
    }
}

/// Bytes of `\uXXXX`.
const UNIT_BYTES: usize = 6;

/// The value of the `\uXXXX` at the start.
fn unit(bytes: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = bytes else { return None };
    let digits = digits.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

/// Whether text is UTF-8 except for surrogates, which come from escapes.
fn is_utf8(text: &[u8]) -> bool {
    let mut rest = text;
    while let Err(error) = std::str::from_utf8(rest) {
        match rest.get(error.valid_up_to()..) {
            Some([0xed, 0xa0..=0xbf, 0x80..=0xbf, tail @ ..]) => rest = tail,
            _ => return false,
        }
    }
    true
}
