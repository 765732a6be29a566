//! The file header: attributes, the process, the row of the trace.

use traceloom_model::{
    ClockKind, Halt, Table, Tables, attributes::Attribute, processes::Process, trackers::Clock, trackers::Extent,
};
use traceloom_wtf::{FileInfo, HAS_HIGH_RESOLUTION_TIMES, Header, TIMES_AS_COUNT};

use crate::{
    shared::{Facts, push_trace},
    trace::Input,
};

/// A timebase before 1990 is not a date: Node counts from the start of the machine, C++ from its first event.
const FIRST_DATE_MS: f64 = 631_152_000_000.0;

/// Nanoseconds per unit of time; a count is shown as if it were nanoseconds.
pub(super) fn unit_ns(info: &FileInfo) -> i64 {
    if info.times_as_count() { 1 } else { 1000 }
}

pub(super) fn push_attributes(header: &Header, tables: &mut Tables<'_>) -> Result<(), Halt> {
    if !tables.wants(Table::Attributes) {
        return Ok(());
    }
    let info = &header.info;
    let mut attributes = Attributes { next_id: 0, tables };
    attributes.push("container", header.container.as_str())?;
    attributes.push("formatVersion", &header.format_version.to_string())?;
    attributes.push("wtfVersion", &header.wtf_version.to_string())?;
    attributes.push("timebase", &info.timebase_ms.to_string())?;
    let words =
        [(HAS_HIGH_RESOLUTION_TIMES, "has_high_resolution_times"), (TIMES_AS_COUNT, "times_as_count")].into_iter();
    for (place, (_, word)) in words.filter(|(flag, _)| info.flags & flag != 0).enumerate() {
        attributes.push(&format!("flags.{place}"), word)?;
    }
    for (name, pairs) in [("contextInfo", &info.context), ("metadata", &info.metadata)] {
        for (path, value) in pairs {
            attributes.push(&format!("{name}.{path}"), value)?;
        }
    }
    Ok(())
}

struct Attributes<'t, 's> {
    next_id: i64,
    tables: &'t mut Tables<'s>,
}

impl Attributes<'_, '_> {
    fn push(&mut self, key: &str, value: &str) -> Result<(), Halt> {
        self.tables.push(Attribute { id: self.next_id, key: key.into(), value: Some(value) })?;
        self.next_id += 1;
        Ok(())
    }
}

/// The single process, as far as the context describes it.
pub(super) fn push_process(info: &FileInfo, tables: &mut Tables<'_>) -> Result<(), Halt> {
    let name = context(info, "title").or_else(|| context(info, "uri"));
    tables.push(Process {
        id: 0,
        // Node stores its process id there; elsewhere it may be any text.
        pid: context(info, "taskId").and_then(|task| task.parse().ok()),
        ppid: None,
        name: name.map(Into::into),
        start_ts_ns: None,
        end_ts_ns: None,
    })
}

/// The value at a path in the context, unless it is empty.
fn context<'i>(info: &'i FileInfo, path: &str) -> Option<&'i str> {
    let pair = info.context.iter().find(|(key, value)| key == path && !value.is_empty());
    pair.map(|(_, value)| value.as_str())
}

pub(super) fn push_facts(
    input: &Input<'_>,
    header: &Header,
    extent: Extent,
    tables: &mut Tables<'_>,
) -> Result<(), Halt> {
    let info = &header.info;
    let start_native_ns = Clock::new(nanoseconds(info.timebase_ms)).start_native_ns();
    let is_date = info.timebase_ms > FIRST_DATE_MS;
    let facts = Facts {
        format: &traceloom_wtf::FORMAT,
        version: &format!("{} ({})", header.format_version, header.container.as_str()),
        producer: context(info, "userAgent.value").or_else(|| context(info, "userAgent.type")),
        clock: if info.times_as_count() {
            ClockKind::Count
        } else if is_date {
            ClockKind::Wall
        } else {
            ClockKind::Monotonic
        },
        clock_hz: None,
        start_ticks: None,
        start_native_ns,
        unix_origin_ns: (is_date && !info.times_as_count()).then_some(start_native_ns),
        extent,
    };
    push_trace(input, &facts, tables)
}

/// Converts milliseconds to nanoseconds; a single multiplication would lose the last digits of a date.
fn nanoseconds(ms: f64) -> i128 {
    let whole = ms.trunc();
    (whole as i128).saturating_mul(1_000_000).saturating_add(((ms - whole) * 1e6).round() as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timebase_keeps_its_microseconds() {
        assert_eq!(nanoseconds(1_367_885_827_385.25), 1_367_885_827_385_250_000);
        assert_eq!(nanoseconds(777_434.728_027), 777_434_728_027);
        assert_eq!(nanoseconds(-0.5), -500_000);
        assert_eq!(nanoseconds(f64::MAX), i128::MAX);
    }
}
