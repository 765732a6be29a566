//! Runs an SQL query.
//!
//! `cargo run --features sql --example sql -- TRACE 'select …'`; without a file it reads the built-in sample.

use std::{ffi::OsString, io::Write};

use traceloom::{Result, Trace};

const SLOWEST: &str = "select name, count(*) as calls, max(dur_ns) as longest_ns
    from spans group by name order by longest_ns desc limit 5";

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (path, query) = (arguments.next(), arguments.next());
    run(path, query, &mut std::io::stdout())
}

/// The example, which the tests also run.
pub fn run(path: Option<OsString>, query: Option<OsString>, out: &mut dyn Write) -> Result<()> {
    let trace = path.map_or_else(|| Trace::sample("easyprofiler"), Trace::open)?;
    let query = query.map_or_else(|| SLOWEST.to_owned(), |query| query.to_string_lossy().into_owned());

    // Returns all rows at once, as Arrow batches; `Trace::session` returns them as they arrive.
    let rows = trace.sql(&query)?;
    write!(out, "{rows}")?;
    Ok(())
}
