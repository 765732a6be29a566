//! Converts rows to items.

use traceloom_core::{Arena, Result, Sorted, Sorter};
use traceloom_model::{EventCategory, Fate, Table, select};

use super::{
    item::{ALLOC, FREE, GC, Item, MARKER},
    names::Names,
};
use traceloom_passes::{Datum, EventRows, LogRows, Owner, Pass, Point, ThreadIndex, lose_arg};

select! {
    /// Allocations and their fates.
    pub(super) struct AllocationRows of allocations {
        trace_id, id, ts_ns, thread_id, address, size_bytes, stack_id, fate, freed_ts_ns, end_id,
    }
}

select! {
    /// Frees.
    pub(super) struct FreeRows of frees { trace_id, id, ts_ns, address, allocation_id }
}

/// Reads all rows that have a timestamp.
pub(super) fn items(pass: &mut Pass<'_>, names: &mut Names) -> Result<Sorted<Item>> {
    let rest = pass.rest();
    let sorter = Sorter::new(&Arena::new(pass.options.limits.tree_bytes));
    let mut reading = Reading { pass, names, sorter };
    let tables = [Table::Events, Table::Logs, Table::Allocations, Table::Frees];
    rest.pour(&tables, |table, batch| match table {
        Table::Events => reading.events(&EventRows::of(batch)?),
        Table::Logs => reading.logs(&LogRows::of(batch)?),
        Table::Allocations => reading.allocations(&AllocationRows::of(batch)?),
        _ => reading.frees(&FreeRows::of(batch)?),
    })?;
    reading.sorter.finish()
}

struct Reading<'a, 'p> {
    pass: &'a mut Pass<'p>,
    names: &'a mut Names,
    sorter: Sorter<Item>,
}

/// An empty item.
const BLANK: Item = Item { ts_ns: 0, trace: 0, id: 0, kind: MARKER, number: 0, size_bytes: 0, stack: 0, thread: 0 };

/// The destination of a row.
struct Found {
    owner: Owner,
    thread: Option<ThreadIndex>,
    /// The item, without its kind and the fields that depend on the kind.
    item: Item,
}

impl Reading<'_, '_> {
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.find(&rows.point(row))? else { continue };
            if found.thread.is_some() {
                self.pass.loss.lose("threads of events", || found.owner.to_string());
            }
            let is_gc = EventCategory::of(rows.category.get(row)) == Some(EventCategory::Gc);
            let [objects, bytes] = self.collected(found.owner, is_gc)?;
            if is_gc {
                self.push(Item { kind: GC, number: objects, size_bytes: bytes, ..found.item })?;
                continue;
            }
            if !rows.is_mark(row) {
                self.pass.loss.lose("events, now markers", || rows.name.get(row).to_owned());
            }
            self.marker(&found, rows.name.get(row))?;
        }
        Ok(())
    }

    /// The values of a collection; all other arguments are lost.
    fn collected(&mut self, owner: Owner, is_gc: bool) -> Result<[u64; 2]> {
        let mut figures = [0; 2];
        let Pass { args, names, loss, .. } = &mut *self.pass;
        args.visit(owner, |arg| {
            match (names.resident(arg.key), arg.value) {
                (Some("objects"), Datum::Unsigned(objects)) if is_gc => figures[0] = objects,
                (Some("bytes"), Datum::Unsigned(bytes)) if is_gc => figures[1] = bytes,
                _ => lose_arg(owner, &arg, names, loss),
            }
            Ok(())
        })?;
        Ok(figures)
    }

    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let mut point = rows.point(row);
            if point.ts_ns.is_none() {
                point.ts_ns = Some(self.pass.start_of(&point)?);
            }
            let Some(found) = self.find(&point)? else { continue };
            self.pass.loss.lose("messages, levels and source locations of log entries", || found.owner.to_string());
            self.collected(found.owner, false)?;
            self.marker(&found, rows.format.get(row).unwrap_or("log"))?;
        }
        Ok(())
    }

    fn allocations(&mut self, rows: &AllocationRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let point = Point {
                table: Table::Allocations,
                trace_id: rows.trace_id.get(row),
                id: rows.id.get(row),
                thread_id: rows.thread_id.get(row),
                ts_ns: Some(rows.ts_ns.get(row)),
            };
            let Some(Found { owner, thread, item }) = self.find(&point)? else { continue };
            if thread.is_none() {
                self.pass.loss.lose("allocations without a thread, now on thread 0", || owner.to_string());
            }
            let thread = thread.map_or(0, |thread| self.names.thread(thread));
            let number = self.address(rows.address.get(row));
            let size_bytes = rows.size_bytes.get(row);
            let stack = self.names.stack(owner.trace(), rows.stack_id.get(row), &mut self.pass.names)?;
            self.push(Item { kind: ALLOC, number, size_bytes, stack, thread, ..item })?;
            // An allocation whose free is not in the slice is still live at the end of the slice.
            if let (Some(ts_ns), Some(id), Some(Fate::Freed)) =
                (rows.freed_ts_ns.get(row), rows.end_id.get(row), Fate::of(rows.fate.get(row)))
                && let Some(free) =
                    self.find(&Point { table: Table::Frees, id, thread_id: None, ts_ns: Some(ts_ns), ..point })?
            {
                self.push(Item { kind: FREE, number, ..free.item })?;
            }
        }
        Ok(())
    }

    /// Frees of known allocations were added with the allocations.
    fn frees(&mut self, rows: &FreeRows<'_>) -> Result<()> {
        if !self.pass.options.slice.threads.is_empty() {
            return Ok(());
        }
        for row in (0..rows.rows).filter(|row| rows.allocation_id.get(*row).is_none()) {
            let point = Point {
                table: Table::Frees,
                trace_id: rows.trace_id.get(row),
                id: rows.id.get(row),
                thread_id: None,
                ts_ns: Some(rows.ts_ns.get(row)),
            };
            if let Some(found) = self.find(&point)? {
                let number = self.address(rows.address.get(row));
                self.push(Item { kind: FREE, number, ..found.item })?;
            }
        }
        Ok(())
    }

    fn marker(&mut self, found: &Found, name: &str) -> Result<()> {
        let name = self.pass.names.intern(name)?;
        let number = self.names.function(name, &mut self.pass.names)?;
        self.push(Item { kind: MARKER, number, ..found.item })
    }

    /// The address to write: with one, the first events would not show that the trace is from the upstream tracer.
    fn address(&mut self, address: u64) -> u64 {
        if address == 0 || !self.names.is_growth {
            return address;
        }
        self.pass.loss.lose("addresses in a trace that has none", || format!("{address:#x}"));
        0
    }

    /// The destination of a row; `None` if the row is not in the slice.
    fn find(&mut self, point: &Point) -> Result<Option<Found>> {
        let Some((owner, thread)) = self.pass.place_in_any_thread(point)? else { return Ok(None) };
        let ts_ns = self.pass.timeline.at(point.ts_ns.unwrap_or(0));
        Ok(Some(Found { owner, thread, item: Item { ts_ns, trace: owner.trace() as u32, id: point.id, ..BLANK } }))
    }

    fn push(&mut self, item: Item) -> Result<()> {
        if !item.ts_ns.is_multiple_of(1000) {
            self.pass.loss.lose("fractions of a microsecond", || format!("{} ns", item.ts_ns % 1000));
        }
        self.sorter.push(item)
    }
}
