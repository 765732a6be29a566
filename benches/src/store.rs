//! The Parquet store: a typical query, compared with DuckDB on the same files.

use std::{path::Path, process::Command, time::Duration};

use traceloom_core::{Error, Result};
use traceloom_mapping::{Options as Reading, Trace};
use traceloom_query::{Options, Session, store};

use crate::{
    easyprofiler,
    measure::{baseline, cpu_times, row},
    query::{BY_NAME, answered},
};

const SPANS: u64 = 5_000_000;

pub(crate) fn run() -> Result<bool> {
    let (_file, source) = easyprofiler::generated(SPANS)?;
    let trace = Trace::new(Path::new("big.prof"), source.clone(), None, &Reading::default())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store");
    store::write(std::slice::from_ref(&trace), &path, &store::Options::default(), &mut |_| ())?;
    let opened = store::Store::open(&path)?.ok_or_else(|| Error::usage("the store was not written"))?;
    let session = Session::new(Vec::new(), vec![opened], &Options::default())?;
    println!("store: {} rows by name", answered(&session, BY_NAME)?);
    // DuckDB before and after ours, so that other load affects both.
    let before = duckdb(folder.path(), &path)?;
    let [base, ours] = cpu_times([&mut || baseline(&source), &mut || answered(&session, BY_NAME).map(drop)])?;
    println!("  baseline: {:.1} ms, ours: {:.1} ms", base.as_secs_f64() * 1e3, ours.as_secs_f64() * 1e3);
    let (Some(before), Some(after)) = (before, duckdb(folder.path(), &path)?) else {
        println!("  not compared with DuckDB: it cannot be installed");
        return Ok(true);
    };
    let theirs = before.min(after);
    println!("  DuckDB: {:.1} ms", theirs.as_secs_f64() * 1e3);
    Ok(row("spans by name from the store", ours.div_duration_f64(theirs), "x DuckDB", 1.0))
}

const PROGRAM: &str = r#"
import sys, time, duckdb
question = sys.argv[2].replace("from spans", f"from read_parquet('{sys.argv[1]}/spans/*.parquet')")
best = None
for _ in range(9):
    begin = time.process_time()
    duckdb.sql(question).fetchall()
    took = time.process_time() - begin
    best = took if best is None else min(best, took)
print(best)
"#;

/// CPU time of the query in DuckDB, the best of as many runs; `None` if it cannot be installed.
fn duckdb(folder: &Path, store: &Path) -> Result<Option<Duration>> {
    let packages = folder.join("packages");
    if !packages.is_dir() {
        let pip = ["-m", "pip", "install", "--quiet", "--only-binary=:all:", "duckdb==2.0.0", "--target"];
        let installed = Command::new("python3").args(pip).arg(&packages).status();
        if !installed.is_ok_and(|status| status.success()) {
            return Ok(None);
        }
    }
    let output =
        Command::new("python3").args(["-c", PROGRAM]).arg(store).arg(BY_NAME).env("PYTHONPATH", &packages).output()?;
    let seconds = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
    Ok(seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
}
