//! Repairs arguments that WTF cannot handle, and keeps the ids of several files distinct.

use std::{collections::HashMap, io::Write};

use traceloom_core::{json, text::json::push_string};

use super::transfer::Transfer;
use crate::{Event, Role, Text, Value, event::is_fatal_name};

/// Ids of ranges and flows that are unique across several files.
#[derive(Debug, Default)]
pub(super) struct UniqueIds {
    ranges: HashMap<(u32, u32), u32>,
    flows: HashMap<(u32, u32), u32>,
}

/// A value, unchanged or repaired.
pub(super) enum Mended<'e> {
    Plain(Value<'e>),
    Text(String),
    Any(String),
}

impl Mended<'_> {
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Plain(value) => *value,
            Self::Text(text) => Value::Text(Some(Text::utf8(text.as_bytes()))),
            Self::Any(text) => Value::Any(Some(Text::utf8(text.as_bytes()))),
        }
    }
}

impl<W: Write> Transfer<'_, W> {
    /// The arguments, repaired if WTF cannot handle them.
    pub(super) fn values<'e>(&mut self, event: &Event<'e>) -> Vec<Mended<'e>> {
        let role = event.kind.role;
        let mut mended = Vec::with_capacity(event.args.len());
        for (argument, value) in event.args.iter() {
            let value = match (value, role, &*argument.name) {
                (Value::Any(Some(text)), ..) if !json::is_value(text.to_str().as_bytes()) => {
                    let text = text.to_str();
                    self.loss.lose("values that are not JSON, now strings", || text.chars().take(80).collect());
                    let mut quoted = Vec::new();
                    push_string(&mut quoted, &text);
                    Mended::Any(String::from_utf8_lossy(&quoted).into_owned())
                }
                (Value::Text(Some(text)), Role::ScopeEnter | Role::TimeStamp, "name")
                    if is_fatal_name(&text.to_str()) =>
                {
                    let text = text.to_str();
                    self.loss.lose("parentheses in generic names, now brackets", || text.clone().into_owned());
                    Mended::Text(text.replace('(', "[").replace(')', "]"))
                }
                (Value::Uint(id), Role::RangeBegin | Role::RangeEnd, "id") => {
                    Mended::Plain(Value::Uint(self.unique(id, |ids| &mut ids.ranges)))
                }
                (Value::Flow(id @ 1..), ..) => Mended::Plain(Value::Flow(self.unique(id, |ids| &mut ids.flows))),
                (value, ..) => Mended::Plain(value),
            };
            mended.push(value);
        }
        mended
    }

    fn unique(&mut self, id: u32, which: impl Fn(&mut UniqueIds) -> &mut HashMap<(u32, u32), u32>) -> u32 {
        let file = self.file;
        match self.ids.as_deref_mut().map(which) {
            Some(ids) => {
                let next = ids.len() as u32 + 1;
                *ids.entry((file, id)).or_insert(next)
            }
            None => id,
        }
    }
}
