//! Compact schemas of results: `spans:[name:str, total_ns:int, line?:int?]`.
//!
//! `?` after a name means that the field may be absent, `?` after a type that it may be null.

use serde_json::{Map, Value as Json, json};

/// The JSON Schema of an object with these fields; more fields may follow.
pub(crate) fn object(fields: &str) -> Json {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in split(fields) {
        let (name, kind) = field.split_once(':').expect("a field has a type");
        let (name, is_optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
        if !is_optional {
            required.push(name);
        }
        properties.insert(name.to_owned(), of_type(kind));
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

fn of_type(kind: &str) -> Json {
    let (kind, is_nullable) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
    let mut schema = match kind {
        "any" => return json!({}),
        "bool" => json!({ "type": "boolean" }),
        "int" => json!({ "type": "integer" }),
        "num" => json!({ "type": "number" }),
        "str" => json!({ "type": "string" }),
        "map" => json!({ "type": "object" }),
        _ => match kind.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
            Some(inner) if inner.contains(':') => json!({ "type": "array", "items": object(inner) }),
            Some(inner) => json!({ "type": "array", "items": of_type(inner) }),
            None => object(kind.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(kind)),
        },
    };
    if is_nullable {
        schema["type"] = json!([schema["type"], "null"]);
    }
    schema
}

/// Fields at the outermost level.
fn split(fields: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, c) in fields.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(fields[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(fields[from..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_become_schemas() {
        assert_eq!(
            object("a:int, b?:[c:str?, d:[num]]"),
            json!({
                "type": "object",
                "properties": {
                    "a": { "type": "integer" },
                    "b": { "type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "c": { "type": ["string", "null"] },
                            "d": { "type": "array", "items": { "type": "number" } },
                        },
                        "required": ["c", "d"],
                    } },
                },
                "required": ["a"],
            })
        );
    }
}
