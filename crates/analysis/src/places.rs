//! Source files and lines of the spans, log entries and allocations of a trace.

use std::{cmp::Reverse, collections::BTreeMap};

use hashbrown::HashMap;
use traceloom_model::{select, sink};

use traceloom_passes::{Interner, NO_NUMBER, Translation, number_of};

/// The source files of a trace.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Files, most self time first, then most bytes, then most rows.
    pub files: Vec<PlacedFile>,
    /// Number of rows without a place, or beyond the max number of places.
    pub others: u64,
}

/// A file, and its lines that occur in rows.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PlacedFile {
    /// Path or name.
    pub name: String,
    /// All lines together.
    pub total: PlaceSums,
    /// Lines, sorted by line, kind and name.
    pub lines: Vec<PlacedLine>,
}

/// A line, and its rows of one kind and name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlacedLine {
    /// Line number; `None` if only the file is known.
    pub line: Option<u32>,
    /// The table of the rows.
    pub kind: PlaceKind,
    /// The name of the spans, the format of the log entries, or the function that allocated.
    pub name: String,
    /// The sums of the rows.
    pub sums: PlaceSums,
}

/// The table of rows.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum PlaceKind {
    /// `allocations`, by their innermost frame.
    Allocation,
    /// `logs`.
    Log,
    /// `spans`.
    Span,
}

/// Sums of rows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PlaceSums {
    /// Number of rows.
    pub count: u64,
    /// Durations of spans.
    pub total_ns: i64,
    /// Self time of spans.
    pub self_ns: i64,
    /// Bytes of allocations.
    pub bytes: u64,
}

impl PlaceSums {
    fn add(&mut self, more: &Self) {
        self.count = self.count.saturating_add(more.count);
        self.total_ns = self.total_ns.saturating_add(more.total_ns);
        self.self_ns = self.self_ns.saturating_add(more.self_ns);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

/// A sink that adds up rows by file, line, kind and name.
#[derive(Debug, Default)]
pub struct Places {
    names: Interner,
    sums: HashMap<Key, PlaceSums>,
    others: u64,
    span_files: Translation,
    span_names: Translation,
    log_files: Translation,
    log_formats: Translation,
    /// Allocations by stack, until the stacks are known.
    allocated: HashMap<i64, PlaceSums>,
    stacks: HashMap<i64, i64>,
    frames: HashMap<i64, Frame>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Key {
    file: u32,
    line: Option<u32>,
    kind: PlaceKind,
    name: u32,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    function: u32,
    file: Option<u32>,
    line: Option<u32>,
}

/// Max number of places; real programs have fewer, but a file may claim any number.
const MAX_PLACES: usize = 1 << 17;

select! { struct SpanRow of spans { name, file, line, dur_ns, self_ns } }
select! { struct LogRow of logs { file, line, format } }
select! { struct AllocationRow of allocations { stack_id, size_bytes } }
select! { struct StackRow of stacks { id, frame_id } }
select! { struct FrameRow of frames { id, function, file, line } }

sink! {
    impl for Places as places {
        SpanRow(rows) => places.take_spans(rows),
        LogRow(rows) => places.take_logs(rows),
        AllocationRow(rows) => places.take_allocations(rows),
        StackRow(rows) => places.stacks.extend((0..rows.rows).map(|row| (rows.id.get(row), rows.frame_id.get(row)))),
        FrameRow(rows) => places.take_frames(rows),
    }
}

impl Places {
    fn take_spans(&mut self, rows: &SpanRow<'_>) {
        let files = self.span_files.of(rows.file.values(), &mut self.names);
        let names = self.span_names.of(rows.name.values(), &mut self.names);
        for row in 0..rows.rows {
            let file = number_of(files, rows.file.key(row));
            let name = names.get(rows.name.keys()[row] as usize).copied().unwrap_or(NO_NUMBER);
            let key = Key { file, line: rows.line.get(row), kind: PlaceKind::Span, name };
            let total_ns = rows.dur_ns.get(row).unwrap_or(0);
            let self_ns = rows.self_ns.get(row).unwrap_or(0);
            add(&mut self.sums, &mut self.others, key, &PlaceSums { count: 1, total_ns, self_ns, bytes: 0 });
        }
    }

    fn take_logs(&mut self, rows: &LogRow<'_>) {
        let unknown = self.names.number("(unknown)");
        let files = self.log_files.of(rows.file.values(), &mut self.names);
        let formats = self.log_formats.of(rows.format.values(), &mut self.names);
        for row in 0..rows.rows {
            let file = number_of(files, rows.file.key(row));
            let name = rows.format.key(row).and_then(|key| formats.get(key as usize)).copied().unwrap_or(unknown);
            let key = Key { file, line: rows.line.get(row), kind: PlaceKind::Log, name };
            add(&mut self.sums, &mut self.others, key, &PlaceSums { count: 1, ..PlaceSums::default() });
        }
    }

    fn take_allocations(&mut self, rows: &AllocationRow<'_>) {
        for row in 0..rows.rows {
            let sums = PlaceSums { count: 1, bytes: rows.size_bytes.get(row), ..PlaceSums::default() };
            match rows.stack_id.get(row) {
                Some(stack) => self.allocated.entry(stack).or_default().add(&sums),
                None => self.others += 1,
            }
        }
    }

    fn take_frames(&mut self, rows: &FrameRow<'_>) {
        for row in 0..rows.rows {
            let function = self.names.number(rows.function.get(row));
            let file = rows.file.get(row).map(|file| self.names.number(file));
            self.frames.insert(rows.id.get(row), Frame { function, file, line: rows.line.get(row) });
        }
    }

    /// The files with their lines; call after the last batch.
    pub fn finish(self) -> Report {
        let Self { names, mut sums, mut others, allocated, stacks, frames, .. } = self;
        for (stack, more) in allocated {
            let frame = stacks.get(&stack).and_then(|frame| frames.get(frame));
            let file = frame.and_then(|frame| frame.file).unwrap_or(NO_NUMBER);
            let (name, line) = frame.map_or((NO_NUMBER, None), |frame| (frame.function, frame.line));
            add(&mut sums, &mut others, Key { file, line, kind: PlaceKind::Allocation, name }, &more);
        }
        let mut files: BTreeMap<u32, Vec<(Key, PlaceSums)>> = BTreeMap::new();
        for (key, sums) in sums {
            files.entry(key.file).or_default().push((key, sums));
        }
        let text = |number: u32| names.get(number).unwrap_or_default().to_owned();
        let mut files: Vec<PlacedFile> = files
            .into_iter()
            .map(|(file, mut lines)| {
                lines.sort_by_key(|(key, _)| *key);
                let line = |(key, sums): (Key, PlaceSums)| PlacedLine {
                    line: key.line,
                    kind: key.kind,
                    name: text(key.name),
                    sums,
                };
                let lines: Vec<PlacedLine> = lines.into_iter().map(line).collect();
                let mut total = PlaceSums::default();
                lines.iter().for_each(|line| total.add(&line.sums));
                PlacedFile { name: text(file), total, lines }
            })
            .collect();
        files.sort_by_key(|file| Reverse((file.total.self_ns, file.total.bytes, file.total.count)));
        Report { files, others }
    }
}

/// Adds a row, or only counts it if it has no file or there are too many places.
fn add(sums: &mut HashMap<Key, PlaceSums>, others: &mut u64, key: Key, more: &PlaceSums) {
    if key.file == NO_NUMBER || (sums.len() >= MAX_PLACES && !sums.contains_key(&key)) {
        *others += more.count;
        return;
    }
    sums.entry(key).or_default().add(more);
}
