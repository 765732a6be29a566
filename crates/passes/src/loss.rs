//! Losses of whole tables.

use arrow_array::{Array, RecordBatch, cast::AsArray, types::Int64Type};
use traceloom_core::{Loss, Slice};
use traceloom_model::{Columns, Table};

/// The name of the rows of a table in messages.
pub const fn phrase(table: Table) -> &'static str {
    match table {
        Table::Traces => "facts about the trace",
        Table::Attributes => "attributes of the trace",
        Table::Processes => "processes",
        Table::Threads => "threads",
        Table::Definitions => "definitions",
        Table::Files => "source files",
        Table::Sources => "lines of source text",
        Table::Spans => "spans",
        Table::Events => "events",
        Table::Counters => "values of counters",
        Table::Logs => "log entries",
        Table::Allocations => "allocations",
        Table::Frees => "frees",
        Table::Switches => "context switches",
        Table::Frames => "frames of call stacks",
        Table::Stacks => "call stacks",
        Table::LineTimes => "times of lines",
        Table::Calls | Table::CallsMerged => "sums of calls",
        Table::Links => "flows between spans",
        Table::Resources => "embedded files",
        Table::Args => "arguments",
        Table::Findings => "findings",
    }
}

/// Whether leaving out a table is a loss. Findings are about the input and are reported anyway; a trace is more than
/// its row.
pub fn counts(table: Table) -> bool {
    !matches!(table, Table::Findings | Table::Traces)
}

/// The columns needed to count the rows of a table.
pub fn counted_columns(table: Table) -> Columns {
    columns_among(table, &["id", "ts_ns"])
}

/// Those of the named columns that the table has.
pub fn columns_among(table: Table, names: &[&str]) -> Columns {
    let columns = table.columns().iter().zip(0..).filter(|(column, _)| names.contains(&column.name));
    Columns::of(&columns.map(|(_, number)| number).collect::<Vec<usize>>())
}

/// Adds the losses of another step.
pub fn add_loss(loss: &mut Loss, other: &Loss) {
    for (what, count, example) in other.entries() {
        loss.lose_many(what, count, || example.to_owned());
    }
}

/// Counts the rows of a batch that are in the slice as lost.
pub fn lose_table(loss: &mut Loss, table: Table, batch: &RecordBatch, slice: &Slice) {
    let times = batch.column_by_name("ts_ns").and_then(|column| column.as_primitive_opt::<Int64Type>());
    let is_taken = |row: usize| {
        let ts_ns = times.filter(|times| times.is_valid(row)).map(|times| times.value(row));
        ts_ns.is_none_or(|ts_ns| slice.range.contains(ts_ns))
    };
    let ids = batch.column_by_name("id").and_then(|column| column.as_primitive_opt::<Int64Type>());
    let mut taken = (0..batch.num_rows()).filter(|row| is_taken(*row));
    let Some(first) = taken.next() else { return };
    loss.lose_many(phrase(table), 1 + taken.count() as u64, || match ids {
        Some(ids) => format!("{} {}", table.name(), ids.value(first)),
        None => table.name().to_owned(),
    });
}
