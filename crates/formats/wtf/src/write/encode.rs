//! Builds chunks in memory, for writers and for readers of text.

use std::collections::HashMap;

use traceloom_core::{Error, Result};

use crate::{
    Array, Value,
    event::Definition,
    raw::{
        ArgumentType, CHUNK_FIXED, ChunkType, DEFINE_WIRE_ID, EMPTY_STRING, Element, NULL_ARRAY, NULL_STRING,
        PART_ENTRY, PartType, padded,
    },
};

/// Events in words, with the strings that they refer to.
#[derive(Debug, Default)]
pub(crate) struct EventBuffer {
    pub(crate) events: Vec<u8>,
    pub(crate) strings: Vec<u8>,
    ordinals: HashMap<Box<[u8]>, u32>,
    /// Number of strings in which a NUL, which would end them, was replaced.
    pub(crate) nuls_replaced: u64,
}

impl EventBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.strings.clear();
        self.ordinals.clear();
    }

    pub(crate) fn begin(&mut self, wire_id: u32, time: u32) {
        self.word(wire_id);
        self.word(time);
    }

    pub(crate) fn word(&mut self, word: u32) {
        self.events.extend_from_slice(&word.to_le_bytes());
    }

    /// The ordinal of a string; equal strings share one.
    pub(crate) fn string(&mut self, text: Option<&[u8]>) -> u32 {
        let Some(text) = text else { return NULL_STRING };
        if text.is_empty() {
            return EMPTY_STRING;
        }
        if let Some(ordinal) = self.ordinals.get(text) {
            return *ordinal;
        }
        let ordinal = self.ordinals.len() as u32;
        self.ordinals.insert(text.into(), ordinal);
        for (place, piece) in text.split(|byte| *byte == 0).enumerate() {
            if place > 0 {
                self.nuls_replaced += 1;
                self.strings.extend_from_slice("\u{fffd}".as_bytes());
            }
            self.strings.extend_from_slice(piece);
        }
        self.strings.push(0);
        ordinal
    }

    pub(crate) fn text(&mut self, text: Option<&[u8]>) {
        let ordinal = self.string(text);
        self.word(ordinal);
    }

    pub(crate) fn array(&mut self, elements: Option<(Element, &[u8])>) -> Result<()> {
        let Some((element, bytes)) = elements else {
            self.word(NULL_ARRAY);
            return Ok(());
        };
        let count = bytes.len() / element.width();
        let too_many = |_| Error::limit("array elements", count as u64, u32::MAX.into());
        let count = u32::try_from(count).map_err(too_many)?;
        self.word(count);
        self.events.extend_from_slice(bytes);
        let missing = padded(bytes.len()) - bytes.len();
        self.events.extend_from_slice([0; 4].get(..missing).unwrap_or_default());
        Ok(())
    }

    pub(crate) fn value(&mut self, value: &Value<'_>) -> Result<()> {
        match value {
            Value::Bool(flag) => self.word((*flag).into()),
            // The sign fills the word, as in the C++ writer; readers use only the low bytes.
            Value::Int(number) => self.word(*number as u32),
            Value::Uint(number) | Value::Flow(number) | Value::Time(number) => self.word(*number),
            Value::Float(number) => self.word(number.to_bits()),
            Value::Char(unit) => self.word((*unit).into()),
            Value::Wchar(unit) => self.word((*unit).into()),
            Value::Text(text) | Value::Any(text) => {
                let text = text.map(|text| text.to_str());
                self.text(text.as_deref().map(str::as_bytes));
            }
            Value::Array(None) => self.array(None)?,
            Value::Array(Some(array)) => {
                let bytes = little_endian(array);
                self.array(Some((array.element, &bytes)))?;
            }
        }
        Ok(())
    }

    /// Copies an argument of another buffer with these strings; returns the bytes after it.
    pub(crate) fn copy<'b>(&mut self, kind: ArgumentType, bytes: &'b [u8], texts: &[&[u8]]) -> &'b [u8] {
        let Some((word, rest)) = bytes.split_first_chunk().map(|(word, rest)| (u32::from_le_bytes(*word), rest)) else {
            return &[];
        };
        match kind {
            ArgumentType::Ascii | ArgumentType::Utf8 | ArgumentType::Any => {
                let text = texts.get(word as usize).copied();
                self.text(if word == EMPTY_STRING { Some(&[]) } else { text });
                rest
            }
            ArgumentType::Array(element) if word != NULL_ARRAY => {
                self.word(word);
                let (elements, rest) = rest
                    .split_at_checked(padded((word as usize).saturating_mul(element.width())))
                    .unwrap_or((rest, &[]));
                self.events.extend_from_slice(elements);
                rest
            }
            _ => {
                self.word(word);
                rest
            }
        }
    }

    pub(crate) fn define(&mut self, time: u32, definition: &Definition<'_>) {
        self.begin(DEFINE_WIRE_ID, time);
        self.word(definition.wire_id);
        self.word(definition.class.0.into());
        self.word(definition.flags.0);
        self.text(Some(definition.name.as_bytes()));
        self.text(definition.args.map(str::as_bytes));
    }

    /// An event chunk: strings, then events.
    pub(crate) fn to_chunk(&self, id: u32, times: (u32, u32)) -> Result<Vec<u8>> {
        let parts = [(PartType::STRING_TABLE, &*self.strings), (PartType::BINARY_EVENT_BUFFER, &*self.events)];
        chunk(id, ChunkType::EVENT_DATA, times, &parts)
    }
}

/// The elements of an array in the byte order of the words encoding.
pub(crate) fn little_endian(array: &Array<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(array.bytes.len());
    for element in array.iter() {
        match element {
            Value::Float(number) => bytes.extend_from_slice(&number.to_le_bytes()),
            Value::Int(number) => bytes.extend_from_slice(low(&number.to_le_bytes(), array.element)),
            Value::Uint(number) => bytes.extend_from_slice(low(&number.to_le_bytes(), array.element)),
            Value::Char(unit) => bytes.push(unit),
            Value::Wchar(unit) => bytes.extend_from_slice(&unit.to_le_bytes()),
            _ => {}
        }
    }
    bytes
}

fn low(bytes: &[u8; 4], element: Element) -> &[u8] {
    bytes.get(..element.width()).unwrap_or_default()
}

/// Encodes a chunk: head, part table, parts padded to words.
pub(crate) fn chunk(id: u32, kind: ChunkType, times: (u32, u32), parts: &[(PartType, &[u8])]) -> Result<Vec<u8>> {
    let head = CHUNK_FIXED + PART_ENTRY * parts.len();
    let length = parts.iter().fold(head, |sum, (_, bytes)| sum.saturating_add(padded(bytes.len())));
    let too_long = |_| Error::limit("bytes in one chunk", length as u64, u32::MAX.into());
    let length_word = u32::try_from(length).map_err(too_long)?;
    let mut out = Vec::with_capacity(length);
    for word in [id, kind.0, length_word, times.0, times.1, parts.len() as u32] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    let mut offset = 0;
    for (kind, bytes) in parts {
        for word in [kind.0, offset as u32, bytes.len() as u32] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        offset += padded(bytes.len());
    }
    for (_, bytes) in parts {
        out.extend_from_slice(bytes);
        out.resize(padded(out.len()), 0);
    }
    Ok(out)
}
