//! Rows as items.

use traceloom_core::{Arena, Loss, Result};
use traceloom_model::{Table, TableSource, allocations, events, frees, logs};

use super::{
    item::{ALLOC, FREE, GC, Item, MARKER},
    names::Names,
};
use traceloom_core::{Sorted, Sorter};
use traceloom_passes::{Datum, Gathered, Options, Timeline, phrase, span_is_taken};

/// Reads everything that has a time.
pub(super) fn items(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    timeline: &Timeline,
    names: &mut Names,
    loss: &mut Loss,
) -> Result<Sorted<Item>> {
    let rest = gathered.rest();
    let sorter = Sorter::new(&Arena::new(options.limits.tree_bytes));
    let mut reading = Reading { gathered, options, timeline, names, loss, sorter };
    let tables = [Table::Events, Table::Logs, Table::Allocations, Table::Frees];
    rest.pour(source, &tables, |table, batch| match table {
        Table::Events => reading.events(&events::View::of(batch)),
        Table::Logs => reading.logs(&logs::View::of(batch)),
        Table::Allocations => reading.allocations(&allocations::View::of(batch)),
        _ => reading.frees(&frees::View::of(batch)),
    })?;
    reading.sorter.finish()
}

struct Reading<'a> {
    gathered: &'a mut Gathered,
    options: &'a Options,
    timeline: &'a Timeline,
    names: &'a mut Names,
    loss: &'a mut Loss,
    sorter: Sorter<Item>,
}

/// An item without anything.
const BLANK: Item = Item { ts_ns: 0, trace: 0, id: 0, kind: MARKER, number: 0, size_bytes: 0, stack: 0, thread: 0 };

impl Reading<'_> {
    fn events(&mut self, view: &events::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let id = view.id.get(row);
            let thread = view.thread_id.get(row);
            let Some(item) = self.blank((view.trace_id.get(row), id), thread, view.ts_ns.get(row))? else { continue };
            if thread.is_some() {
                self.loss.lose("threads of events", || format!("events {id}"));
            }
            let is_gc = view.category.get(row) == "gc";
            let [objects, bytes] = self.collected(Table::Events, &item, is_gc)?;
            if is_gc {
                self.push(Item { kind: GC, number: objects, size_bytes: bytes, ..item })?;
                continue;
            }
            if !matches!(view.category.get(row), "bookmark" | "mark" | "marker") {
                self.loss.lose("that events are no markers", || view.name.get(row).to_owned());
            }
            self.marker(item, view.name.get(row))?;
        }
        Ok(())
    }

    /// The figures of a collection; all other arguments are lost.
    fn collected(&mut self, table: Table, item: &Item, is_gc: bool) -> Result<[u64; 2]> {
        let mut figures = [0; 2];
        let Gathered { args, names, .. } = &mut *self.gathered;
        args.visit(table, item.trace as usize, item.id, |arg| {
            let key = names.resident(arg.key).unwrap_or("");
            match (key, arg.value) {
                ("objects", Datum::Unsigned(objects)) if is_gc => figures[0] = objects,
                ("bytes", Datum::Unsigned(bytes)) if is_gc => figures[1] = bytes,
                _ => self.loss.lose(phrase(Table::Args), || format!("{key} of {} {}", table.name(), item.id)),
            }
            Ok(())
        })?;
        Ok(figures)
    }

    fn logs(&mut self, view: &logs::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let (id, trace_id) = (view.id.get(row), view.trace_id.get(row));
            let ts_ns = self.gathered.roster.log_ts_ns(view, row, self.loss)?;
            let Some(item) = self.blank((trace_id, id), view.thread_id.get(row), ts_ns)? else { continue };
            self.loss.lose("messages, levels and places of log entries", || format!("logs {id}"));
            self.collected(Table::Logs, &item, false)?;
            self.marker(item, view.format.get(row).unwrap_or("log"))?;
        }
        Ok(())
    }

    fn allocations(&mut self, view: &allocations::View<'_>) -> Result<()> {
        for row in 0..view.rows {
            let (id, trace_id) = (view.id.get(row), view.trace_id.get(row));
            let Some(item) = self.blank((trace_id, id), view.thread_id.get(row), view.ts_ns.get(row))? else {
                continue;
            };
            let thread = match view.thread_id.get(row) {
                Some(thread) => {
                    let index = self.gathered.roster.index(trace_id, thread)?;
                    self.names.thread(index)
                }
                None => {
                    self.loss.lose("that allocations have no thread", || format!("allocations {id}"));
                    0
                }
            };
            let (number, size_bytes) = (view.address.get(row), view.size_bytes.get(row));
            let stack = self.names.stack(item.trace as usize, view.stack_id.get(row), &mut self.gathered.names)?;
            self.push(Item { kind: ALLOC, number, size_bytes, stack, thread, ..item })?;
            // What the slice leaves out lives at its end.
            if let (Some(ts_ns), Some(free), "freed") =
                (view.freed_ts_ns.get(row), view.end_id.get(row), view.fate.get(row))
                && let Some(free) = self.blank((trace_id, free), None, ts_ns)?
            {
                self.push(Item { kind: FREE, number, ..free })?;
            }
        }
        Ok(())
    }

    /// Those that gave back an allocation came with it.
    fn frees(&mut self, view: &frees::View<'_>) -> Result<()> {
        for row in (0..view.rows).filter(|row| view.allocation_id.get(*row).is_none()) {
            let key = (view.trace_id.get(row), view.id.get(row));
            if !self.options.slice.threads.is_empty() {
                continue;
            }
            if let Some(item) = self.blank(key, None, view.ts_ns.get(row))? {
                self.push(Item { kind: FREE, number: view.address.get(row), ..item })?;
            }
        }
        Ok(())
    }

    fn marker(&mut self, item: Item, name: &str) -> Result<()> {
        let name = self.gathered.names.intern(name)?;
        let number = self.names.function(name, &mut self.gathered.names)?;
        self.push(Item { kind: MARKER, number, ..item })
    }

    /// An item of a row; none where the slice leaves it out.
    fn blank(&mut self, (trace_id, id): (u64, i64), thread: Option<i64>, ts_ns: i64) -> Result<Option<Item>> {
        let roster = &mut self.gathered.roster;
        let trace = roster.trace_number(trace_id)?;
        if !span_is_taken(&self.options.slice, ts_ns, Some(0)) {
            return Ok(None);
        }
        if let Some(thread) = thread {
            let index = roster.index(trace_id, thread)?;
            if !roster.thread(index).is_taken {
                return Ok(None);
            }
        }
        let ts_ns = self.timeline.at(trace, ts_ns);
        Ok(Some(Item { ts_ns, trace: trace as u32, id, ..BLANK }))
    }

    fn push(&mut self, item: Item) -> Result<()> {
        if !item.ts_ns.is_multiple_of(1000) {
            self.loss.lose("parts of times below a microsecond", || format!("{} ns", item.ts_ns % 1000));
        }
        self.sorter.push(item)
    }
}
