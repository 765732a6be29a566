//! Text tables: columns are as wide as their widest cell.

use std::{
    fmt,
    io::{self, Write},
};

use crate::{
    output::{Styles, clean},
    units::Nanoseconds,
};

/// A table under construction.
pub(crate) struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// Headings of columns to drop on a narrow terminal, in this order.
    dropped: &'static [&'static str],
}

struct Column {
    head: String,
    is_text: bool,
}

/// Names are cut to this many characters; `--json` has them in full.
const WIDEST: usize = 60;

impl TextTable {
    pub(crate) fn new() -> Self {
        Self { columns: Vec::new(), rows: Vec::new(), dropped: &[] }
    }

    /// Adds a left-aligned column of text.
    pub(crate) fn text(mut self, head: &str) -> Self {
        self.columns.push(Column { head: head.to_owned(), is_text: true });
        self
    }

    /// Adds right-aligned columns of numbers.
    pub(crate) fn numbers(mut self, heads: &[&str]) -> Self {
        self.columns.extend(heads.iter().map(|head| Column { head: (*head).to_owned(), is_text: false }));
        self
    }

    /// Sets the columns to drop, in this order, if the terminal is too narrow.
    pub(crate) fn drop_first(mut self, heads: &'static [&'static str]) -> Self {
        self.dropped = heads;
        self
    }

    /// Adds a row, with as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(cut).collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the table with a dimmed heading.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_within(terminal_columns().unwrap_or(usize::MAX), out)
    }

    fn write_within(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        let heads: Vec<String> = self.columns.iter().map(|column| column.head.clone()).collect();
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&heads]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let mut widths: Vec<Option<usize>> = (0..self.columns.len()).map(|column| Some(width(column))).collect();
        for head in self.dropped {
            if widths.iter().flatten().map(|width| width + 2).sum::<usize>() <= columns {
                break;
            }
            if let Some(column) = heads.iter().position(|known| known == head) {
                widths[column] = None;
            }
        }
        let dim = Styles::DIM;
        writeln!(out, "{dim}{}{dim:#}", self.line(&heads, &widths))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "{}", self.line(row, &widths)))
    }

    /// Writes a row; columns without a width are omitted.
    fn line(&self, cells: &[String], widths: &[Option<usize>]) -> String {
        let padded = cells.iter().zip(widths).zip(&self.columns).filter_map(|((cell, width), column)| {
            let width = (*width)?;
            Some(if column.is_text { format!("{cell:<width$}") } else { format!("{cell:>width$}") })
        });
        let line = padded.collect::<Vec<_>>().join("  ");
        format!("  {}", line.trim_end())
    }
}

/// Prints how many rows a limit left out.
pub(crate) fn rest(out: &mut dyn Write, rows: usize, limit: usize) -> io::Result<()> {
    if rows > limit {
        writeln!(out, "  {} more; --limit {rows} shows all", rows - limit)?;
    }
    Ok(())
}

/// The width of standard output, if it is a terminal.
fn terminal_columns() -> Option<usize> {
    #[cfg(unix)]
    return rustix::termios::tcgetwinsize(io::stdout())
        .ok()
        .map(|size| size.ws_col.into())
        .filter(|columns| *columns > 0);
    #[cfg(not(unix))]
    return None;
}

/// One line of text that is safe for a terminal, cut if it is too long.
fn cut(cell: String) -> String {
    let clean = clean(&cell);
    if clean.chars().count() <= WIDEST {
        return clean;
    }
    clean.chars().take(WIDEST - 1).chain(['…']).collect()
}

/// The longest time that is shown to the nanosecond.
const MAX_EXACT_NS: u64 = 600_000_000_000;

/// A time to the nanosecond, or rounded if it is long.
pub(crate) fn exact(ns: u64) -> String {
    if ns < MAX_EXACT_NS { Nanoseconds(ns).to_string() } else { Rounded(ns as f64).to_string() }
}

/// A time in a suitable unit with four digits, for tables.
pub(crate) struct Rounded(pub(crate) f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let (unit, scale) = match size {
            // A number that would round to four digits before the point belongs to the next unit.
            _ if size < 999.95 => ("ns", 1.0),
            _ if size < 999.95e3 => ("µs", 1e3),
            _ if size < 999.95e6 => ("ms", 1e6),
            _ if size < 600e9 => ("s", 1e9),
            _ if size < 7_200e9 => ("min", 60e9),
            _ if size < 172_800e9 => ("h", 3_600e9),
            _ => ("d", 86_400e9),
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
    fn a_narrow_terminal_shows_fewer_columns() {
        let mut table = TextTable::new().text("name").numbers(&["calls", "min", "max"]).drop_first(&["min", "calls"]);
        table.row(vec!["Frame".to_owned(), "12".to_owned(), "345".to_owned(), "678".to_owned()]);
        let shown = |columns: usize| {
            let mut out = Vec::new();
            table.write_within(columns, &mut out).expect("memory takes it");
            anstream::adapter::strip_str(std::str::from_utf8(&out).expect("UTF-8")).to_string()
        };
        assert_eq!(shown(80), "  name   calls  min  max\n  Frame     12  345  678\n");
        assert_eq!(shown(20), "  name   calls  max\n  Frame     12  678\n");
        assert_eq!(shown(5), "  name   max\n  Frame  678\n");
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
        assert_eq!(text(12_345e9), "3.429 h");
        assert_eq!([text(900e9), text(72_000e9), text(864_000e9)], ["15 min", "20 h", "10 d"]);
    }
}
