//! The reference page, generated from the definitions.

use std::fmt::Write;

use crate::{ColumnDef, Table};

/// The page `docs/tables.md`.
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    for table in Table::ALL {
        let _ = write!(page, "\n## {}\n\n{}\n", table.name(), paragraphs(table.about()));
        page.push_str("| column | type | |\n|---|---|---|\n");
        for column in table.columns() {
            let _ = writeln!(page, "| `{}` | {} | {} |", column.name, type_of(column), about(column));
        }
    }
    page
}

const HEAD: &str = "\
# Tables

Every trace becomes these tables, and `traceloom query` queries exactly these. This page is generated from the
definitions in `crates/model/src/tables`.

`ts_ns` counts nanoseconds from the origin of the trace and may be negative; `dur_ns` is NULL if a span was never
closed. Each table starts with `trace_id`, so that many files share one set of tables, and `id`, which is unique per
table and trace: join on both. A *name* is text that repeats (dictionary-encoded), `?` marks columns that may be NULL,
and `→` names the table that an id refers to.
";

fn type_of(column: &ColumnDef) -> String {
    let mark = if column.nullable { "?" } else { "" };
    let target = column.target.map(|table| format!(" → {}", table.name())).unwrap_or_default();
    format!("{}{mark}{target}", column.label)
}

fn about(column: &ColumnDef) -> String {
    column.about.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each line of a doc comment starts with a space.
fn paragraphs(about: &str) -> String {
    about
        .lines()
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .fold(String::new(), |text, line| text + line + "\n")
}
