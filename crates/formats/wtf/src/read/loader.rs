//! Handles events that matter to the loader: definitions, zones, strings that must exist.

use traceloom_core::{Finding, Result, json};

use super::{
    Reader, Zone,
    events::{Ready, args_of, shown},
};
use crate::{
    Args, Argument, Encoding, Role, Value,
    event::{Defined, Definition, is_fatal_name, parse_arguments},
    findings::*,
    raw::{EventClass, EventFlags, LINE_ENDS},
};

impl Reader {
    /// Processes events that change the state of the loader or may be wrong.
    #[inline(never)]
    pub(super) fn watch(&mut self, mut ready: Ready, end: u64) -> Result<Option<Ready>> {
        let offset = self.body.offset();
        let Some(kind) = self.types.get(ready.kind) else { return Ok(None) };
        let (role, is_structural, has_strings) = (kind.role, kind.is_structural(), kind.has_strings);
        let differs = kind.original != kind.index;
        if has_strings {
            self.check_strings(ready)?;
        }
        if differs && ready.encoding == Encoding::Words && self.shadowed_until != end {
            self.follow_original(ready, end)?;
        }
        match role {
            Role::Define => self.define(ready)?,
            Role::ZoneCreate => self.create_zone(ready)?,
            Role::ZoneSet => self.zones.set(self.number_argument(ready, "zoneId")),
            _ => {}
        }
        if is_structural {
            ready.time_us = i64::from(ready.time) + self.zones.shift_us;
        } else {
            if let Some(zone) = self.zones.pending_unknown {
                self.report(&ZONE_UNKNOWN, offset, |odd| odd.with("zone", zone))?;
                self.zones.adopt_unknown()?;
            }
            ready.time_us = self.zones.time_us(ready.time);
        }
        ready.zone = self.zones.current();
        Ok(Some(ready))
    }

    fn args(&self, ready: Ready) -> Option<Args<'_>> {
        let bytes = self.body.bytes().get(ready.head()..ready.len)?;
        Some(args_of(self.types.get(ready.kind)?, bytes, ready.encoding, &self.strings))
    }

    fn text_argument(&self, ready: Ready, name: &str) -> Option<String> {
        let text = self.args(ready)?.get(name)?.as_text()?;
        Some(text.to_str().into_owned())
    }

    fn number_argument(&self, ready: Ready, name: &str) -> u32 {
        match self.args(ready).and_then(|args| args.get(name)) {
            // An unusual definition may declare it signed.
            Some(Value::Int(number)) => number as u32,
            value => value.and_then(|value| value.as_u32()).unwrap_or(0),
        }
    }

    fn define(&mut self, ready: Ready) -> Result<()> {
        let offset = self.body.offset();
        let name = self.text_argument(ready, "name");
        let args = self.text_argument(ready, "args");
        let mut wire_id = self.number_argument(ready, "wireId");
        if self.is_wide {
            // Events made from text may have more types than 16 bits can count.
            let word = self.body.bytes().get(ready.head()..).and_then(|args| args.first_chunk::<4>());
            wire_id = word.map_or(wire_id, |word| u32::from_le_bytes(*word));
        }
        let class = EventClass(self.number_argument(ready, "eventClass") as u16);
        let flags = EventFlags(self.number_argument(ready, "flags"));
        let parsed = parse_arguments(args.as_deref().unwrap_or_default());
        if let Err(argument) = &parsed {
            let (name, argument) = (shown(name.as_deref().unwrap_or_default()), shown(argument));
            self.report(&DEFINE_ARGS, offset, |odd| odd.with("name", name).with("argument", argument))?;
        }
        self.check_program(name.as_deref().unwrap_or_default(), parsed.as_deref().unwrap_or_default(), offset)?;
        if name.is_none() {
            let has_args = parsed.is_ok_and(|args| !args.is_empty());
            let rule = if has_args { &DEFINE_NAME } else { &DEFINE_UNNAMED };
            self.report(rule, offset, |odd| odd.with("wire", wire_id))?;
        }
        let name = name.unwrap_or_default();
        let definition = Definition { wire_id, class, flags, name: &name, args: args.as_deref() };
        if self.types.define(definition)? == Defined::Differently {
            self.report(&SAME_NAME, offset, |odd| odd.with("name", shown(&name)))?;
        }
        Ok(())
    }

    /// WTF makes a function of each type with arguments: the name is a comment in it, and arguments are variables.
    fn check_program(&mut self, name: &str, args: &[Argument], offset: u64) -> Result<()> {
        if !args.is_empty() && name.contains(LINE_ENDS) {
            self.report(&DEFINE_LINE_END, offset, |odd| odd.with("name", shown(name)))?;
        }
        for argument in args.iter().filter(|argument| argument.name.starts_with(|c: char| c.is_ascii_digit())) {
            let argument = &*argument.name;
            self.report(&DEFINE_NUMBER, offset, |odd| odd.with("name", shown(name)).with("argument", argument))?;
        }
        Ok(())
    }

    fn create_zone(&mut self, ready: Ready) -> Result<()> {
        let text = |name| self.text_argument(ready, name).map(Into::into);
        let id = Some(self.number_argument(ready, "zoneId"));
        let zone = Zone { id, name: text("name"), kind: text("type"), location: text("location") };
        self.zones.create(zone)
    }

    fn check_strings(&mut self, ready: Ready) -> Result<()> {
        let Some(args) = self.args(ready) else { return Ok(()) };
        let mut odd = Vec::new();
        let position = self.at(self.body.offset());
        for (argument, ordinal) in args.ordinals() {
            if !self.strings.has(ordinal) {
                let finding = Finding::new(&STRING_ORDINAL, position).with("argument", &*argument.name);
                odd.push(finding.with("ordinal", ordinal).with("count", self.strings.len()));
            }
        }
        for (argument, value) in args.iter() {
            if let Value::Any(Some(text)) = value
                && !json::is_value(text.to_str().as_bytes())
            {
                let text: String = shown(&text.to_str()).chars().take(80).collect();
                odd.push(Finding::new(&ANY_JSON, position).with("argument", &*argument.name).with("text", text));
            }
        }
        let role = self.types.get(ready.kind).map(|kind| kind.role);
        if let Some(Role::ScopeEnter | Role::TimeStamp) = role
            && let Some(name) = self.text_argument(ready, "name").filter(|name| is_fatal_name(name))
        {
            odd.push(Finding::new(&GENERIC_NAME, position).with("name", shown(&name)));
        }
        odd.into_iter().try_for_each(|finding| self.findings.report(finding))
    }
}
