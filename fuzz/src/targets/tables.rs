//! Tables: the rows of any input are consistent.

use std::path::Path;

use arrow_array::RecordBatch;
use traceloom_core::{Codec, Mode, Result, Source};
use traceloom_mapping::{Options, Trace};
use traceloom_model::{Columns, Filter, Flow, Integrity, Table, TableSink, TableSource};

use super::edit::may_refuse;
use crate::{WIDE_WINDOW, options};

/// Reads all tables of `bytes`, and checks that ids resolve and spans nest.
pub fn tables<C: Codec>(bytes: &[u8]) {
    let Some(trace) = trace(bytes, Some(C::FORMAT.id)) else { return };
    let mut checked = Checked { integrity: Integrity::default(), rows_left: MAX_ROWS };
    match trace.pour(&Filter::default(), &mut checked) {
        Ok(()) if checked.rows_left > 0 => {
            let problems = checked.integrity.finish().problems;
            assert!(problems.is_empty(), "the tables do not fit together: {problems:#?}");
        }
        Ok(()) => {}
        Err(error) => assert!(may_refuse(&error), "tables end with: {error}"),
    }
}

/// The bytes as a trace of the given format, or of any; `None` if they are refused.
pub(super) fn trace(bytes: &[u8], format: Option<&str>) -> Option<Trace> {
    let mut mapping = Options::default();
    mapping.read = options(Mode::Lenient, WIDE_WINDOW);
    match Trace::new(Path::new("fuzzed"), Source::bytes(bytes), format, &mapping) {
        Ok(trace) => Some(trace),
        Err(error) => {
            assert!(may_refuse(&error), "opening ends with: {error}");
            None
        }
    }
}

/// A short input can expand to more rows than are worth checking.
const MAX_ROWS: usize = 100_000;

/// Checks up to a number of rows, then stops.
struct Checked {
    integrity: Integrity,
    rows_left: usize,
}

impl TableSink for Checked {
    fn wants(&self, table: Table) -> Columns {
        self.integrity.wants(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        self.rows_left = self.rows_left.saturating_sub(batch.num_rows());
        if self.rows_left == 0 {
            return Ok(Flow::Stop);
        }
        self.integrity.batch(table, batch)
    }
}
