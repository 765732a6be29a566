//! The header of the packed, big-endian format that chunks replaced.

use traceloom_core::{
    ByteOrder, Cursor, Finding, Findings, Position, Result, Source,
    json::{self, Parser},
};

use crate::{
    Coding, Container, FileInfo, Header, Text,
    file_info::flatten,
    findings::{LEGACY, LEGACY_HEADER},
    probe,
    write::with_member,
};

/// Maximum size of a header: two strings of at most 64 KiB each and a few numbers.
const MAX_HEADER: usize = 256 << 10;

pub(crate) fn header(source: &Source, findings: &mut Findings) -> Result<Header> {
    let bytes = source.prefix(MAX_HEADER)?;
    let mut cursor = Cursor::new(&bytes, 0, ByteOrder::Big);
    cursor.u32("magic")?;
    let wtf_version = cursor.u32("wtf version")?;
    probe::check_legacy_version(cursor.u32("format version")?)?;
    findings.report(Finding::new(&LEGACY, Position::at(0)))?;
    let mut info = FileInfo::default();
    let mut problem = None;
    if read(&mut cursor, &mut info, &mut problem).is_err() {
        problem = Some("the file ends inside it");
        // Nothing after a truncated header can be an event.
        cursor.rest();
    }
    if let Some(what) = problem {
        findings.report(Finding::new(&LEGACY_HEADER, Position::at(12)).with("what", what))?;
    }
    let len = bytes.len() - cursor.left();
    let head = bytes.get(..len).unwrap_or_default().to_vec();
    let mut header = probe::packed_header(Container::Legacy, crate::raw::LEGACY_VERSION, info, head);
    header.wtf_version = wtf_version.into();
    Ok(header)
}

fn read(cursor: &mut Cursor<'_>, info: &mut FileInfo, problem: &mut Option<&'static str>) -> Result<()> {
    let context = string(cursor)?;
    let is_object = |text: &Option<String>| text.as_deref().is_some_and(|text| json::is_value(text.as_bytes()));
    let is_json = collect(context.as_deref(), &mut info.context);
    if !is_json || !info.context.iter().any(|(key, value)| key == "contextType" && value == "script") {
        *problem = Some("its context is not one of a script");
    }
    info.flags = cursor.u32("flags")?;
    let low = cursor.u32("timebase, low word")?;
    let high = cursor.u32("timebase, high word")?;
    info.timebase_ms = (u64::from(high) << 32 | u64::from(low)) as i64 as f64;
    let metadata = string(cursor)?;
    if metadata.is_some() && !collect(metadata.as_deref(), &mut info.metadata) {
        *problem = Some("its metadata is not JSON");
    }
    if problem.is_none() {
        // The contents of a chunked file, with the two texts unchanged.
        let plain = FileInfo { context: Vec::new(), metadata: Vec::new(), ..info.clone() }.to_json();
        let mut json = with_member(&plain, "contextInfo", context.unwrap_or_default().as_bytes());
        if is_object(&metadata) {
            json = with_member(&json, "metadata", metadata.unwrap_or_default().as_bytes());
        }
        info.json = json;
    }
    Ok(())
}

fn string(cursor: &mut Cursor<'_>) -> Result<Option<String>> {
    if cursor.u16("string length")? == 0 {
        return Ok(None);
    }
    let len = cursor.u16("string bytes")?;
    let bytes = cursor.take(len.into(), "string")?;
    Ok(Some(Text { bytes, coding: Coding::Cesu8 }.to_str().into_owned()))
}

/// Whether the text is JSON; collects its plain values.
fn collect(text: Option<&str>, into: &mut Vec<(String, String)>) -> bool {
    let Some(text) = text.filter(|text| json::is_value(text.as_bytes())) else { return false };
    let mut parser = Parser::of(text.as_bytes(), 0);
    if let Ok(token) = parser.next() {
        flatten(token, &mut parser, &mut String::new(), into);
    }
    true
}
