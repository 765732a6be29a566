//! The name of every field with an amount contains its unit.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::support::{Bench, formats, text};

/// Suffixes of names that are units.
const UNITS: [&str; 4] = ["_ns", "_bytes", "_bytes_per_second", "_calls"];

/// Names of numbers without a unit, and units that are names themselves.
const WITHOUT: &[&str] = &[
    // Units.
    "bytes",
    "calls",
    "rows",
    "lines",
    "statements",
    "offset",
    // Counts.
    "all_names",
    "all_sites",
    "allocations",
    "bins",
    "calls_from_outside",
    "collections",
    "count",
    "double_frees",
    "evals",
    "flags",
    "frees",
    "freed",
    "hidden",
    "leaked",
    "live",
    "merged",
    "more_frames",
    "others",
    "pairs",
    "reused",
    "runs",
    "shown",
    "spans",
    "subs",
    "switches",
    "temporary",
    "total",
    "unclosed",
    "unknown_frees",
    // Indexes and ids.
    "depth",
    "file",
    "first_line",
    "id",
    "last_line",
    "level",
    "line",
    "number",
    "parent_id",
    "site",
    "source",
    "span_id",
    "thread_id",
    "tid",
    "trace",
    "idx",
    // Shares and probabilities.
    "change",
    "effect",
    "noise",
    "p",
    "saved",
    "share",
    "score",
    "severity",
];

/// Values of the program, whose unit is not in the trace, by their list; the unit of evidence is in another field.
const VALUES: &[(&str, &[&str])] = &[
    ("arguments", &["int_value", "uint_value", "float_value"]),
    ("evidence", &["value"]),
    ("lines", &["args"]),
    ("values", &["first", "last", "max", "mean", "min", "p50", "p95", "p99"]),
];

/// Names of fields that contain numbers or lists of numbers, after the names of their lists or objects.
fn numbers(value: &Json, list: &str, name: &str, found: &mut BTreeSet<(String, String)>) {
    match value {
        Json::Number(_) => _ = found.insert((list.to_owned(), name.to_owned())),
        Json::Array(items) => items.iter().for_each(|item| numbers(item, list, name, found)),
        Json::Object(fields) => fields.iter().for_each(|(key, field)| numbers(field, name, key, found)),
        _ => {}
    }
}

fn has_unit(list: &str, name: &str) -> bool {
    let is_value = VALUES.iter().any(|(values, names)| *values == list && names.contains(&name));
    is_value || WITHOUT.contains(&name) || UNITS.iter().any(|unit| name.ends_with(unit))
}

#[tokio::test]
async fn every_amount_has_its_unit_in_the_name_of_its_field() {
    let bench = Bench::new().await;
    let mut found = BTreeSet::new();
    for format in formats() {
        let path = bench.sample(format);
        let trace = json!({ "trace": text(&path) });
        let mut calls = vec![("diff", json!({ "before": [text(&path)], "after": [text(&path)], "all": true }))];
        for tool in ["open", "summary", "stats", "memory", "lines", "check", "spans", "log"] {
            calls.push((tool, trace.clone()));
        }
        calls.push(("span", json!({ "trace": text(&path), "id": 1 })));
        calls.push(("window", json!({ "trace": text(&path), "from_ns": 0, "to_ns": 1_000_000_000 })));
        calls.push(("memory", json!({ "trace": text(&path), "at_ns": 1_000_000 })));
        for by in ["time", "self", "count", "bytes"] {
            calls.push(("tree", json!({ "trace": text(&path), "by": by })));
        }
        for metric in ["calls", "p95", "total"] {
            let both = json!({ "before": [text(&path)], "after": [text(&path)], "all": true, "metric": metric });
            calls.push(("diff", both));
        }
        for (tool, arguments) in calls {
            // A tool may not support a format.
            if let Some(answer) = bench.call(tool, arguments).await.structured_content {
                numbers(&answer["from_trace"], "", "", &mut found);
            }
        }
    }
    let nameless: Vec<_> = found.iter().filter(|(list, name)| !has_unit(list, name)).collect();
    assert!(nameless.is_empty(), "{nameless:?}");
    assert!(!has_unit("spans", "mean") && has_unit("values", "mean"));
    for name in
        ["total_ns", "self_bytes", "total_calls", "value_ns", "value_bytes", "value_calls", "used_bytes", "ts_unix_ns"]
    {
        assert!(found.iter().any(|(_, found)| found == name), "{name}");
    }
}
