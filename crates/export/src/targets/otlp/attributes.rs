//! Attributes: keys with typed values.

use traceloom_core::Result;

use super::fields::value;
use crate::wire::Wire;
use traceloom_passes::{Arg, Args, Datum, NameId, NamePool, Owner, Repeats};

/// Arguments of a row as attributes, reused from row to row.
#[derive(Debug)]
pub(super) struct Attributes {
    /// The number of the attribute field.
    field: u32,
    keys: Repeats,
    /// The attribute under construction, and its array if it is one.
    pair: Wire,
    elements: Wire,
    array: Option<NameId>,
    /// The type of numbers that mean true and false.
    is_bool: NameId,
}

impl Attributes {
    /// Attributes as fields with this number, for messages that already have attributes with these keys: a key must not
    /// occur twice in one message.
    pub(super) fn new(field: u32, own: &[&str], names: &mut NamePool) -> Result<Self> {
        Ok(Self {
            field,
            keys: Repeats::beside(own, names)?,
            pair: Wire::default(),
            elements: Wire::default(),
            array: None,
            is_bool: names.intern("bool")?,
        })
    }

    /// Adds the arguments of a row to a message.
    #[inline]
    pub(super) fn add(&mut self, owner: Owner, args: &mut Args, names: &mut NamePool, out: &mut Wire) -> Result<()> {
        if args.is_empty() {
            return Ok(());
        }
        self.keys.clear();
        args.visit(owner, |arg| self.add_one(&arg, names, out))?;
        self.close(out);
        Ok(())
    }

    fn add_one(&mut self, arg: &Arg<'_>, names: &mut NamePool, out: &mut Wire) -> Result<()> {
        // Elements of an array are consecutive.
        if arg.idx.is_none() || self.array != Some(arg.key) {
            self.close(out);
            let pair = &mut self.pair;
            self.keys.put(arg.key, names, |key| pair.text(value::KEY, key_or_some(key)))?;
        }
        let is_bool = arg.kind == self.is_bool;
        if arg.idx.is_some() {
            self.array = Some(arg.key);
            self.elements.message(value::ELEMENTS, |wire| put_value(wire, arg.value, is_bool));
        } else {
            self.pair.message(value::VALUE, |wire| put_value(wire, arg.value, is_bool));
            self.close(out);
        }
        Ok(())
    }

    fn close(&mut self, out: &mut Wire) {
        if self.array.take().is_some() {
            let elements = &self.elements.bytes;
            self.pair.message(value::VALUE, |wire| wire.bytes(value::ARRAY, elements));
            self.elements.clear();
        }
        if self.pair.len() > 0 {
            out.bytes(self.field, &self.pair.bytes);
            self.pair.clear();
        }
    }
}

/// An attribute must have a key.
pub(super) fn key_or_some(key: &str) -> &str {
    if key.is_empty() { "(no name)" } else { key }
}

/// Adds one text.
pub(super) fn put_text(out: &mut Wire, field: u32, key: &str, text: &str) {
    put(out, field, key, Datum::Text(text));
}

/// Adds one number.
pub(super) fn put_number(out: &mut Wire, field: u32, key: &str, number: u64) {
    put(out, field, key, Datum::Unsigned(number));
}

fn put(out: &mut Wire, field: u32, key: &str, datum: Datum<'_>) {
    out.message(field, |wire| {
        wire.text(value::KEY, key);
        wire.message(value::VALUE, |wire| put_value(wire, datum, false));
    });
}

fn put_value(wire: &mut Wire, datum: Datum<'_>, is_bool: bool) {
    match datum {
        Datum::Bytes(bytes) => wire.bytes(value::BYTES, bytes),
        Datum::Float(number) => wire.double(value::DOUBLE, number),
        Datum::Int(flag @ (0 | 1)) if is_bool => wire.int(value::BOOL, flag),
        Datum::Int(number) => wire.int(value::INT, number),
        // A value without a kind means no value.
        Datum::Null => {}
        Datum::Text(text) => wire.text(value::STRING, text),
        Datum::Unsigned(number) => match i64::try_from(number) {
            Ok(number) => wire.int(value::INT, number),
            Err(_) => wire.text(value::STRING, &number.to_string()),
        },
    }
}
