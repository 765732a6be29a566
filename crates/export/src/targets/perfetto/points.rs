//! Rows with a time and no duration: events, counter values, log entries.

use traceloom_core::Result;

use super::{
    Output,
    annotations::Annotations,
    fields::{event, log},
    tracks::{CounterKey, Unit},
};
use traceloom_passes::{CounterRows, EventRows, Found, KeyMap, LogRows, NameId, Owner, Pass, Point, PointSink};

/// Writes all points.
pub(super) fn write(pass: &mut Pass<'_>, output: &mut Output<'_>) -> Result<()> {
    let rest = pass.rest();
    rest.pour_points(&mut Points { pass, output, keys: Keys::default(), annotations: Annotations::default() })
}

/// Dictionaries of the current columns.
#[derive(Debug, Default)]
struct Keys {
    event_names: KeyMap,
    event_categories: KeyMap,
    counter_names: KeyMap,
    log_files: KeyMap,
    log_levels: KeyMap,
}

struct Points<'a, 'p, 'o> {
    pass: &'a mut Pass<'p>,
    output: &'a mut Output<'o>,
    keys: Keys,
    annotations: Annotations,
}

impl PointSink for Points<'_, '_, '_> {
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        self.keys.event_names.turn_to(rows.name.values());
        self.keys.event_categories.turn_to(rows.category.values());
        for row in 0..rows.rows {
            let Some((found, track)) = self.find(&rows.point(row))? else { continue };
            let names = &mut self.pass.names;
            let name = self.keys.event_names.get(rows.name.keys()[row], names)?;
            let category = self.keys.event_categories.get(rows.category.keys()[row], names)?;
            let packets = &mut self.output.packets;
            packets.begin(event::TYPE_INSTANT, track);
            packets.name(name, names)?;
            packets.category(category, names)?;
            self.finish(&found)?;
        }
        Ok(())
    }

    fn counters(&mut self, rows: &CounterRows<'_>) -> Result<()> {
        self.keys.counter_names.turn_to(rows.name.values());
        for row in 0..rows.rows {
            let Some((found, parent)) = self.find(&rows.point(row))? else { continue };
            let name = self.keys.counter_names.get(rows.name.keys()[row], &mut self.pass.names)?;
            match rows.value.get(row) {
                Some(value) => {
                    let key = CounterKey { parent, name, value_id: rows.value_id.get(row), idx: None };
                    self.number(key, value, found.owner)?;
                }
                None => self.text(parent, name, rows.text.get(row), found.owner)?,
            }
            self.output.packets.finish(self.pass.timeline.at(found.ts_ns))?;
        }
        Ok(())
    }

    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        self.keys.log_files.turn_to(rows.file.values());
        self.keys.log_levels.turn_to(rows.level_name.values());
        for row in 0..rows.rows {
            let Some((found, track)) = self.find(&rows.point(row))? else { continue };
            let (names, packets) = (&mut self.pass.names, &mut self.output.packets);
            let level = self.keys.log_levels.get(rows.level_name.keys()[row], names)?;
            packets.begin(event::TYPE_INSTANT, track);
            packets.name_text(rows.message.get(row));
            packets.category(level, names)?;
            let body = packets.body(rows.message.get(row));
            let location = match rows.file.key(row) {
                Some(key) => {
                    let file = self.keys.log_files.get(key, names)?;
                    Some(packets.location(file, rows.line.get(row).unwrap_or(0), names)?)
                }
                None => None,
            };
            packets.event.message(event::LOG_MESSAGE, |wire| {
                if let Some(location) = location {
                    wire.uint(log::SOURCE_LOCATION_IID, location);
                }
                wire.uint(log::BODY_IID, body);
                wire.uint(log::PRIO, priority(rows.level_name.get(row)));
            });
            self.finish(&found)?;
        }
        Ok(())
    }
}

impl Points<'_, '_, '_> {
    /// A number on a track of its counter.
    fn number(&mut self, mut key: CounterKey, value: f64, owner: Owner) -> Result<()> {
        let Pass { args, names, loss, .. } = &mut *self.pass;
        let Output { tracks, packets } = &mut *self.output;
        key.idx = args.element(owner, value, loss)?;
        let label = || {
            let name = names.get(key.name)?;
            Ok(key.idx.map_or_else(|| name.to_owned(), |idx| format!("{name}[{idx}]")))
        };
        let track = tracks.counter(key, label, Unit::Unknown, packets)?;
        packets.begin(event::TYPE_COUNTER, track);
        packets.event.double(event::DOUBLE_COUNTER_VALUE, value);
        Ok(())
    }

    /// A value that is not a number is an instant.
    fn text(&mut self, track: u64, name: NameId, text: Option<&str>, owner: Owner) -> Result<()> {
        let Pass { args, names, .. } = &mut *self.pass;
        let packets = &mut self.output.packets;
        packets.begin(event::TYPE_INSTANT, track);
        packets.name(name, names)?;
        packets.category(names.intern("value")?, names)?;
        match text {
            Some(text) => {
                self.annotations.add_text("value", text, packets);
                Ok(())
            }
            None => self.annotations.add(args, owner, names, packets),
        }
    }

    /// Ends an instant with its arguments.
    fn finish(&mut self, found: &Found) -> Result<()> {
        let Pass { args, names, timeline, .. } = &mut *self.pass;
        self.annotations.add(args, found.owner, names, &mut self.output.packets)?;
        self.output.packets.finish(timeline.at(found.ts_ns))
    }

    /// A row with its track; `None` if the row is not in the slice.
    fn find(&mut self, point: &Point) -> Result<Option<(Found, u64)>> {
        let Some(found) = self.pass.find(point)? else { return Ok(None) };
        let Output { tracks, packets } = &mut *self.output;
        let track = match found.thread {
            Some(thread) => tracks.thread(thread),
            None => tracks.loose(found.owner.trace(), packets)?,
        };
        Ok(Some((found, track)))
    }
}

/// The priority of this level in Android's logs.
fn priority(level: &str) -> u64 {
    const PRIORITIES: &[(&[&str], u64)] = &[
        (&["trace", "verbose"], 2),
        (&["debug"], 3),
        (&["info", "notice"], 4),
        (&["warn"], 5),
        (&["err"], 6),
        (&["fatal", "crit", "alert", "emerg", "panic"], 7),
    ];
    let level = level.to_ascii_lowercase();
    let found = PRIORITIES.iter().find(|(words, _)| words.iter().any(|word| level.starts_with(word)));
    found.map_or(0, |(_, priority)| *priority)
}
