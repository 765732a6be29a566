//! What has a time and no duration: events, values of counters, log entries.

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource, counters, events, logs};

use super::{
    Place,
    annotations::Annotations,
    fields::{event, log},
    packets::Packets,
    tracks::{CounterKey, Tracks, Unit},
};
use traceloom_passes::{Args, Gathered, KeyMap, NamePool, PointSink, Roster};

/// Writes all points.
pub(super) fn write(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    place: &Place<'_>,
    tracks: &mut Tracks,
    packets: &mut Packets<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let rest = gathered.rest();
    let Gathered { roster, names, args, .. } = gathered;
    let keys = Keys::default();
    let mut points =
        Points { roster, names, args, place, tracks, packets, loss, keys, annotations: Annotations::default() };
    rest.pour_points(source, &mut points)
}

/// Dictionaries of the columns at work.
#[derive(Debug, Default)]
struct Keys {
    event_names: KeyMap,
    event_categories: KeyMap,
    counter_names: KeyMap,
    log_files: KeyMap,
    log_levels: KeyMap,
}

struct Points<'a, 'o> {
    roster: &'a mut Roster,
    names: &'a mut NamePool,
    args: &'a mut Args,
    place: &'a Place<'a>,
    tracks: &'a mut Tracks,
    packets: &'a mut Packets<'o>,
    loss: &'a mut Loss,
    keys: Keys,
    annotations: Annotations,
}

impl PointSink for Points<'_, '_> {
    fn events(&mut self, view: &events::View<'_>) -> Result<()> {
        self.keys.event_names.turn_to(view.name.values());
        self.keys.event_categories.turn_to(view.category.values());
        for row in 0..view.rows {
            let ts_ns = view.ts_ns.get(row);
            let Some((trace, track)) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else {
                continue;
            };
            let name = self.keys.event_names.get(view.name.keys()[row], self.names)?;
            let category = self.keys.event_categories.get(view.category.keys()[row], self.names)?;
            self.packets.begin(event::TYPE_INSTANT, track);
            self.packets.name(name, self.names)?;
            self.packets.category(category, self.names)?;
            let owner = (Table::Events, trace, view.id.get(row));
            self.annotations.add(self.args, owner, self.names, self.packets)?;
            self.packets.finish(self.place.timeline.at(trace, ts_ns))?;
        }
        Ok(())
    }

    fn counters(&mut self, view: &counters::View<'_>) -> Result<()> {
        self.keys.counter_names.turn_to(view.name.values());
        for row in 0..view.rows {
            let ts_ns = view.ts_ns.get(row);
            let Some((trace, parent)) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else {
                continue;
            };
            let name = self.keys.counter_names.get(view.name.keys()[row], self.names)?;
            let owner = (Table::Counters, trace, view.id.get(row));
            let Some(value) = view.value.get(row) else {
                self.text(parent, name, view.text.get(row), owner)?;
                self.packets.finish(self.place.timeline.at(trace, ts_ns))?;
                continue;
            };
            let idx = self.args.element(owner, value, self.loss)?;
            let key = CounterKey { parent, name, value_id: view.value_id.get(row), idx };
            let names = &mut *self.names;
            let label = || {
                let name = names.get(name)?;
                Ok(idx.map_or_else(|| name.to_owned(), |idx| format!("{name}[{idx}]")))
            };
            let track = self.tracks.counter(key, label, Unit::Unknown, self.packets)?;
            self.packets.begin(event::TYPE_COUNTER, track);
            self.packets.event.double(event::DOUBLE_COUNTER_VALUE, value);
            self.packets.finish(self.place.timeline.at(trace, ts_ns))?;
        }
        Ok(())
    }

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        self.keys.log_files.turn_to(view.file.values());
        self.keys.log_levels.turn_to(view.level_name.values());
        for row in 0..view.rows {
            let ts_ns = self.roster.log_ts_ns(view, row, self.loss)?;
            let Some((trace, track)) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else {
                continue;
            };
            let level = self.keys.log_levels.get(view.level_name.keys()[row], self.names)?;
            self.packets.begin(event::TYPE_INSTANT, track);
            self.packets.name_text(view.message.get(row));
            self.packets.category(level, self.names)?;
            let body = self.packets.body(view.message.get(row));
            let location = match view.file.key(row) {
                Some(key) => {
                    let file = self.keys.log_files.get(key, self.names)?;
                    Some(self.packets.location(file, view.line.get(row).unwrap_or(0), self.names)?)
                }
                None => None,
            };
            self.packets.event.message(event::LOG_MESSAGE, |wire| {
                if let Some(location) = location {
                    wire.uint(log::SOURCE_LOCATION_IID, location);
                }
                wire.uint(log::BODY_IID, body);
                wire.uint(log::PRIO, priority(view.level_name.get(row)));
            });
            let owner = (Table::Logs, trace, view.id.get(row));
            self.annotations.add(self.args, owner, self.names, self.packets)?;
            self.packets.finish(self.place.timeline.at(trace, ts_ns))?;
        }
        Ok(())
    }
}

impl Points<'_, '_> {
    /// A value that is no number is an instant.
    fn text(
        &mut self,
        track: u64,
        name: traceloom_passes::NameId,
        text: Option<&str>,
        owner: (Table, usize, i64),
    ) -> Result<()> {
        self.packets.begin(event::TYPE_INSTANT, track);
        self.packets.name(name, self.names)?;
        let category = self.names.intern("value")?;
        self.packets.category(category, self.names)?;
        match text {
            Some(text) => {
                self.annotations.add_text("value", text, self.packets);
                Ok(())
            }
            None => self.annotations.add(self.args, owner, self.names, self.packets),
        }
    }

    /// The trace and the track of a row; none where the slice leaves it out.
    fn find(&mut self, trace_id: u64, thread_id: Option<i64>, ts_ns: i64) -> Result<Option<(usize, u64)>> {
        let found = self.roster.point(&self.place.options.slice, trace_id, thread_id, Some(ts_ns))?;
        Ok(match found {
            Some((trace, Some(thread))) => Some((trace, self.tracks.thread(thread))),
            Some((trace, None)) => Some((trace, self.tracks.loose(trace, self.packets)?)),
            None => None,
        })
    }
}

/// The priority that Android's logs give to a level of this name.
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
