//! The goldens of NYTProf profiles: the output of Devel::NYTProf's stream reader and loader.

use serde_json::{Value, json};
use traceloom_core::{Options, Records, Result, Source};
use traceloom_nytprof::{Record, Str, aggregate, open};

use super::summary::summary;
use crate::subjects::hex;

pub(super) fn reproduce(source: Source, golden: &Value) -> Result<Value> {
    if golden.get("salvage_chunks").is_some() {
        return damaged(source, golden);
    }
    let mut ours = json!({
        "chunks": chunks(source.clone(), &golden["chunks"])?,
        "summary": summaries(source, &golden["summary"])?,
    });
    take_flags(&mut ours, golden);
    Ok(ours)
}

/// From a damaged file, our reader must recover at least what an independent reader does; more is welcome.
fn damaged(source: Source, golden: &Value) -> Result<Value> {
    let mut ours = golden.clone();
    let wanted = golden["salvage_chunks"].as_u64().unwrap_or(u64::MAX);
    let salvaged = match open(source, &Options::default()) {
        Ok(mut reader) => {
            // The version is a chunk, too.
            let mut count = 1;
            while let Some(located) = reader.next()? {
                count += u64::from(chunk(&located.record).is_some());
            }
            count
        }
        Err(_) => 0,
    };
    ours["salvage_chunks"] = salvaged.min(wanted).into();
    Ok(ours)
}

/// `NAME.chunks.json`; what the golden says about Devel::NYTProf itself is copied.
fn chunks(source: Source, golden: &Value) -> Result<Value> {
    let mut reader = open(source, &Options::default())?;
    let mut chunks = vec![json!(["VERSION", reader.header().major, reader.header().minor])];
    let mut string_tags = String::new();
    let (mut after_zlib, mut is_after) = (Vec::new(), false);
    while let Some(located) = reader.next()? {
        match located.record {
            Record::Residue(bytes) if is_after => after_zlib.extend_from_slice(bytes),
            Record::EndDeflate => is_after = true,
            _ => {}
        }
        strings(&located.record).for_each(|string| string_tags.push(if string.is_utf8 { '"' } else { '\'' }));
        chunks.extend(chunk(&located.record));
    }
    let mut ours = json!({ "file": golden["file"], "reader": golden["reader"] });
    if let Some(error) = golden.get("error") {
        ours["error"] = error.clone();
        // Devel::NYTProf gave up here; its output before that is the start of ours.
        chunks.truncate(golden["chunks"].as_array().map_or(0, Vec::len));
        string_tags.truncate(golden["string_tags"].as_str().map_or(0, str::len));
    }
    if let Some(stderr) = golden.get("reader_stderr") {
        ours["reader_stderr"] = stderr.clone();
    }
    ours["chunks"] = chunks.into();
    ours["string_tags"] = string_tags.into();
    if !after_zlib.is_empty() {
        ours["after_zlib"] = text(&after_zlib);
    }
    Ok(ours)
}

/// The strings of a record, in file order.
fn strings<'a>(record: &Record<'a>) -> impl Iterator<Item = Str<'a>> + use<'a> {
    let strings = match record {
        Record::NewFid(file) => [Some(file.name), None],
        Record::SubReturn(left) => [Some(left.name), None],
        Record::SrcLine(source) => [Some(source.text), None],
        Record::SubInfo(sub) => [Some(sub.name), None],
        Record::SubCallers(calls) => [Some(calls.caller), Some(calls.called)],
        _ => [None, None],
    };
    strings.into_iter().flatten()
}

/// A record with its fields in the order of Devel::NYTProf's callbacks; `None` for a line without a value.
fn chunk(record: &Record<'_>) -> Option<Value> {
    Some(match record {
        Record::Comment(line) => json!(["COMMENT", text(&[line, &b"\n"[..]].concat())]),
        Record::Attribute(pair) => json!(["ATTRIBUTE", text(pair.key), text(pair.value?)]),
        Record::Option(pair) => json!(["OPTION", text(pair.key), text(pair.value?)]),
        Record::StartDeflate(_) => json!(["START_DEFLATE"]),
        Record::PidStart(start) => json!(["PID_START", start.pid, start.ppid, start.time.value()]),
        Record::PidEnd(end) => json!(["PID_END", end.pid, end.time.value()]),
        Record::NewFid(f) => {
            let name = text(f.name.bytes);
            json!(["NEW_FID", f.fid, f.eval_fid, f.eval_line, f.flags.0, f.size, f.mtime, name])
        }
        Record::TimeLine(t) => json!(["TIME_LINE", t.ticks, t.fid, t.line]),
        Record::TimeBlock(t) => json!(["TIME_BLOCK", t.ticks, t.fid, t.line, t.block_line, t.sub_line]),
        Record::Discount => json!(["DISCOUNT"]),
        Record::SubEntry(entry) => json!(["SUB_ENTRY", entry.caller_fid, entry.caller_line]),
        Record::SubReturn(left) => {
            let name = text(left.name.bytes);
            json!(["SUB_RETURN", left.depth, left.incl_ticks.value(), left.excl_ticks.value(), name])
        }
        Record::SrcLine(source) => json!(["SRC_LINE", source.fid, source.line, text(source.text.bytes)]),
        Record::SubInfo(sub) => json!(["SUB_INFO", sub.fid, sub.first_line, sub.last_line, text(sub.name.bytes)]),
        Record::SubCallers(c) => {
            let (called, caller) = (text(c.called.bytes), text(c.caller.bytes));
            let (incl, excl, reci) = (c.incl_seconds.value(), c.excl_seconds.value(), c.reci_seconds.value());
            json!(["SUB_CALLERS", c.fid, c.line, c.count, incl, excl, reci, c.depth, called, caller])
        }
        _ => return None,
    })
}

/// `NAME.summary.json`; what the golden says about Devel::NYTProf itself is copied.
fn summaries(source: Source, golden: &Value) -> Result<Value> {
    // If Devel::NYTProf dies, there is nothing to compare; the verdict checks that we refuse the file, too.
    if golden["raw"].get("error").is_some() {
        return Ok(golden.clone());
    }
    let mut profile = aggregate::load(source, &Options::default())?;
    let mut ours = json!({ "file": golden["file"], "raw": summary(&profile) });
    if golden.get("merged_evals").is_some() {
        profile.merge_evals();
        ours["merged_evals"] = summary(&profile);
    }
    ours["loader_stderr"] = golden["loader_stderr"].clone();
    Ok(ours)
}

/// Text in the form of the goldens: ASCII unchanged, anything else in hexadecimal.
pub(super) fn text(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.into(),
        _ => json!({ "x": hex(bytes) }),
    }
}

/// Spells text like the golden if the bytes are the same: Devel::NYTProf does not clear its UTF-8 flag, so only the
/// bytes count.
fn take_flags(ours: &mut Value, golden: &Value) {
    if let Some(flagged) = golden.get("u").and_then(Value::as_str)
        && *ours == text(flagged.as_bytes())
    {
        *ours = golden.clone();
        return;
    }
    match (ours, golden) {
        (Value::Array(ours), Value::Array(golden)) => {
            ours.iter_mut().zip(golden).for_each(|(ours, golden)| take_flags(ours, golden));
        }
        (Value::Object(ours), Value::Object(golden)) => {
            ours.iter_mut().for_each(|(key, ours)| take_flags(ours, golden.get(key).unwrap_or(&Value::Null)));
        }
        _ => {}
    }
}
