//! Log entries, and events outside spans, as log records.

use traceloom_core::Result;
use traceloom_model::Table;

use super::{
    Clock,
    attributes::{Attributes, put_number, put_text},
    fields::{log, value},
    spans::{put_source, put_thread},
};
use crate::wire::Wire;
use traceloom_passes::{EventRows, LogRows, Owner, Pass, Point, TOO_FAR, ThreadIndex};

/// Attributes that log records have besides their arguments.
const OWN: [&str; 7] =
    ["thread.id", "thread.name", "category", "code.file.path", "code.line.number", "format", "level"];

/// The position of a record, and its time if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) owner: Owner,
    pub(super) thread: Option<ThreadIndex>,
    pub(super) ts_ns: Option<i64>,
}

/// Passes all log records to `take`, in file order.
pub(super) fn pour(pass: &mut Pass<'_>, clock: &Clock, take: impl FnMut(&Found, &Wire) -> Result<()>) -> Result<()> {
    let rest = pass.rest();
    let attributes = Attributes::new(log::ATTRIBUTES, &OWN, &mut pass.names)?;
    let mut records =
        Records { pass, clock, take, attributes, wire: Wire::default(), of_thread: (None, Wire::default()) };
    rest.pour(&[Table::Logs, Table::Events], |table, batch| match table {
        Table::Logs => records.logs(&LogRows::of(batch)?),
        Table::Events => records.events(&EventRows::of(batch)?),
        _ => Ok(()),
    })
}

/// Builds one record after the other.
struct Records<'a, 'p, F> {
    pass: &'a mut Pass<'p>,
    clock: &'a Clock,
    take: F,
    attributes: Attributes,
    /// The record under construction.
    wire: Wire,
    /// The attributes of a thread, which are usually the same for the next record.
    of_thread: (Option<ThreadIndex>, Wire),
}

impl<F: FnMut(&Found, &Wire) -> Result<()>> Records<'_, '_, F> {
    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.begin(&rows.point(row))? else { continue };
            let wire = &mut self.wire;
            wire.uint(log::SEVERITY_NUMBER, severity(rows.level_name.get(row)));
            wire.text(log::SEVERITY_TEXT, rows.level_name.get(row));
            wire.message(log::BODY, |wire| wire.text(value::STRING, rows.message.get(row)));
            if let Ok(level) = u64::try_from(rows.level.get(row)) {
                put_number(wire, log::ATTRIBUTES, "level", level);
            }
            if let Some(format) = rows.format.get(row) {
                put_text(wire, log::ATTRIBUTES, "format", format);
            }
            if let Some(file) = rows.file.get(row) {
                put_source(wire, log::ATTRIBUTES, file, rows.line.get(row));
            }
            self.finish(&found)?;
        }
        Ok(())
    }

    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.begin(&rows.point(row))? else { continue };
            if rows.span_id.get(row).is_some() {
                self.pass.loss.lose("events inside spans", || found.owner.to_string());
                continue;
            }
            let (wire, name) = (&mut self.wire, rows.name.get(row));
            wire.message(log::BODY, |wire| wire.text(value::STRING, name));
            wire.text(log::EVENT_NAME, name);
            put_text(wire, log::ATTRIBUTES, "category", rows.category.get(row));
            self.finish(&found)?;
        }
        Ok(())
    }

    /// Starts a record with its time; `None` if the row is not in the slice.
    fn begin(&mut self, point: &Point) -> Result<Option<Found>> {
        let Some((owner, thread)) = self.pass.place(point)? else { return Ok(None) };
        self.wire.clear();
        // A record without a time stays without one.
        if let Some(ts_ns) = point.ts_ns {
            if self.clock.is_far(ts_ns, ts_ns) {
                self.pass.loss.lose(TOO_FAR, || owner.to_string());
            }
            self.wire.fixed64(log::TIME_UNIX_NANO, self.clock.at(ts_ns));
        }
        Ok(Some(Found { owner, thread, ts_ns: point.ts_ns }))
    }

    fn finish(&mut self, found: &Found) -> Result<()> {
        let Pass { roster, args, names, .. } = &mut *self.pass;
        if let Some(index) = found.thread {
            let (of, laid_out) = &mut self.of_thread;
            if of.replace(index) != Some(index) {
                laid_out.clear();
                put_thread(laid_out, log::ATTRIBUTES, roster.thread(index));
            }
            self.wire.bytes.extend_from_slice(&laid_out.bytes);
        }
        self.attributes.add(found.owner, args, names, &mut self.wire)?;
        (self.take)(found, &self.wire)
    }
}

/// OpenTelemetry's number for a level with this name; 0 if it has none.
fn severity(level: &str) -> u64 {
    const SEVERITIES: &[(&[&str], u64)] = &[
        (&["trace", "verbose"], 1),
        (&["debug"], 5),
        (&["info"], 9),
        (&["notice"], 10),
        (&["warn"], 13),
        (&["err"], 17),
        (&["crit"], 18),
        (&["alert"], 19),
        (&["fatal", "emerg", "panic"], 21),
    ];
    let level = level.to_ascii_lowercase();
    let found = SEVERITIES.iter().find(|(words, _)| words.iter().any(|word| level.starts_with(word)));
    found.map_or(0, |(_, severity)| *severity)
}
