//! Log entries as they are; events and values of counters as entries of levels of their own.

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource, attributes, counters, events, logs};

use super::{
    entry::{Entries, OTHERS, When, site},
    values::{MOST_TEXTS, Values},
};
use traceloom_passes::{
    Args, Datum, Gathered, KeyMap, NameId, NamePool, Options, PointSink, ThreadIndex, phrase, span_is_taken,
};

/// Pushes all points.
pub(super) fn push(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    entries: &mut Entries,
    loss: &mut Loss,
) -> Result<()> {
    let rest = gathered.rest();
    let names = &mut gathered.names;
    let plain = names.intern("%s")?;
    let [event, mark, value] = [names.intern("EVENT")?, names.intern("MARK")?, names.intern("VALUE")?];
    let (values, format, files, formats, levels) = Default::default();
    let words = Words { plain, event, mark, value };
    let mut points =
        Points { gathered, options, entries, loss, values, format, files, formats, levels, words, label: None };
    rest.pour_points(source, &mut points)
}

struct Points<'a> {
    gathered: &'a mut Gathered,
    options: &'a Options,
    entries: &'a mut Entries,
    loss: &'a mut Loss,
    values: Values,
    format: String,
    files: KeyMap,
    formats: KeyMap,
    levels: KeyMap,
    words: Words,
    /// The thread of the last row, and what it is called.
    label: Option<(ThreadIndex, String)>,
}

/// Formats and levels that recur.
#[derive(Clone, Copy, Debug)]
struct Words {
    /// The format of what is only text.
    plain: NameId,
    event: NameId,
    mark: NameId,
    value: NameId,
}

impl PointSink for Points<'_> {
    fn events(&mut self, view: &events::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let (id, ts_ns) = (view.id.get(row), Some(view.ts_ns.get(row)));
            let Some((trace, when)) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else {
                continue;
            };
            if let Some(definition) = view.definition_id.get(row) {
                self.entries.defined.insert((trace, definition));
            }
            self.begin(view.trace_id.get(row), view.thread_id.get(row), view.name.get(row))?;
            self.put_args((Table::Events, trace, id))?;
            let is_mark = matches!(view.category.get(row), "bookmark" | "mark" | "marker");
            self.push(if is_mark { self.words.mark } else { self.words.event }, when)?;
        }
        Ok(())
    }

    fn counters(&mut self, view: &counters::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let (id, ts_ns) = (view.id.get(row), Some(view.ts_ns.get(row)));
            let Some((trace, when)) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns)? else {
                continue;
            };
            self.begin(view.trace_id.get(row), view.thread_id.get(row), view.name.get(row))?;
            let before = self.values.len();
            self.put_args((Table::Counters, trace, id))?;
            if self.values.len() == before {
                let value = match view.text.get(row) {
                    Some(text) => Datum::Text(text),
                    None => Datum::Float(view.value.get(row).unwrap_or(f64::NAN)),
                };
                let conversion = self.values.push_datum(value, "", self.entries.is_document);
                self.format.push_str(" value=");
                self.format.push_str(conversion);
            }
            self.push(self.words.value, when)?;
        }
        Ok(())
    }

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        self.files.turn_to(view.file.values());
        self.formats.turn_to(view.format.values());
        self.levels.turn_to(view.level_name.values());
        for row in 0..view.rows {
            let found = self.find(view.trace_id.get(row), view.thread_id.get(row), view.ts_ns.get(row))?;
            if let Some((trace, when)) = found {
                self.log(view, row, trace, when)?;
            }
        }
        Ok(())
    }
}

impl Points<'_> {
    /// Begins a format: the thread and the name.
    fn begin(&mut self, trace_id: u64, thread: Option<i64>, name: &str) -> Result<()> {
        self.values.clear(MOST_TEXTS);
        self.format.clear();
        if let Some(thread) = thread {
            let index = self.gathered.roster.index(trace_id, thread)?;
            if self.label.as_ref().is_none_or(|(last, _)| *last != index) {
                self.label = Some((index, self.gathered.roster.thread(index).label()));
            }
            self.values.push_text(self.label.as_ref().map_or("", |(_, label)| label).as_bytes());
            self.format.push_str("[%s] ");
        }
        push_escaped(&mut self.format, name);
        Ok(())
    }

    fn put_args(&mut self, owner: (Table, usize, i64)) -> Result<()> {
        let Gathered { args, names, .. } = &mut *self.gathered;
        let how = (self.entries.is_document, self.entries.slots());
        put_args(args, names, owner, &mut self.values, &mut self.format, how, self.loss)
    }

    fn push(&mut self, level: NameId, when: When) -> Result<()> {
        let names = &mut self.gathered.names;
        let level = self.entries.levels.number(level, -1, names, self.loss)?;
        let format = names.intern(&self.format)?;
        self.entries.push(site(level, format, (None, None), &self.values), &self.values, when, self.loss)
    }

    fn log(&mut self, view: &logs::View<'_>, row: usize, trace: usize, when: When) -> Result<()> {
        let (id, message) = (view.id.get(row), view.message.get(row));
        let names = &mut self.gathered.names;
        if let Some(definition) = view.definition_id.get(row) {
            self.entries.defined.insert((trace, definition));
        }
        if view.thread_id.get(row).is_some() {
            self.loss.lose("threads of log entries", || format!("logs {id}"));
        }
        let level_name = self.levels.get(view.level_name.keys().get(row).copied().unwrap_or(-1), names)?;
        let level = self.entries.levels.number(level_name, view.level.get(row), names, self.loss)?;
        let file = view.file.key(row).map(|key| self.files.get(key, names)).transpose()?;
        let place = (file, view.line.get(row));
        let format = view.format.key(row).map(|key| self.formats.get(key, names)).transpose()?;
        self.values.clear(usize::MAX);
        let (is_document, values) = (self.entries.is_document, &mut self.values);
        self.gathered.args.visit(Table::Logs, trace, id, |arg| {
            values.push_datum(arg.value, names.resident(arg.kind).unwrap_or(""), is_document);
            Ok(())
        })?;
        if let Some(format) = format {
            let site = site(level, format, place, &self.values);
            if self.entries.push_message(site, &self.values, message, names, when)? {
                return Ok(());
            }
            self.loss.lose("formats and arguments that do not print as the message", || format!("logs {id}"));
        }
        self.values.clear(MOST_MESSAGE);
        self.values.push_text(message.as_bytes());
        self.entries.push(site(level, self.words.plain, place, &self.values), &self.values, when, self.loss)
    }

    /// When a row happens; none where the slice leaves it out.
    fn find(&mut self, trace_id: u64, thread: Option<i64>, ts_ns: Option<i64>) -> Result<Option<(usize, When)>> {
        let roster = &mut self.gathered.roster;
        let trace = roster.trace_number(trace_id)?;
        if ts_ns.is_some_and(|ts_ns| !span_is_taken(&self.options.slice, ts_ns, Some(0))) {
            return Ok(None);
        }
        if let Some(thread) = thread {
            let index = roster.index(trace_id, thread)?;
            if !roster.thread(index).is_taken {
                return Ok(None);
            }
        }
        let first_ns = self.entries.at(trace, roster.traces[trace].first_ts_ns.unwrap_or(0));
        let ts_ns = ts_ns.map(|ts_ns| self.entries.at(trace, ts_ns));
        Ok(Some((trace, When { ts_ns, first_ns, phase: OTHERS, number: self.entries.next() })))
    }
}

/// The longest message: its length takes four bytes of the entry.
const MOST_MESSAGE: usize = 65_531;

/// Appends arguments to the values of an entry, and how they are shown to its format.
pub(super) fn put_args(
    args: &mut Args,
    names: &mut NamePool,
    (table, trace, id): (Table, usize, i64),
    values: &mut Values,
    format: &mut String,
    (is_document, most): (bool, usize),
    loss: &mut Loss,
) -> Result<()> {
    args.visit(table, trace, id, |arg| {
        // Keys and kinds that are too many to be kept in memory are shown by nothing.
        let key = names.resident(arg.key).unwrap_or("?");
        if values.len() >= most {
            loss.lose(phrase(Table::Args), || format!("{key} of {} {id}", table.name()));
            return Ok(());
        }
        format.push(' ');
        push_escaped(format, key);
        if let Some(idx) = arg.idx {
            format.push('[');
            format.push_str(&idx.to_string());
            format.push(']');
        }
        format.push('=');
        format.push_str(values.push_datum(arg.value, names.resident(arg.kind).unwrap_or(""), is_document));
        Ok(())
    })
}

/// Appends a text so that it prints as it is.
pub(super) fn push_escaped(format: &mut String, text: &str) {
    for (place, part) in text.split('%').enumerate() {
        if place > 0 {
            format.push_str("%%");
        }
        format.push_str(part);
    }
}

/// Counts what no entry refers to, and attributes that the header does not tell.
pub(super) fn count_rest(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    entries: &Entries,
    loss: &mut Loss,
) -> Result<()> {
    let unused = gathered.rows(Table::Definitions).saturating_sub(entries.defined.len() as u64);
    loss.lose_many("definitions without entries", unused, || "definitions".to_owned());
    for process in &gathered.roster.processes {
        if process.pid.is_some() || process.name.is_some() {
            loss.lose("numbers and names of processes", || format!("processes {}", process.id));
        }
    }
    let rest = gathered.rest();
    let roster = &mut gathered.roster;
    rest.pour(source, &[Table::Attributes], |table, batch| {
        let view = attributes::View::of(batch);
        for row in 0..view.rows {
            let trace = roster.trace_number(view.trace_id.get(row))?;
            if roster.traces[trace].format != "cnanolog" {
                loss.lose(phrase(table), || view.key.get(row).to_owned());
            }
        }
        Ok(())
    })
}
