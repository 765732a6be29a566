//! Headers and values of Web Tracing Framework files in the form of the goldens.

use serde_json::{Value as Json, json};
use traceloom_core::{Options, Records, Source};
use traceloom_wtf::{Array, FileInfo, Value, open, raw::Element};

/// Our reading of a file header, from a file that holds nothing else.
pub(super) fn header_info(text: &[u8]) -> FileInfo {
    let mut out = Vec::new();
    for word in [0xDEAD_BEEF_u32, 0, 10, 1, 1, 36 + text.len().next_multiple_of(4) as u32, u32::MAX, u32::MAX, 1] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    for word in [0x10000, 0, text.len() as u32] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(text);
    out.resize(out.len().next_multiple_of(4), b' ');
    let reader = open(Source::bytes(out), &Options::default()).unwrap();
    reader.header().info.clone()
}

pub(super) fn header_json(info: &FileInfo, timebase: Json, stored: Option<&Json>, is_calls: bool) -> Json {
    let context = |key: &str| info.context.iter().find(|(name, _)| name == key).map(|(_, value)| json!(value));
    let agent = |key: &str, default: &str| context(&format!("userAgent.{key}")).unwrap_or_else(|| json!(default));
    let args: Vec<Json> = (0..).map_while(|place| context(&format!("args.{place}"))).collect();
    let has_context = stored.is_none_or(|stored| stored.get("contextInfo").is_some());
    let empty_args = (stored.is_none() && !is_calls) || !has_context;
    let metadata = match stored {
        Some(stored) => stored.get("metadata").filter(|value| value.is_object()).cloned().unwrap_or_else(|| json!({})),
        None => metadata_json(info),
    };
    json!({
        "timebase": timebase, "flags": info.flags, "metadata": metadata,
        "contextInfo": {
            "uri": context("uri").unwrap_or_else(|| if has_context { Json::Null } else { json!("") }),
            "title": context("title").unwrap_or(Json::Null),
            "taskId": context("taskId").filter(|id| *id != "").unwrap_or(Json::Null),
            "icon": context("icon.uri").map_or(Json::Null, |uri| json!({"uri": uri})),
            "args": if args.is_empty() && !empty_args { Json::Null } else { json!(args) },
            "userAgent": {
                "value": agent("value", ""), "type": agent("type", "unknown"), "platform": agent("platform", "other"),
                "platformVersion": agent("platformVersion", ""), "device": agent("device", "desktop"),
            },
        },
    })
}

/// Packed files and calls files keep only the plain values of their metadata.
fn metadata_json(info: &FileInfo) -> Json {
    let mut metadata = json!({});
    for (key, value) in info.metadata.iter().filter(|(key, _)| key != "units") {
        let value = value.parse::<f64>().map_or_else(|_| json!(value), |number| json!(number));
        let mut place = &mut metadata;
        let mut path = key.split('.').peekable();
        while let Some(name) = path.next() {
            let is_list = path.peek().is_some_and(|next| next.parse::<usize>().is_ok());
            place = match name.parse::<usize>() {
                Ok(index) => {
                    let list = place.as_array_mut().unwrap();
                    while list.len() <= index {
                        list.push(json!({}));
                    }
                    &mut list[index]
                }
                Err(_) => {
                    let empty = if is_list { json!([]) } else { json!({}) };
                    place.as_object_mut().unwrap().entry(name).or_insert(empty)
                }
            };
        }
        *place = value;
    }
    metadata
}

pub(super) fn value_json(value: Value<'_>) -> Json {
    match value {
        Value::Bool(flag) => json!(flag),
        Value::Int(number) => json!(number),
        Value::Uint(number) | Value::Flow(number) => json!(number),
        Value::Time(time) => json!(f64::from(time) / 1000.0),
        Value::Float(number) => float_json(number),
        Value::Char(unit) => json!(char::from(unit).to_string()),
        Value::Wchar(unit) => json!(String::from_utf16_lossy(&[unit])),
        Value::Text(text) => text.map_or(Json::Null, |text| json!(text.to_str())),
        Value::Any(text) => text.map_or(Json::Null, |text| serde_json::from_str(&text.to_str()).unwrap()),
        Value::Array(array) => array.map_or(Json::Null, |array| array_json(&array)),
    }
}

fn float_json(number: f32) -> Json {
    match number {
        _ if number.is_nan() => json!({"$float": "NaN"}),
        f32::INFINITY => json!({"$float": "Infinity"}),
        f32::NEG_INFINITY => json!({"$float": "-Infinity"}),
        _ if number == 0.0 && number.is_sign_negative() => json!({"$float": "-0"}),
        _ => json!(f64::from(number)),
    }
}

fn array_json(array: &Array<'_>) -> Json {
    let class = match array.element {
        Element::Int8 => "Int8Array",
        Element::Uint8 => "Uint8Array",
        Element::Int16 => "Int16Array",
        Element::Uint16 => "Uint16Array",
        Element::Int32 => "Int32Array",
        Element::Uint32 => "Uint32Array",
        Element::Float32 => "Float32Array",
        Element::Char | Element::Wchar => {
            let units: Vec<u16> = array
                .iter()
                .map(|unit| match unit {
                    Value::Char(unit) => unit.into(),
                    Value::Wchar(unit) => unit,
                    _ => unreachable!("only characters are in here"),
                })
                .collect();
            return json!(String::from_utf16_lossy(&units));
        }
    };
    json!({"$array": class, "values": array.iter().map(value_json).collect::<Vec<_>>()})
}
