//! Symbols that rows use: names of types and of their arguments, each interned once.

use traceloom_model::{EventCategory, Halt, SpanCategory, Table, Tables, definitions::Definition, trackers::Symbol};
use traceloom_wtf::{EventType, EventTypes, Role, raw::ArgumentType, recorded};

/// Names of one event type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: Symbol,
    /// The `category` of its events or scopes.
    pub(super) category: Symbol,
    /// The index of its first argument name.
    first_argument: usize,
    arguments: usize,
    /// Whether each of its arguments is one row in every event.
    pub(super) is_flat: bool,
    /// Whether its events are steps of flows.
    pub(super) is_flow: bool,
    /// The table of its events, unless they are scopes.
    pub(super) table: Table,
}

/// Name and type of an argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels {
    pub(super) key: Symbol,
    pub(super) kind: Symbol,
}

/// Names of the types seen so far, by the number of the type.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    met: Vec<Option<Kind>>,
    arguments: Vec<Labels>,
}

impl Kinds {
    #[inline]
    pub(super) fn get(&mut self, kind: &EventType, tables: &mut Tables<'_>) -> Kind {
        match self.met.get(kind.index as usize) {
            Some(Some(met)) => *met,
            _ => self.meet(kind, tables),
        }
    }

    #[cold]
    fn meet(&mut self, kind: &EventType, tables: &mut Tables<'_>) -> Kind {
        let signature = kind.args.as_deref().unwrap_or_default();
        let first_argument = self.arguments.len();
        for argument in signature {
            let key = tables.strings.intern(&argument.name);
            let kind = tables.strings.intern(&argument.kind.to_string());
            self.arguments.push(Labels { key, kind });
        }
        let (table, name) = meaning(kind);
        let met = Kind {
            table,
            name: tables.strings.intern(name),
            category: tables.strings.intern(category(kind)),
            first_argument,
            arguments: signature.len(),
            is_flat: !signature.iter().any(|argument| matches!(argument.kind, ArgumentType::Array(_))),
            is_flow: matches!(kind.role, Role::FlowBranch | Role::FlowExtend | Role::FlowTerminate),
        };
        // The reader bounds the number of types.
        let index = kind.index as usize;
        if self.met.len() <= index {
            self.met.resize(index + 1, None);
        }
        if let Some(slot) = self.met.get_mut(index) {
            *slot = Some(met);
        }
        met
    }

    /// Names of the arguments of a type, in the order of its signature.
    pub(super) fn arguments(&self, kind: Kind) -> Signature<'_> {
        let labels = self.arguments.get(kind.first_argument..kind.first_argument + kind.arguments).unwrap_or_default();
        Signature { labels, is_flat: kind.is_flat }
    }
}

/// The arguments of a type of events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature<'k> {
    pub(super) labels: &'k [Labels],
    /// Whether no argument is an array.
    pub(super) is_flat: bool,
}

/// The table of a type's events, and their name in it.
fn meaning(kind: &EventType) -> (Table, &str) {
    let has = |argument: &str| kind.argument(argument).is_some();
    match kind.name.strip_prefix(recorded::VALUE) {
        _ if kind.is_scope() => {}
        Some(name) if has("value") || has("text") => return (Table::Counters, name),
        _ if &*kind.name == recorded::LOG && has("level") && has("message") => return (Table::Logs, &kind.name),
        _ => {}
    }
    (Table::Events, &kind.name)
}

fn category(kind: &EventType) -> &'static str {
    match kind.role {
        Role::ScopeLeave => EventCategory::Leave,
        _ if kind.is_scope() => return SpanCategory::Scope.as_str(),
        Role::FlowBranch | Role::FlowExtend | Role::FlowTerminate | Role::FlowAppend => EventCategory::Flow,
        Role::FrameStart | Role::FrameEnd => EventCategory::Frame,
        Role::Mark => EventCategory::Mark,
        Role::RangeBegin | Role::RangeEnd => EventCategory::Range,
        Role::ScopeAppend | Role::ScopeAppendAll => EventCategory::Append,
        _ => EventCategory::Instance,
    }
    .as_str()
}

/// Pushes all types of a file.
pub(super) fn push_definitions(types: &EventTypes, tables: &mut Tables<'_>) -> Result<(), Halt> {
    if !tables.wants(Table::Definitions) {
        return Ok(());
    }
    for kind in types.iter() {
        tables.push(Definition {
            id: kind.index.into(),
            kind: if kind.is_scope() { "scope" } else { "instance" }.into(),
            name: (&*kind.name).into(),
            file: None,
            line: None,
            last_line: None,
            color: None,
            level: None,
            flags: Some(kind.flags.0.into()),
            status: None,
            args: kind.args_text.as_deref(),
        })?;
    }
    Ok(())
}
