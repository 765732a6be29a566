//! Data that events append to the scope around them.

use crate::{ArgsIter, Argument, Event, Role, Text, Value};

/// Names and values that an event appends to the innermost scope; empty for most events.
///
/// `wtf.scope#appendData` appends one pair; a type with the corresponding flag appends all its arguments.
pub fn appended<'a>(event: &Event<'a>) -> impl Iterator<Item = (Text<'a>, Value<'a>)> + use<'a> {
    let pair = match event.kind.role {
        Role::ScopeAppend => event.args.get("name").and_then(|name| name.as_text()).zip(event.args.get("value")),
        _ => None,
    };
    let all: Option<ArgsIter<'a>> = (event.kind.role == Role::ScopeAppendAll).then(|| event.args.iter());
    let named = |(argument, value): (&'a Argument, Value<'a>)| (Text::utf8(argument.name.as_bytes()), value);
    pair.into_iter().chain(all.into_iter().flatten().map(named))
}
