//! Event types that the loader knows by name.

use super::Definition;
use crate::raw::{EventClass, EventFlags};

/// The meaning of an event to the loader, according to the type's name.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Role {
    /// None: it is an event of the program.
    Plain,
    /// `wtf.event#define`
    Define,
    /// `wtf.trace#discontinuity`: events were lost here.
    Discontinuity,
    /// `wtf.zone#create`
    ZoneCreate,
    /// `wtf.zone#delete`
    ZoneDelete,
    /// `wtf.zone#set`: the following events are in this zone.
    ZoneSet,
    /// `wtf.scope#enter`: a scope named by its argument.
    ScopeEnter,
    /// `wtf.scope#leave`: ends the innermost scope.
    ScopeLeave,
    /// `wtf.scope#appendData`: a name and a value for the innermost scope.
    ScopeAppend,
    /// A type of the program whose arguments all go to the innermost scope.
    ScopeAppendAll,
    /// `wtf.flow#branch`: a flow starts.
    FlowBranch,
    /// `wtf.flow#extend`: a flow continues here.
    FlowExtend,
    /// `wtf.flow#terminate`: a flow ends.
    FlowTerminate,
    /// `wtf.flow#appendData`: a name and a value for a flow.
    FlowAppend,
    /// `wtf.trace#mark`: names the time that follows.
    Mark,
    /// `wtf.trace#timeStamp`: an instance named by its argument.
    TimeStamp,
    /// `wtf.timeRange#begin`
    RangeBegin,
    /// `wtf.timeRange#end`
    RangeEnd,
    /// `wtf.timing#frameStart`
    FrameStart,
    /// `wtf.timing#frameEnd`
    FrameEnd,
}

/// A type that every JavaScript recording has: name, class, flags, arguments.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) class: EventClass,
    pub(crate) flags: u32,
    pub(crate) args: &'static str,
    pub(super) role: Role,
}

impl Builtin {
    /// Its definition in a recording.
    pub(crate) const fn definition(&self, wire_id: u32) -> Definition<'static> {
        let &Self { name, class, flags, args, .. } = self;
        Definition { wire_id, class, flags: EventFlags(flags), name, args: Some(args) }
    }
}

/// The built-in type with this name.
pub(crate) fn builtin_named(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

const fn builtin(name: &'static str, flags: u32, args: &'static str, role: Role) -> Builtin {
    Builtin { name, class: EventClass::INSTANCE, flags, args, role }
}

pub(super) static BUILTINS: [Builtin; 19] = [
    builtin(
        "wtf.event#define",
        40,
        "uint16 wireId, uint16 eventClass, uint32 flags, ascii name, ascii args",
        Role::Define,
    ),
    builtin("wtf.trace#discontinuity", 32, "", Role::Discontinuity),
    builtin("wtf.zone#create", 40, "uint16 zoneId, ascii name, ascii type, ascii location", Role::ZoneCreate),
    builtin("wtf.zone#delete", 40, "uint16 zoneId", Role::ZoneDelete),
    builtin("wtf.zone#set", 40, "uint16 zoneId", Role::ZoneSet),
    Builtin {
        name: "wtf.scope#enter",
        class: EventClass::SCOPE,
        flags: 32,
        args: "ascii name",
        role: Role::ScopeEnter,
    },
    Builtin { name: "wtf.scope#enterTracing", class: EventClass::SCOPE, flags: 44, args: "", role: Role::Plain },
    builtin("wtf.scope#leave", 40, "", Role::ScopeLeave),
    builtin("wtf.scope#appendData", 56, "ascii name, any value", Role::ScopeAppend),
    builtin("wtf.flow#branch", 40, "flowId id, flowId parentId, ascii name, any value", Role::FlowBranch),
    builtin("wtf.flow#extend", 40, "flowId id, ascii name, any value", Role::FlowExtend),
    builtin("wtf.flow#terminate", 40, "flowId id, any value", Role::FlowTerminate),
    builtin("wtf.flow#appendData", 104, "flowId id, ascii name, any value", Role::FlowAppend),
    builtin("wtf.trace#mark", 40, "ascii name, any value", Role::Mark),
    builtin("wtf.trace#timeStamp", 32, "ascii name, any value", Role::TimeStamp),
    builtin("wtf.timeRange#begin", 40, "uint32 id, ascii name, any value", Role::RangeBegin),
    builtin("wtf.timeRange#end", 40, "uint32 id", Role::RangeEnd),
    builtin("wtf.timing#frameStart", 8, "uint32 number", Role::FrameStart),
    builtin("wtf.timing#frameEnd", 8, "uint32 number", Role::FrameEnd),
];

/// The meaning of events whose type has this name.
pub(super) fn role(name: &str, flags: EventFlags) -> Role {
    match builtin_named(name).map_or(Role::Plain, |builtin| builtin.role) {
        Role::Plain if flags.contains(EventFlags::APPEND_SCOPE_DATA) => Role::ScopeAppendAll,
        role => role,
    }
}
