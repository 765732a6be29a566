//! Log entries, and events outside of spans, as log records.

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource, events, logs};

use super::{
    Clock, Found, Rows,
    attributes::{Attributes, put_number, put_text},
    fields::{log, value},
    spans::{put_source, put_thread},
};
use crate::wire::Wire;
use traceloom_passes::{Args, Gathered, NamePool, Options, Roster};

/// Attributes that log records have besides their arguments.
const OWN: [&str; 7] =
    ["thread.id", "thread.name", "category", "code.file.path", "code.line.number", "format", "level"];

/// Gives all log records, in the order of the file, with where they are.
pub(super) fn pour(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    clock: &Clock,
    loss: &mut Loss,
    mut take: impl FnMut(&Found, &Wire) -> Result<()>,
) -> Result<()> {
    let rest = gathered.rest();
    let Gathered { roster, names, args, .. } = gathered;
    let attributes = Attributes::beside(&OWN, names)?;
    let (wire, of_thread) = Default::default();
    let mut records = Records { roster, names, args, options, clock, attributes, wire, of_thread };
    rest.pour(source, &[Table::Logs, Table::Events], |table, batch| match table {
        Table::Logs => records.logs(&logs::View::of(batch), loss, &mut take),
        Table::Events => records.events(&events::View::of(batch), loss, &mut take),
        _ => Ok(()),
    })
}

/// What one record after the other is made with.
struct Records<'a> {
    roster: &'a mut Roster,
    names: &'a mut NamePool,
    args: &'a mut Args,
    options: &'a Options,
    clock: &'a Clock,
    attributes: Attributes,
    /// The record under construction.
    wire: Wire,
    /// The attributes of a thread, which the next record most often has too.
    of_thread: (Option<traceloom_passes::ThreadIndex>, Wire),
}

impl Records<'_> {
    fn logs(
        &mut self,
        view: &logs::View<'_>,
        loss: &mut Loss,
        take: &mut impl FnMut(&Found, &Wire) -> Result<()>,
    ) -> Result<()> {
        for row in 0..view.rows {
            let id = view.id.get(row);
            let (trace_id, thread_id, ts_ns) = (view.trace_id.get(row), view.thread_id.get(row), view.ts_ns.get(row));
            let Some(found) = self.begin((trace_id, thread_id, ts_ns), ("logs", id), loss)? else { continue };
            let wire = &mut self.wire;
            wire.uint(log::SEVERITY_NUMBER, severity(view.level_name.get(row)));
            wire.text(log::SEVERITY_TEXT, view.level_name.get(row));
            wire.message(log::BODY, |wire| wire.text(value::STRING, view.message.get(row)));
            if let Ok(level) = u64::try_from(view.level.get(row)) {
                put_number(wire, log::ATTRIBUTES, "level", level);
            }
            if let Some(format) = view.format.get(row) {
                put_text(wire, log::ATTRIBUTES, "format", format);
            }
            if let Some(file) = view.file.get(row) {
                put_source(wire, log::ATTRIBUTES, file, view.line.get(row));
            }
            self.finish(&found, (Table::Logs, id), take)?;
        }
        Ok(())
    }

    fn events(
        &mut self,
        view: &events::View<'_>,
        loss: &mut Loss,
        take: &mut impl FnMut(&Found, &Wire) -> Result<()>,
    ) -> Result<()> {
        for row in 0..view.rows {
            let (id, ts_ns) = (view.id.get(row), Some(view.ts_ns.get(row)));
            let place = (view.trace_id.get(row), view.thread_id.get(row), ts_ns);
            let Some(found) = self.begin(place, ("events", id), loss)? else { continue };
            if view.span_id.get(row).is_some() {
                loss.lose("events inside of spans", || format!("events {id}"));
                continue;
            }
            let (wire, name) = (&mut self.wire, view.name.get(row));
            wire.message(log::BODY, |wire| wire.text(value::STRING, name));
            wire.text(log::EVENT_NAME, name);
            put_text(wire, log::ATTRIBUTES, "category", view.category.get(row));
            self.finish(&found, (Table::Events, id), take)?;
        }
        Ok(())
    }

    /// Begins a record with its time; none where the slice leaves it out.
    fn begin(
        &mut self,
        (trace_id, thread_id, ts_ns): (u64, Option<i64>, Option<i64>),
        (table, id): (&str, i64),
        loss: &mut Loss,
    ) -> Result<Option<Found>> {
        let rows = Rows { roster: self.roster, options: self.options };
        let Some(found) = rows.find(trace_id, thread_id, ts_ns)? else { return Ok(None) };
        self.wire.clear();
        // A record without a time has none.
        if let Some(ts_ns) = ts_ns {
            if self.clock.is_far(found.trace, ts_ns, ts_ns) {
                loss.lose("times too far away", || format!("{table} {id}"));
            }
            self.wire.fixed64(log::TIME_UNIX_NANO, self.clock.at(found.trace, ts_ns));
        }
        Ok(Some(found))
    }

    fn finish(
        &mut self,
        found: &Found,
        (table, id): (Table, i64),
        take: &mut impl FnMut(&Found, &Wire) -> Result<()>,
    ) -> Result<()> {
        if let Some(index) = found.thread {
            let (of, laid_out) = &mut self.of_thread;
            if of.replace(index) != Some(index) {
                laid_out.clear();
                put_thread(laid_out, log::ATTRIBUTES, self.roster.thread(index));
            }
            self.wire.bytes.extend_from_slice(&laid_out.bytes);
        }
        let owner = (table, found.trace, id);
        self.attributes.add(self.args, owner, self.names, log::ATTRIBUTES, &mut self.wire)?;
        take(found, &self.wire)
    }
}

/// The number that OpenTelemetry gives to a level of this name; 0 where it knows none.
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
