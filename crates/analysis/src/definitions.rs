//! Declarations of a trace (descriptors, event types, log sites, subs and files) and how often each is used.

use arrow_array::RecordBatch;
use hashbrown::HashMap;
use traceloom_core::Result;
use traceloom_model::{Columns, Flow, LineLevel, Table, TableSink, select};

/// One declaration.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Definition {
    /// `definitions.id`; `None` for a file.
    pub id: Option<i64>,
    /// `definitions.kind`; `file` or `eval` for a file.
    pub kind: String,
    /// Name of the declaration.
    pub name: String,
    /// Source file.
    pub file: Option<String>,
    /// Source line; for an eval, the line that called it.
    pub line: Option<u32>,
    /// Color set by the producer, as 0xAARRGGBB.
    pub color: Option<u32>,
    /// Whether the producer records it, in the words of the format.
    pub status: Option<String>,
    /// Declared arguments.
    pub args: Option<String>,
    /// Number of rows that refer to it.
    pub used: u64,
    /// The kind of rows that refer to it, if any.
    pub used_as: Option<UsedAs>,
}

/// Rows that refer to a declaration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UsedAs {
    /// Allocations whose innermost frame is the function.
    Allocations,
    /// Sums of calls from the profiler.
    Calls,
    /// Rows of `events`.
    Events,
    /// Rows of `logs`.
    LogLines,
    /// Rows of `spans`.
    Spans,
    /// Statements of a file.
    Statements,
    /// Rows of `counters`.
    Values,
}

/// The declarations of a trace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Definitions in the order of the trace, then files, up to the requested number.
    pub rows: Vec<Definition>,
    /// Number of all declarations.
    pub all: usize,
}

/// A sink that gathers the declarations of a trace and counts the rows that refer to them.
#[derive(Debug)]
pub struct Definitions {
    max_rows: usize,
    rows: Vec<Definition>,
    files: Vec<(i64, Definition)>,
    all: usize,
    uses: Uses,
}

/// Rows by the declaration that they refer to.
#[derive(Debug, Default)]
struct Uses {
    spans: HashMap<i64, u64>,
    events: HashMap<i64, u64>,
    logs: HashMap<i64, u64>,
    /// By name.
    values: HashMap<String, u64>,
    calls: HashMap<String, u64>,
    /// By file.
    statements: HashMap<i64, u64>,
    /// By stack, and the mapping from a stack to its innermost function.
    allocations: HashMap<i64, u64>,
    stacks: HashMap<i64, i64>,
    functions: HashMap<i64, String>,
}

select! { struct DefinitionRow of definitions { id, kind, name, file, line, color, status, args } }
select! { struct FileRow of files { id, name, parent_line } }
select! { struct SpanRow of spans { definition_id } }
select! { struct EventRow of events { definition_id } }
select! { struct LogRow of logs { definition_id } }
select! { struct CounterRow of counters { name } }
select! { struct CallRow of calls { callee, count } }
select! { struct LineRow of line_times { file_id, level, calls } }
select! { struct AllocationRow of allocations { stack_id } }
select! { struct StackRow of stacks { id, frame_id } }
select! { struct FrameRow of frames { id, function } }

impl TableSink for Definitions {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Definitions => DefinitionRow::COLUMNS,
            Table::Files => FileRow::COLUMNS,
            Table::Spans => SpanRow::COLUMNS,
            Table::Events => EventRow::COLUMNS,
            Table::Logs => LogRow::COLUMNS,
            Table::Counters => CounterRow::COLUMNS,
            Table::Calls => CallRow::COLUMNS,
            Table::LineTimes => LineRow::COLUMNS,
            Table::Allocations => AllocationRow::COLUMNS,
            Table::Stacks => StackRow::COLUMNS,
            Table::Frames => FrameRow::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        match table {
            Table::Definitions => self.take_definitions(&DefinitionRow::of(&batch)?),
            Table::Files => self.take_files(&FileRow::of(&batch)?),
            _ => self.uses.take(table, &batch)?,
        }
        Ok(Flow::Continue)
    }
}

impl Definitions {
    /// Gathers up to this many definitions and files; all of them are counted.
    pub fn new(max_rows: usize) -> Self {
        Self { max_rows, rows: Vec::new(), files: Vec::new(), all: 0, uses: Uses::default() }
    }

    fn take_definitions(&mut self, rows: &DefinitionRow<'_>) {
        self.all += rows.rows;
        let room = self.max_rows - self.rows.len();
        self.rows.extend((0..rows.rows.min(room)).map(|row| Definition {
            id: Some(rows.id.get(row)),
            kind: rows.kind.get(row).to_owned(),
            name: rows.name.get(row).to_owned(),
            file: rows.file.get(row).map(str::to_owned),
            line: rows.line.get(row),
            color: rows.color.get(row),
            status: rows.status.get(row).map(str::to_owned),
            args: rows.args.get(row).map(str::to_owned),
            ..Definition::default()
        }));
    }

    fn take_files(&mut self, rows: &FileRow<'_>) {
        self.all += rows.rows;
        let room = self.max_rows - self.files.len();
        self.files.extend((0..rows.rows.min(room)).map(|row| {
            let line = rows.parent_line.get(row);
            let kind = if line.is_some() { "eval" } else { "file" };
            let (kind, name) = (kind.to_owned(), rows.name.get(row).to_owned());
            (rows.id.get(row), Definition { kind, name, line, ..Definition::default() })
        }));
    }

    /// The declarations with their uses; after the last batch.
    pub fn finish(self) -> Report {
        let Self { max_rows, mut rows, files, all, uses } = self;
        let allocated = uses.allocated();
        for row in &mut rows {
            if let Some((used_as, used)) = uses.of(row, &allocated) {
                (row.used_as, row.used) = (Some(used_as), used);
            }
        }
        rows.extend(files.into_iter().map(|(id, row)| {
            let used = uses.statements.get(&id).copied().unwrap_or(0);
            Definition { used, used_as: Some(UsedAs::Statements), ..row }
        }));
        rows.truncate(max_rows);
        Report { rows, all }
    }
}

impl Uses {
    fn take(&mut self, table: Table, batch: &RecordBatch) -> Result<()> {
        match table {
            Table::Spans => {
                let rows = SpanRow::of(batch)?;
                count((0..rows.rows).map(|row| rows.definition_id.get(row)), &mut self.spans);
            }
            Table::Events => {
                let rows = EventRow::of(batch)?;
                count((0..rows.rows).map(|row| rows.definition_id.get(row)), &mut self.events);
            }
            Table::Logs => {
                let rows = LogRow::of(batch)?;
                count((0..rows.rows).map(|row| rows.definition_id.get(row)), &mut self.logs);
            }
            Table::Allocations => {
                let rows = AllocationRow::of(batch)?;
                count((0..rows.rows).map(|row| rows.stack_id.get(row)), &mut self.allocations);
            }
            _ => self.take_sums(table, batch)?,
        }
        Ok(())
    }

    fn take_sums(&mut self, table: Table, batch: &RecordBatch) -> Result<()> {
        match table {
            Table::Counters => {
                let rows = CounterRow::of(batch)?;
                (0..rows.rows).for_each(|row| add(&mut self.values, rows.name.get(row), 1));
            }
            Table::Calls => {
                let rows = CallRow::of(batch)?;
                (0..rows.rows).for_each(|row| add(&mut self.calls, rows.callee.get(row), rows.count.get(row)));
            }
            Table::LineTimes => {
                let rows = LineRow::of(batch)?;
                for row in (0..rows.rows).filter(|row| rows.level.get(*row) == LineLevel::Line.as_str()) {
                    let Some(file) = rows.file_id.get(row) else { continue };
                    let statements = self.statements.entry(file).or_default();
                    *statements = statements.saturating_add(rows.calls.get(row));
                }
            }
            Table::Stacks => {
                let rows = StackRow::of(batch)?;
                self.stacks.extend((0..rows.rows).map(|row| (rows.id.get(row), rows.frame_id.get(row))));
            }
            Table::Frames => {
                let rows = FrameRow::of(batch)?;
                self.functions.extend((0..rows.rows).map(|row| (rows.id.get(row), rows.function.get(row).to_owned())));
            }
            _ => {}
        }
        Ok(())
    }

    /// Allocations by the allocating function.
    fn allocated(&self) -> HashMap<&str, u64> {
        let mut allocated: HashMap<&str, u64> = HashMap::new();
        for (stack, count) in &self.allocations {
            if let Some(function) = self.stacks.get(stack).and_then(|frame| self.functions.get(frame)) {
                *allocated.entry(function).or_default() += count;
            }
        }
        allocated
    }

    /// The kind does not determine which rows refer to a definition, so the first table with any rows is used.
    fn of(&self, row: &Definition, allocated: &HashMap<&str, u64>) -> Option<(UsedAs, u64)> {
        let by_id = |counts: &HashMap<i64, u64>| counts.get(&row.id?).copied();
        if let Some(used) = by_id(&self.spans) {
            return Some((UsedAs::Spans, used));
        }
        if let Some(used) = by_id(&self.events) {
            return Some((UsedAs::Events, used));
        }
        if let Some(used) = by_id(&self.logs) {
            return Some((UsedAs::LogLines, used));
        }
        let (used_as, used) = match row.kind.as_str() {
            "function" => (UsedAs::Allocations, allocated.get(&*row.name)),
            "sub" => (UsedAs::Calls, self.calls.get(&row.name)),
            "value" => (UsedAs::Values, self.values.get(&row.name)),
            _ => return None,
        };
        used.map(|used| (used_as, *used))
    }
}

/// Rows that refer to the same declaration are often adjacent.
fn count(ids: impl Iterator<Item = Option<i64>>, counts: &mut HashMap<i64, u64>) {
    let (mut last, mut together) = (None, 0);
    let mut add = |id: Option<i64>, more: u64| {
        if let Some(id) = id {
            *counts.entry(id).or_default() += more;
        }
    };
    for id in ids {
        if id != last {
            add(last, together);
            (last, together) = (id, 0);
        }
        together += 1;
    }
    add(last, together);
}

fn add(counts: &mut HashMap<String, u64>, name: &str, more: u64) {
    let count = counts.entry_ref(name).or_default();
    *count = count.saturating_add(more);
}
