//! Adds up the time of all spans by name, from the tables that every format fills.
//!
//! `cargo run --example sum_by_name -- TRACE`; without a file it reads the built-in sample.

use std::{collections::BTreeMap, ffi::OsString, io::Write};

use traceloom::{
    Result, Trace,
    tables::{Table, select},
};

// The columns to read; reading fewer columns is faster.
select! { struct Durations of spans { name, dur_ns } }

fn main() -> Result<()> {
    run(std::env::args_os().nth(1), &mut std::io::stdout())
}

/// The example, which the tests also run.
pub fn run(path: Option<OsString>, out: &mut dyn Write) -> Result<()> {
    let trace = path.map_or_else(|| Trace::sample("easyprofiler"), Trace::open)?;

    let mut totals: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    trace.tables().for_each(Table::Spans, Durations::COLUMNS, |batch| {
        let spans = Durations::of(batch)?;
        for row in 0..spans.rows {
            let (count, total_ns) = totals.entry(spans.name.get(row).to_owned()).or_default();
            *count += 1;
            // A span that was never closed has no duration.
            *total_ns += spans.dur_ns.get(row).unwrap_or(0);
        }
        Ok(())
    })?;

    let mut totals: Vec<_> = totals.into_iter().collect();
    totals.sort_by_key(|(_, (_, total_ns))| std::cmp::Reverse(*total_ns));
    for (name, (count, total_ns)) in totals.iter().take(10) {
        writeln!(out, "{:>12.3} ms {count:>8}  {name}", *total_ns as f64 / 1e6)?;
    }
    Ok(())
}
