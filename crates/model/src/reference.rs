//! The reference page, from the definitions.

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

Every trace becomes these tables; `traceloom query` sees exactly them. This page is made from the definitions in
`crates/model/src/tables`.

`ts_ns` counts nanoseconds from the origin of the trace and may be negative; `dur_ns` is NULL where a span was never
closed. Each table begins with `trace_id`, so that many files make one set of tables, and `id`, which is unique in its
table and trace: join on both. A *name* is a text that recurs (dictionary-encoded); `?` marks what may be NULL; `→` says
which table an id is of.
";

fn type_of(column: &ColumnDef) -> String {
    let mark = if column.nullable { "?" } else { "" };
    let target = column.target.map(|table| format!(" → {}", table.name())).unwrap_or_default();
    format!("{}{mark}{target}", column.label)
}

fn about(column: &ColumnDef) -> String {
    column.about.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Documentation comments begin each line with a space.
fn paragraphs(about: &str) -> String {
    about
        .lines()
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .fold(String::new(), |text, line| text + line + "\n")
}
