//! The arguments of an event, decoded one by one from the stored bytes.

use traceloom_core::{ByteOrder, Cursor, Error, Result};

use super::{Argument, Coding, StringTable, Text};
use crate::raw::{ArgumentType, Element, NULL_ARRAY, padded};

/// How events are encoded.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Encoding {
    /// Little-endian words; strings are ordinals of the chunk's table.
    Words,
    /// Big-endian and packed; strings are in the event.
    Legacy,
}

/// The length of a string in the packed encoding if an ordinal follows.
const LEGACY_ORDINAL: u16 = u16::MAX;

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A boolean.
    Bool(bool),
    /// A signed number.
    Int(i32),
    /// An unsigned number.
    Uint(u32),
    /// A floating-point number.
    Float(f32),
    /// A code point up to 255.
    Char(u8),
    /// One UTF-16 unit.
    Wchar(u16),
    /// A string.
    Text(Option<Text<'a>>),
    /// A JSON text, meant to be valid.
    Any(Option<Text<'a>>),
    /// The id of a flow; 0 for none.
    Flow(u32),
    /// Microseconds.
    Time(u32),
    /// An array of numbers or characters.
    Array(Option<Array<'a>>),
}

impl<'a> Value<'a> {
    /// The number, if it is an unsigned one.
    pub fn as_u32(&self) -> Option<u32> {
        match self {
            Self::Uint(value) | Self::Flow(value) | Self::Time(value) => Some(*value),
            _ => None,
        }
    }

    /// The string or JSON text.
    pub fn as_text(&self) -> Option<Text<'a>> {
        match self {
            Self::Text(text) | Self::Any(text) => *text,
            _ => None,
        }
    }
}

/// The elements of an array as stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Array<'a> {
    /// Type of the elements.
    pub element: Element,
    /// The elements without padding.
    pub bytes: &'a [u8],
    encoding: Encoding,
}

impl<'a> Array<'a> {
    /// An array for a writer: elements in little-endian order.
    pub const fn new(element: Element, bytes: &'a [u8]) -> Self {
        Self { element, bytes, encoding: Encoding::Words }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element.width()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The elements as scalars.
    pub fn iter(&self) -> impl Iterator<Item = Value<'static>> + use<'a> {
        let Self { element, encoding, .. } = *self;
        self.bytes.chunks_exact(element.width()).map(move |bytes| number(element, bytes, encoding))
    }
}

/// The arguments of one event.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// The stored bytes, including padding.
    pub bytes: &'a [u8],
    /// How they are encoded.
    pub encoding: Encoding,
    pub(crate) signature: &'a [Argument],
    pub(crate) strings: &'a StringTable,
}

impl<'a> Args<'a> {
    /// Names and values in the order of the signature; ends with the bytes.
    pub fn iter(&self) -> ArgsIter<'a> {
        ArgsIter { cursor: cursor(self.bytes, self.encoding), args: *self, next: 0 }
    }

    /// The value of the argument with this name.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|(argument, _)| &*argument.name == name).map(|(_, value)| value)
    }

    /// The value at an index of the signature.
    #[inline]
    pub fn nth(&self, place: usize) -> Option<Value<'a>> {
        self.iter().nth(place).map(|(_, value)| value)
    }

    /// Number of arguments that the signature has.
    pub fn len(&self) -> usize {
        self.signature.len()
    }

    /// Whether the signature has no arguments.
    pub fn is_empty(&self) -> bool {
        self.signature.is_empty()
    }

    /// The arguments that are stored as ordinals of strings, with their ordinals.
    pub(crate) fn ordinals(&self) -> impl Iterator<Item = (&'a Argument, u32)> + use<'a> {
        let words = self.encoding == Encoding::Words;
        let mut cursor = cursor(self.bytes, self.encoding);
        self.signature.iter().filter_map(move |argument| {
            if !words {
                return None;
            }
            let before = cursor;
            skip(argument.kind, &mut cursor, Encoding::Words).ok()?;
            let mut field = before;
            argument.kind.is_string().then(|| field.u32("ordinal").ok().map(|ordinal| (argument, ordinal))).flatten()
        })
    }
}

/// Iterates over the arguments of an event.
#[derive(Clone, Copy, Debug)]
pub struct ArgsIter<'a> {
    cursor: Cursor<'a>,
    args: Args<'a>,
    next: usize,
}

impl<'a> Iterator for ArgsIter<'a> {
    type Item = (&'a Argument, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let argument = self.args.signature.get(self.next)?;
        self.next += 1;
        let value = match self.args.encoding {
            Encoding::Words => word_value(argument.kind, &mut self.cursor, self.args.strings),
            Encoding::Legacy => legacy_value(argument.kind, &mut self.cursor, self.args.strings),
        };
        value.ok().map(|value| (argument, value))
    }
}

fn cursor(bytes: &[u8], encoding: Encoding) -> Cursor<'_> {
    let order = match encoding {
        Encoding::Words => ByteOrder::Little,
        Encoding::Legacy => ByteOrder::Big,
    };
    Cursor::new(bytes, 0, order)
}

/// Size of the arguments at the front of `bytes`; the error says how many more bytes are needed.
pub(crate) fn measure(signature: &[Argument], bytes: &[u8], encoding: Encoding) -> Result<usize> {
    let mut cursor = cursor(bytes, encoding);
    for argument in signature {
        skip(argument.kind, &mut cursor, encoding)?;
    }
    Ok(bytes.len() - cursor.left())
}

fn skip(kind: ArgumentType, cursor: &mut Cursor<'_>, encoding: Encoding) -> Result<()> {
    match (kind, encoding) {
        (ArgumentType::Array(element), _) => take_array(element, cursor, encoding).map(|_| ()),
        (_, Encoding::Words) => cursor.array::<4>("argument").map(|_| ()),
        (ArgumentType::Ascii, Encoding::Legacy) => legacy_ascii(cursor).map(|_| ()),
        (ArgumentType::Utf8 | ArgumentType::Any, Encoding::Legacy) => legacy_utf8(cursor).map(|_| ()),
        (kind, Encoding::Legacy) => cursor.take(packed_width(kind), "argument").map(|_| ()),
    }
}

fn take_array<'a>(element: Element, cursor: &mut Cursor<'a>, encoding: Encoding) -> Result<Option<&'a [u8]>> {
    let count = cursor.u32("array count")?;
    if count == NULL_ARRAY {
        return Ok(None);
    }
    let too_long = || Error::limit("array elements", count.into(), u32::MAX.into());
    let len = (count as usize).checked_mul(element.width()).ok_or_else(too_long)?;
    let bytes = cursor.take(len, "array")?;
    if encoding == Encoding::Words {
        cursor.take(padded(len) - len, "array padding")?;
    }
    Ok(Some(bytes))
}

fn word_value<'a>(kind: ArgumentType, cursor: &mut Cursor<'a>, strings: &'a StringTable) -> Result<Value<'a>> {
    if let ArgumentType::Array(element) = kind {
        let bytes = take_array(element, cursor, Encoding::Words)?;
        return Ok(Value::Array(bytes.map(|bytes| Array { element, bytes, encoding: Encoding::Words })));
    }
    let bytes = cursor.array::<4>("argument")?;
    let word = u32::from_le_bytes(*bytes);
    let text = || strings.get(word).map(Text::utf8);
    Ok(match kind {
        ArgumentType::Bool => Value::Bool(word & 0xff != 0),
        ArgumentType::Number(element) => number(element, bytes, Encoding::Words),
        ArgumentType::Ascii | ArgumentType::Utf8 => Value::Text(text()),
        ArgumentType::Any => Value::Any(text()),
        ArgumentType::FlowId => Value::Flow(word),
        ArgumentType::Time32 => Value::Time(word),
        ArgumentType::Array(_) => Value::Array(None),
    })
}

fn legacy_value<'a>(kind: ArgumentType, cursor: &mut Cursor<'a>, strings: &'a StringTable) -> Result<Value<'a>> {
    let text = |stored: Legacy<'a>, coding| match stored {
        Legacy::Null => None,
        Legacy::Inline(bytes) => Some(Text { bytes, coding }),
        Legacy::Ordinal(ordinal) => strings.get(ordinal).map(Text::utf8),
    };
    Ok(match kind {
        ArgumentType::Array(element) => {
            let bytes = take_array(element, cursor, Encoding::Legacy)?;
            Value::Array(bytes.map(|bytes| Array { element, bytes, encoding: Encoding::Legacy }))
        }
        ArgumentType::Ascii => Value::Text(text(legacy_ascii(cursor)?, Coding::Latin1)),
        ArgumentType::Utf8 => Value::Text(text(legacy_utf8(cursor)?, Coding::Cesu8)),
        ArgumentType::Any => Value::Any(text(legacy_utf8(cursor)?, Coding::Cesu8)),
        ArgumentType::Bool => Value::Bool(cursor.u8("argument")? != 0),
        ArgumentType::Number(element) => number(element, cursor.take(element.width(), "argument")?, Encoding::Legacy),
        ArgumentType::FlowId => Value::Flow(cursor.u32("argument")?),
        ArgumentType::Time32 => Value::Time(cursor.u32("argument")?),
    })
}

enum Legacy<'a> {
    Null,
    Inline(&'a [u8]),
    Ordinal(u32),
}

fn legacy_ascii<'a>(cursor: &mut Cursor<'a>) -> Result<Legacy<'a>> {
    Ok(match cursor.u16("string length")? {
        0 => Legacy::Null,
        LEGACY_ORDINAL => Legacy::Ordinal(cursor.u32("string ordinal")?),
        len => Legacy::Inline(cursor.take(len.into(), "string")?),
    })
}

fn legacy_utf8<'a>(cursor: &mut Cursor<'a>) -> Result<Legacy<'a>> {
    Ok(match cursor.u16("string length")? {
        0 => Legacy::Null,
        LEGACY_ORDINAL => Legacy::Ordinal(cursor.u32("string ordinal")?),
        _ => {
            let len = cursor.u16("string bytes")?;
            Legacy::Inline(cursor.take(len.into(), "string")?)
        }
    })
}

fn packed_width(kind: ArgumentType) -> usize {
    match kind {
        ArgumentType::Bool => 1,
        ArgumentType::Number(element) => element.width(),
        _ => 4,
    }
}

/// A number from the first bytes of its word or field.
fn number(element: Element, bytes: &[u8], encoding: Encoding) -> Value<'static> {
    let one = bytes.first().copied().unwrap_or(0);
    let two = bytes.first_chunk().copied().unwrap_or_default();
    let four = bytes.first_chunk().copied().unwrap_or_default();
    let order = if encoding == Encoding::Words { ByteOrder::Little } else { ByteOrder::Big };
    match element {
        Element::Int8 => Value::Int((one as i8).into()),
        Element::Uint8 => Value::Uint(one.into()),
        Element::Char => Value::Char(one),
        Element::Int16 => Value::Int(order.i16(two).into()),
        Element::Uint16 => Value::Uint(order.u16(two).into()),
        Element::Wchar => Value::Wchar(order.u16(two)),
        Element::Int32 => Value::Int(order.i32(four)),
        Element::Uint32 => Value::Uint(order.u32(four)),
        // Stored in the byte order of the recording machine, which was little-endian even in the packed encoding.
        Element::Float32 => Value::Float(f32::from_le_bytes(four)),
    }
}
