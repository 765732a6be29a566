//! Checks that the tables of a trace are consistent.

use std::collections::{HashMap, HashSet};

use arrow_array::{Array, RecordBatch, cast::AsArray, types::Int64Type};

use crate::{ColumnDef, Columns, Flow, Table, TableSink, Wanted, args, spans};

/// A sink that wants everything and checks it: ids are unique, every id resolves, parents contain their children.
///
/// Keeps the ids of the whole trace: for tests, and for traces that fit in memory.
#[derive(Debug, Default)]
pub struct Integrity {
    ids: HashMap<(Table, u64), HashSet<i64>>,
    references: Vec<(Table, &'static ColumnDef, u64, i64)>,
    owners: Vec<(u64, String, i64)>,
    spans: HashMap<(u64, i64), Interval>,
    problems: Vec<String>,
    overlaps: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    parent: Option<i64>,
    thread: i64,
    depth: u32,
    begin: i64,
    dur: Option<i64>,
    own: Option<i64>,
}

/// The result of an [`Integrity`] check.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verdict {
    /// Ids that do not resolve or that occur twice, and impossible depths and times.
    pub problems: Vec<String>,
    /// Children that extend beyond their parents: correct only if the file itself has them and a finding reports it.
    pub overlaps: Vec<String>,
}

impl Integrity {
    /// The result, after the last batch.
    pub fn finish(mut self) -> Verdict {
        for (table, column, trace, id) in std::mem::take(&mut self.references) {
            let Some(target) = column.target else { continue };
            if !self.has(target, trace, id) {
                self.problems.push(format!("{}.{} {id} is not in {}", table.name(), column.name, target.name()));
            }
        }
        for (trace, owner, id) in std::mem::take(&mut self.owners) {
            if !Table::by_name(&owner).is_some_and(|table| self.has(table, trace, id)) {
                self.problems.push(format!("args.owner_id {id} is not in {owner}"));
            }
        }
        let spans = std::mem::take(&mut self.spans);
        for ((trace, id), span) in &spans {
            let parent = span.parent.and_then(|parent| spans.get(&(*trace, parent)));
            self.check_span(*id, span, parent);
        }
        Verdict { problems: self.problems, overlaps: self.overlaps }
    }

    fn has(&self, table: Table, trace: u64, id: i64) -> bool {
        self.ids.get(&(table, trace)).is_some_and(|ids| ids.contains(&id))
    }

    fn check_span(&mut self, id: i64, span: &Interval, parent: Option<&Interval>) {
        let expected = parent.map_or(0, |parent| parent.depth + 1);
        if span.depth != expected {
            self.problems.push(format!("span {id} has depth {}, not {expected}", span.depth));
        }
        if span.dur.is_some_and(|dur| dur < 0) || span.own.is_some_and(|own| own < 0 || Some(own) > span.dur) {
            self.problems
                .push(format!("span {id} has a duration of {:?} ns and a self time of {:?} ns", span.dur, span.own));
        }
        let Some(parent) = parent else { return };
        if parent.thread != span.thread {
            self.problems.push(format!("span {id} and its parent are on different threads"));
        }
        let end = |span: &Interval| span.dur.map(|dur| span.begin.saturating_add(dur));
        let ends_later = end(parent).is_some_and(|last| end(span).is_none_or(|end| end > last));
        if span.begin < parent.begin || ends_later {
            self.overlaps.push(format!("span {id} at {} extends beyond its parent at {}", span.begin, parent.begin));
        }
    }

    fn collect(&mut self, table: Table, batch: &RecordBatch) {
        let traces = batch.column(0).as_primitive::<arrow_array::types::UInt64Type>().values();
        let ids = batch.column(1).as_primitive::<Int64Type>().values();
        for (trace, id) in traces.iter().zip(ids) {
            if !self.ids.entry((table, *trace)).or_default().insert(*id) {
                self.problems.push(format!("{} {id} occurs twice", table.name()));
            }
        }
        for (number, column) in table.columns().iter().enumerate().filter(|(_, column)| column.target.is_some()) {
            let values = batch.column(number).as_primitive::<Int64Type>();
            let valid = (0..values.len()).filter(|row| values.is_valid(*row));
            self.references.extend(valid.map(|row| (table, column, traces[row], values.value(row))));
        }
    }

    fn collect_spans(&mut self, view: &spans::View<'_>) {
        for row in 0..view.rows {
            let interval = Interval {
                parent: view.parent_id.get(row),
                thread: view.thread_id.get(row),
                depth: view.depth.get(row),
                begin: view.ts_ns.get(row),
                dur: view.dur_ns.get(row),
                own: view.self_ns.get(row),
            };
            self.spans.insert((view.trace_id.get(row), view.id.get(row)), interval);
        }
    }

    fn collect_args(&mut self, view: &args::View<'_>) {
        let owners = (0..view.rows).map(|row| (row, view.owner_table.get(row).to_owned()));
        self.owners.extend(owners.map(|(row, table)| (view.trace_id.get(row), table, view.owner_id.get(row))));
    }
}

impl TableSink for Integrity {
    fn wants(&self, table: Table) -> Columns {
        Wanted::everything().columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        self.collect(table, &batch);
        match table {
            Table::Args => self.collect_args(&args::View::of(&batch)?),
            Table::Spans => self.collect_spans(&spans::View::of(&batch)?),
            _ => {}
        }
        Ok(Flow::Continue)
    }
}
