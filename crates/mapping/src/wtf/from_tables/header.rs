//! What the file header tells, and what travels beside the events.

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource, attributes, resources};
use traceloom_wtf::{Composer, FileInfo, HAS_HIGH_RESOLUTION_TIMES, TIMES_AS_COUNT, raw::PartType};

use traceloom_passes::{Gathered, Timeline, phrase};

/// The header: the time of the origin, the process, attributes.
pub(super) fn info(
    source: &dyn TableSource,
    gathered: &Gathered,
    timeline: &Timeline,
    loss: &mut Loss,
) -> Result<FileInfo> {
    let roster = &gathered.roster;
    let is_count = !roster.traces.is_empty() && roster.traces.iter().all(|trace| trace.clock == "count");
    let mut info = FileInfo {
        flags: if is_count { TIMES_AS_COUNT } else { HAS_HIGH_RESOLUTION_TIMES },
        timebase_ms: milliseconds(timebase_ns(gathered, timeline)),
        ..FileInfo::default()
    };
    put_attributes(source, gathered, &mut info, loss)?;
    let process = roster.processes.first();
    let facts = [
        ("title", process.and_then(|process| process.name.clone())),
        ("taskId", process.and_then(|process| process.pid).map(|pid| pid.to_string())),
    ];
    for (key, value) in facts {
        if let (Some(value), false) = (value, info.context.iter().any(|(other, _)| other == key || other == "uri")) {
            info.context.push((key.to_owned(), value));
        }
    }
    if !roster.traces.iter().any(|trace| trace.format == "wtf") {
        (0..gathered.rows(Table::Links)).for_each(|row| loss.lose(phrase(Table::Links), || format!("links {row}")));
    }
    Ok(info)
}

fn timebase_ns(gathered: &Gathered, timeline: &Timeline) -> i64 {
    match (timeline.unix_origin_ns(), gathered.roster.traces.as_slice()) {
        (Some(origin), _) => origin,
        (None, [trace]) => trace.start_native_ns.saturating_sub(timeline.at(0, 0).cast_signed()),
        _ => 0,
    }
}

/// In one division a date would lose its microseconds.
fn milliseconds(ns: i64) -> f64 {
    (ns / 1_000_000) as f64 + (ns % 1_000_000) as f64 / 1e6
}

/// Attributes of a file of this format go back to where they were; those of others are metadata.
fn put_attributes(source: &dyn TableSource, gathered: &Gathered, info: &mut FileInfo, loss: &mut Loss) -> Result<()> {
    let traces = &gathered.roster.traces;
    let first = traces.first().map(|trace| trace.trace_id);
    gathered.rest().pour(source, &[Table::Attributes], |_, batch| {
        let view = attributes::View::of(batch);
        for row in 0..view.rows {
            let trace_id = view.trace_id.get(row);
            let format = traces.iter().find(|trace| trace.trace_id == trace_id).map_or("", |trace| &trace.format);
            let (key, value) = (view.key.get(row), view.value.get(row).unwrap_or_default().to_owned());
            if Some(trace_id) != first {
                loss.lose("attributes of further traces", || key.to_owned());
            } else if format != "wtf" {
                info.metadata.push((format!("{format}.{}", member(key)), value));
            } else if let Some(path) = key.strip_prefix("contextInfo.") {
                info.context.push((path.to_owned(), value));
            } else if let Some(path) = key.strip_prefix("metadata.") {
                info.metadata.push((path.to_owned(), value));
            }
        }
        Ok(())
    })
}

/// A key as the name of one member: dots lead into objects, and what begins with a digit is an element.
fn member(key: &str) -> String {
    let key = key.replace('.', "_");
    match key.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("_{key}"),
        false => key,
    }
}

/// Embedded files.
pub(super) fn put_resources<W: Write>(
    source: &dyn TableSource,
    gathered: &Gathered,
    composer: &mut Composer<W>,
) -> Result<()> {
    gathered.rest().pour(source, &[Table::Resources], |_, batch| {
        let view = resources::View::of(batch);
        for row in 0..view.rows {
            let is_text = view.kind.get(row) == PartType::STRING_RESOURCE.to_string();
            let kind = if is_text { PartType::STRING_RESOURCE } else { PartType::BINARY_RESOURCE };
            composer.resource(kind, view.bytes.get(row))?;
        }
        Ok(())
    })
}
