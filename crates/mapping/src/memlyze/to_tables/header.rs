//! The header, and the metadata keys that no other table has.

use std::ops::Range;

use traceloom_core::{Records, Result as Read, Source};
use traceloom_memlyze::{Header, Reader};
use traceloom_model::{ClockKind, Halt, Named, Table, Tables, attributes::Attribute};

use super::times::Times;
use crate::shared::{Facts, text};

/// The facts of the row of `traces`, once the times are known.
pub(super) fn facts<'a>(header: &Header, version: &'a str, times: &Times) -> Facts<'a> {
    let start_ns = i128::from(header.start_us) * 1000;
    Facts {
        format: &traceloom_memlyze::FORMAT,
        version,
        producer: None,
        clock: ClockKind::Wall,
        clock_hz: Some(1_000_000),
        start_ticks: Some(header.start_us),
        start_native_ns: i64::try_from(start_ns).unwrap_or(i64::MAX),
        // A header that was never filled in has no time of day.
        unix_origin_ns: i64::try_from(start_ns).ok().filter(|start| *start != 0),
        extent: times.extent(),
    }
}

/// Pushes the header fields, and undocumented metadata as `metadata.KEY` with its JSON.
pub(super) fn push_attributes(reader: &Reader, source: &Source, tables: &mut Tables<'_>) -> Result<(), Halt> {
    if !tables.wants(Table::Attributes) {
        return Ok(());
    }
    let header = reader.header();
    let mut rows = Rows { next_id: 0, tables };
    rows.push("magic", Some(&text(&header.magic)))?;
    rows.push("version", Some(&header.version.to_string()))?;
    rows.push("byte_order", Some(header.order.as_str()))?;
    rows.push("start_us", Some(&header.start_us.to_string()))?;
    rows.push("metadata_length", Some(&header.metadata_len.to_string()))?;
    rows.push("packing", Some(header.packing().as_str()))?;
    rows.push("dialect", Some(header.dialect.as_str()))?;
    for (key, place) in reader.metadata().others() {
        let value = json(source, place)?;
        rows.push(&format!("metadata.{}", text(key)), value.as_deref())?;
    }
    Ok(())
}

/// For longer values, only the key is listed.
const MAX_JSON: u64 = 1 << 20;

fn json(source: &Source, place: Range<u64>) -> Read<Option<String>> {
    let len = place.end.saturating_sub(place.start);
    if len > MAX_JSON {
        return Ok(None);
    }
    let mut bytes = vec![0; len as usize];
    let read = source.read_full(place.start, &mut bytes)?;
    bytes.truncate(read);
    Ok(Some(text(bytes.trim_ascii()).into_owned()))
}

struct Rows<'t, 's> {
    next_id: i64,
    tables: &'t mut Tables<'s>,
}

impl Rows<'_, '_> {
    fn push(&mut self, key: &str, value: Option<&str>) -> Result<(), Halt> {
        let id = self.next_id;
        self.next_id += 1;
        self.tables.push(Attribute { id, key: Named::Text(key), value })
    }
}
