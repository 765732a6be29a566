//! A loaded profile in the form of the goldens.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use traceloom_nytprof::aggregate::{Calls, File, Line, Name, Profile, Sub};

use super::golden::text;

pub(super) fn summary(profile: &Profile) -> Value {
    let mut levels = json!({ "fid_line_time": "line" });
    if profile.has_blocks {
        levels["fid_block_time"] = "block".into();
        levels["fid_sub_time"] = "sub".into();
    }
    let by_file = profile.calls_by_file();
    let files = profile.files.iter().filter(|(fid, _)| **fid != 0);
    let files = files.map(|(fid, file)| file_json(*fid, file, by_file.get(fid)));
    let numbers = numbers(profile);
    json!({
        "attributes": attributes(profile, &numbers),
        "attributes_num": numbers,
        "options": pairs(&profile.options),
        "levels": levels,
        "files": files.collect::<Vec<_>>(),
        "subs": profile.subs.iter().map(|(name, sub)| sub_json(name, sub)).collect::<Vec<_>>(),
    })
}

fn pairs(pairs: &BTreeMap<Vec<u8>, Vec<u8>>) -> Value {
    pairs.iter().map(|(key, value)| (String::from_utf8_lossy(key).into_owned(), text(value))).collect()
}

/// The numbers that the loader computes.
fn numbers(profile: &Profile) -> Value {
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
    numbers
}

/// The attributes of the file, and numbers as Perl prints them.
fn attributes(profile: &Profile, numbers: &Value) -> Value {
    let mut attributes = pairs(&profile.attributes);
    for (key, number) in numbers.as_object().into_iter().flatten() {
        attributes[key] = fifteen_digits(number.as_f64().unwrap_or(f64::NAN)).into();
    }
    attributes["complete"] = if profile.is_complete { "1" } else { "" }.into();
    attributes
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
fn fifteen_digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{number:.14e}");
    let (digits, exponent) = scientific.split_once('e').expect("of the format just made");
    let exponent: i32 = exponent.parse().expect("of the format just made");
    let trim = |text: &str| {
        let is_fraction = text.contains('.');
        let text = if is_fraction { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        text.to_owned()
    };
    if (-4..15).contains(&exponent) {
        return trim(&format!("{number:.*}", (14 - exponent).max(0) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits), exponent.abs())
}
