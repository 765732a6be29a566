//! Receives tables as they are read, with a custom sink that stops when it has enough rows.
//!
//! `cargo run --example table_sink -- TRACE`; without a file it reads the built-in sample.

use std::{ffi::OsString, io::Write};

use traceloom::{
    Result, Trace,
    tables::{Columns, Flow, RecordBatch, Table, TableSink, select},
};

select! { struct Starts of spans { ts_ns, name } }
select! { struct Names of threads { tid, name } }

/// Keeps the names of all threads, and the first spans.
#[derive(Default)]
struct Glance {
    threads: Vec<String>,
    spans: Vec<String>,
}

impl TableSink for Glance {
    /// Tables and columns that are not requested are never built.
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Spans => Starts::COLUMNS,
            Table::Threads => Names::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        if table == Table::Threads {
            let threads = Names::of(&batch)?;
            self.threads.extend((0..threads.rows).map(|row| threads.name.get(row).unwrap_or("?").to_owned()));
        } else {
            let spans = Starts::of(&batch)?;
            let shown = |row| format!("{} at {} ns", spans.name.get(row), spans.ts_ns.get(row));
            self.spans.extend((0..spans.rows).take(3).map(shown));
        }
        // Reading ends here; the rest of a large file is never read.
        Ok(if self.spans.len() < 3 { Flow::Continue } else { Flow::Stop })
    }
}

fn main() -> Result<()> {
    run(std::env::args_os().nth(1), &mut std::io::stdout())
}

/// The example, which the tests also run.
pub fn run(path: Option<OsString>, out: &mut dyn Write) -> Result<()> {
    let trace = path.map_or_else(|| Trace::sample("easyprofiler"), Trace::open)?;
    let mut glance = Glance::default();
    trace.tables().pour(&mut glance)?;
    writeln!(out, "threads: {}", glance.threads.join(", "))?;
    glance.spans.iter().try_for_each(|span| writeln!(out, "{span}"))?;
    Ok(())
}
