//! Rows of queries as texts and numbers.

use traceloom_core::Result;
use traceloom_query::{Ask, Cells};

/// Passes the cells of each row to `take`; NULL is an empty text.
pub fn each_row(fleet: &dyn Ask, sql: &str, mut take: impl FnMut(Vec<String>)) -> Result<()> {
    let mut answer = fleet.ask(sql)?;
    let cells = Cells::new(answer.schema());
    while let Some(batch) = answer.next()? {
        cells.rows(&batch)?.into_iter().for_each(&mut take);
    }
    Ok(())
}

/// A text as a SQL literal.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The number in a cell.
pub fn number<T: std::str::FromStr>(cells: &[String], column: usize) -> Option<T> {
    cells.get(column).and_then(|cell| cell.parse().ok())
}

/// The text in a cell.
pub fn text(cells: &[String], column: usize) -> String {
    cells.get(column).cloned().unwrap_or_default()
}
