//! Deep comparison of two JSON values.

use serde_json::{Number, Value};

/// The paths at which two values differ, at most `most` of them, with both values.
///
/// Numbers are compared by value: a golden may print `0` or `3.0000001e+10` where we print `0.0`.
pub fn differences(expected: &Value, found: &Value, most: usize) -> Vec<String> {
    let mut all = Vec::new();
    compare("", expected, found, most, &mut all);
    all
}

fn compare(path: &str, expected: &Value, found: &Value, most: usize, all: &mut Vec<String>) {
    if all.len() >= most {
        return;
    }
    match (expected, found) {
        (Value::Object(one), Value::Object(two)) => {
            for (key, value) in one {
                compare(&format!("{path}.{key}"), value, two.get(key).unwrap_or(&ABSENT), most, all);
            }
            for (key, value) in two.iter().filter(|(key, _)| !one.contains_key(*key)) {
                compare(&format!("{path}.{key}"), &ABSENT, value, most, all);
            }
        }
        (Value::Array(one), Value::Array(two)) => {
            for index in 0..one.len().max(two.len()) {
                let sides = [one, two].map(|side| side.get(index).unwrap_or(&ABSENT));
                compare(&format!("{path}[{index}]"), sides[0], sides[1], most, all);
            }
        }
        (Value::Number(one), Value::Number(two)) if same_number(one, two) => {}
        _ if std::ptr::eq(expected, &ABSENT) => all.push(format!("{path}: only found: {}", short(found))),
        _ if std::ptr::eq(found, &ABSENT) => all.push(format!("{path}: missing: {}", short(expected))),
        _ if expected == found => {}
        _ => all.push(format!("{path}: expected {}, found {}", short(expected), short(found))),
    }
}

fn same_number(one: &Number, two: &Number) -> bool {
    // As floats, integers beyond 2^53 would look the same.
    let is_float = one.is_f64() || two.is_f64();
    one == two || is_float && one.as_f64() == two.as_f64()
}

/// Represents a value that one side lacks; distinguished from a stored null by its address.
static ABSENT: Value = Value::Null;

fn short(value: &Value) -> String {
    const LONGEST: usize = 120;
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_the_path_and_both_sides() {
        let one = json!({"a": [1, {"b": null}], "c": 0});
        let two = json!({"a": [1, {"b": 2}], "c": 0.0, "d": null});
        assert_eq!(differences(&one, &two, 9), [".a[1].b: expected null, found 2", ".d: only found: null"]);
    }

    #[test]
    fn floats_go_by_value() {
        let printed: Value = serde_json::from_str("[3.0000001e+10, 2.5]").unwrap();
        assert!(differences(&printed, &json!([30000001000.0, 2.5]), 9).is_empty());
    }
}
