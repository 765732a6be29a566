//! The file header, and embedded files.

use std::io::Write;

use traceloom_core::Result;
use traceloom_model::{ClockKind, Table, select};
use traceloom_wtf::{Composer, FileInfo, HAS_HIGH_RESOLUTION_TIMES, TIMES_AS_COUNT, raw::PartType};

use super::is_ours;
use traceloom_passes::{Attribute, Pass};

select! {
    /// Embedded files.
    pub(super) struct ResourceRows of resources { kind, bytes }
}

/// The header: the time of the origin, the process, attributes.
pub(super) fn info(pass: &mut Pass<'_>) -> Result<FileInfo> {
    let traces = &pass.roster.traces;
    let is_count = !traces.is_empty() && traces.iter().all(|trace| trace.clock == ClockKind::Count.as_str());
    let mut info = FileInfo {
        flags: if is_count { TIMES_AS_COUNT } else { HAS_HIGH_RESOLUTION_TIMES },
        timebase_ms: milliseconds(timebase_ns(pass)),
        ..FileInfo::default()
    };
    put_attributes(pass, &mut info)?;
    let process = pass.roster.processes.first();
    let facts = [
        ("title", process.and_then(|process| process.name.clone())),
        ("taskId", process.and_then(|process| process.pid).map(|pid| pid.to_string())),
    ];
    for (key, value) in facts {
        if let (Some(value), false) = (value, info.context.iter().any(|(other, _)| other == key || other == "uri")) {
            info.context.push((key.to_owned(), value));
        }
    }
    if !(0..pass.roster.traces.len()).any(|trace| is_ours(&pass.roster, trace)) {
        pass.lose_rows(&[Table::Links]);
    }
    Ok(info)
}

fn timebase_ns(pass: &Pass<'_>) -> i64 {
    match (pass.timeline.unix_origin_ns(), pass.roster.traces.as_slice()) {
        (Some(origin), _) => origin,
        (None, [trace]) => trace.start_native_ns.saturating_sub(pass.timeline.at(0).cast_signed()),
        _ => 0,
    }
}

/// A single division would lose the microseconds of a date.
fn milliseconds(ns: i64) -> f64 {
    (ns / 1_000_000) as f64 + (ns % 1_000_000) as f64 / 1e6
}

/// Attributes of a WTF file are restored; those of other formats become metadata.
fn put_attributes(pass: &mut Pass<'_>, info: &mut FileInfo) -> Result<()> {
    pass.each_attribute(|pass, Attribute { trace, key, value }| {
        let value = value.unwrap_or_default().to_owned();
        if trace != 0 {
            pass.loss.lose("attributes of other traces", || key.to_owned());
        } else if !is_ours(&pass.roster, trace) {
            info.metadata.push((format!("{}.{}", pass.roster.traces[trace].format, member(key)), value));
        } else if let Some(path) = key.strip_prefix("contextInfo.") {
            info.context.push((path.to_owned(), value));
        } else if let Some(path) = key.strip_prefix("metadata.") {
            info.metadata.push((path.to_owned(), value));
        }
        Ok(())
    })
}

/// A key as the name of a single member: dots would create objects, and a leading digit would make it an array element.
fn member(key: &str) -> String {
    let key = key.replace('.', "_");
    if key.starts_with(|c: char| c.is_ascii_digit()) { format!("_{key}") } else { key }
}

/// Embedded files.
pub(super) fn put_resources<W: Write>(pass: &Pass<'_>, composer: &mut Composer<W>) -> Result<()> {
    pass.rest().pour(&[Table::Resources], |_, batch| {
        let rows = ResourceRows::of(batch)?;
        for row in 0..rows.rows {
            let is_text = rows.kind.get(row) == PartType::STRING_RESOURCE.to_string();
            let kind = if is_text { PartType::STRING_RESOURCE } else { PartType::BINARY_RESOURCE };
            composer.resource(kind, rows.bytes.get(row))?;
        }
        Ok(())
    })
}
