//! Text tables: columns are as wide as their widest cell.

use std::{
    borrow::Cow,
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
    /// Headings of columns to drop on a narrow terminal, in this order; `None` if everything is always shown.
    dropped: Option<&'static [&'static str]>,
}

struct Column {
    head: String,
    is_text: bool,
}

/// Names are cut to this many characters; `--json` has them in full.
const WIDEST: usize = 60;

/// On a narrow terminal, names are cut at most to this many characters.
const NARROWEST: usize = 8;

impl TextTable {
    pub(crate) fn new() -> Self {
        Self { columns: Vec::new(), rows: Vec::new(), dropped: None }
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

    /// Fits the table to a narrow terminal: drops these columns, in this order, and then cuts the widest texts.
    pub(crate) fn fit(mut self, heads: &'static [&'static str]) -> Self {
        self.dropped = Some(heads);
        self
    }

    /// Adds a row, with as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|cell| cut(&clean(cell), WIDEST).into_owned()).collect());
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
        if let Some(dropped) = self.dropped {
            self.narrow(&mut widths, dropped, columns);
        }
        let dim = Styles::DIM;
        writeln!(out, "{dim}{}{dim:#}", self.line(&heads, &widths))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "{}", self.line(row, &widths)))
    }

    /// Drops columns, and then makes the widest columns of text narrower, until the table fits.
    fn narrow(&self, widths: &mut [Option<usize>], dropped: &[&str], columns: usize) {
        for head in dropped {
            if is_within(widths, columns) {
                break;
            }
            if let Some(column) = self.columns.iter().position(|column| column.head == *head) {
                widths[column] = None;
            }
        }
        while !is_within(widths, columns) {
            let texts = widths.iter_mut().zip(&self.columns).filter(|(_, column)| column.is_text);
            match texts.filter_map(|(width, _)| width.as_mut()).max() {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                _ => break,
            }
        }
    }

    /// Writes a row; columns without a width are omitted.
    fn line(&self, cells: &[String], widths: &[Option<usize>]) -> String {
        let padded = cells.iter().zip(widths).zip(&self.columns).filter_map(|((cell, width), column)| {
            let width = (*width)?;
            let cell = cut(cell, width);
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
pub(crate) fn terminal_columns() -> Option<usize> {
    #[cfg(unix)]
    return rustix::termios::tcgetwinsize(io::stdout())
        .ok()
        .map(|size| size.ws_col.into())
        .filter(|columns| *columns > 0);
    #[cfg(not(unix))]
    return None;
}

/// Whether columns of these widths fit on the terminal.
fn is_within(widths: &[Option<usize>], columns: usize) -> bool {
    widths.iter().flatten().map(|width| width + 2).sum::<usize>() <= columns
}

/// A text, cut if it is longer than this many characters.
fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.chars().count() <= width {
        return text.into();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
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
        let mut table = TextTable::new().text("name").numbers(&["calls", "min", "max"]).fit(&["min", "calls"]);
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
    fn a_narrow_terminal_cuts_the_widest_names() {
        let mut table = TextTable::new().text("name").text("thread").numbers(&["calls"]).fit(&[]);
        table.row(vec!["a".repeat(30), "Main".to_owned(), "12".to_owned()]);
        table.row(vec!["b".repeat(9), "c".repeat(20), "3".to_owned()]);
        let shown = |columns: usize| {
            let mut out = Vec::new();
            table.write_within(columns, &mut out).expect("memory takes it");
            anstream::adapter::strip_str(std::str::from_utf8(&out).expect("UTF-8")).to_string()
        };
        for columns in 27..=63 {
            assert!(
                shown(columns).lines().all(|line| line.chars().count() <= columns),
                "{columns}: {}",
                shown(columns)
            );
        }
        let text = shown(35);
        assert_eq!(text.lines().next(), Some("  name          thread        calls"), "{text}");
        assert_eq!(text.lines().nth(1), Some("  aaaaaaaaaaa…  Main             12"), "{text}");
        assert_eq!(text.lines().nth(2), Some("  bbbbbbbbb     ccccccccccc…      3"), "{text}");
        assert_eq!(shown(10), shown(27), "no further");
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
