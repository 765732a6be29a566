//! Chunks and events as JSON text.

use traceloom_core::json;

use crate::{
    Argument, Value,
    base64::put_base64,
    json_out,
    raw::{ChunkType, Element, EventClass, EventFlags, NO_TIME, PartType},
};

/// A chunk on one line, except for readable events, which have a line each.
pub(crate) fn chunk(id: u32, kind: ChunkType, times: (u32, u32), parts: &[(PartType, &[u8])]) -> Vec<u8> {
    let mut out = format!("{{\"id\":{id},\"type\":\"{kind}\"").into_bytes();
    for (name, time) in [("startTime", times.0), ("endTime", times.1)] {
        if time != NO_TIME {
            out.extend_from_slice(format!(",\"{name}\":{}", time as i32).as_bytes());
        }
    }
    out.extend_from_slice(b",\"parts\":[");
    for (place, (kind, bytes)) in parts.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        part(&mut out, *kind, bytes);
    }
    out.extend_from_slice(b"]}");
    out
}

fn part(out: &mut Vec<u8>, kind: PartType, bytes: &[u8]) {
    if kind == PartType::FILE_HEADER {
        out.extend_from_slice(&json_out::with_member(bytes, "type", b"\"file_header\""));
        return;
    }
    out.extend_from_slice(format!("{{\"type\":\"{kind}\"").as_bytes());
    match kind {
        PartType::JSON_EVENT_BUFFER => {
            out.extend_from_slice(b",\"events\":[");
            out.extend_from_slice(bytes);
            out.extend_from_slice(b"\n    ]");
        }
        PartType::STRING_TABLE => {
            out.extend_from_slice(b",\"value\":[");
            let strings = bytes.strip_suffix(b"\0").map(|bytes| bytes.split(|byte| *byte == 0));
            for (place, string) in strings.into_iter().flatten().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                json_out::put_string(out, string);
            }
            out.push(b']');
        }
        PartType::STRING_RESOURCE => {
            out.extend_from_slice(b",\"value\":");
            json_out::put_string(out, bytes);
        }
        _ => {
            out.extend_from_slice(
                format!(",\"mode\":\"base64\",\"byteLength\":{},\"value\":\"", bytes.len()).as_bytes(),
            );
            put_base64(out, bytes);
            out.push(b'"');
        }
    }
    out.push(b'}');
}

/// Events of a chunk as lines of text.
#[derive(Debug, Default)]
pub(crate) struct TextEvents {
    out: Vec<u8>,
    zone: Option<u32>,
}

impl TextEvents {
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// The lines so far; the next ones belong to a new chunk, which sets its zone again.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.zone = None;
        std::mem::take(&mut self.out)
    }

    pub(crate) fn define(&mut self, name: &str, class: EventClass, flags: EventFlags, args: &str) {
        self.begin_line(b"{\"type\":\"wtf.event#define\",\"name\":");
        json_out::put_string(&mut self.out, name.as_bytes());
        self.out.extend_from_slice(b",\"args\":");
        json_out::put_string(&mut self.out, args.as_bytes());
        let class = if class == EventClass::SCOPE { "scope" } else { "instance" };
        self.out.extend_from_slice(format!(",\"class\":\"{class}\",\"flags\":{}}}", flags.0).as_bytes());
    }

    pub(crate) fn create_zone(&mut self, index: u32, names: &[Option<Box<str>>; 3], time_us: i64) {
        self.begin_line(b"{\"event\":\"wtf.zone#create\",");
        self.out.extend_from_slice(format!("\"time\":{time_us},\"args\":{{\"zoneId\":{}", index + 1).as_bytes());
        for (name, text) in ["name", "type", "location"].iter().zip(names) {
            self.out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            json_out::put_text(&mut self.out, text.as_deref().map(str::as_bytes));
        }
        self.out.extend_from_slice(b"}}");
    }

    pub(crate) fn set_zone(&mut self, index: u32, time_us: i64) {
        if self.zone.replace(index) != Some(index) {
            self.begin_line(b"{\"event\":\"wtf.zone#set\",");
            let rest = format!("\"time\":{time_us},\"args\":{{\"zoneId\":{}}}}}", index + 1);
            self.out.extend_from_slice(rest.as_bytes());
        }
    }

    pub(crate) fn event(&mut self, name: &str, time_us: i64, signature: &[Argument], values: &[Value<'_>]) {
        self.begin_line(b"{\"event\":");
        json_out::put_string(&mut self.out, name.as_bytes());
        self.out.extend_from_slice(format!(",\"time\":{time_us}").as_bytes());
        if !signature.is_empty() {
            // Names that occur twice cannot be told apart by name.
            let is_unique =
                |argument: &Argument| signature.iter().filter(|other| other.name == argument.name).count() == 1;
            let by_name = signature.iter().all(is_unique);
            self.out.extend_from_slice(if by_name { b",\"args\":{" } else { b",\"args\":[" });
            for (place, (argument, value)) in signature.iter().zip(values).enumerate() {
                if place > 0 {
                    self.out.push(b',');
                }
                if by_name {
                    json_out::put_string(&mut self.out, argument.name.as_bytes());
                    self.out.push(b':');
                }
                put_value(&mut self.out, value);
            }
            self.out.push(if by_name { b'}' } else { b']' });
        }
        self.out.push(b'}');
    }

    fn begin_line(&mut self, start: &[u8]) {
        let separator: &[u8] = if self.out.is_empty() { b"\n      " } else { b",\n      " };
        self.out.extend_from_slice(separator);
        self.out.extend_from_slice(start);
    }
}

fn put_value(out: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::Bool(flag) => out.extend_from_slice(flag.to_string().as_bytes()),
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Uint(number) | Value::Flow(number) | Value::Time(number) => {
            out.extend_from_slice(number.to_string().as_bytes());
        }
        Value::Float(number) if number.is_finite() => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) => {
            let word = if number.is_nan() {
                "NaN"
            } else if *number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            out.extend_from_slice(format!("{{\"$float\":\"{word}\"}}").as_bytes());
        }
        Value::Char(unit) => json_out::put_string(out, char::from(*unit).to_string().as_bytes()),
        Value::Wchar(unit) => match char::from_u32((*unit).into()) {
            Some(c) => json_out::put_string(out, c.to_string().as_bytes()),
            None => out.extend_from_slice(unit.to_string().as_bytes()),
        },
        Value::Text(text) => json_out::put_text(out, text.map(|text| text.to_str()).as_deref().map(str::as_bytes)),
        Value::Any(None) | Value::Array(None) => out.extend_from_slice(b"null"),
        Value::Any(Some(text)) => put_any(out, text.to_str().as_bytes()),
        Value::Array(Some(array)) => {
            let is_text = matches!(array.element, Element::Char | Element::Wchar);
            match array_text(array).filter(|_| is_text) {
                Some(text) => json_out::put_string(out, text.as_bytes()),
                None => put_list(out, array.iter()),
            }
        }
    }
}

/// A JSON text goes in as it is, unless it is none, is null, or would be taken for our wrapping of one.
fn put_any(out: &mut Vec<u8>, text: &[u8]) {
    let is_plain =
        json::is_value(text) && text != b"null" && !text.starts_with(b"{\"$raw\"") && text == text.trim_ascii();
    if is_plain {
        out.extend_from_slice(text);
        return;
    }
    out.extend_from_slice(b"{\"$raw\":");
    json_out::put_string(out, text);
    out.push(b'}');
}

fn array_text(array: &crate::Array<'_>) -> Option<String> {
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

fn put_list(out: &mut Vec<u8>, values: impl Iterator<Item = Value<'static>>) {
    out.push(b'[');
    for (place, value) in values.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        put_value(out, &value);
    }
    out.push(b']');
}
