//! The header: attributes, the process, the origin of all times.

use traceloom_core::{Describe, FieldValue, Fields, Records, Result, Text};
use traceloom_easyprofiler::{Clock, Header, Record};
use traceloom_model::{ClockKind, Halt, Table, Tables, attributes::Attribute, processes::Process, trackers::Extent};

use crate::{shared::Facts, trace::Input};

/// The time at which `ts_ns` is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    pub(super) ns: u64,
    /// The origin in ticks; unknown if only a bookmark has a time.
    ticks: Option<u64>,
}

impl Origin {
    /// The start of the capture; a capture over the network does not know it, so then it is the first record with a
    /// time.
    pub(super) fn of(header: &Header, clock: &Clock, input: &Input<'_>) -> Result<Self> {
        if header.begin_time != 0 {
            return Ok(Self { ns: clock.begin_ns(), ticks: Some(header.begin_time) });
        }
        let mut reader = traceloom_easyprofiler::open(input.source.clone(), &input.options.read)?;
        while let Some(located) = reader.next()? {
            if let Some((begin, end)) = located.record.times() {
                return Ok(Self { ns: clock.span(begin, end).0, ticks: Some(begin) });
            }
            if let Record::Bookmark(bookmark) = located.record {
                return Ok(Self { ns: bookmark.position_ns, ticks: None });
            }
        }
        Ok(Self::default())
    }
}

/// Pushes the fields of the header and the process.
pub(super) fn push(header: &Header, tables: &mut Tables<'_>) -> Result<(), Halt> {
    if tables.wants(Table::Attributes) {
        let mut fields = Attributes::default();
        header.describe(&mut fields);
        for (id, (key, value)) in (0..).zip(&fields.list) {
            tables.push(Attribute { id, key: (*key).into(), value: Some(value) })?;
        }
    }
    tables.push(Process { id: 0, pid: header.pid, ppid: None, name: None, start_ts_ns: None, end_ts_ns: None })
}

/// The row of `traces`, without its start on the clock of the file.
pub(super) fn facts<'a>(header: &Header, version: &'a str, origin: &Origin, extent: Extent) -> Facts<'a> {
    let has_ticks = header.cpu_frequency != 0;
    Facts {
        format: &traceloom_easyprofiler::FORMAT,
        version,
        producer: None,
        clock: if has_ticks { ClockKind::Tsc } else { ClockKind::Monotonic },
        // Stored as signed, but every tool reads it as unsigned.
        clock_hz: has_ticks.then_some(header.cpu_frequency.cast_unsigned()),
        start_ticks: origin.ticks.filter(|_| has_ticks),
        start_native_ns: 0,
        unix_origin_ns: None,
        extent,
    }
}

/// The fields of the header as text.
#[derive(Debug, Default)]
struct Attributes {
    list: Vec<(&'static str, String)>,
}

impl Fields for Attributes {
    fn field(&mut self, name: &'static str, value: FieldValue<'_>) {
        let text = match value {
            FieldValue::Unsigned(value) => value.to_string(),
            FieldValue::Signed(value) => value.to_string(),
            FieldValue::Hex(value) => format!("{value:#x}"),
            FieldValue::Float(value) => value.to_string(),
            FieldValue::Flag(value) => value.to_string(),
            FieldValue::Text(value) => Text(value).to_string(),
            FieldValue::Word(value) => value.to_owned(),
            FieldValue::Bytes(value) => value.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        self.list.push((name, text));
    }

    // The header has no lists; items would become separate fields.
    fn list(&mut self, _name: &'static str) {}

    fn end(&mut self) {}
}
