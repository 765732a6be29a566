//! Chunks and events as JSON text.

use traceloom_core::{
    json::{self, Parser, Token},
    text::json::{Writer, push_string},
};

use crate::{
    Argument, Array, Value,
    containers::put_base64,
    raw::{ChunkType, Element, EventClass, EventFlags, NO_TIME, PartType},
};

/// A chunk on one line, except for readable events, which have one line each.
pub(super) fn chunk(id: u32, kind: ChunkType, times: (u32, u32), parts: &[(PartType, &[u8])]) -> Vec<u8> {
    let mut json = Writer::default();
    json.begin_object().key("id").unsigned(id.into()).key("type").string(&kind.to_string());
    for (name, time) in [("startTime", times.0), ("endTime", times.1)] {
        if time != NO_TIME {
            json.key(name).int((time as i32).into());
        }
    }
    json.key("parts").begin_array();
    for (kind, bytes) in parts {
        put_part(&mut json, *kind, bytes);
    }
    json.end_array().end_object();
    json.out
}

fn put_part(json: &mut Writer, kind: PartType, bytes: &[u8]) {
    if kind == PartType::FILE_HEADER {
        json.raw(&with_member(bytes, "type", b"\"file_header\""));
        return;
    }
    json.begin_object().key("type").string(&kind.to_string());
    match kind {
        PartType::JSON_EVENT_BUFFER => {
            json.key("events").begin_array();
            json.out.extend_from_slice(bytes);
            json.out.extend_from_slice(b"\n    ");
            json.end_array();
        }
        PartType::STRING_TABLE => {
            json.key("value").begin_array();
            let strings = bytes.strip_suffix(b"\0").map(|bytes| bytes.split(|byte| *byte == 0));
            for string in strings.into_iter().flatten() {
                json.string(&String::from_utf8_lossy(string));
            }
            json.end_array();
        }
        PartType::STRING_RESOURCE => {
            json.key("value").string(&String::from_utf8_lossy(bytes));
        }
        _ => {
            json.key("mode").string("base64").key("byteLength").unsigned(bytes.len() as u64);
            json.key("value").raw(b"\"");
            put_base64(&mut json.out, bytes);
            json.out.push(b'"');
        }
    }
    json.end_object();
}

/// Events of a chunk as lines of text.
#[derive(Debug, Default)]
pub(super) struct TextEvents {
    json: Writer,
    zone: Option<u32>,
}

impl TextEvents {
    pub(super) fn len(&self) -> usize {
        self.json.out.len()
    }

    /// The lines so far; the next ones belong to a new chunk, which sets its zone again.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.zone = None;
        std::mem::take(&mut self.json.out)
    }

    pub(super) fn define(&mut self, name: &str, class: EventClass, flags: EventFlags, args: &str) {
        let class = if class == EventClass::SCOPE { "scope" } else { "instance" };
        let json = self.begin_line().key("type").string("wtf.event#define").key("name").string(name);
        json.key("args").string(args).key("class").string(class).key("flags").unsigned(flags.0.into()).end_object();
    }

    pub(super) fn create_zone(&mut self, index: u32, names: &[Option<Box<str>>; 3], time_us: i64) {
        let json = self.begin_line().key("event").string("wtf.zone#create").key("time").int(time_us);
        json.key("args").begin_object().key("zoneId").unsigned(u64::from(index) + 1);
        for (name, text) in ["name", "type", "location"].iter().zip(names) {
            put_text(json.key(name), text.as_deref());
        }
        json.end_object().end_object();
    }

    pub(super) fn set_zone(&mut self, index: u32, time_us: i64) {
        if self.zone.replace(index) != Some(index) {
            let json = self.begin_line().key("event").string("wtf.zone#set").key("time").int(time_us);
            let json = json.key("args").begin_object().key("zoneId").unsigned(u64::from(index) + 1);
            json.end_object().end_object();
        }
    }

    pub(super) fn event(&mut self, name: &str, time_us: i64, signature: &[Argument], values: &[Value<'_>]) {
        let json = self.begin_line().key("event").string(name).key("time").int(time_us);
        if !signature.is_empty() {
            put_args(json.key("args"), signature, values);
        }
        json.end_object();
    }

    fn begin_line(&mut self) -> &mut Writer {
        let separator: &[u8] = if self.json.out.is_empty() { b"\n      " } else { b",\n      " };
        self.json.out.extend_from_slice(separator);
        self.json.restart().begin_object()
    }
}

fn put_args(json: &mut Writer, signature: &[Argument], values: &[Value<'_>]) {
    // Repeated names cannot be distinguished by name.
    let is_unique = |argument: &Argument| signature.iter().filter(|other| other.name == argument.name).count() == 1;
    if signature.iter().all(is_unique) {
        json.begin_object();
        for (argument, value) in signature.iter().zip(values) {
            put_value(json.key(&argument.name), value);
        }
        json.end_object();
    } else {
        put_list(json, values.iter().copied());
    }
}

fn put_value(json: &mut Writer, value: &Value<'_>) {
    match value {
        Value::Bool(flag) => json.bool(*flag),
        Value::Int(number) => json.int((*number).into()),
        Value::Uint(number) | Value::Flow(number) | Value::Time(number) => json.unsigned((*number).into()),
        Value::Float(number) if number.is_finite() => json.raw(number.to_string().as_bytes()),
        Value::Float(number) => {
            let word = if number.is_nan() {
                "NaN"
            } else if *number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            json.begin_object().key("$float").string(word).end_object()
        }
        Value::Char(unit) => json.string(&char::from(*unit).to_string()),
        Value::Wchar(unit) => match char::from_u32((*unit).into()) {
            Some(c) => json.string(&c.to_string()),
            None => json.unsigned((*unit).into()),
        },
        Value::Text(text) => put_text(json, text.map(|text| text.to_str()).as_deref()),
        Value::Any(None) | Value::Array(None) => json.null(),
        Value::Any(Some(text)) => put_any(json, &text.to_str()),
        Value::Array(Some(array)) => {
            let is_text = matches!(array.element, Element::Char | Element::Wchar);
            match array_text(array).filter(|_| is_text) {
                Some(text) => json.string(&text),
                None => put_list(json, array.iter()),
            }
        }
    };
}

fn put_text<'j>(json: &'j mut Writer, text: Option<&str>) -> &'j mut Writer {
    match text {
        Some(text) => json.string(text),
        None => json.null(),
    }
}

/// A JSON text is written unchanged, unless it is invalid, is null, or would be mistaken for our wrapper of one.
fn put_any<'j>(json: &'j mut Writer, text: &str) -> &'j mut Writer {
    let bytes = text.as_bytes();
    let is_plain =
        json::is_value(bytes) && text != "null" && !text.starts_with("{\"$raw\"") && bytes == bytes.trim_ascii();
    if is_plain { json.raw(bytes) } else { json.begin_object().key("$raw").string(text).end_object() }
}

fn array_text(array: &Array<'_>) -> Option<String> {
    let units: Option<Vec<u16>> = array
        .iter()
        .map(|unit| match unit {
            Value::Char(unit) => Some(unit.into()),
            Value::Wchar(unit) => Some(unit),
            _ => None,
        })
        .collect();
    String::from_utf16(&units?).ok()
}

fn put_list<'j, 'v>(json: &'j mut Writer, values: impl Iterator<Item = Value<'v>>) -> &'j mut Writer {
    json.begin_array();
    values.for_each(|value| put_value(json, &value));
    json.end_array()
}

/// The text of an object with one member set to another value.
pub(crate) fn with_member(object: &[u8], name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(object.len() + name.len() + value.len() + 4);
    if let Some((start, end)) = member_span(object, name) {
        out.extend_from_slice(object.get(..start).unwrap_or_default());
        out.extend_from_slice(value);
        out.extend_from_slice(object.get(end..).unwrap_or_default());
        return out;
    }
    let rest = object.trim_ascii_start().strip_prefix(b"{").unwrap_or(b"}");
    out.push(b'{');
    push_string(&mut out, name);
    out.push(b':');
    out.extend_from_slice(value);
    if rest.trim_ascii_start().first() != Some(&b'}') {
        out.push(b',');
    }
    out.extend_from_slice(rest);
    out
}

fn member_span(object: &[u8], name: &str) -> Option<(usize, usize)> {
    let mut parser = Parser::of(object, 0);
    if parser.next().ok()? != Token::ObjectStart {
        return None;
    }
    while parser.next().ok()? == Token::Key {
        let is_wanted = parser.text() == name.as_bytes();
        let token = parser.next().ok()?;
        let start = parser.token_start() as usize;
        parser.skip(token).ok()?;
        if is_wanted {
            return Some((start, parser.offset() as usize));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_set() {
        let set = |text: &str| String::from_utf8(with_member(text.as_bytes(), "t", b"7")).unwrap();
        assert_eq!(set("{}"), r#"{"t":7}"#);
        assert_eq!(set(r#"{"a":{"t":1}}"#), r#"{"t":7,"a":{"t":1}}"#);
        assert_eq!(set(r#"{"a":1, "t": [1,2] ,"b":3}"#), r#"{"a":1, "t": 7 ,"b":3}"#);
    }
}
