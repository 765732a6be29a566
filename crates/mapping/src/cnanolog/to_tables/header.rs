//! The header: the clock, the wall time, and fields that no other table has.

use traceloom_cnanolog::{Header, Reader};
use traceloom_core::Records;
use traceloom_model::{ClockKind, Halt, Named, Table, Tables, attributes::Attribute};

use super::entries::Times;
use crate::shared::{Facts, text};

const NANOS: u64 = 1_000_000_000;

/// The facts of the row of `traces`, once the times are known.
pub(super) fn facts<'a>(header: &Header, version: &'a str, times: &Times) -> Facts<'a> {
    let origin = times.origin_ticks();
    Facts {
        format: &traceloom_cnanolog::FORMAT,
        version,
        producer: None,
        clock: clock(header),
        clock_hz: (header.timestamp_frequency != 0).then_some(header.timestamp_frequency),
        start_ticks: origin,
        start_native_ns: origin.map_or(0, |ticks| native_ns(header, ticks)),
        unix_origin_ns: unix_origin_ns(header, origin),
        extent: times.extent(),
    }
}

/// The first versions of the library count nanoseconds of the monotonic clock; later ones count processor cycles.
fn clock(header: &Header) -> ClockKind {
    match header.timestamp_frequency {
        _ if !header.has_timestamps => ClockKind::Wall,
        0 => ClockKind::Count,
        NANOS => ClockKind::Monotonic,
        _ => ClockKind::Tsc,
    }
}

fn native_ns(header: &Header, ticks: u64) -> i64 {
    let frequency = if header.timestamp_frequency == 0 { NANOS } else { header.timestamp_frequency };
    let ns = u128::from(ticks) * u128::from(NANOS) / u128::from(frequency);
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// The wall time of the origin or, without timestamps, of the start. `None` if the header was never filled in.
fn unix_origin_ns(header: &Header, origin: Option<u64>) -> Option<i64> {
    if (header.start_time_sec, header.start_time_nsec) == (0, 0) {
        return None;
    }
    let moment = header.clock().moment(origin.unwrap_or(header.start_timestamp));
    moment.sec.checked_mul(NANOS as i64)?.checked_add(moment.nsec.into())
}

/// The version in the header; the layout changed several times under the same version.
pub(super) fn version(header: &Header) -> String {
    format!("{}.{}", header.version_major, header.version_minor)
}

/// Pushes the header fields, and the properties of the dictionary as a whole.
pub(super) fn push_attributes(reader: &Reader, tables: &mut Tables<'_>) -> Result<(), Halt> {
    if !tables.wants(Table::Attributes) {
        return Ok(());
    }
    let mut rows = Rows { next_id: 0, tables };
    let header = reader.header();
    rows.push("magic", &format!("{:#010x}", header.magic))?;
    rows.push("version", &version(header))?;
    rows.push("byte_order", header.order.as_str())?;
    rows.push("timestamp_frequency", &header.timestamp_frequency.to_string())?;
    rows.push("start_timestamp", &header.start_timestamp.to_string())?;
    rows.push("start_time_sec", &header.start_time_sec.to_string())?;
    rows.push("start_time_nsec", &header.start_time_nsec.to_string())?;
    rows.push("endianness", &format!("{:#010x}", header.endianness))?;
    rows.push("dictionary_offset", &header.dictionary_offset.to_string())?;
    rows.push("entry_count", &header.entry_count.to_string())?;
    rows.push("flags", &format!("{:#x}", header.flags))?;
    rows.push("has_timestamps", if header.has_timestamps { "true" } else { "false" })?;
    if let Some(dictionary) = reader.dictionary() {
        rows.push("level_numbering", dictionary.numbering().as_str())?;
        rows.push("argument_slots", &dictionary.slots().to_string())?;
        rows.push("argument_form", dictionary.prefers().as_str())?;
        for (level, name) in dictionary.levels() {
            rows.push(&format!("level.{level}"), &text(name))?;
        }
    }
    Ok(())
}

struct Rows<'t, 's> {
    next_id: i64,
    tables: &'t mut Tables<'s>,
}

impl Rows<'_, '_> {
    fn push(&mut self, key: &str, value: &str) -> Result<(), Halt> {
        let id = self.next_id;
        self.next_id += 1;
        self.tables.push(Attribute { id, key: Named::Text(key), value: Some(value) })
    }
}
