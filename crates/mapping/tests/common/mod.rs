//! Fixtures with their tables.

// Each test file uses only some of this.
#![allow(dead_code, unreachable_pub, unused_imports)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use serde_json::Value as Json;
use traceloom_mapping::{Options, Trace, ingest, open};
use traceloom_model::{Batches, Columns, Filter, Flow, Integrity, Table, TableSink, Verdict, Wanted};

use traceloom_testkit::files;
pub use traceloom_testkit::{fixture, fixtures};

/// All files below a folder with this extension, sorted.
pub fn below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = files(folder).expect("the folder is there");
    found.retain(|path| path.to_string_lossy().ends_with(ending));
    assert!(!found.is_empty(), "no {ending} below {}", folder.display());
    found
}

/// A golden.
pub fn json(path: &Path) -> Json {
    let bytes = fs::read(path).expect("the golden is there");
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A fixture, opened.
pub fn trace(path: &Path) -> Trace {
    open(path, None, &Options::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All tables of a trace, after the integrity check.
pub fn tables(trace: &Trace) -> (Batches, Verdict) {
    let mut integrity = Integrity::default();
    let mut batches = Batches::of(Wanted::everything());
    ingest(trace, &Options::default(), &mut Both(&mut integrity, &mut batches)).expect("the trace can be read");
    let verdict = integrity.finish();
    assert!(verdict.problems.is_empty(), "{}: {:#?}", trace.path.display(), verdict.problems);
    (batches, verdict)
}

/// One table with some of its columns; must equal the same columns of [`tables`].
pub fn part(trace: &Trace, table: Table, columns: &[&str]) -> Vec<RecordBatch> {
    let mut batches = Batches::of(Wanted::nothing().and(table, Columns::named(table, columns)));
    ingest(trace, &Options::default(), &mut batches).expect("the trace can be read");
    batches.table(table).cloned().collect()
}

/// The same with a filter.
pub fn filtered(trace: &Trace, wanted: Wanted, filter: Filter) -> Batches {
    let mut batches = Batches::of(wanted);
    let options = Options { filter, ..Options::default() };
    ingest(trace, &options, &mut batches).expect("the trace can be read");
    batches
}

struct Both<'a>(&'a mut Integrity, &'a mut Batches);

impl TableSink for Both<'_> {
    fn wants(&self, table: Table) -> Columns {
        self.0.wants(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        self.0.batch(table, batch.clone())?;
        self.1.batch(table, batch)
    }
}
