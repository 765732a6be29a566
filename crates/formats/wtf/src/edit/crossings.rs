//! Events that are held until an edge of a slice, and items that span several events.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Array, Event, Role, Text, TypeId, Value, raw::Element};

/// An event that is written later than it was read.
#[derive(Debug)]
pub(super) struct Held {
    /// Its zone in the input.
    pub(super) zone: usize,
    pub(super) kind: TypeId,
    values: Vec<Owned>,
}

impl Held {
    pub(super) fn new<'v>(zone: usize, kind: TypeId, values: impl Iterator<Item = Value<'v>>) -> Self {
        Self { zone, kind, values: values.map(Owned::new).collect() }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        self.values.iter().map(Owned::value)
    }
}

/// An owned copy of a value.
#[derive(Debug)]
enum Owned {
    Plain(Value<'static>),
    Text(Option<String>),
    Any(Option<String>),
    Array(Option<(Element, Vec<u8>)>),
}

impl Owned {
    fn new(value: Value<'_>) -> Self {
        let text = |text: Option<Text<'_>>| text.map(|text| text.to_str().into_owned());
        match value {
            Value::Bool(flag) => Self::Plain(Value::Bool(flag)),
            Value::Int(number) => Self::Plain(Value::Int(number)),
            Value::Uint(number) => Self::Plain(Value::Uint(number)),
            Value::Float(number) => Self::Plain(Value::Float(number)),
            Value::Char(unit) => Self::Plain(Value::Char(unit)),
            Value::Wchar(unit) => Self::Plain(Value::Wchar(unit)),
            Value::Flow(id) => Self::Plain(Value::Flow(id)),
            Value::Time(time) => Self::Plain(Value::Time(time)),
            Value::Text(given) => Self::Text(text(given)),
            Value::Any(given) => Self::Any(text(given)),
            Value::Array(array) => Self::Array(array.map(|array| (array.element, crate::write::little_endian(&array)))),
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Plain(value) => *value,
            Self::Text(text) => Value::Text(text.as_ref().map(|text| Text::utf8(text.as_bytes()))),
            Self::Any(text) => Value::Any(text.as_ref().map(|text| Text::utf8(text.as_bytes()))),
            Self::Array(array) => Value::Array(array.as_ref().map(|(element, bytes)| Array::new(*element, bytes))),
        }
    }
}

/// An item with a duration that is not a scope, and its identity.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Lasting {
    /// A frame: a zone and a number.
    Frame(u32, u32),
    /// The mark of a zone, which lasts until the next.
    Mark(u32),
    /// A time range, which may end in another zone.
    Range(u32),
}

impl Lasting {
    /// The item that the event starts or, if false, ends.
    pub(super) fn of(event: &Event<'_>) -> Option<(Self, bool)> {
        let number = |name| event.args.get(name).and_then(|value| value.as_u32()).unwrap_or(0);
        match event.kind.role {
            Role::FrameStart => Some((Self::Frame(event.zone, number("number")), true)),
            Role::FrameEnd => Some((Self::Frame(event.zone, number("number")), false)),
            Role::Mark => Some((Self::Mark(event.zone), true)),
            Role::RangeBegin => Some((Self::Range(number("id")), true)),
            Role::RangeEnd => Some((Self::Range(number("id")), false)),
            _ => None,
        }
    }
}

/// Frames, marks and time ranges that cross an edge of the slice.
#[derive(Debug, Default)]
pub(super) struct Crossings {
    /// Items that started before the range and have not ended yet.
    before: BTreeMap<Lasting, Held>,
    /// Items that are open in the range.
    open: BTreeSet<Lasting>,
    /// The end events of items that end after the range.
    ends: Vec<Held>,
}

impl Crossings {
    /// An item starts before the range.
    pub(super) fn begin_before(&mut self, what: Lasting, begun: Held) {
        self.before.insert(what, begun);
    }

    /// An item that started before the range also ends before it; returns whether there was one.
    pub(super) fn end_before(&mut self, what: Lasting) -> bool {
        self.before.remove(&what).is_some()
    }

    /// The range starts: returns the items that started before it and are still open.
    pub(super) fn begin(&mut self) -> impl Iterator<Item = Held> + use<> {
        let before = std::mem::take(&mut self.before);
        self.open.extend(before.keys().copied());
        before.into_values()
    }

    /// An item starts or ends in the range.
    pub(super) fn inside(&mut self, what: Lasting, begins: bool) {
        if begins {
            self.open.insert(what);
        } else {
            self.open.remove(&what);
        }
    }

    /// An item ends after the range; returns whether it started before that.
    pub(super) fn ends_after(&mut self, what: Lasting) -> bool {
        self.open.remove(&what)
    }

    /// Keeps the end event.
    pub(super) fn end_later(&mut self, held: Held) {
        self.ends.push(held);
    }

    /// The range is over: returns the end events of items that extend beyond it.
    pub(super) fn finish(&mut self) -> Vec<Held> {
        std::mem::take(&mut self.ends)
    }
}
