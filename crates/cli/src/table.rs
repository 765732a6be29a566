//! Tables for people: columns as wide as their widest cell.

use std::{
    fmt,
    io::{self, Write},
};

use crate::output::{Styles, clean};

/// A table under construction.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

struct Column {
    head: String,
    is_text: bool,
}

/// Names are cut to this many characters; programs ask for `--json`.
const WIDEST: usize = 60;

impl TextTable {
    pub(crate) fn new() -> Self {
        Self { columns: Vec::new(), rows: Vec::new() }
    }

    /// A column of texts, to the left.
    pub(crate) fn text(mut self, head: &str) -> Self {
        self.columns.push(Column { head: head.to_owned(), is_text: true });
        self
    }

    /// Columns of numbers, to the right.
    pub(crate) fn numbers(mut self, heads: &[&str]) -> Self {
        self.columns.extend(heads.iter().map(|head| Column { head: (*head).to_owned(), is_text: false }));
        self
    }

    /// Adds a row, with as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(cut).collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes it, the head dimmed.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let heads: Vec<String> = self.columns.iter().map(|column| column.head.clone()).collect();
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&heads]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let dim = Styles::DIM;
        writeln!(out, "{dim}{}{dim:#}", self.line(&heads, &widths))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "{}", self.line(row, &widths)))
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded = cells.iter().zip(widths).zip(&self.columns).map(|((cell, width), column)| {
            if column.is_text { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let line = padded.collect::<Vec<_>>().join("  ");
        format!("  {}", line.trim_end())
    }
}

/// One line of text that a terminal takes as it is, cut where it is too long.
fn cut(cell: String) -> String {
    let clean = clean(&cell);
    if clean.chars().count() <= WIDEST {
        return clean;
    }
    clean.chars().take(WIDEST - 1).chain(['…']).collect()
}

/// A time in the unit that fits it, to four digits; for tables, where more would hide what matters.
pub(crate) struct Rounded(pub(crate) f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let (unit, scale) = match size {
            // What would be rounded to four digits before the point belongs to the next unit.
            _ if size < 999.95 => ("ns", 1.0),
            _ if size < 999.95e3 => ("µs", 1e3),
            _ if size < 999.95e6 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        let value = self.0 / scale;
        let digits = match value.abs() {
            below if below < 9.9995 => 3,
            below if below < 99.995 => 2,
            below if below < 999.95 => 1,
            _ => 0,
        };
        let text = format!("{value:.digits$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        write!(f, "{text} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let mut table = TextTable::new().text("name").numbers(&["calls"]);
        table.row(vec!["a\nb".to_owned(), "1".to_owned()]);
        table.row(vec!["x".repeat(70), "1000".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out).expect("memory takes it");
        let text = anstream::adapter::strip_str(std::str::from_utf8(&out).expect("UTF-8")).to_string();
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths, [2 + 60 + 2 + 5; 3]);
        assert!(text.contains("a\u{fffd}b") && text.contains('…'), "{text}");
    }

    #[test]
    fn times_have_four_digits() {
        let text = |ns| Rounded(ns).to_string();
        assert_eq!(text(0.0), "0 ns");
        assert_eq!(text(12.5), "12.5 ns");
        assert_eq!(text(1_234_567.0), "1.235 ms");
        assert_eq!(text(999_960.0), "1 ms");
        assert_eq!(text(-21_471.0), "-21.47 µs");
        assert_eq!(text(61e9), "61 s");
        assert_eq!(text(12_345e9), "12345 s");
    }
}
