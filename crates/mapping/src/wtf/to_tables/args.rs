//! Arguments of events as rows: one per argument, or one per element of an array.

use std::borrow::Cow;

use traceloom_model::{Halt, Named, Table, Tables};
use traceloom_wtf::{Event, Role, Value};

use super::kinds::Signature;
use crate::{
    shared::{Args, Argument, Datum},
    wtf::EMPTY_ARRAY,
};

/// The row that arguments belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) table: Table,
    pub(super) id: i64,
    /// Whether the filter selects the row; if not, its arguments are only numbered.
    pub(super) is_kept: bool,
}

/// The name of an argument, and its type as the format calls it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label<'a> {
    pub(super) key: Named<'a>,
    /// The index in an array.
    pub(super) idx: Option<u32>,
    pub(super) kind: Named<'a>,
}

impl<'a> Label<'a> {
    pub(super) fn new(key: &'a str, kind: &'a str) -> Self {
        Self { key: key.into(), idx: None, kind: kind.into() }
    }
}

/// The key under which WTF stores data that was appended without a name.
const NO_NAME: &str = "null";

/// Pushes and numbers the arguments of a file.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    rows: Args,
}

impl Arguments {
    /// All arguments of an event.
    pub(super) fn push(
        &mut self,
        event: &Event<'_>,
        owner: Owner,
        signature: Signature<'_>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        if !owner.is_kept && signature.is_flat {
            self.rows.skip(signature.labels.len());
            return Ok(());
        }
        for ((_, value), label) in event.args.iter().zip(signature.labels) {
            self.put(owner, Label { key: label.key.into(), idx: None, kind: label.kind.into() }, value, tables)?;
        }
        Ok(())
    }

    /// The data that an event appends to the scope around it.
    pub(super) fn push_appended(
        &mut self,
        event: &Event<'_>,
        owner: Owner,
        signature: Signature<'_>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let pair =
            (event.kind.role == Role::ScopeAppend).then(|| event.args.get("name").zip(event.kind.argument("value")));
        let Some((name, place)) = pair.flatten() else { return self.push(event, owner, signature, tables) };
        let Some((value, label)) = event.args.nth(place).zip(signature.labels.get(place)) else { return Ok(()) };
        let key = name.as_text().map_or(Cow::Borrowed(NO_NAME), |name| name.to_str());
        self.put(owner, Label { key: Named::Text(&key), idx: None, kind: label.kind.into() }, value, tables)
    }

    /// Pushes one argument. An array becomes a row per element; without elements, it is a single row without an index,
    /// with the text `[]` if the array is empty and without a value if it is null.
    pub(super) fn put(
        &mut self,
        owner: Owner,
        label: Label<'_>,
        value: Value<'_>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let elements = match value {
            Value::Array(Some(array)) if !array.is_empty() => array,
            _ => return self.put_row(owner, label, value, tables),
        };
        if !owner.is_kept {
            self.rows.skip(elements.len());
            return Ok(());
        }
        for (element, idx) in elements.iter().zip(0..) {
            self.put_row(owner, Label { idx: Some(idx), ..label }, element, tables)?;
        }
        Ok(())
    }

    fn put_row(
        &mut self,
        owner: Owner,
        label: Label<'_>,
        value: Value<'_>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        if !owner.is_kept {
            self.rows.skip(1);
            return Ok(());
        }
        let text;
        let mut letter = [0; 4];
        let unit;
        let value = match value {
            Value::Bool(flag) => Datum::Int(flag.into()),
            Value::Int(number) => Datum::Int(number.into()),
            Value::Uint(number) | Value::Flow(number) | Value::Time(number) => Datum::Unsigned(number.into()),
            Value::Float(number) => Datum::Float(number.into()),
            Value::Char(letter_of) => Datum::Text(char::from(letter_of).encode_utf8(&mut letter)),
            Value::Wchar(half) => match char::from_u32(half.into()) {
                Some(whole) => Datum::Text(whole.encode_utf8(&mut letter)),
                None => {
                    unit = half.to_le_bytes();
                    Datum::Replaced("\u{fffd}", &unit)
                }
            },
            Value::Text(Some(stored)) | Value::Any(Some(stored)) => {
                text = stored.to_str();
                // A converted text may still be exact: older files have other encodings.
                if matches!(text, Cow::Owned(_)) && text.contains(char::REPLACEMENT_CHARACTER) {
                    Datum::Replaced(&text, stored.bytes)
                } else {
                    Datum::Text(&text)
                }
            }
            Value::Array(Some(_)) => Datum::Text(EMPTY_ARRAY),
            Value::Text(None) | Value::Any(None) | Value::Array(None) => Datum::Null,
        };
        let Label { key, idx, kind } = label;
        let argument = Argument { owner_table: owner.table, owner_id: owner.id, key, idx, kind, value };
        self.rows.push(&argument, tables)
    }
}
