//! Code shared by targets that write plain tables: the table to write, the rows in a slice, and the losses from other
//! tables.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use traceloom_core::{Arena, Loss, Result, Slice};
use traceloom_model::{Columns, Filter, Table, Wanted};

use super::arrow::failed;
use crate::AnyColumn;
use traceloom_passes::{
    Datum, Owned, OwnedSorter, Owner, Request, Roster, Variant, columns_among, counted_columns, counts, lose_table,
    phrase, pour, span_is_taken,
};

/// The variant that lets the trace decide which table is written.
pub(super) const MAIN_TABLE: Variant = Variant::new(
    "main",
    "spans; if there are none, log entries, allocations, sums of calls, times of lines, events or values",
);

/// The tables to choose from if none is named, the best first.
const MAIN: [Table; 7] =
    [Table::Spans, Table::Logs, Table::Allocations, Table::Calls, Table::LineTimes, Table::Events, Table::Counters];

/// One variant per table, after the default.
pub(super) const fn table_variants(default: Variant) -> [Variant; Table::ALL.len() + 1] {
    let mut variants = [const { Variant::new("", "") }; Table::ALL.len() + 1];
    let mut number = 0;
    while number < Table::ALL.len() {
        let table = Table::ALL[number];
        variants[number + 1] = Variant::new(table.name(), phrase(table));
        number += 1;
    }
    variants[0] = default;
    variants
}

/// The named table, or the best one that has rows.
pub(super) fn choose(request: &Request<'_>) -> Result<Table> {
    if let Some(named) = Table::by_name(request.variant) {
        return Ok(named);
    }
    let wanted = MAIN.into_iter().fold(Wanted::nothing(), |wanted, table| wanted.and(table, counted_columns(table)));
    let mut has_rows = [false; Table::ALL.len()];
    pour(request.source, &Filter::default(), wanted, |table, batch| {
        has_rows[table as usize] |= batch.num_rows() > 0;
        Ok(())
    })?;
    Ok(MAIN.into_iter().find(|table| has_rows[*table as usize]).unwrap_or(Table::Spans))
}

/// Passes on the rows of some tables that are in the slice, and counts those of the others as lost.
pub(super) fn pour_taken(
    request: &Request<'_>,
    shows: impl Fn(Table) -> bool,
    mut take: impl FnMut(Table, &RecordBatch, &mut Loss) -> Result<()>,
) -> Result<Loss> {
    let slice = &request.options.slice;
    let mut taken = TakenRows::new(request, shows(Table::Args))?;
    let wanted = Table::ALL.into_iter().fold(Wanted::nothing(), |wanted, table| {
        if shows(table) {
            wanted.and(table, Columns::ALL)
        } else if counts(table) {
            wanted.and(table, counted_columns(table))
        } else {
            wanted
        }
    });
    let (mut loss, filter) = (Loss::default(), taken.roster.filter());
    pour(request.source, &filter, wanted, |table, batch| {
        if !shows(table) {
            lose_table(&mut loss, table, batch, slice);
            Ok(())
        } else if *slice == Slice::default() {
            take(table, batch, &mut loss)
        } else {
            take(table, &taken.of(table, batch)?, &mut loss)
        }
    })?;
    Ok(loss)
}

/// Decides which rows are in a slice: by time and thread; arguments follow the row that they belong to.
struct TakenRows<'a> {
    slice: &'a Slice,
    roster: Roster,
    /// The selected rows of tables with a time, if arguments have to be decided.
    owners: Option<Owned>,
}

/// The columns that decide whether a row is selected.
const DECIDING: [&str; 5] = ["trace_id", "id", "ts_ns", "dur_ns", "thread_id"];

fn has_times(table: Table) -> bool {
    table.columns().iter().any(|column| column.name == "ts_ns")
}

impl<'a> TakenRows<'a> {
    fn new(request: &Request<'a>, has_args: bool) -> Result<Self> {
        let options = request.options;
        let roster = Roster::new(request.source, &options.slice, &options.limits)?;
        let mut taken = Self { slice: &options.slice, roster, owners: None };
        if !has_args || options.slice == Slice::default() {
            return Ok(taken);
        }
        let limit = options.limits.tree_bytes;
        let mut owners = OwnedSorter::new(&Arena::new(limit), limit / 4);
        let wanted = Table::ALL.into_iter().filter(|table| has_times(*table));
        let wanted = wanted.fold(Wanted::nothing(), |wanted, table| wanted.and(table, columns_among(table, &DECIDING)));
        pour(request.source, &taken.roster.filter(), wanted, |table, batch| {
            let rows = Deciding::new(batch);
            for row in 0..batch.num_rows() {
                if taken.takes(table, &rows, row)? {
                    owners.add(rows.owner(table, row, &mut taken.roster)?, &[])?;
                }
            }
            Ok(())
        })?;
        taken.owners = Some(owners.finish()?);
        Ok(taken)
    }

    /// The selected rows of a batch.
    fn of(&mut self, table: Table, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = Deciding::new(batch);
        let mask = if table == Table::Args {
            let column = |name: &str| batch.column_by_name(name).map_or(AnyColumn::None, |array| AnyColumn::of(array));
            let owner = [column("owner_table"), column("owner_id")];
            (0..batch.num_rows()).map(|row| self.takes_owner(&rows, &owner, row)).collect::<Result<Vec<bool>>>()?
        } else {
            (0..batch.num_rows()).map(|row| self.takes(table, &rows, row)).collect::<Result<Vec<bool>>>()?
        };
        filter_record_batch(batch, &BooleanArray::from(mask)).map_err(failed)
    }

    /// Whether a row is selected; a row without a time is, and so is one without a thread, unless threads are named.
    fn takes(&mut self, table: Table, rows: &Deciding<'_>, row: usize) -> Result<bool> {
        if let Datum::Int(ts_ns) = rows.ts_ns.get(row) {
            let is_open = table == Table::Spans && rows.dur_ns.get(row) == Datum::Null;
            let dur_ns = match rows.dur_ns.get(row) {
                Datum::Int(dur_ns) => Some(dur_ns),
                _ => (!is_open).then_some(0),
            };
            if !span_is_taken(self.slice, ts_ns, dur_ns) {
                return Ok(false);
            }
        }
        if self.slice.threads.is_empty() {
            return Ok(true);
        }
        match (rows.trace_id.get(row), rows.thread_id.get(row)) {
            (Datum::Unsigned(trace_id), Datum::Int(thread_id)) => {
                let index = self.roster.index(trace_id, thread_id)?;
                Ok(self.roster.thread(index).is_taken)
            }
            _ => Ok(matches!(rows.thread_id, AnyColumn::None)),
        }
    }

    /// Whether the row that an argument belongs to is selected.
    fn takes_owner(&mut self, rows: &Deciding<'_>, [table, id]: &[AnyColumn<'_>; 2], row: usize) -> Result<bool> {
        let (Datum::Text(table), Datum::Int(id)) = (table.get(row), id.get(row)) else { return Ok(true) };
        let Some(table) = Table::by_name(table).filter(|table| has_times(*table)) else { return Ok(true) };
        let Some(owners) = &mut self.owners else { return Ok(true) };
        let trace = rows.trace(row, &mut self.roster)?;
        let mut is_taken = false;
        owners.visit(Owner::new(table, trace, id), |_| {
            is_taken = true;
            Ok(())
        })?;
        Ok(is_taken)
    }
}

/// The columns of [`DECIDING`] that a table has.
struct Deciding<'b> {
    trace_id: AnyColumn<'b>,
    id: AnyColumn<'b>,
    ts_ns: AnyColumn<'b>,
    dur_ns: AnyColumn<'b>,
    thread_id: AnyColumn<'b>,
}

impl<'b> Deciding<'b> {
    fn new(batch: &'b RecordBatch) -> Self {
        let column = |name: &str| batch.column_by_name(name).map_or(AnyColumn::None, |array| AnyColumn::of(array));
        let [trace_id, id, ts_ns, dur_ns, thread_id] = DECIDING.map(column);
        Self { trace_id, id, ts_ns, dur_ns, thread_id }
    }

    fn trace(&self, row: usize, roster: &mut Roster) -> Result<usize> {
        if let Datum::Unsigned(trace_id) = self.trace_id.get(row) { roster.trace_number(trace_id) } else { Ok(0) }
    }

    fn owner(&self, table: Table, row: usize, roster: &mut Roster) -> Result<Owner> {
        let id = if let Datum::Int(id) = self.id.get(row) { id } else { 0 };
        Ok(Owner::new(table, self.trace(row, roster)?, id))
    }
}
