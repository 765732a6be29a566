//! Queries and their results as text.

// Each test file uses only a part of this module.
#![allow(dead_code, unreachable_pub, unused_imports)]

use std::path::PathBuf;

use traceloom_query::{Cells, Options, Session};

pub use traceloom_testkit::{
    fixture,
    made::{LOG_SECOND, SAMPLE_BEGIN, SAMPLE_HZ, log, log_at},
};

/// A session over fixtures.
pub fn session(names: &[&str]) -> Session {
    let paths: Vec<PathBuf> = names.iter().map(fixture).collect();
    Session::open(&paths, &Options::default()).unwrap_or_else(|error| panic!("{names:?}: {error}"))
}

/// The header and the rows of a result, one per line; or the error.
pub fn answer(session: &Session, sql: &str) -> Result<Vec<String>, String> {
    let mut answer = session.ask(sql).map_err(|failure| failure.to_string())?;
    let cells = Cells::new(answer.schema());
    let mut lines = vec![cells.heads().into_iter().map(|(head, _)| head).collect::<Vec<_>>().join(" | ")];
    while let Some(batch) = answer.next().map_err(|failure| failure.to_string())? {
        let rows = cells.rows(&batch).expect("cells have texts");
        lines.extend(rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect::<Vec<_>>().join(" | ")));
    }
    Ok(lines)
}

/// One nonempty line.
fn shown(cell: &str) -> String {
    if cell.is_empty() { "NULL".to_owned() } else { cell.replace('\n', "\\n") }
}

/// The rows of a query that must succeed.
pub fn rows(session: &Session, sql: &str) -> Vec<String> {
    let mut lines = answer(session, sql).unwrap_or_else(|error| panic!("{sql}\n{error}"));
    lines.remove(0);
    lines
}

/// Whether goldens are updated.
pub fn is_blessing() -> bool {
    std::env::var_os("TRACELOOM_BLESS").is_some()
}
