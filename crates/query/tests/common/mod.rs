//! Questions and their answers as text.

// Each test file uses a part of it.
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

/// The head and the rows of an answer, one a line; or why there is none.
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

/// One line, and something to be seen.
fn shown(cell: &str) -> String {
    if cell.is_empty() { "NULL".to_owned() } else { cell.replace('\n', "\\n") }
}

/// The rows of an answer that must be there.
pub fn rows(session: &Session, sql: &str) -> Vec<String> {
    let mut lines = answer(session, sql).unwrap_or_else(|error| panic!("{sql}\n{error}"));
    lines.remove(0);
    lines
}

/// Whether goldens are renewed.
pub fn is_blessing() -> bool {
    std::env::var_os("TRACELOOM_BLESS").is_some()
}
