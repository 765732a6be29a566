//! Files and lines that the rows of a trace name: where spans, log entries and allocations are written.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use arrow_array::{Array, RecordBatch, StringArray};
use serde_json::{Value, json};
use traceloom_model::{Columns, Flow, Table, TableSink, allocations, frames, logs, spans, stacks};

/// Places are added up by file, line, kind and name.
#[derive(Debug, Default)]
pub(super) struct Places {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    sums: HashMap<Key, Sums>,
    /// Rows that name no place, or came after there were too many of them.
    others: u64,
    /// Allocations by stack, until the stacks are known.
    allocated: HashMap<i64, Sums>,
    stacks: HashMap<i64, i64>,
    frames: HashMap<i64, (u32, Option<u32>, Option<u32>)>,
    /// The files with their lines, the most costly first; made at the end.
    files: Vec<(u32, Vec<(Key, Sums)>)>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Key {
    file: u32,
    line: u32,
    kind: Kind,
    name: u32,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Kind {
    Allocation,
    Log,
    Span,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    total_ns: i64,
    self_ns: i64,
    bytes: u64,
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.count = self.count.saturating_add(more.count);
        self.total_ns = self.total_ns.saturating_add(more.total_ns);
        self.self_ns = self.self_ns.saturating_add(more.self_ns);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

/// A program has fewer places than this; a file may claim any number.
const MOST_PLACES: usize = 1 << 17;
/// Lines of one file, and files, that are sent.
const MOST_LINES: usize = 10_000;
const MOST_FILES: usize = 5_000;

impl Places {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        let number = self.names.len() as u32 - 1;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The numbers of a dictionary's values.
    fn translated(&mut self, values: Option<&StringArray>) -> Vec<u32> {
        values.map_or_else(Vec::new, |values| (0..values.len()).map(|key| self.number(values.value(key))).collect())
    }

    fn add(&mut self, key: Key, more: &Sums) {
        if self.sums.len() >= MOST_PLACES && !self.sums.contains_key(&key) {
            self.others += more.count;
            return;
        }
        self.sums.entry(key).or_default().add(more);
    }

    fn take_spans(&mut self, view: &spans::View<'_>) {
        let (files, names) = (self.translated(view.file.values()), self.translated(view.name.values()));
        for row in 0..view.rows {
            let Some(file) = view.file.key(row).and_then(|key| files.get(key as usize)) else {
                self.others += 1;
                continue;
            };
            let name = names.get(view.name.keys()[row] as usize).copied().unwrap_or_default();
            let key = Key { file: *file, line: view.line.get(row).unwrap_or(0), kind: Kind::Span, name };
            let (total_ns, self_ns) = (view.dur_ns.get(row).unwrap_or(0), view.self_ns.get(row).unwrap_or(0));
            self.add(key, &Sums { count: 1, total_ns, self_ns, bytes: 0 });
        }
    }

    fn take_logs(&mut self, view: &logs::View<'_>) {
        let (files, formats) = (self.translated(view.file.values()), self.translated(view.format.values()));
        let unknown = self.number("(unknown)");
        for row in 0..view.rows {
            let Some(file) = view.file.key(row).and_then(|key| files.get(key as usize)) else {
                self.others += 1;
                continue;
            };
            let name = view.format.key(row).and_then(|key| formats.get(key as usize)).copied().unwrap_or(unknown);
            let key = Key { file: *file, line: view.line.get(row).unwrap_or(0), kind: Kind::Log, name };
            self.add(key, &Sums { count: 1, ..Sums::default() });
        }
    }

    fn take_allocations(&mut self, view: &allocations::View<'_>) {
        for row in 0..view.rows {
            let sums = Sums { count: 1, bytes: view.size_bytes.get(row), ..Sums::default() };
            match view.stack_id.get(row) {
                Some(stack) => self.allocated.entry(stack).or_default().add(&sums),
                None => self.others += 1,
            }
        }
    }

    fn take_frames(&mut self, view: &frames::View<'_>) {
        for row in 0..view.rows {
            let function = self.number(view.function.get(row));
            let file = view.file.get(row).map(|file| self.number(file));
            self.frames.insert(view.id.get(row), (function, file, view.line.get(row)));
        }
    }

    /// Puts everything in its place, after the last batch.
    pub(super) fn finish(mut self) -> Self {
        for (stack, sums) in std::mem::take(&mut self.allocated) {
            match self.stacks.get(&stack).and_then(|frame| self.frames.get(frame)).copied() {
                Some((name, Some(file), line)) => {
                    self.add(Key { file, line: line.unwrap_or(0), kind: Kind::Allocation, name }, &sums);
                }
                _ => self.others += sums.count,
            }
        }
        (self.stacks, self.frames, self.numbers) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut files: BTreeMap<u32, Vec<(Key, Sums)>> = BTreeMap::new();
        for (key, sums) in std::mem::take(&mut self.sums) {
            files.entry(key.file).or_default().push((key, sums));
        }
        self.files = files.into_iter().collect();
        self.files.iter_mut().for_each(|(_, lines)| lines.sort_by_key(|(key, _)| *key));
        let weight = |lines: &[(Key, Sums)]| {
            let sum = total(lines);
            (Reverse(sum.self_ns), Reverse(sum.bytes), Reverse(sum.count))
        };
        self.files.sort_by_cached_key(|(file, lines)| (weight(lines), *file));
        self
    }

    fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// The files with their totals.
    pub(super) fn files(&self, trace: u32) -> Value {
        let files = self.files.iter().take(MOST_FILES).map(|(file, lines)| {
            let sum = total(lines);
            json!({ "id": file, "name": self.name(*file), "count": sum.count, "time_ns": sum.self_ns,
                "bytes": sum.bytes, "has_text": false })
        });
        json!({
            "trace": trace,
            "kind": "places",
            "all_files": self.files.len(),
            "files": files.collect::<Vec<_>>(),
            "time_ns": self.files.iter().fold(0_i64, |sum, (_, lines)| sum.saturating_add(total(lines).self_ns)),
            "others": self.others,
        })
    }

    /// The lines of a file that rows name.
    pub(super) fn file(&self, id: i64) -> Option<Value> {
        let (file, lines) = self.files.iter().find(|(file, _)| i64::from(*file) == id)?;
        let sum = total(lines);
        let rows = lines.iter().take(MOST_LINES).map(|(key, sums)| {
            let kind = match key.kind {
                Kind::Allocation => "allocation",
                Kind::Log => "log",
                Kind::Span => "span",
            };
            let name = self.name(key.name);
            json!([key.line, kind, name, sums.count, sums.total_ns, sums.self_ns, sums.bytes])
        });
        Some(json!({
            "kind": "places",
            "name": self.name(*file),
            "count": sum.count,
            "time_ns": sum.self_ns,
            "bytes": sum.bytes,
            "all_lines": lines.len(),
            "lines": rows.collect::<Vec<_>>(),
        }))
    }
}

fn total(lines: &[(Key, Sums)]) -> Sums {
    lines.iter().fold(Sums::default(), |mut sum, (_, more)| {
        sum.add(more);
        sum
    })
}

impl TableSink for Places {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Spans => Columns::named(table, &["name", "file", "line", "dur_ns", "self_ns"]),
            Table::Logs => Columns::named(table, &["file", "line", "format"]),
            Table::Allocations => Columns::named(table, &["stack_id", "size_bytes"]),
            Table::Stacks => Columns::named(table, &["id", "frame_id"]),
            Table::Frames => Columns::named(table, &["id", "function", "file", "line"]),
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        match table {
            Table::Spans => self.take_spans(&spans::View::of(&batch)),
            Table::Logs => self.take_logs(&logs::View::of(&batch)),
            Table::Allocations => self.take_allocations(&allocations::View::of(&batch)),
            Table::Frames => self.take_frames(&frames::View::of(&batch)),
            _ => {
                let view = stacks::View::of(&batch);
                self.stacks.extend((0..view.rows).map(|row| (view.id.get(row), view.frame_id.get(row))));
            }
        }
        Ok(Flow::Continue)
    }
}
