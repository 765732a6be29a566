//! Event types, as defined in the file.

use std::collections::HashMap;

use traceloom_core::{Error, Limits, Result, reserve};

use super::{
    builtins::{BUILTINS, Role, role},
    signature::{Argument, parse_arguments},
};
use crate::raw::{ArgumentType, DEFINE_WIRE_ID, EventClass, EventFlags};

/// A kind of event, as defined in the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventType {
    /// Its number in the order of definition, from 0; wire ids can be rebound, but this is constant.
    pub index: u32,
    /// The number by which events refer to it.
    pub wire_id: u32,
    /// Its name; empty if the file gives none.
    pub name: Box<str>,
    /// Whether its events open scopes.
    pub class: EventClass,
    /// Its properties.
    pub flags: EventFlags,
    /// Its arguments; `None` if the list cannot be parsed, so that the length of its events is unknown.
    pub args: Option<Box<[Argument]>>,
    /// The list of arguments as stored.
    pub args_text: Option<Box<str>>,
    /// Its meaning to the loader.
    pub role: Role,
    /// Size of the arguments in words, if it is the same in every event.
    pub(crate) fixed_bytes: Option<u32>,
    /// Whether any argument is a string.
    pub(crate) has_strings: bool,
    /// Whether its events need additional processing; most do not.
    pub(crate) is_watched: bool,
    /// The type by which WTF decodes it: WTF keeps the first signature of a name.
    pub(crate) original: u32,
}

impl EventType {
    fn new(definition: Definition<'_>) -> Self {
        let args = definition.args.map_or(Ok(Box::default()), parse_arguments).ok();
        let strings = |args: &[Argument]| args.iter().any(|argument| argument.kind.is_string());
        let role = role(definition.name, definition.flags);
        // Without the flag, WTF treats such an event as an ordinary one.
        let needs_flag = matches!(role, Role::Define | Role::ZoneCreate | Role::ZoneDelete | Role::ZoneSet);
        let is_plain = needs_flag && !definition.flags.contains(EventFlags::BUILTIN);
        Self {
            index: 0,
            wire_id: definition.wire_id,
            name: definition.name.into(),
            class: definition.class,
            flags: definition.flags,
            role: if is_plain { Role::Plain } else { role },
            fixed_bytes: args.as_deref().and_then(fixed_bytes),
            has_strings: args.as_deref().is_some_and(strings),
            is_watched: false,
            args,
            args_text: definition.args.map(Into::into),
            original: 0,
        }
    }

    /// Whether its events open scopes.
    pub fn is_scope(&self) -> bool {
        self.class == EventClass::SCOPE || self.role == Role::ScopeEnter
    }

    /// Whether its events are not for people: leaves, appended data, events of the loader.
    pub fn is_hidden(&self) -> bool {
        self.flags.is_hidden()
    }

    /// Whether its events only inform the loader and belong to no zone.
    pub fn is_structural(&self) -> bool {
        matches!(self.role, Role::Define | Role::ZoneCreate | Role::ZoneDelete | Role::ZoneSet)
    }

    /// The argument with this name.
    pub fn argument(&self, name: &str) -> Option<usize> {
        self.args.as_deref()?.iter().position(|argument| &*argument.name == name)
    }
}

fn fixed_bytes(args: &[Argument]) -> Option<u32> {
    let has_array = args.iter().any(|argument| matches!(argument.kind, ArgumentType::Array(_)));
    u32::try_from(args.len() * 4).ok().filter(|_| !has_array)
}

/// A definition as stored in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'a> {
    pub(crate) wire_id: u32,
    pub(crate) class: EventClass,
    pub(crate) flags: EventFlags,
    pub(crate) name: &'a str,
    pub(crate) args: Option<&'a str>,
}

/// The effect of a definition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Defined {
    /// The name is new.
    New,
    /// The same definition again.
    Again,
    /// A known name with another signature, class or flags.
    Differently,
}

const UNBOUND: u32 = u32::MAX;

/// All types of a file.
#[derive(Debug)]
pub struct EventTypes {
    all: Vec<EventType>,
    by_wire: Vec<u32>,
    /// The first and the last type of each name.
    by_name: HashMap<Box<str>, (u32, u32)>,
    max_types: usize,
}

impl EventTypes {
    pub(crate) fn new(limits: &Limits) -> Self {
        let mut types =
            Self { all: Vec::new(), by_wire: Vec::new(), by_name: HashMap::new(), max_types: limits.entries };
        let [define, ..] = &BUILTINS;
        // One entry is below every usable limit.
        let _ = types.define(define.definition(DEFINE_WIRE_ID));
        types
    }

    /// The type currently bound to a wire id.
    #[inline]
    pub fn by_wire(&self, wire_id: u32) -> Option<&EventType> {
        let index = *self.by_wire.get(wire_id as usize)?;
        self.all.get(index as usize)
    }

    /// The type with this index.
    pub fn get(&self, index: u32) -> Option<&EventType> {
        self.all.get(index as usize)
    }

    /// The type with this name that was defined last, if its wire id is still bound to it.
    pub fn by_name(&self, name: &str) -> Option<&EventType> {
        let (_, last) = self.by_name.get(name)?;
        let kind = self.all.get(*last as usize)?;
        self.by_wire(kind.wire_id).filter(|bound| bound.index == kind.index)
    }

    pub(crate) fn first_by_name(&self, name: &str) -> Option<&EventType> {
        let (first, _) = self.by_name.get(name)?;
        self.all.get(*first as usize)
    }

    /// All types, in the order of definition.
    pub fn iter(&self) -> std::slice::Iter<'_, EventType> {
        self.all.iter()
    }

    /// Number of types.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none; always false, because `wtf.event#define` needs no definition.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn define(&mut self, definition: Definition<'_>) -> Result<Defined> {
        let mut new = EventType::new(definition);
        let first = self.by_name.get(definition.name).map(|(first, _)| *first);
        let (defined, index) = match first.and_then(|index| self.all.get(index as usize)) {
            None => (Defined::New, None),
            Some(old) if old.args == new.args && old.class == new.class && old.flags == new.flags => {
                (Defined::Again, Some(old.index))
            }
            // To every recorder, one wire id with one name means one type: a different definition is damage, and the
            // first counts.
            Some(_) => match self.by_wire(definition.wire_id).filter(|bound| *bound.name == *definition.name) {
                Some(bound) => (Defined::Differently, Some(bound.index)),
                None => (Defined::Differently, self.same_as(&new)),
            },
        };
        let index = match index {
            Some(index) => index,
            None => {
                let index = self.all.len();
                if index >= self.max_types {
                    return Err(Error::limit("event types", index as u64 + 1, self.max_types as u64));
                }
                new.index = index as u32;
                new.original = first.unwrap_or(new.index);
                new.is_watched = new.has_strings || new.is_structural() || new.original != new.index;
                self.by_name.insert(definition.name.into(), (new.original, new.index));
                reserve(&mut self.all, 1)?;
                self.all.push(new);
                index as u32
            }
        };
        self.bind(definition.wire_id, index)?;
        Ok(defined)
    }

    /// A later type with the same name that is otherwise the same.
    fn same_as(&self, new: &EventType) -> Option<u32> {
        let same = |old: &&EventType| {
            old.name == new.name && old.args == new.args && old.class == new.class && old.flags == new.flags
        };
        self.all.iter().rev().take(64).find(same).map(|old| old.index)
    }

    fn bind(&mut self, wire_id: u32, index: u32) -> Result<()> {
        let at = wire_id as usize;
        if at >= self.by_wire.len() {
            // Definitions made from text count from here on, so that they do not collide with stored ones.
            if at >= self.max_types.saturating_add(1 << 16) {
                return Err(Error::limit("event types", u64::from(wire_id), self.max_types as u64));
            }
            let more = at + 1 - self.by_wire.len();
            reserve(&mut self.by_wire, more)?;
            self.by_wire.resize(at + 1, UNBOUND);
        }
        if let Some(slot) = self.by_wire.get_mut(at) {
            *slot = index;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_one_signature_per_wire_id() {
        let mut types = EventTypes::new(&Limits::default());
        let definition = |wire_id, args| Definition {
            wire_id,
            class: EventClass::INSTANCE,
            flags: EventFlags(0),
            name: "a",
            args: Some(args),
        };
        assert_eq!(types.define(definition(5, "uint8 n")).unwrap(), Defined::New);
        assert_eq!(types.define(definition(6, "uint8 n")).unwrap(), Defined::Again);
        assert_eq!(types.define(definition(7, "uint8 n, uint8 m")).unwrap(), Defined::Differently);
        assert_eq!(types.define(definition(8, "uint8 n, uint8 m")).unwrap(), Defined::Differently);
        let index = |wire| types.by_wire(wire).unwrap().index;
        assert_eq!((index(5), index(6), index(7), index(8)), (1, 1, 2, 2));
        assert_eq!(types.by_wire(7).unwrap().original, 1);
        assert!(types.by_wire(9).is_none());
    }
}
