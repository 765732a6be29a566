//! Rebuilds the golden of the independent CNanoLog reader from ours.

use serde_json::{Map, Value, json};
use traceloom_cnanolog::{Arg, Clock, Entry, Form, Numbering, Reader, Record, Site, findings, open, text};
use traceloom_core::{ByteOrder, ErrorKind, Finding, Limits, Options, Records, Result, Source};

use crate::subjects::hex;

/// The golden of a file; nothing has to be copied from elsewhere.
pub(super) fn reproduce(source: &Source) -> Result<Value> {
    let options = Options::default().with_limits(Limits::with(|limits| limits.findings = usize::MAX));
    let mut reader = match open(source.clone(), &options) {
        Err(error) if matches!(error.kind(), ErrorKind::Unrecognized(_)) && source.len()? < 64 => {
            return Ok(json!({ "error": "short header" }));
        }
        opened => opened?,
    };
    if let Some(error) = refusal(source, &reader)? {
        return Ok(json!({ "error": error }));
    }
    let mut out = Map::new();
    out.insert("header".into(), header(&reader));
    describe_dictionary(&reader, &mut out);
    let mut warnings = opening_warnings(&reader);
    let (entries, stop) = entries(&mut reader)?;
    if let Some((index, offset, id)) = stop.unknown {
        warnings.push(format!("entry {index} at {offset}: unknown log_id {id}, stopped"));
    }
    if let Some((offset, end)) = stop.at {
        warnings.push(format!("stopped at offset {offset} of {end}"));
    }
    let counted = reader.header().entry_count;
    if u64::from(counted) != entries.len() as u64 {
        warnings.push(format!("header entry_count {counted} != {} read", entries.len()));
    }
    out.insert("entries".into(), entries.into());
    out.insert("warnings".into(), warnings.into());
    let recovered = reader.findings().counts().contains_key(findings::DICTIONARY_OFFSET_ZERO.code);
    out.insert("recovered_dictionary".into(), json!(recovered));
    Ok(out.into())
}

/// Why the independent reader gives up; it only looks where the header points.
fn refusal(source: &Source, reader: &Reader) -> Result<Option<String>> {
    for finding in reader.findings().kept() {
        let code = finding.rule.code;
        let refusal = if code == findings::HEADER_CUT.code {
            "short header".to_owned()
        } else if code == findings::MAGIC.code {
            format!("bad magic {}", hex(&source.prefix(4)?))
        } else if code == findings::MAJOR_VERSION.code {
            format!("unsupported major version {}", value(finding, "found"))
        } else if code == findings::DICTIONARY_MAGIC.code || code == findings::DICTIONARY_OFFSET.code {
            format!("no DICT at {}", value(finding, "offset"))
        } else if code == findings::DICTIONARY_CUT.code || code == findings::TOO_MANY_ARGUMENTS.code {
            "dictionary does not parse with 30 or 64 byte entries".to_owned()
        } else {
            continue;
        };
        return Ok(Some(refusal));
    }
    Ok(None)
}

fn value(finding: &Finding, name: &str) -> String {
    finding.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()).unwrap_or_default()
}

fn describe_dictionary(reader: &Reader, out: &mut Map<String, Value>) {
    let dictionary = reader.dictionary();
    // Without a site, the two widths cannot be distinguished.
    let sized = dictionary.filter(|dictionary| !dictionary.is_empty());
    out.insert("dict_entry_size".into(), sized.map_or(Value::Null, |dictionary| json!(14 + dictionary.slots())));
    let is_spelled_nano = reader.header().has_swapped_magic() == (reader.header().order == ByteOrder::Little);
    let guessed = if is_spelled_nano { Numbering::Document } else { Numbering::Library };
    let scheme = match dictionary.map_or(guessed, |dictionary| dictionary.numbering()) {
        Numbering::Document => "spec",
        Numbering::Library => "upstream",
    };
    out.insert("level_scheme".into(), json!(scheme));
    out.insert("prefer".into(), sized.map_or(Value::Null, |dictionary| json!(dictionary.prefers().as_str())));
    let levels = dictionary.into_iter().flat_map(|it| it.levels());
    out.insert("levels".into(), levels.map(|(level, name)| json!([level, text_or_hex(name)])).collect());
    out.insert("sites".into(), sites(reader));
}

fn header(reader: &Reader) -> Value {
    let header = reader.header();
    let spelled = match (header.has_swapped_magic(), header.order) {
        (false, ByteOrder::Little) | (true, ByteOrder::Big) => "ONAN",
        _ => "NANO",
    };
    json!({
        "magic": spelled,
        "endian": if header.order == ByteOrder::Little { "little" } else { "big" },
        "native_magic": !header.has_swapped_magic(),
        "major": header.version_major,
        "minor": header.version_minor,
        "frequency": header.timestamp_frequency,
        "start_timestamp": header.start_timestamp,
        "start_sec": header.start_time_sec,
        "start_nsec": header.start_time_nsec,
        "dictionary_offset": header.dictionary_offset,
        "entry_count": header.entry_count,
        "flags": header.flags,
        "reserved": hex(&header.reserved),
        "has_timestamps": header.has_timestamps,
    })
}

fn sites(reader: &Reader) -> Value {
    let Some(dictionary) = reader.dictionary() else { return json!([]) };
    let site = |(index, site): (usize, Site<'_>)| {
        let types: Vec<String> = dictionary.arg_types(index).iter().map(ToString::to_string).collect();
        let mut out = json!({
            "id": site.id, "level": site.level, "types": types, "file": text_or_hex(site.file),
            "line": site.line, "fmt": text_or_hex(site.format),
        });
        if dictionary.has_recovered_types(index) {
            out["types_recovered"] = json!(true);
        }
        let name = dictionary.level_name(site.level).map_or(json!(format!("LEVEL_{}", site.level)), text_or_hex);
        out["level_name"] = name;
        out
    };
    dictionary.sites().enumerate().map(site).collect()
}

/// The warnings that the golden's reader prints before it walks the entries.
fn opening_warnings(reader: &Reader) -> Vec<String> {
    let mut warnings = Vec::new();
    for finding in reader.findings().kept() {
        let code = finding.rule.code;
        if code == findings::NO_DICTIONARY.code {
            warnings.push("no dictionary (writer did not shut down)".to_owned());
        } else if code == findings::DUPLICATE_ID.code {
            warnings.push("duplicate log_id in dictionary".to_owned());
        } else if code == findings::TYPES_RECOVERED.code {
            warnings.extend(recovered(reader, &value(finding, "id")));
        }
    }
    warnings
}

fn recovered(reader: &Reader, id: &str) -> Option<String> {
    let dictionary = reader.dictionary()?;
    let index = dictionary.find(id.parse().ok()?)? as usize;
    let stored: Vec<u8> = dictionary.site(index)?.stored_types().map(|code| code.0).collect();
    let found: Vec<String> = dictionary.arg_types(index).iter().map(|code| format!("'{code}'")).collect();
    Some(format!("site {id}: dictionary types {stored:?} unusable, recovered [{}]", found.join(", ")))
}

/// Where the golden's reader stops, which does not look for more after damage.
#[derive(Default)]
struct Stop {
    unknown: Option<(usize, u64, String)>,
    at: Option<(u64, u64)>,
}

fn entries(reader: &mut Reader) -> Result<(Vec<Value>, Stop)> {
    let clock = reader.clock();
    let has_dictionary = reader.dictionary().is_some();
    let mut messages = text::Messages::default();
    let (mut out, mut stop) = (Vec::new(), Stop::default());
    let mut end = 0;
    while let Some(located) = reader.next()? {
        if stop.at.is_none() {
            match &located.record {
                Record::Entry(entry) if !has_dictionary || entry.site().is_some() => {
                    out.push(entry_json(entry, located.offset, clock, &mut messages));
                }
                Record::Entry(_) | Record::Residue(_) => stop.at = Some((located.offset, 0)),
                _ => {}
            }
        }
        if matches!(located.record, Record::Entry(_) | Record::Residue(_)) {
            end = located.offset + located.len;
        }
    }
    if let Some((offset, _)) = stop.at {
        stop.at = Some((offset, end));
        let unknown = reader.findings().kept().iter().find(|finding| finding.rule.code == findings::UNKNOWN_ID.code);
        let unknown = unknown.filter(|finding| finding.position.offset == offset);
        stop.unknown = unknown.map(|finding| (out.len(), offset, value(finding, "id")));
    }
    Ok((out, stop))
}

fn entry_json(entry: &Entry<'_>, offset: u64, clock: Clock, messages: &mut text::Messages) -> Value {
    let mut out = Map::new();
    out.insert("off".into(), json!(offset));
    out.insert("id".into(), json!(entry.id));
    out.insert("ts".into(), json!(entry.timestamp));
    out.insert("len".into(), json!(entry.data.len()));
    match (entry.site(), entry.args()) {
        (Some(_), Some(args)) => {
            out.insert("enc".into(), json!(args.form().as_str()));
            out.insert("args".into(), args.map(arg_json).collect());
            if entry.is_ambiguous() && args.form() != Form::Same {
                out.insert("ambiguous".into(), json!(true));
            }
            let mut message = Vec::new();
            messages.put(entry, &mut message);
            out.insert("msg".into(), text_or_hex(&message));
        }
        (Some(_), None) => {
            out.insert("enc".into(), json!("undecodable"));
            out.insert("data".into(), json!(hex(entry.data)));
        }
        (None, _) => {
            out.insert("data".into(), json!(hex(entry.data)));
        }
    }
    if let Some(ticks) = entry.timestamp {
        out.insert("t_ns".into(), json!(clock.moment(ticks).unix_ns()));
    }
    out.into()
}

fn arg_json(arg: Arg<'_>) -> Value {
    let value = match arg {
        Arg::Char(value) => json!(value),
        Arg::Double(value) => json!(python_float(value)),
        Arg::Int32(value) => json!(value),
        Arg::Int64(value) => json!(value),
        Arg::Pointer(value) | Arg::Uint64(value) => json!(value),
        Arg::String(text) => text_or_hex(text),
        Arg::Uint32(value) => json!(value),
    };
    json!([arg.arg_type().to_string(), value])
}

/// A double as the golden spells it: shortest digits, exponents of two digits from 1e16 and below 1e-4.
fn python_float(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        _ if value.is_nan() => "nan".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            let mantissa = mantissa.strip_suffix(".0").unwrap_or(mantissa);
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

fn text_or_hex(text: &[u8]) -> Value {
    match std::str::from_utf8(text) {
        Ok(text) => json!(text),
        Err(_) => json!({ "hex": hex(text) }),
    }
}
