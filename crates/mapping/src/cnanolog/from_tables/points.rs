//! Log entries unchanged; events and counter values as entries with separate levels.

use traceloom_core::Result;
use traceloom_model::Table;

use super::{
    entry::{Entries, OTHERS, When, site},
    values::{Line, MAX_TEXTS, push_escaped},
};
use traceloom_passes::{
    Attribute, CounterRows, Datum, EventRows, KeyMap, LogRows, NameId, Owner, Pass, Point, PointSink, ThreadIndex,
};

/// Pushes all points.
pub(super) fn push(pass: &mut Pass<'_>, entries: &mut Entries) -> Result<()> {
    let rest = pass.rest();
    let names = &mut pass.names;
    let words = Words {
        plain: names.intern("%s")?,
        event: names.intern("EVENT")?,
        mark: names.intern("MARK")?,
        value: names.intern("VALUE")?,
    };
    rest.pour_points(&mut Points {
        pass,
        line: Line::new(entries.is_document),
        entries,
        files: KeyMap::default(),
        formats: KeyMap::default(),
        levels: KeyMap::default(),
        words,
        label: None,
    })
}

struct Points<'a, 'p> {
    pass: &'a mut Pass<'p>,
    entries: &'a mut Entries,
    line: Line,
    files: KeyMap,
    formats: KeyMap,
    levels: KeyMap,
    words: Words,
    /// The thread of the last row, and its label.
    label: Option<(ThreadIndex, String)>,
}

/// Formats and levels that repeat.
#[derive(Clone, Copy, Debug)]
struct Words {
    /// The format of plain text.
    plain: NameId,
    event: NameId,
    mark: NameId,
    value: NameId,
}

/// The destination of a row.
struct Found {
    owner: Owner,
    thread: Option<ThreadIndex>,
    when: When,
}

impl PointSink for Points<'_, '_> {
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.find(&rows.point(row))? else { continue };
            self.note_definition(&found, rows.definition_id.get(row));
            self.begin(&found, rows.name.get(row));
            self.put_args(&found)?;
            self.push(if rows.is_mark(row) { self.words.mark } else { self.words.event }, found.when)?;
        }
        Ok(())
    }

    fn counters(&mut self, rows: &CounterRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.find(&rows.point(row))? else { continue };
            self.begin(&found, rows.name.get(row));
            let before = self.line.values.len();
            self.put_args(&found)?;
            if self.line.values.len() == before {
                let value = match rows.text.get(row) {
                    Some(text) => Datum::Text(text),
                    None => Datum::Float(rows.value.get(row).unwrap_or(f64::NAN)),
                };
                let conversion = self.line.values.push_datum(value, "");
                self.line.format.push_str(" value=");
                self.line.format.push_str(conversion);
            }
            self.push(self.words.value, found.when)?;
        }
        Ok(())
    }

    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        self.files.turn_to(rows.file.values());
        self.formats.turn_to(rows.format.values());
        self.levels.turn_to(rows.level_name.values());
        for row in 0..rows.rows {
            if let Some(found) = self.find(&rows.point(row))? {
                self.log(rows, row, &found)?;
            }
        }
        Ok(())
    }
}

impl Points<'_, '_> {
    fn note_definition(&mut self, found: &Found, definition: Option<i64>) {
        self.entries.defined.extend(definition.map(|definition| (found.owner.trace(), definition)));
    }

    /// Starts a format with the thread and the name.
    fn begin(&mut self, found: &Found, name: &str) {
        let Line { values, format } = &mut self.line;
        values.clear(MAX_TEXTS);
        format.clear();
        if let Some(index) = found.thread {
            if self.label.as_ref().is_none_or(|(last, _)| *last != index) {
                self.label = Some((index, self.pass.roster.thread(index).label()));
            }
            values.push_text(self.label.as_ref().map_or("", |(_, label)| label).as_bytes());
            format.push_str("[%s] ");
        }
        push_escaped(format, name);
    }

    fn put_args(&mut self, found: &Found) -> Result<()> {
        let Pass { args, names, loss, .. } = &mut *self.pass;
        self.line.put_args(found.owner, args, names, loss)
    }

    fn push(&mut self, level: NameId, when: When) -> Result<()> {
        let Pass { names, loss, .. } = &mut *self.pass;
        let Line { values, format } = &self.line;
        let level = self.entries.levels.number(level, -1, names, loss)?;
        let format = names.intern(format)?;
        self.entries.push(site(level, format, (None, None), values), values, when, loss)
    }

    fn log(&mut self, rows: &LogRows<'_>, row: usize, found: &Found) -> Result<()> {
        self.note_definition(found, rows.definition_id.get(row));
        let Pass { names, args, loss, .. } = &mut *self.pass;
        let (values, entries, message) = (&mut self.line.values, &mut *self.entries, rows.message.get(row));
        if found.thread.is_some() {
            loss.lose("threads of log entries", || found.owner.to_string());
        }
        let level_name = self.levels.get(rows.level_name.keys().get(row).copied().unwrap_or(-1), names)?;
        let level = entries.levels.number(level_name, rows.level.get(row), names, loss)?;
        let file = rows.file.key(row).map(|key| self.files.get(key, names)).transpose()?;
        let place = (file, rows.line.get(row));
        values.clear(usize::MAX);
        args.visit(found.owner, |arg| {
            values.push_datum(arg.value, names.resident(arg.kind).unwrap_or(""));
            Ok(())
        })?;
        if let Some(format) = rows.format.key(row) {
            let site = site(level, self.formats.get(format, names)?, place, values);
            if let Some(id) = entries.try_format(site, values, message, names)? {
                return entries.add(id, found.when);
            }
            loss.lose("formats and arguments that do not produce the message", || found.owner.to_string());
        }
        values.clear(MAX_MESSAGE);
        values.push_text(message.as_bytes());
        entries.push(site(level, self.words.plain, place, values), values, found.when, loss)
    }

    /// The destination and time of a row; `None` if the row is not in the slice.
    fn find(&mut self, point: &Point) -> Result<Option<Found>> {
        let Some((owner, thread)) = self.pass.place_in_any_thread(point)? else { return Ok(None) };
        let first_ns = self.entries.at(self.pass.roster.traces[owner.trace()].first_ts_ns.unwrap_or(0));
        let ts_ns = point.ts_ns.map(|ts_ns| self.entries.at(ts_ns));
        let when = When { ts_ns, first_ns, phase: OTHERS, number: self.entries.next() };
        Ok(Some(Found { owner, thread, when }))
    }
}

/// Maximum length of a message; its length field takes four bytes of the entry.
const MAX_MESSAGE: usize = 65_531;

/// Counts definitions that no entry refers to, and attributes that the header does not hold.
pub(super) fn count_rest(pass: &mut Pass<'_>, entries: &Entries) -> Result<()> {
    let unused = pass.rows(Table::Definitions).saturating_sub(entries.defined.len() as u64);
    pass.loss.lose_many("definitions without entries", unused, || "definitions".to_owned());
    pass.lose_processes();
    pass.each_attribute(|pass, Attribute { trace, key, .. }| {
        if pass.roster.traces[trace].format != traceloom_cnanolog::FORMAT.id {
            pass.lose_attribute(key);
        }
        Ok(())
    })
}
