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
    // Values of the program, whose unit is not in the trace.
    "args",
    "first",
    "last",
    "max",
    "mean",
    "min",
    "p50",
    "p95",
    "p99",
    "value",
    "int_value",
    "uint_value",
    "float_value",
];

/// Names of fields that contain numbers or lists of numbers.
fn numbers(value: &Json, name: &str, found: &mut BTreeSet<String>) {
    match value {
        Json::Number(_) => _ = found.insert(name.to_owned()),
        Json::Array(items) => items.iter().for_each(|item| numbers(item, name, found)),
        Json::Object(fields) => fields.iter().for_each(|(key, field)| numbers(field, key, found)),
        _ => {}
    }
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
                numbers(&answer["from_trace"], "", &mut found);
            }
        }
    }
    let has_unit = |name: &str| WITHOUT.contains(&name) || UNITS.iter().any(|unit| name.ends_with(unit));
    let nameless: Vec<&String> = found.iter().filter(|name| !has_unit(name)).collect();
    assert!(nameless.is_empty(), "{nameless:?}");
    for name in
        ["total_ns", "self_bytes", "total_calls", "value_ns", "value_bytes", "value_calls", "used_bytes", "ts_unix_ns"]
    {
        assert!(found.contains(name), "{name}");
    }
}
