//! Writes steps in order as events of the file.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{ByteOrder, Cursor, Loss, Result, Store, text::json};
use traceloom_model::Table;
use traceloom_wtf::{
    Composer, Text, TypeId, Value, ZoneId,
    raw::{ArgumentType, EventClass, EventFlags},
};

use super::{
    Draft, is_ours,
    signature::{Class, Signature, Signatures},
    step::{Step, Steps, What},
    value::{Held, Item, Items, json_of, put_source, source_items},
    zones::Zone,
};
use traceloom_passes::{LookId, NameId, NamePool, Owner, Pass};

/// Built-in types that are written for rows of the same name, with their arguments.
const BUILTINS: [(&str, &[ArgumentType]); 7] = {
    use ArgumentType::{Any, Ascii, FlowId};
    [
        (MARK, &[Ascii, Any]),
        ("wtf.flow#branch", &[FlowId, FlowId, Ascii, Any]),
        ("wtf.flow#extend", &[FlowId, Ascii, Any]),
        ("wtf.flow#terminate", &[FlowId, Any]),
        ("wtf.flow#appendData", &[FlowId, Ascii, Any]),
        ("wtf.scope#appendData", &[Ascii, Any]),
        ("wtf.trace#discontinuity", &[]),
    ]
};
const MARK: &str = "wtf.trace#mark";
const LEAVE: &str = "wtf.scope#leave";
/// The prefix of event type names that may mean something to the loader.
const RESERVED: &str = "wtf.";
/// Characters that end a line in JavaScript: WTF puts type names into generated programs, after `//`.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];
/// Maximum number of types from the trace; the format has room for a few more.
const MAX_TYPES: usize = 60_000;

/// Whether the format has a built-in type for events of this name.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.iter().any(|(builtin, _)| *builtin == name)
}

/// The fields of a row of another table besides its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detail<'a> {
    Log { level: &'a str, file: Option<&'a str>, line: Option<u32>, message: &'a str },
    Value { value: Option<f64>, text: Option<&'a str> },
}

impl Detail<'_> {
    /// Adds the details as arguments. The exact value of a counter is already an argument.
    pub(super) fn put_items(&self, names: &mut NamePool, items: &mut Items) -> Result<()> {
        let Self::Log { level, file, line, message } = self else { return Ok(()) };
        for (key, text) in [("level", level), ("message", message)] {
            items.push(names.intern(key)?, ArgumentType::Utf8, Held::Text(Some((*text).to_owned())));
        }
        file.map_or(Ok(()), |file| put_source(file, *line, names, items))
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let (number, texts) = match self {
            Self::Log { level, file, line, message } => {
                (line.map_or(0, |line| u64::from(line) + 1), [Some(level), Some(message), file])
            }
            Self::Value { value, text } => (value.map_or(0, f64::to_bits), [text, None, None]),
        };
        for text in texts {
            bytes.push(text.is_some().into());
            bytes.extend_from_slice(&(text.map_or(0, str::len) as u64).to_le_bytes());
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        }
        bytes.extend_from_slice(&number.to_le_bytes());
        [&(bytes.len() as u64).to_le_bytes(), bytes.as_slice()].concat()
    }
}

/// The texts and the number of a detail.
fn read_detail(store: &mut Store, offset: u64) -> Result<([Option<String>; 3], u64)> {
    let mut length = [0; 8];
    store.read(offset, &mut length)?;
    let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
    store.read(offset + 8, &mut bytes)?;
    let mut cursor = Cursor::new(&bytes, 0, ByteOrder::Little);
    let mut texts = [None, None, None];
    for text in &mut texts {
        let is_there = cursor.u8("flag")? != 0;
        let length = cursor.u64("length")? as usize;
        let bytes = cursor.take(length, "text")?;
        *text = is_there.then(|| String::from_utf8_lossy(bytes).into_owned());
    }
    Ok((texts, cursor.u64("number")?))
}

/// Writes everything and ends the file.
pub(super) fn write<W: Write>(
    draft: Draft,
    pass: &mut Pass<'_>,
    mut composer: Composer<W>,
    unit_ns: i64,
) -> Result<()> {
    let Draft { zones, signatures, steps: Steps { sorter, details }, .. } = draft;
    let create = |zone: &Zone| composer.zone(Some(&zone.name), zone.kind.as_deref(), zone.location.as_deref());
    let zones = zones.list.iter().map(create).collect::<Result<_>>()?;
    let flows = (pass.roster.traces.len() > 1).then(HashMap::new);
    let mut output =
        Output { composer, zones, signatures, details, unit_ns, kinds: HashMap::new(), own_types: 0, flows, last: 0 };
    let mut items = Items::default();
    for step in sorter.finish()?.iter()? {
        let step = step?;
        output.count_time(&step, &mut pass.loss);
        items.clear();
        output.step(&step, pass, &mut items)?;
    }
    pass.loss.lose_many("NULs in strings", output.composer.nuls_replaced(), String::new);
    output.composer.finish()?;
    Ok(())
}

/// How rows of a name are written.
#[derive(Debug)]
struct Kind {
    /// `None` if they are written with a generic type and their name as an argument.
    own: Option<TypeId>,
    name: String,
    signature: Signature,
}

/// Writes steps.
#[derive(Debug)]
struct Output<W> {
    composer: Composer<W>,
    zones: Vec<ZoneId>,
    signatures: Signatures,
    unit_ns: i64,
    kinds: HashMap<(Class, NameId), Kind>,
    own_types: usize,
    /// Numbers of flows, if several traces have flows.
    flows: Option<HashMap<(u32, u32), u32>>,
    last: i64,
    details: Store,
}

impl<W: Write> Output<W> {
    fn count_time(&mut self, step: &Step, loss: &mut Loss) {
        let ts_ns = step.moment.ts_ns;
        if ts_ns % self.unit_ns != 0 {
            loss.lose("fractions of a microsecond", || format!("{} ns", ts_ns % self.unit_ns));
        }
        // Stored times wrap after 2^32; a longer pause would be lost.
        if (ts_ns - self.last) / self.unit_ns >= 1 << 32 {
            loss.lose("gaps of more than 71 minutes", || format!("{} ns", ts_ns - self.last));
        }
        self.last = ts_ns;
    }

    fn step(&mut self, step: &Step, pass: &mut Pass<'_>, items: &mut Items) -> Result<()> {
        let Pass { names, looks, args, roster, loss, .. } = pass;
        let is_ours = is_ours(roster, step.trace as usize);
        let mut collect = |table: Table, items: &mut Items, names: &mut NamePool| {
            items.collect(Owner::new(table, step.trace as usize, step.id), is_ours, args, names)?;
            lose_json(&items.list, names, loss)
        };
        let number = Value::Uint(step.detail as u32);
        match step.what {
            What::Leave => self.builtin(step, LEAVE, &[]),
            What::FrameStart => self.builtin(step, "wtf.timing#frameStart", &[number]),
            What::FrameEnd => self.builtin(step, "wtf.timing#frameEnd", &[number]),
            What::RangeEnd => self.builtin(step, "wtf.timeRange#end", &[number]),
            What::RangeBegin => {
                collect(Table::Spans, items, names)?;
                let value = items.list.iter().find(|item| names.get(item.key).is_ok_and(|key| key == "value"));
                let json = value.and_then(|item| any_of(&item.held));
                let name = names.get(step.name)?;
                self.builtin(step, "wtf.timeRange#begin", &[number, text(name), any(json.as_deref())])
            }
            What::Enter => {
                let look = looks.get(LookId(step.detail as u32))?;
                source_items(&look, names, items)?;
                collect(Table::Spans, items, names)?;
                self.enter(step, &items.list, names, loss)
            }
            What::Event | What::BuiltinEvent | What::Mark => {
                collect(Table::Events, items, names)?;
                self.event(step, &items.list, names, loss)
            }
            What::Log => {
                let ([level, message, file], line) = read_detail(&mut self.details, step.detail)?;
                let line = line.checked_sub(1).and_then(|line| u32::try_from(line).ok());
                let (level, message) = (level.unwrap_or_default(), message.unwrap_or_default());
                let detail = Detail::Log { level: &level, file: file.as_deref(), line, message: &message };
                // Log entries from a WTF file already have everything in their arguments.
                if !is_ours {
                    detail.put_items(names, items)?;
                }
                collect(Table::Logs, items, names)?;
                self.instance(step, &items.list, names, loss)
            }
            What::Counter => {
                collect(Table::Counters, items, names)?;
                if items.list.is_empty() {
                    let ([text, ..], number) = read_detail(&mut self.details, step.detail)?;
                    let held = text.map_or_else(
                        || Held::Any(Some(format!("{:?}", f64::from_bits(number)))),
                        |text| Held::Any(Some(json_of(|out| json::push_string(out, &text)))),
                    );
                    items.push(names.intern("value")?, ArgumentType::Any, held);
                }
                self.instance(step, &items.list, names, loss)
            }
        }
    }

    fn enter(&mut self, step: &Step, items: &[Item], names: &mut NamePool, loss: &mut Loss) -> Result<()> {
        let kind = self.kind(Class::Scope, step.name, names, loss)?;
        let (own, name) = (kind.own, kind.name.clone());
        let (typed, rest) = if own.is_some() { kind.signature.split(items) } else { ([].as_slice(), items) };
        lose_types(items, names, loss)?;
        match own {
            Some(own) => {
                let values: Vec<Value<'_>> = typed.iter().map(|item| item.held.value()).collect();
                self.put(step, own, &values)?;
            }
            None => self.builtin(step, "wtf.scope#enter", &[text(&name)])?,
        }
        for item in rest {
            if item.kind != ArgumentType::Any {
                loss.lose("types of arguments that only some spans of a name have", || item.kind.to_string());
            }
            let json = any_of(&item.held);
            let key = names.get(item.key)?;
            self.builtin(step, "wtf.scope#appendData", &[text(key), any(json.as_deref())])?;
        }
        Ok(())
    }

    fn event(&mut self, step: &Step, items: &[Item], names: &mut NamePool, loss: &mut Loss) -> Result<()> {
        match step.what {
            What::Mark => {
                let json = self.object(items, names)?;
                self.builtin(step, MARK, &[text(names.get(step.name)?), any(json.as_deref())])
            }
            What::BuiltinEvent => {
                let name = if step.detail == 1 { MARK } else { names.get(step.name)? };
                let known = BUILTINS.iter().find(|(builtin, _)| *builtin == name);
                let fits = |(_, kinds): &&(&str, &[ArgumentType])| items.iter().map(|item| &item.kind).eq(*kinds);
                let Some((name, _)) = known.filter(fits) else { return self.instance(step, items, names, loss) };
                let values: Vec<Value<'_>> =
                    items.iter().map(|item| self.renumbered(step.trace, item.held.value())).collect();
                self.builtin(step, name, &values)
            }
            _ => self.instance(step, items, names, loss),
        }
    }

    fn instance(&mut self, step: &Step, items: &[Item], names: &mut NamePool, loss: &mut Loss) -> Result<()> {
        lose_types(items, names, loss)?;
        let kind = self.kind(Class::Instance, step.name, names, loss)?;
        let (own, name, has_rest) = (kind.own, kind.name.clone(), kind.signature.has_rest);
        let (typed, rest) = if own.is_some() { kind.signature.split(items) } else { ([].as_slice(), items) };
        for item in rest.iter().filter(|item| item.kind != ArgumentType::Any) {
            loss.lose("types of arguments that only some events of a name have", || item.kind.to_string());
        }
        let json = self.object(rest, names)?;
        match own {
            Some(own) => {
                let mut values: Vec<Value<'_>> = typed.iter().map(|item| item.held.value()).collect();
                if has_rest {
                    values.push(any(json.as_deref()));
                }
                self.put(step, own, &values)
            }
            None => self.builtin(step, "wtf.trace#timeStamp", &[text(&name), any(json.as_deref())]),
        }
    }

    /// Arguments as one JSON object; `None` if there are none.
    fn object(&self, items: &[Item], names: &mut NamePool) -> Result<Option<String>> {
        if items.is_empty() {
            return Ok(None);
        }
        let mut out = Vec::new();
        for item in items {
            out.push(if out.is_empty() { b'{' } else { b',' });
            json::push_string(&mut out, names.get(item.key)?);
            out.push(b':');
            item.held.put_json(&mut out);
        }
        out.push(b'}');
        Ok(Some(String::from_utf8_lossy(&out).into_owned()))
    }

    /// Gives each flow a number that is unique in the file.
    fn renumbered<'v>(&mut self, trace: u32, value: Value<'v>) -> Value<'v> {
        match (value, &mut self.flows) {
            (Value::Flow(id), Some(flows)) if id != 0 => {
                let next = flows.len() as u32 + 1;
                Value::Flow(*flows.entry((trace, id)).or_insert(next))
            }
            (value, _) => value,
        }
    }

    fn kind(&mut self, class: Class, name: NameId, names: &mut NamePool, loss: &mut Loss) -> Result<&Kind> {
        if !self.kinds.contains_key(&(class, name)) {
            if self.kinds.len() >= 2 * MAX_TYPES {
                // Names without a type are looked up again.
                self.kinds.retain(|_, kind| kind.own.is_some());
            }
            let kind = self.define(class, name, names, loss)?;
            self.kinds.insert((class, name), kind);
        }
        Ok(&self.kinds[&(class, name)])
    }

    fn define(&mut self, class: Class, id: NameId, names: &mut NamePool, loss: &mut Loss) -> Result<Kind> {
        let signature = self.signatures.get(class, id, names)?;
        let args = signature.text(class, names, loss)?;
        let given = names.get(id)?;
        let mut name = given.replace('\0', "\u{fffd}");
        if name != given {
            loss.lose("NULs in names", || name.clone());
        }
        if name.is_empty() {
            loss.lose("empty names", || format!("{class:?}"));
        }
        let event_class = match class {
            Class::Instance => EventClass::INSTANCE,
            Class::Scope => EventClass::SCOPE,
        };
        let flags = EventFlags(0);
        let is_free = !name.is_empty()
            && !name.starts_with(RESERVED)
            && !name.contains(LINE_ENDS)
            && self.own_types < MAX_TYPES
            && !self.composer.is_taken(&name, event_class, flags, &args);
        if is_free {
            self.own_types += 1;
            let own = Some(self.composer.define(&name, event_class, flags, &args)?);
            return Ok(Kind { own, name, signature });
        }
        // WTF parses such a name as a signature and fails on some of them.
        if name.contains('(') {
            loss.lose("brackets in names", || name.clone());
            name = name.replace('(', "[");
        }
        Ok(Kind { own: None, name, signature })
    }

    fn builtin(&mut self, step: &Step, name: &str, values: &[Value<'_>]) -> Result<()> {
        let kind = match self.composer.type_named(name) {
            Some(kind) => kind,
            None => self.composer.builtin(name)?,
        };
        self.put(step, kind, values)
    }

    fn put(&mut self, step: &Step, kind: TypeId, values: &[Value<'_>]) -> Result<()> {
        let zone = self.zones[step.moment.zone as usize];
        self.composer.event(zone, kind, step.moment.ts_ns / self.unit_ns, values.iter().copied())
    }
}

/// Counts arguments of damaged files that should be JSON.
fn lose_json(items: &[Item], names: &mut NamePool, loss: &mut Loss) -> Result<()> {
    for item in items.iter().filter(|item| item.is_quoted) {
        let key = names.get(item.key)?;
        loss.lose("values that are not JSON, now strings", || key.to_owned());
    }
    Ok(())
}

/// Counts arguments whose type the format does not have.
fn lose_types(items: &[Item], names: &mut NamePool, loss: &mut Loss) -> Result<()> {
    for item in items.iter().filter(|item| item.is_untyped) {
        let key = names.get(item.key)?;
        loss.lose("types of arguments that are written as JSON", || key.to_owned());
    }
    Ok(())
}

/// A value as JSON; `None` if it is null.
fn any_of(held: &Held) -> Option<String> {
    match held {
        Held::Any(None) | Held::Array(_, None) | Held::Text(None) => None,
        held => Some(json_of(|out| held.put_json(out))),
    }
}

fn any(json: Option<&str>) -> Value<'_> {
    Value::Any(json.map(|json| Text::utf8(json.as_bytes())))
}

fn text(text: &str) -> Value<'_> {
    Value::Text(Some(Text::utf8(text.as_bytes())))
}
