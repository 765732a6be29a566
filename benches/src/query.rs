//! SQL: a typical query over a capture that is read in place.

use std::path::Path;

use traceloom_core::{Error, Result, Source};
use traceloom_mapping::{Options as Reading, Trace};
use traceloom_query::{Options, Session};

use crate::{
    easyprofiler,
    measure::{baseline, cpu_times, forget_peak, peak_bytes, row},
};

const SPANS: u64 = 5_000_000;
pub(crate) const BY_NAME: &str =
    "select name, count(*), sum(dur_ns), sum(self_ns) from spans group by name order by 3 desc limit 20";
const PERCENTILES: &str = "select name, percentile(dur_ns, 0.5), percentile(dur_ns, 0.99) from spans group by name";
const SLOWEST: &str = "select * from spans order by dur_ns desc limit 20";

pub(crate) fn run() -> Result<bool> {
    let mut met = memory_is_bounded()?;
    let (_file, source) = easyprofiler::generated(SPANS)?;
    let session = session(&source)?;
    println!("query: {} rows by name, {} MB", answered(&session, BY_NAME)?, source.len()? / 1_000_000);
    let [base, by_name, percentiles, slowest] = cpu_times([
        &mut || baseline(&source),
        &mut || answered(&session, BY_NAME).map(drop),
        &mut || answered(&session, PERCENTILES).map(drop),
        &mut || answered(&session, SLOWEST).map(drop),
    ])?;
    println!("  baseline: {:.1} ms", base.as_secs_f64() * 1e3);
    met &= row("spans by name", by_name.div_duration_f64(base), "x baseline", 12.0);
    met &= row("two percentiles by name", percentiles.div_duration_f64(base), "x baseline", 25.0);
    met &= row("the slowest twenty, all columns", slowest.div_duration_f64(base), "x baseline", 30.0);
    Ok(met)
}

/// The query over a file, and over one that is ten times as large.
fn memory_is_bounded() -> Result<bool> {
    let mut met = true;
    for (spans, what) in [(SPANS, "peak memory of the query"), (10 * SPANS, "the same over ten times as much")] {
        let (_file, source) = easyprofiler::generated(spans)?;
        forget_peak();
        answered(&session(&source)?, BY_NAME)?;
        met &= row(what, peak_bytes() as f64 / 1e6, "MB", 400.0);
    }
    Ok(met)
}

fn session(source: &Source) -> Result<Session> {
    let trace = Trace::new(Path::new("big.prof"), source.clone(), None, &Reading::default())?;
    Session::new(vec![trace], Vec::new(), &Options::default())
}

pub(crate) fn answered(session: &Session, sql: &str) -> Result<usize> {
    let mut answer = session.ask(sql).map_err(Error::from)?;
    let mut rows = 0;
    while let Some(batch) = answer.next().map_err(Error::from)? {
        rows += batch.num_rows();
    }
    Ok(rows)
}
