//! What targets of one table have in common: which table it is, and what is lost with the others.

use traceloom_core::{Loss, Result};
use traceloom_model::{Filter, Table, Wanted};

use traceloom_passes::{Request, Variant, add_loss, counted_columns, counts, lose_table, phrase, pour};

/// The variant of which the trace decides.
pub(super) const MAIN_TABLE: Variant = Variant {
    id: "main",
    about: "spans; where there are none, log entries, allocations, sums of calls, times of lines, events or values",
};

/// Tables that can be meant where none is named, the best first.
const MAIN: [Table; 7] =
    [Table::Spans, Table::Logs, Table::Allocations, Table::Calls, Table::LineTimes, Table::Events, Table::Counters];

/// One variant for each table, after the default.
pub(super) const fn table_variants(default: Variant) -> [Variant; Table::ALL.len() + 1] {
    let mut variants = [const { Variant { id: "", about: "" } }; Table::ALL.len() + 1];
    let mut number = 0;
    while number < Table::ALL.len() {
        let table = Table::ALL[number];
        variants[number + 1] = Variant { id: table.name(), about: phrase(table) };
        number += 1;
    }
    variants[0] = default;
    variants
}

/// The table to write, and what is lost with all others.
pub(super) fn choose(request: &Request<'_>) -> Result<(Table, Loss)> {
    let named = Table::by_name(request.variant);
    let counted = Table::ALL.into_iter().filter(|table| counts(*table) && Some(*table) != named);
    let wanted = counted.fold(Wanted::nothing(), |wanted, table| wanted.and(table, counted_columns(table)));
    let mut rows = [false; Table::ALL.len()];
    let mut losses: [Loss; Table::ALL.len()] = std::array::from_fn(|_| Loss::default());
    pour(request.source, &Filter::default(), wanted, |table, batch| {
        rows[table as usize] |= batch.num_rows() > 0;
        lose_table(&mut losses[table as usize], table, batch, &request.options.slice);
        Ok(())
    })?;
    let first = MAIN.into_iter().find(|table| rows[*table as usize]).unwrap_or(Table::Spans);
    let table = named.unwrap_or(first);
    let mut loss = Loss::default();
    for other in Table::ALL.into_iter().filter(|other| *other != table) {
        add_loss(&mut loss, &losses[other as usize]);
    }
    Ok((table, loss))
}
