//! Events as JSON objects: the version 2 event list, and the event part of JSON files.
//!
//! `{"type":"wtf.json#header",…}`, `{"type":"wtf.event#define",…}` and `{"event":…,"time":…,"args":…}`.

use std::collections::HashMap;

use traceloom_core::{
    Finding, Limits, Position, Result, Source, Window,
    json::{Fault, Input, Parser, Token},
};

use super::Context;
use crate::{
    Argument, FileInfo,
    event::{Definition, builtin_named, parse_arguments},
    file_info::HAS_HIGH_RESOLUTION_TIMES,
    findings::SCRIPT_EVENT,
    probe::read_span,
    raw::{ArgumentType, Element, EventClass, EventFlags},
    write::EventBuffer,
};

/// Generated wire ids start after those of files.
const FIRST_WIRE_ID: u32 = 1 << 16;

/// A type that the list can refer to.
#[derive(Clone, Debug)]
struct ListedType {
    wire_id: u32,
    args: Box<[Argument]>,
}

/// Converts entries of a list to events.
#[derive(Debug)]
pub(super) struct Script {
    source: Source,
    limits: Limits,
    by_name: HashMap<Box<str>, ListedType>,
    by_id: HashMap<i64, ListedType>,
    next_wire_id: u32,
    info: FileInfo,
}

/// An object of the list, with all possible members.
#[derive(Debug, Default)]
struct Item {
    offset: u64,
    kind: Vec<u8>,
    event: Option<Reference>,
    time: f64,
    args: Option<Draft>,
    signature: Option<String>,
    name: Option<String>,
    class: Option<Vec<u8>>,
    flags: f64,
    event_id: Option<i64>,
    timebase: f64,
    is_coarse: bool,
}

#[derive(Debug)]
enum Reference {
    Name(String),
    Id(i64),
}

/// A value that can be interpreted once its type is known.
#[derive(Clone, Debug)]
struct Draft {
    token: Token,
    text: Vec<u8>,
    span: (u64, u64),
}

impl Script {
    pub(super) fn new(source: &Source, limits: &Limits) -> Self {
        Self {
            source: source.clone(),
            limits: limits.clone(),
            by_name: HashMap::new(),
            by_id: HashMap::new(),
            next_wire_id: FIRST_WIRE_ID,
            info: FileInfo { flags: HAS_HIGH_RESOLUTION_TIMES, ..FileInfo::default() },
        }
    }

    pub(super) fn info(&self) -> FileInfo {
        self.info.clone()
    }

    pub(super) fn unusable(&self, what: &str, offset: u64, context: &mut Context<'_>) -> Result<()> {
        context.findings.report(Finding::new(&SCRIPT_EVENT, Position::at(offset)).with("what", what))
    }

    /// Reads the object whose opening brace has been consumed.
    pub(super) fn item(
        &mut self,
        parser: &mut Parser<Window>,
        buffer: &mut EventBuffer,
        context: &mut Context<'_>,
    ) -> Result<(), Fault> {
        let item = read_item(parser)?;
        if let Some(event) = &item.event {
            self.event(event, &item, buffer, context)?;
        } else if item.kind == b"wtf.event#define" {
            self.define(&item, buffer, context)?;
        } else if item.kind == b"wtf.json#header" {
            self.info.timebase_ms = item.timebase;
            self.info.flags = if item.is_coarse { 0 } else { HAS_HIGH_RESOLUTION_TIMES };
        } else {
            self.unusable("it is neither an event nor a definition", item.offset, context)?;
        }
        Ok(())
    }

    fn define(&mut self, item: &Item, buffer: &mut EventBuffer, context: &mut Context<'_>) -> Result<()> {
        let (name, args) = match (&item.name, &item.signature) {
            (Some(name), _) => (name.clone(), item.args.as_ref().map(|args| lossy(&args.text)).unwrap_or_default()),
            (None, Some(signature)) => split_signature(signature),
            (None, None) => return self.unusable("a definition has no signature", item.offset, context),
        };
        let class = match item.class.as_deref() {
            Some(b"instance") => EventClass::INSTANCE,
            _ => EventClass::SCOPE,
        };
        let flags = EventFlags(item.flags as u32);
        let definition = Definition { wire_id: 0, class, flags, name: &name, args: Some(&args) };
        let listed = self.add(definition, item, buffer, context)?;
        if let (Some(id), Some(listed)) = (item.event_id, listed) {
            self.by_id.insert(id, listed);
        }
        Ok(())
    }

    /// Defines a type under the next free wire id.
    fn add(
        &mut self,
        definition: Definition<'_>,
        item: &Item,
        buffer: &mut EventBuffer,
        context: &mut Context<'_>,
    ) -> Result<Option<ListedType>> {
        let Ok(args) = parse_arguments(definition.args.unwrap_or_default()) else {
            self.unusable("the arguments of a definition cannot be understood", item.offset, context)?;
            return Ok(None);
        };
        self.limits.check_entries("event types", u64::from(self.next_wire_id - FIRST_WIRE_ID) + 1)?;
        let wire_id = self.next_wire_id;
        self.next_wire_id += 1;
        let stored = Definition { wire_id, args: definition.args.filter(|args| !args.is_empty()), ..definition };
        buffer.define(item.time as i64 as u32, &stored);
        let listed = ListedType { wire_id, args };
        self.by_name.insert(definition.name.into(), listed.clone());
        Ok(Some(listed))
    }

    fn event(
        &mut self,
        event: &Reference,
        item: &Item,
        buffer: &mut EventBuffer,
        context: &mut Context<'_>,
    ) -> Result<()> {
        let Some(listed) = self.find(event, item, buffer, context)? else {
            return self.unusable("it refers to an event that nothing defines", item.offset, context);
        };
        let args = self.arguments(item.args.as_ref(), &listed.args)?;
        buffer.begin(listed.wire_id, item.time as i64 as u32);
        for (argument, draft) in listed.args.iter().zip(args) {
            self.value(argument.kind, draft.as_ref(), buffer)?;
        }
        Ok(())
    }

    /// The type that an event refers to; built-in types need no definition.
    fn find(
        &mut self,
        event: &Reference,
        item: &Item,
        buffer: &mut EventBuffer,
        context: &mut Context<'_>,
    ) -> Result<Option<ListedType>> {
        let name = match event {
            Reference::Id(id) => match self.by_id.get(id) {
                Some(listed) => return Ok(Some(listed.clone())),
                None if *id == -1 => "wtf.scope#leave",
                None => return Ok(None),
            },
            Reference::Name(name) => name,
        };
        if let Some(listed) = self.by_name.get(name) {
            return Ok(Some(listed.clone()));
        }
        if let Some(kind) = context.types.by_name(name)
            && let Some(args) = &kind.args
        {
            return Ok(Some(ListedType { wire_id: kind.wire_id, args: args.clone() }));
        }
        match builtin_named(name) {
            Some(builtin) => self.add(builtin.definition(0), item, buffer, context),
            None => Ok(None),
        }
    }

    /// The given values in the order of the signature, whether they are a list or named.
    fn arguments(&self, args: Option<&Draft>, signature: &[Argument]) -> Result<Vec<Option<Draft>>> {
        let mut values = vec![None; signature.len()];
        let Some(args) = args else { return Ok(values) };
        let text = read_span(&self.source, args.span.0, args.span.1, &self.limits)?;
        let mut parser = Parser::of(&text, args.span.0);
        parser.relax();
        let by_name = matches!(parser.next(), Ok(Token::ObjectStart));
        let mut place = 0;
        while let Ok(token) = parser.next() {
            let (slot, token) = match token {
                Token::ArrayEnd | Token::ObjectEnd | Token::End => break,
                Token::Key => {
                    let name = lossy(parser.text());
                    let slot = signature.iter().position(|argument| *argument.name == name);
                    match parser.next() {
                        Ok(token) => (slot, token),
                        Err(_) => break,
                    }
                }
                token => (Some(place).filter(|_| !by_name), token),
            };
            place += 1;
            let draft = read_draft(&mut parser, token);
            if let (Some(slot), Ok(draft)) = (slot.and_then(|slot| values.get_mut(slot)), draft) {
                *slot = Some(draft);
            }
        }
        Ok(values)
    }

    fn value(&self, kind: ArgumentType, draft: Option<&Draft>, buffer: &mut EventBuffer) -> Result<()> {
        let draft = draft.filter(|draft| draft.token != Token::Null);
        match (kind, draft) {
            (ArgumentType::Ascii | ArgumentType::Utf8, None) | (ArgumentType::Any, None) => buffer.text(None),
            (ArgumentType::Array(_), None) => buffer.array(None)?,
            (_, None) => buffer.word(0),
            (ArgumentType::Ascii | ArgumentType::Utf8, Some(draft)) => match draft.token {
                Token::String | Token::Number => buffer.text(Some(&draft.text)),
                _ => {
                    let text = self.span(draft)?;
                    buffer.text(Some(&text));
                }
            },
            (ArgumentType::Any, Some(draft)) => {
                let text = self.span(draft)?;
                let raw = wrapped(&text, b"$raw");
                buffer.text(Some(raw.as_deref().unwrap_or(&text)));
            }
            (ArgumentType::Array(element), Some(draft)) => self.array(element, draft, buffer)?,
            (ArgumentType::Number(element), Some(draft)) => buffer.word(self.number(element, draft)?),
            (ArgumentType::Bool, Some(draft)) => buffer.word((self.float(draft)? != 0.0).into()),
            (ArgumentType::FlowId | ArgumentType::Time32, Some(draft)) => {
                buffer.word(self.float(draft)? as i64 as u32);
            }
        }
        Ok(())
    }

    fn array(&self, element: Element, draft: &Draft, buffer: &mut EventBuffer) -> Result<()> {
        let text = self.span(draft)?;
        let mut parser = Parser::of(&text, draft.span.0);
        let mut bytes = Vec::new();
        if draft.token == Token::String {
            for unit in lossy(&draft.text).encode_utf16() {
                bytes.extend_from_slice(unit.to_le_bytes().get(..element.width()).unwrap_or_default());
            }
        } else if let Ok(Token::ArrayStart) = parser.next() {
            while let Ok(token) = parser.next() {
                if matches!(token, Token::ArrayEnd | Token::End) {
                    break;
                }
                let Ok(value) = read_draft(&mut parser, token) else { break };
                let word = self.number(element, &value)?.to_le_bytes();
                bytes.extend_from_slice(word.get(..element.width()).unwrap_or_default());
            }
        }
        buffer.array(Some((element, &bytes)))
    }

    /// The word in which a number or character is stored.
    fn number(&self, element: Element, draft: &Draft) -> Result<u32> {
        let is_character = matches!(element, Element::Char | Element::Wchar) && draft.token == Token::String;
        if is_character {
            let text = lossy(&draft.text);
            return Ok(text.encode_utf16().next().unwrap_or(0).into());
        }
        let number = self.float(draft)?;
        Ok(match element {
            Element::Float32 => (number as f32).to_bits(),
            // Numbers outside the range of the type keep their low bits, as in the recorder.
            Element::Int8 | Element::Uint8 | Element::Char => number as i64 as u32 & 0xff,
            Element::Int16 | Element::Uint16 | Element::Wchar => number as i64 as u32 & 0xffff,
            Element::Int32 | Element::Uint32 => number as i64 as u32,
        })
    }

    fn float(&self, draft: &Draft) -> Result<f64> {
        Ok(match draft.token {
            Token::Bool(flag) => flag.into(),
            Token::Number | Token::String => parse_float(&draft.text),
            Token::ObjectStart => wrapped(&self.span(draft)?, b"$float").map_or(0.0, |text| parse_float(&text)),
            _ => 0.0,
        })
    }

    fn span(&self, draft: &Draft) -> Result<Vec<u8>> {
        read_span(&self.source, draft.span.0, draft.span.1, &self.limits)
    }
}

fn read_item(parser: &mut Parser<Window>) -> Result<Item, Fault> {
    let mut item = Item { offset: parser.token_start(), ..Item::default() };
    while parser.next()? == Token::Key {
        let key = parser.text().to_vec();
        let token = parser.next()?;
        let draft = read_draft(parser, token)?;
        match key.as_slice() {
            // An empty name or id counts as missing, as in WTF.
            b"event" if draft.token == Token::String && !draft.text.is_empty() => {
                item.event = Some(Reference::Name(lossy(&draft.text)));
            }
            b"event" if draft.token == Token::Number => {
                item.event = Some(Reference::Id(parse_float(&draft.text) as i64));
            }
            b"type" => item.kind = draft.text,
            b"time" => item.time = parse_float(&draft.text),
            b"args" => item.args = Some(draft),
            b"signature" => item.signature = Some(lossy(&draft.text)),
            b"name" => item.name = Some(lossy(&draft.text)),
            b"class" => item.class = Some(draft.text),
            b"flags" => item.flags = parse_float(&draft.text),
            b"event_id" => item.event_id = Some(parse_float(&draft.text) as i64),
            b"timebase" => item.timebase = parse_float(&draft.text),
            b"high_resolution_times" => item.is_coarse = draft.token == Token::Bool(false),
            _ => {}
        }
    }
    Ok(item)
}

fn read_draft<I: Input>(parser: &mut Parser<I>, token: Token) -> Result<Draft, Fault> {
    let start = parser.token_start();
    let text = if matches!(token, Token::String | Token::Number) { parser.text().to_vec() } else { Vec::new() };
    parser.skip(token)?;
    Ok(Draft { token, text, span: (start, parser.offset()) })
}

/// The text in an object with a single member of this name.
fn wrapped(text: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let mut parser = Parser::of(text, 0);
    let starts = parser.next().ok()? == Token::ObjectStart && parser.next().ok()? == Token::Key;
    if !starts || parser.text() != name || parser.next().ok()? != Token::String {
        return None;
    }
    let inner = parser.text().to_vec();
    (parser.next().ok()? == Token::ObjectEnd).then_some(inner)
}

fn split_signature(signature: &str) -> (String, String) {
    match signature.trim().split_once('(') {
        Some((name, args)) => (name.replace(' ', ""), args.strip_suffix(')').unwrap_or(args).to_owned()),
        None => (signature.replace(' ', ""), String::new()),
    }
}

fn parse_float(text: &[u8]) -> f64 {
    match text {
        b"Infinity" => f64::INFINITY,
        b"-Infinity" => f64::NEG_INFINITY,
        _ => std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0),
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
