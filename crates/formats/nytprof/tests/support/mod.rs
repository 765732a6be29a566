//! What the tests share: fixtures, and JSON as the goldens have it.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use traceloom_bytes::{Limits, Options};
use traceloom_nytprof::aggregate::{Calls, File, Line, Name, Profile, Sub};

/// The folder with the fixtures.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/nytprof")
}

/// All profiles of a folder, sorted, without their ending.
pub(crate) fn profiles(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter_map(|name| name.strip_suffix(".nytprof").map(str::to_owned)).collect();
    names.sort();
    assert!(!names.is_empty(), "no fixtures in {}", folder.display());
    names
}

pub(crate) fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(format!("{name}.nytprof"))).unwrap()
}

pub(crate) fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Options with a window of so many bytes.
pub(crate) fn windowed(window_bytes: usize) -> Options {
    Options { limits: Limits { window_bytes, ..Limits::default() }, ..Options::default() }
}

/// Text as the goldens have it, after [`normalise`].
pub(crate) fn text(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.into(),
        _ => json!({ "x": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() }),
    }
}

/// Makes text that the reader flagged as UTF-8 comparable: it is the bytes that count.
pub(crate) fn normalise(value: &mut Value) {
    if let Some(flagged) = value.get("u").and_then(Value::as_str) {
        *value = text(flagged.as_bytes());
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalise),
        Value::Object(items) => items.values_mut().for_each(normalise),
        _ => {}
    }
}

/// Fails with the first path at which two values differ; numbers are equal if they are the same double.
pub(crate) fn assert_same(name: &str, ours: &Value, golden: &Value) {
    if let Some(difference) = difference(String::new(), ours, golden) {
        panic!("{name}: {difference}");
    }
}

fn difference(path: String, ours: &Value, golden: &Value) -> Option<String> {
    match (ours, golden) {
        (Value::Object(a), Value::Object(b)) => {
            let missing = b.keys().chain(a.keys()).find(|key| a.contains_key(*key) != b.contains_key(*key));
            if let Some(key) = missing {
                return Some(format!("{path}: only one side has {key}: {ours} {golden}"));
            }
            a.iter().find_map(|(key, value)| difference(format!("{path}.{key}"), value, &b[key]))
        }
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b).enumerate();
            let inner = pairs.into_iter().find_map(|(i, (a, b))| difference(format!("{path}[{i}]"), a, b));
            let length = || (a.len() != b.len()).then(|| format!("{path}: {} items, golden {}", a.len(), b.len()));
            inner.or_else(length)
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        _ if ours == golden => None,
        _ => Some(format!("{path}: {ours}, golden {golden}")),
    }
}

/// A profile as the goldens have it.
pub(crate) fn summary(profile: &Profile) -> Value {
    let pairs = |pairs: &BTreeMap<Vec<u8>, Vec<u8>>| {
        let pairs = pairs.iter().map(|(key, value)| (String::from_utf8_lossy(key).into_owned(), text(value)));
        Value::Object(pairs.collect())
    };
    let (mut attributes, options) = (pairs(&profile.attributes), pairs(&profile.options));
    let mut numbers = json!({
        "total_stmts_discounted": profile.stmts_discounted,
        "total_stmts_duration": profile.stmts_seconds,
        "total_stmts_measured": profile.stmts_measured,
        "total_sub_calls": profile.sub_calls,
    });
    if let Some(active) = profile.active_seconds() {
        numbers["profiler_active"] = active.into();
        numbers["profiler_duration"] = profile.duration.into();
    }
    for (key, time) in [("profiler_end_time", profile.end_time), ("profiler_start_time", profile.start_time)] {
        if let Some(time) = time {
            numbers[key] = time.into();
        }
    }
    for (key, number) in numbers.as_object().unwrap() {
        attributes[key] = fifteen_digits(number.as_f64().unwrap()).into();
    }
    attributes["complete"] = if profile.is_complete { "1" } else { "" }.into();
    let mut levels = json!({ "fid_line_time": "line" });
    if profile.has_blocks {
        levels["fid_block_time"] = "block".into();
        levels["fid_sub_time"] = "sub".into();
    }
    let by_file = profile.calls_by_file();
    let subs: Vec<(&Name, Value)> = profile.subs.iter().map(|(name, sub)| (name, sub_json(name, sub))).collect();
    json!({
        "attributes": attributes,
        "attributes_num": numbers,
        "options": options,
        "levels": levels,
        "files": profile.files.iter().filter(|(fid, _)| **fid != 0).map(|(fid, file)| file_json(*fid, file, by_file.get(fid))).collect::<Vec<_>>(),
        "subs": subs.into_iter().map(|(_, sub)| sub).collect::<Vec<_>>(),
    })
}

fn file_json(fid: u32, file: &File, calls: Option<&BTreeMap<(u32, &Name), &Calls>>) -> Value {
    let total = file.total();
    let calls = calls.into_iter().flatten().map(|((line, sub), calls)| {
        let Calls { count, incl_seconds, excl_seconds, reci_seconds, depth, .. } = calls;
        json!([line, text(sub), count, incl_seconds, excl_seconds, reci_seconds, depth])
    });
    let mut json = json!({
        "fid": fid,
        "name": text(&file.name),
        "eval_fid": file.eval_fid,
        "eval_line": file.eval_fid.map(|_| file.eval_line),
        "flags": file.flags.0,
        "size": file.size,
        "mtime": file.mtime,
        "is_eval": file.is_eval(),
        "is_file": file.is_file(),
        "is_fake": file.is_fake(),
        "evals": file.evals,
        "merged_fids": file.merged_fids,
        "src_lines": file.source.line_count(),
        "stmts": total.count,
        "stmts_time": total.seconds,
        "subs_defined": file.subs_defined.iter().map(|name| text(name)).collect::<Vec<_>>(),
        "calls": calls.collect::<Vec<_>>(),
    });
    for (level, lines) in [("line", &file.lines), ("block", &file.blocks), ("sub", &file.sub_lines)] {
        if !lines.is_empty() {
            let lines = lines.iter().map(|(line, Line { seconds, count })| (line.to_string(), json!([seconds, count])));
            json[level] = Value::Object(lines.collect());
        }
    }
    json
}

fn sub_json(name: &Name, sub: &Sub) -> Value {
    let callers = sub.callers.iter().map(|calls| {
        json!({
            "fid": calls.fid,
            "line": calls.line,
            "count": calls.count,
            "incl": calls.incl_seconds,
            "excl": calls.excl_seconds,
            "reci": calls.reci_seconds,
            "depth": calls.depth,
            "by": calls.by.iter().map(|name| text(name)).collect::<Vec<_>>(),
        })
    });
    json!({
        "name": text(name),
        "fid": sub.fid,
        "first": sub.first_line,
        "last": sub.last_line,
        "calls": sub.calls,
        "incl": sub.incl_seconds,
        "excl": sub.excl_seconds,
        "rec_depth": sub.depth,
        "reci": sub.reci_seconds,
        "kind": sub.kind(name).as_str(),
        "merged": sub.merged.iter().map(|name| text(name)).collect::<Vec<_>>(),
        "callers": callers.collect::<Vec<_>>(),
    })
}

/// A number as Perl prints it, with `%.15g`.
pub(crate) fn fifteen_digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{number:.14e}");
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..15).contains(&exponent) {
        return trim(&format!("{number:.*}", (14 - exponent).max(0) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits), exponent.abs())
}
