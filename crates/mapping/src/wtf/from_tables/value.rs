//! Arguments, converted to values of the format.
//!
//! Values with a type of the format keep it. Other numbers become JSON, which can hold all of their digits.

use traceloom_core::{Result, json::is_value, text::json};
use traceloom_wtf::{
    Array, Text, Value,
    raw::{ArgumentType, Element},
};

use traceloom_passes::{Arg, Args, Datum, Look, NameId, NamePool, Owner};

use crate::wtf::EMPTY_ARRAY;

/// The arguments of one row.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) list: Vec<Item>,
    /// Elements of the argument being read.
    elements: Vec<Scalar>,
    pending: Option<(NameId, NameId, bool)>,
}

/// One argument.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) key: NameId,
    pub(super) kind: ArgumentType,
    pub(super) held: Held,
    /// Whether the format has no type for it.
    pub(super) is_untyped: bool,
    /// Whether its type promises JSON but its text was not JSON, and is now a string.
    pub(super) is_quoted: bool,
}

/// An owned value of the format.
#[derive(Clone, Debug)]
pub(super) enum Held {
    Any(Option<String>),
    Array(Element, Option<Vec<u8>>),
    Bool(bool),
    Char(u8),
    Float(f32),
    Flow(u32),
    Int(i32),
    Text(Option<String>),
    Time(u32),
    Uint(u32),
    Wchar(u16),
}

impl Held {
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Any(json) => Value::Any(json.as_ref().map(|json| Text::utf8(json.as_bytes()))),
            Self::Array(element, bytes) => Value::Array(bytes.as_ref().map(|bytes| Array::new(*element, bytes))),
            Self::Bool(value) => Value::Bool(*value),
            Self::Char(value) => Value::Char(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Flow(value) => Value::Flow(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Text(text) => Value::Text(text.as_ref().map(|text| Text::utf8(text.as_bytes()))),
            Self::Time(value) => Value::Time(*value),
            Self::Uint(value) => Value::Uint(*value),
            Self::Wchar(value) => Value::Wchar(*value),
        }
    }

    /// Writes the value as JSON, for values that share one argument.
    pub(super) fn put_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Any(None) | Self::Array(_, None) | Self::Text(None) => out.extend_from_slice(b"null"),
            Self::Any(Some(json)) => out.extend_from_slice(json.as_bytes()),
            Self::Array(element, Some(bytes)) => {
                out.push(b'[');
                for (place, value) in Array::new(*element, bytes).iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    put_number(&value, out);
                }
                out.push(b']');
            }
            Self::Text(Some(text)) => json::push_string(out, text),
            _ => put_number(&self.value(), out),
        }
    }
}

fn put_number(value: &Value<'_>, out: &mut Vec<u8>) {
    let scalar = match value {
        Value::Bool(value) => return out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Value::Char(unit) => Scalar::Text(char::from(*unit).to_string()),
        Value::Float(number) => Scalar::Float(f64::from(*number)),
        Value::Int(number) => Scalar::Int((*number).into()),
        Value::Flow(number) | Value::Time(number) | Value::Uint(number) => Scalar::Unsigned((*number).into()),
        Value::Wchar(unit) => Scalar::Text(String::from_utf16_lossy(&[*unit])),
        Value::Any(_) | Value::Array(_) | Value::Text(_) => Scalar::Null,
    };
    scalar.put_json(out);
}

/// A value as stored in the tables.
#[derive(Clone, Debug)]
enum Scalar {
    Bytes(Vec<u8>),
    Float(f64),
    Int(i64),
    Null,
    Text(String),
    Unsigned(u64),
}

impl Scalar {
    fn new(value: Datum<'_>) -> Self {
        match value {
            Datum::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            Datum::Float(number) => Self::Float(number),
            Datum::Int(number) => Self::Int(number),
            Datum::Null => Self::Null,
            Datum::Text(text) => Self::Text(text.to_owned()),
            Datum::Unsigned(number) => Self::Unsigned(number),
        }
    }

    fn number(&self) -> Option<i128> {
        match self {
            Self::Int(number) => Some((*number).into()),
            Self::Unsigned(number) => Some((*number).into()),
            _ => None,
        }
    }

    fn put_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bytes(bytes) => {
                out.push(b'"');
                traceloom_core::text::push_hex(out, bytes);
                out.push(b'"');
            }
            Self::Float(number) if number.is_finite() => out.extend_from_slice(format!("{number:?}").as_bytes()),
            // JSON cannot represent it.
            Self::Float(number) => out.extend_from_slice(format!("\"{number}\"").as_bytes()),
            Self::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Null => out.extend_from_slice(b"null"),
            Self::Text(text) => json::push_string(out, text),
            Self::Unsigned(number) => out.extend_from_slice(number.to_string().as_bytes()),
        }
    }
}

impl Items {
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Adds the arguments of a row; `is_ours` if they come from a file of the same format.
    pub(super) fn collect(&mut self, owner: Owner, is_ours: bool, args: &mut Args, names: &mut NamePool) -> Result<()> {
        args.visit(owner, |arg| self.take(&arg, is_ours, names))?;
        self.end(is_ours, names)
    }

    /// Adds an argument of any type that the format has.
    pub(super) fn push(&mut self, key: NameId, kind: ArgumentType, held: Held) {
        self.list.push(Item { key, kind, held, is_untyped: false, is_quoted: false });
    }

    fn take(&mut self, arg: &Arg<'_>, is_ours: bool, names: &mut NamePool) -> Result<()> {
        let goes_on = arg.idx.is_some_and(|idx| idx > 0 && idx as usize == self.elements.len())
            && self.pending == Some((arg.key, arg.kind, true));
        if !goes_on {
            self.end(is_ours, names)?;
            self.pending = Some((arg.key, arg.kind, arg.idx.is_some()));
        }
        self.elements.push(Scalar::new(arg.value));
        Ok(())
    }

    fn end(&mut self, is_ours: bool, names: &mut NamePool) -> Result<()> {
        let Some((key, kind, is_array)) = self.pending.take() else { return Ok(()) };
        let word = names.get(kind)?;
        let stated = ArgumentType::parse(word)
            .map(|kind| array_of(kind, is_array))
            .filter(|kind| is_ours || *kind != ArgumentType::Any);
        let typed = stated.and_then(|kind| Some((kind, typed(kind, is_array, &self.elements)?)));
        let is_untyped = typed.is_none();
        let (kind, held) = typed.unwrap_or_else(|| untyped(is_array, &self.elements));
        let is_untyped = is_untyped && kind == ArgumentType::Any;
        let is_quoted = matches!(
            (self.elements.as_slice(), &held),
            ([Scalar::Text(text)], Held::Any(Some(json))) if text != json
        );
        self.elements.clear();
        self.list.push(Item { key, kind, held, is_untyped, is_quoted });
        Ok(())
    }
}

/// Other formats name only the type of the elements.
fn array_of(kind: ArgumentType, is_array: bool) -> ArgumentType {
    match kind {
        ArgumentType::Number(element) if is_array => ArgumentType::Array(element),
        kind => kind,
    }
}

/// The value converted to the type; `None` if it does not fit.
fn typed(kind: ArgumentType, is_array: bool, elements: &[Scalar]) -> Option<Held> {
    if let ArgumentType::Array(element) = kind {
        return match elements {
            [Scalar::Null] if !is_array => Some(Held::Array(element, None)),
            [Scalar::Text(text)] if !is_array && text == EMPTY_ARRAY => Some(Held::Array(element, Some(Vec::new()))),
            elements if is_array => {
                let mut bytes = Vec::new();
                elements.iter().try_for_each(|scalar| put_element(element, scalar, &mut bytes))?;
                Some(Held::Array(element, Some(bytes)))
            }
            _ => None,
        };
    }
    let [scalar] = elements else { return None };
    match (kind, scalar) {
        _ if is_array => None,
        (ArgumentType::Bool, scalar) => match scalar.number()? {
            0 => Some(Held::Bool(false)),
            1 => Some(Held::Bool(true)),
            _ => None,
        },
        (ArgumentType::Ascii | ArgumentType::Utf8, Scalar::Text(text)) => Some(Held::Text(Some(text.clone()))),
        (ArgumentType::Ascii | ArgumentType::Utf8, Scalar::Null) => Some(Held::Text(None)),
        (ArgumentType::Any, Scalar::Text(text)) if is_value(text.as_bytes()) => Some(Held::Any(Some(text.clone()))),
        (ArgumentType::Any, Scalar::Text(_)) => Some(Held::Any(Some(json_of(|out| scalar.put_json(out))))),
        (ArgumentType::Any, Scalar::Null) => Some(Held::Any(None)),
        (ArgumentType::FlowId, scalar) => Some(Held::Flow(scalar.number()?.try_into().ok()?)),
        (ArgumentType::Time32, scalar) => Some(Held::Time(scalar.number()?.try_into().ok()?)),
        (ArgumentType::Number(element), scalar) => number(element, scalar),
        _ => None,
    }
}

fn number(element: Element, scalar: &Scalar) -> Option<Held> {
    let within = |low: i64, high: i64| {
        let number = scalar.number()?;
        (i128::from(low)..=i128::from(high)).contains(&number).then_some(number)
    };
    let letter = |text: &str| {
        let mut letters = text.chars();
        letters.next().filter(|_| letters.as_str().is_empty())
    };
    Some(match (element, scalar) {
        (Element::Int8, _) => Held::Int(within(-128, 127)? as i32),
        (Element::Int16, _) => Held::Int(within(-32_768, 32_767)? as i32),
        (Element::Int32, _) => Held::Int(within(i32::MIN.into(), i32::MAX.into())? as i32),
        (Element::Uint8, _) => Held::Uint(within(0, 255)? as u32),
        (Element::Uint16, _) => Held::Uint(within(0, 65_535)? as u32),
        (Element::Uint32, _) => Held::Uint(within(0, u32::MAX.into())? as u32),
        (Element::Float32, Scalar::Float(number)) => {
            let single = *number as f32;
            Held::Float(Some(single).filter(|single| f64::from(*single) == *number || number.is_nan())?)
        }
        (Element::Char, Scalar::Text(text)) => Held::Char(u8::try_from(u32::from(letter(text)?)).ok()?),
        (Element::Wchar, Scalar::Text(text)) => Held::Wchar(u16::try_from(u32::from(letter(text)?)).ok()?),
        _ => return None,
    })
}

fn put_element(element: Element, scalar: &Scalar, bytes: &mut Vec<u8>) -> Option<()> {
    match number(element, scalar)? {
        Held::Int(number) => bytes.extend_from_slice(number.to_le_bytes().get(..element.width())?),
        Held::Uint(number) => bytes.extend_from_slice(number.to_le_bytes().get(..element.width())?),
        Held::Float(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Held::Char(unit) => bytes.push(unit),
        Held::Wchar(unit) => bytes.extend_from_slice(&unit.to_le_bytes()),
        _ => return None,
    }
    Some(())
}

fn untyped(is_array: bool, elements: &[Scalar]) -> (ArgumentType, Held) {
    match elements {
        [Scalar::Text(text)] if !is_array => (ArgumentType::Utf8, Held::Text(Some(text.clone()))),
        [Scalar::Bytes(bytes)] if !is_array => {
            (ArgumentType::Array(Element::Uint8), Held::Array(Element::Uint8, Some(bytes.clone())))
        }
        [scalar] if !is_array => (ArgumentType::Any, Held::Any(Some(json_of(|out| scalar.put_json(out))))),
        elements => {
            let list = json_of(|out| {
                out.push(b'[');
                for (place, scalar) in elements.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    scalar.put_json(out);
                }
                out.push(b']');
            });
            (ArgumentType::Any, Held::Any(Some(list)))
        }
    }
}

/// A JSON text written by `put`.
pub(super) fn json_of(put: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    put(&mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The source location of a span, as arguments.
pub(super) fn source_items(look: &Look, names: &mut NamePool, items: &mut Items) -> Result<()> {
    let Some(file) = look.file else { return Ok(()) };
    let file = names.get(file)?.to_owned();
    put_source(&file, look.line, names, items)
}

/// A source location, as arguments.
pub(super) fn put_source(file: &str, line: Option<u32>, names: &mut NamePool, items: &mut Items) -> Result<()> {
    items.push(names.intern("source_file")?, ArgumentType::Utf8, Held::Text(Some(file.to_owned())));
    if let Some(line) = line {
        items.push(names.intern("source_line")?, ArgumentType::Number(Element::Uint32), Held::Uint(line));
    }
    Ok(())
}
