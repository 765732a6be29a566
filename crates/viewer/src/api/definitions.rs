//! What producers declare once and refer to: descriptors, event types, log sites, subs and files, with how often each is used.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use arrow_array::RecordBatch;
use axum::{Extension, Json, Router, extract::State, routing::get};
use serde_json::{Value, json};
use traceloom_model::{
    Columns, Filter, Flow, Table, TableSink, allocations, calls, counters, definitions, events, files, frames,
    line_times, logs, spans, stacks,
};

use super::{
    Answer,
    part::{self, PartQuery, Piece},
    work,
};
use crate::server::App;

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new().route("/definitions", get(definitions_of)).layer(Extension(known))
}

/// Lists by trace: they do not change after it is read.
type Known = work::Kept<u32, List>;

/// More than a table is scrolled through.
const MOST_ROWS: usize = 100_000;

async fn definitions_of(State(app): State<App>, Extension(known): Extension<Arc<Known>>) -> Answer {
    let pieces = PartQuery::default().pieces(&app)?;
    let is_loading = part::is_loading(&app)?;
    let waiting = work::Waiting::default();
    let over = waiting.over();
    work::run(move || {
        let (mut all, mut rows) = (0, Vec::new());
        for piece in &pieces {
            let list = known.or(piece.trace, || list(piece, &over))?;
            all += list.all;
            let room = MOST_ROWS - rows.len();
            rows.extend(list.rows.iter().take(room).map(|row| shown(row, piece.trace)));
        }
        Ok(Json(json!({ "loading": is_loading, "all": all, "rows": rows })))
    })
    .await
}

/// The declarations of one trace.
#[derive(Debug)]
struct List {
    rows: Vec<Row>,
    all: usize,
}

#[derive(Debug)]
struct Row {
    /// None for a file.
    id: Option<i64>,
    kind: String,
    name: String,
    file: Option<String>,
    line: Option<u32>,
    color: Option<u32>,
    status: Option<String>,
    args: Option<String>,
    used: u64,
    /// What it was used for.
    unit: &'static str,
}

fn shown(row: &Row, trace: u32) -> Value {
    json!([trace, row.kind, row.name, row.file, row.line, row.color, row.status, row.args, row.used, row.unit, row.id])
}

fn list(piece: &Piece, over: &work::Over) -> Answer<List> {
    let mut declared = Declared::default();
    let whole = Piece { filter: Filter::default(), ..piece.clone() };
    part::pour(&whole, &mut declared, over)?;
    Ok(declared.finish())
}

/// Gathers declarations and counts who refers to them.
#[derive(Debug, Default)]
struct Declared {
    rows: Vec<(i64, Row)>,
    files: Vec<(i64, Row)>,
    all: usize,
    /// By definition: spans, events and log lines.
    spans: HashMap<i64, u64>,
    events: HashMap<i64, u64>,
    logs: HashMap<i64, u64>,
    /// By name: values, and calls that the profiler added up.
    values: BTreeMap<String, u64>,
    calls: BTreeMap<String, u64>,
    /// Statements, by file.
    statements: HashMap<i64, u64>,
    /// Allocations by stack, and the names of the innermost frames.
    allocations: HashMap<i64, u64>,
    stacks: HashMap<i64, i64>,
    functions: HashMap<i64, String>,
}

impl TableSink for Declared {
    fn wants(&self, table: Table) -> Columns {
        let columns: &[&str] = match table {
            Table::Definitions => return Columns::ALL,
            Table::Files => &["id", "name", "parent_line"],
            Table::Spans | Table::Events | Table::Logs => &["definition_id"],
            Table::Counters => &["name"],
            Table::Calls => &["callee", "count"],
            Table::LineTimes => &["file_id", "level", "calls"],
            Table::Allocations => &["stack_id"],
            Table::Stacks => &["id", "frame_id"],
            Table::Frames => &["id", "function"],
            _ => return Columns::NONE,
        };
        Columns::named(table, columns)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        match table {
            Table::Definitions => self.take_definitions(&definitions::View::of(&batch)),
            Table::Files => self.take_files(&files::View::of(&batch)),
            Table::Spans => {
                let view = spans::View::of(&batch);
                count((0..view.rows).map(|row| view.definition_id.get(row)), &mut self.spans);
            }
            Table::Events => {
                let view = events::View::of(&batch);
                count((0..view.rows).map(|row| view.definition_id.get(row)), &mut self.events);
            }
            Table::Logs => {
                let view = logs::View::of(&batch);
                count((0..view.rows).map(|row| view.definition_id.get(row)), &mut self.logs);
            }
            Table::Allocations => {
                let view = allocations::View::of(&batch);
                count((0..view.rows).map(|row| view.stack_id.get(row)), &mut self.allocations);
            }
            _ => self.take_others(table, &batch),
        }
        Ok(Flow::Continue)
    }
}

/// Rows that refer to the same thing often come together.
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

impl Declared {
    fn take_definitions(&mut self, view: &definitions::View<'_>) {
        for row in 0..view.rows {
            self.all += 1;
            if self.rows.len() == MOST_ROWS {
                continue;
            }
            let declared = Row {
                id: Some(view.id.get(row)),
                kind: view.kind.get(row).to_owned(),
                name: view.name.get(row).to_owned(),
                file: view.file.get(row).map(str::to_owned),
                line: view.line.get(row),
                color: view.color.get(row),
                status: view.status.get(row).map(str::to_owned),
                args: view.args.get(row).map(str::to_owned),
                used: 0,
                unit: "",
            };
            self.rows.push((view.id.get(row), declared));
        }
    }

    fn take_files(&mut self, view: &files::View<'_>) {
        for row in 0..view.rows {
            self.all += 1;
            if self.files.len() == MOST_ROWS {
                continue;
            }
            let kind = if view.parent_line.get(row).is_some() { "eval" } else { "file" };
            let declared = Row {
                id: None,
                kind: kind.to_owned(),
                name: view.name.get(row).to_owned(),
                file: None,
                line: view.parent_line.get(row),
                color: None,
                status: None,
                args: None,
                used: 0,
                unit: "",
            };
            self.files.push((view.id.get(row), declared));
        }
    }

    fn take_others(&mut self, table: Table, batch: &RecordBatch) {
        match table {
            Table::Counters => {
                let view = counters::View::of(batch);
                (0..view.rows).for_each(|row| add(&mut self.values, view.name.get(row), 1));
            }
            Table::Calls => {
                let view = calls::View::of(batch);
                (0..view.rows).for_each(|row| add(&mut self.calls, view.callee.get(row), view.count.get(row)));
            }
            Table::LineTimes => {
                let view = line_times::View::of(batch);
                for row in (0..view.rows).filter(|row| view.level.get(*row) == "line") {
                    let Some(file) = view.file_id.get(row) else { continue };
                    let statements = self.statements.entry(file).or_default();
                    *statements = statements.saturating_add(view.calls.get(row));
                }
            }
            Table::Stacks => {
                let view = stacks::View::of(batch);
                self.stacks.extend((0..view.rows).map(|row| (view.id.get(row), view.frame_id.get(row))));
            }
            Table::Frames => {
                let view = frames::View::of(batch);
                self.functions.extend((0..view.rows).map(|row| (view.id.get(row), view.function.get(row).to_owned())));
            }
            _ => {}
        }
    }

    fn finish(mut self) -> List {
        let mut rows = std::mem::take(&mut self.rows);
        let mut allocated: HashMap<&str, u64> = HashMap::new();
        for (stack, count) in &self.allocations {
            if let Some(function) = self.stacks.get(stack).and_then(|frame| self.functions.get(frame)) {
                *allocated.entry(function).or_default() += count;
            }
        }
        for (id, row) in &mut rows {
            (row.used, row.unit) = self.used(*id, row, &allocated);
        }
        let mut rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        let files = std::mem::take(&mut self.files).into_iter().map(|(id, row)| {
            let used = self.statements.get(&id).copied().unwrap_or(0);
            Row { used, unit: "statements", ..row }
        });
        rows.extend(files);
        rows.truncate(MOST_ROWS);
        List { rows, all: self.all }
    }

    /// The kind does not tell what refers to it: the first that does counts.
    fn used(&self, id: i64, row: &Row, allocated: &HashMap<&str, u64>) -> (u64, &'static str) {
        let by_id = [(&self.spans, "spans"), (&self.events, "events"), (&self.logs, "log lines")];
        let by_id = by_id.into_iter().find_map(|(counts, unit)| Some((*counts.get(&id)?, unit)));
        let by_name = || match row.kind.as_str() {
            "function" => allocated.get(&*row.name).map(|count| (*count, "allocations")),
            "sub" => self.calls.get(&row.name).map(|count| (*count, "calls")),
            "value" => self.values.get(&row.name).map(|count| (*count, "values")),
            _ => None,
        };
        by_id.or_else(by_name).unwrap_or((0, ""))
    }
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str, more: u64) {
    match counts.get_mut(name) {
        Some(count) => *count = count.saturating_add(more),
        None => _ = counts.insert(name.to_owned(), more),
    }
}
