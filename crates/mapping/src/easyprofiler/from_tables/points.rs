//! Events, values of counters and log entries as records, and bookmarks.

use traceloom_core::{Loss, Result};
use traceloom_easyprofiler::raw::{BlockType, DataType};
use traceloom_model::{Table, TableSource, counters, events, logs};

use super::{
    entry::{Bookmark, Entries, Entry, Kind, NO_TEXT, RECORD},
    sections::Sections,
};
use traceloom_passes::{Datum, Gathered, Layer, NameId, Options, PointSink, Timeline, phrase};

/// Pushes all points.
pub(super) fn push(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    timeline: &Timeline,
    sections: &mut Sections,
    entries: &mut Entries,
    loss: &mut Loss,
) -> Result<()> {
    let rest = gathered.rest();
    let mut points = Points { gathered, options, timeline, sections, entries, loss, number: 0 };
    rest.pour_points(source, &mut points)
}

struct Points<'a> {
    gathered: &'a mut Gathered,
    options: &'a Options,
    timeline: &'a Timeline,
    sections: &'a mut Sections,
    entries: &'a mut Entries,
    loss: &'a mut Loss,
    number: u64,
}

/// Where a row goes.
#[derive(Clone, Copy)]
struct Found {
    trace: usize,
    section: u32,
    ts_ns: u64,
}

impl PointSink for Points<'_> {
    fn events(&mut self, view: &events::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let (id, ts_ns) = (view.id.get(row), view.ts_ns.get(row));
            let category = view.category.get(row);
            let is_bookmark = matches!(category, "bookmark" | "mark" | "marker");
            let thread_id = view.thread_id.get(row).filter(|_| !is_bookmark);
            let Some(found) = self.find(view.trace_id.get(row), thread_id, ts_ns, is_bookmark)? else { continue };
            let name = self.gathered.names.intern(view.name.get(row))?;
            let color = self.lose_args(Table::Events, found.trace, id, is_bookmark)?;
            if is_bookmark && self.entries.bookmarks.len() < usize::from(u16::MAX) {
                self.entries.bookmarks.push(Bookmark { ts_ns: found.ts_ns, color, name });
                self.entries.last_ns = self.entries.last_ns.max(found.ts_ns);
                continue;
            }
            let kind = self.kind(BlockType::EVENT, name, None, None)?;
            // What is said to lie in a span comes before the spans that end with it.
            self.push(found, kind, NO_TEXT, 0, view.span_id.get(row).is_some())?;
        }
        Ok(())
    }

    fn counters(&mut self, view: &counters::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let (id, ts_ns) = (view.id.get(row), view.ts_ns.get(row));
            let Some(found) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns, false)? else {
                continue;
            };
            let mut bytes = Vec::new();
            let (names, loss) = (&self.gathered.names, &mut *self.loss);
            self.gathered.args.visit(Table::Counters, found.trace, id, |arg| {
                let (_, word) = put_datum(arg.value, &mut bytes);
                if names.resident(arg.kind) != Some(word) || arg.idx.is_some() {
                    loss.lose("exact types of values", || format!("counters {id}"));
                }
                Ok(())
            })?;
            if bytes.is_empty() {
                match view.text.get(row) {
                    Some(text) => put_datum(Datum::Text(text), &mut bytes),
                    None => put_datum(Datum::Float(view.value.get(row).unwrap_or(f64::NAN)), &mut bytes),
                };
            }
            let text = self.entries.keep(&bytes)?;
            let name = self.gathered.names.intern(view.name.get(row))?;
            let kind = self.kind(BlockType::VALUE, name, None, None)?;
            self.push(found, kind, text, view.value_id.get(row).unwrap_or(0), true)?;
        }
        Ok(())
    }

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let id = view.id.get(row);
            let ts_ns = self.gathered.roster.log_ts_ns(view, row, self.loss)?;
            let Some(found) = self.find(view.trace_id.get(row), view.thread_id.get(row), ts_ns, false)? else {
                continue;
            };
            self.lose_args(Table::Logs, found.trace, id, false)?;
            self.loss.lose("levels of log entries", || view.level_name.get(row).to_owned());
            let name = self.gathered.names.intern(view.format.get(row).unwrap_or("log"))?;
            let file = view.file.get(row).map(|file| self.gathered.names.intern(file)).transpose()?;
            let kind = self.kind(BlockType::EVENT, name, file, view.line.get(row))?;
            let text = self.entries.keep(view.message.get(row).as_bytes())?;
            self.push(found, kind, text, 0, true)?;
        }
        Ok(())
    }
}

impl Points<'_> {
    fn kind(&mut self, block_type: BlockType, name: NameId, file: Option<NameId>, line: Option<u32>) -> Result<u32> {
        self.entries.kind(Kind { block_type, name, file, line, color: None })
    }

    fn push(&mut self, found: Found, kind: u32, text: u64, number: u64, is_inside: bool) -> Result<()> {
        self.number += 1;
        let order = self.number + if is_inside { 0 } else { 1 << 63 };
        let Found { section, ts_ns, .. } = found;
        self.entries.push(Entry { section, part: RECORD, end_ns: ts_ns, order, begin_ns: ts_ns, kind, text, number })
    }

    /// Counts arguments, for which there is no room; the colour of a bookmark is one of them.
    fn lose_args(&mut self, table: Table, trace: usize, id: i64, has_color: bool) -> Result<Option<u32>> {
        let Gathered { args, names, .. } = &mut *self.gathered;
        let (loss, mut color) = (&mut *self.loss, None);
        args.visit(table, trace, id, |arg| {
            let key = names.resident(arg.key).unwrap_or("");
            match (arg.value, key) {
                (Datum::Unsigned(argb), "color") if has_color && argb <= u32::MAX.into() => color = Some(argb as u32),
                _ => loss.lose(phrase(Table::Args), || format!("{key} of {} {id}", table.name())),
            }
            Ok(())
        })?;
        Ok(color)
    }

    /// Where a row goes; none where the slice leaves it out.
    fn find(
        &mut self,
        trace_id: u64,
        thread_id: Option<i64>,
        ts_ns: i64,
        needs_no_section: bool,
    ) -> Result<Option<Found>> {
        let roster = &mut self.gathered.roster;
        let found = roster.point(&self.options.slice, trace_id, thread_id, Some(ts_ns))?;
        Ok(found.map(|(trace, thread)| {
            let section = match thread {
                Some(thread) => self.sections.of(thread, Layer::Stack, 0, roster),
                None if needs_no_section => 0,
                None => self.sections.whole(),
            };
            Found { trace, section, ts_ns: self.timeline.at(trace, ts_ns) }
        }))
    }
}

/// Bytes that are no value of another type are an array of these; no other value is one.
pub(super) const BYTES: DataType = DataType::UINT8;

/// The type of a value and its bytes; gives the type and its word.
fn put_datum(value: Datum<'_>, bytes: &mut Vec<u8>) -> (DataType, &'static str) {
    bytes.clear();
    let (kind, word) = match value {
        Datum::Float(_) | Datum::Null => (DataType::DOUBLE, "double"),
        Datum::Int(_) => (DataType::INT64, "int64"),
        Datum::Unsigned(_) => (DataType::UINT64, "uint64"),
        Datum::Text(_) => (DataType::STRING, "string"),
        Datum::Bytes(_) => (BYTES, "uint8"),
    };
    bytes.push(kind.0);
    match value {
        Datum::Float(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Datum::Int(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Datum::Unsigned(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Datum::Bytes(stored) => bytes.extend_from_slice(stored),
        Datum::Text(text) => bytes.extend_from_slice(text.as_bytes()),
        Datum::Null => bytes.extend_from_slice(&f64::NAN.to_le_bytes()),
    }
    if kind == DataType::STRING {
        bytes.push(0);
    }
    (kind, word)
}
