//! The strings of a chunk.

use std::borrow::Cow;

use traceloom_core::{Result, reserve};

use crate::raw::{EMPTY_STRING, NULL_STRING};

/// The index stores the offset of every [`STRIDE`]th string: an entry for each short string would take more memory than
/// the strings.
const STRIDE: usize = 8;

/// Strings by ordinal; null if there is none.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StringTable {
    bytes: Vec<u8>,
    /// Offset of every [`STRIDE`]th string.
    index: Vec<u32>,
    /// Strings that contain a NUL, which only JSON can store; sorted by ordinal.
    odd: Vec<(u32, Box<[u8]>)>,
    len: usize,
}

impl StringTable {
    /// A table as stored: each string ends with a NUL; the last NUL may be missing.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let mut table = Self { bytes, ..Self::default() };
        let mut start = 0;
        while let Some(rest) = table.bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let len = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
            if table.len.is_multiple_of(STRIDE) {
                reserve(&mut table.index, 1)?;
                table.index.push(start as u32);
            }
            table.len += 1;
            start += len + 1;
        }
        Ok(table)
    }

    /// Stores a string that contains a NUL, which the bytes cannot hold.
    pub(crate) fn replace(&mut self, ordinal: u32, text: &[u8]) {
        self.odd.push((ordinal, text.into()));
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.index.clear();
        self.odd.clear();
        self.len = 0;
    }

    /// The table as stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether an ordinal is valid: a string of the table, null, or the empty string.
    pub fn has(&self, ordinal: u32) -> bool {
        (ordinal as usize) < self.len || ordinal >= EMPTY_STRING
    }

    /// The string with this ordinal; a stored empty string reads as null, as in WTF.
    #[inline]
    pub fn get(&self, ordinal: u32) -> Option<&[u8]> {
        match ordinal {
            NULL_STRING => None,
            EMPTY_STRING => Some(&[]),
            _ => self.stored(ordinal).filter(|text| !text.is_empty()),
        }
    }

    fn stored(&self, ordinal: u32) -> Option<&[u8]> {
        if let Ok(at) = self.odd.binary_search_by_key(&ordinal, |(ordinal, _)| *ordinal) {
            return self.odd.get(at).map(|(_, text)| &**text);
        }
        let ordinal = ordinal as usize;
        if ordinal >= self.len {
            return None;
        }
        let start = *self.index.get(ordinal / STRIDE)? as usize;
        let mut strings = self.bytes.get(start..)?.split(|byte| *byte == 0);
        strings.nth(ordinal % STRIDE)
    }

    /// All strings as stored.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len as u32).map(|ordinal| self.stored(ordinal).unwrap_or_default())
    }
}

/// How the bytes of a string are encoded.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Coding {
    /// UTF-8.
    Utf8,
    /// UTF-8 in which a character outside the basic plane is two sequences of three bytes.
    Cesu8,
    /// One byte per character.
    Latin1,
}

/// A stored string.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Text<'a> {
    /// As stored; it need not be valid.
    pub bytes: &'a [u8],
    /// The encoding of the bytes.
    pub coding: Coding,
}

impl<'a> Text<'a> {
    /// A UTF-8 string.
    pub const fn utf8(bytes: &'a [u8]) -> Self {
        Self { bytes, coding: Coding::Utf8 }
    }

    /// The string; invalid bytes are replaced.
    pub fn to_str(&self) -> Cow<'a, str> {
        match self.coding {
            Coding::Utf8 => String::from_utf8_lossy(self.bytes),
            Coding::Latin1 if self.bytes.is_ascii() => String::from_utf8_lossy(self.bytes),
            Coding::Latin1 => Cow::Owned(self.bytes.iter().map(|byte| char::from(*byte)).collect()),
            Coding::Cesu8 => match std::str::from_utf8(self.bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => Cow::Owned(from_cesu8(self.bytes)),
            },
        }
    }
}

fn from_cesu8(bytes: &[u8]) -> String {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        let (unit, used) = match (*first, tail) {
            (0..0x80, _) => (u16::from(*first), 0),
            (0xc0..0xe0, [b, ..]) => (u16::from(first & 0x1f) << 6 | u16::from(b & 0x3f), 1),
            (0xe0..0xf0, [b, c, ..]) => {
                (u16::from(first & 0xf) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f), 2)
            }
            _ => (0xfffd, 0),
        };
        units.push(unit);
        rest = tail.get(used..).unwrap_or_default();
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_find_their_strings() {
        let words: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
        let table = StringTable::from_bytes(words.join("\0").into_bytes()).unwrap();
        assert_eq!(table.len(), 40);
        for (ordinal, word) in words.iter().enumerate() {
            assert_eq!(table.get(ordinal as u32), Some(word.as_bytes()));
        }
        assert_eq!(table.get(40), None);
        assert_eq!(table.get(NULL_STRING), None);
        assert_eq!(table.get(EMPTY_STRING), Some(&b""[..]));
    }

    #[test]
    fn a_stored_empty_string_is_null() {
        let table = StringTable::from_bytes(b"a\0\0b\0".to_vec()).unwrap();
        assert_eq!((table.len(), table.get(1), table.get(2)), (3, None, Some(&b"b"[..])));
    }

    #[test]
    fn surrogate_pairs_of_three_bytes_each_are_joined() {
        let text = Text { bytes: b"a\xed\xa0\xbd\xed\xb8\x80\xc3\xa9", coding: Coding::Cesu8 };
        assert_eq!(text.to_str(), "a😀é");
        let text = Text { bytes: b"a\xe9", coding: Coding::Latin1 };
        assert_eq!(text.to_str(), "aé");
    }
}
