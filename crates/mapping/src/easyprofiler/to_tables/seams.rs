//! Self times of spans whose children are partly in turns of other walks.

use std::sync::Arc;

use arrow_array::{Array, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
use traceloom_core::{Error, Limits, Result};
use traceloom_easyprofiler::{Knot, Nestings};
use traceloom_model::{SelectColumn, Table, spans};

use super::saturate;
use crate::pipeline::{Join, Seam};

/// A row whose self time is not complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    /// Its index in the batch; a record that is not a row still affects later ones.
    pub(super) row: Option<usize>,
    pub(super) dur_ns: i64,
    /// Total time of the known children.
    pub(super) children_ns: u64,
}

/// The self time of a span.
#[inline(always)]
pub(super) fn self_ns(dur_ns: i64, children_ns: u64) -> i64 {
    dur_ns.saturating_sub(saturate(children_ns)).max(0)
}

/// Completes the self times.
pub(super) fn join(limits: &Limits) -> Box<dyn Join> {
    Box::new(Seams { nestings: Nestings::new(limits), late: Vec::new() })
}

struct Seams {
    nestings: Nestings,
    /// Rows of the next batch, with their self times.
    late: Vec<(usize, i64)>,
}

impl Join for Seams {
    fn seam(&mut self, seam: Seam) -> Result<()> {
        let knot = seam.downcast::<Knot<OpenRow>>().map_err(|_| Error::internal("a seam of another format"))?;
        let before = self.nestings.tie(&knot)?;
        if let Knot::Block { block: OpenRow { row: Some(row), dur_ns, children_ns }, .. } = *knot
            && before.children > 0
        {
            self.late.push((row, self_ns(dur_ns, children_ns.saturating_add(before.children_ns))));
        }
        Ok(())
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<RecordBatch> {
        if table != Table::Spans || self.late.is_empty() {
            return Ok(batch);
        }
        let late = std::mem::take(&mut self.late);
        let (schema, mut columns, _) = batch.into_parts();
        let column = schema.index_of(spans::column::self_ns::NAME).ok().and_then(|index| columns.get_mut(index));
        let Some(column) = column else { return Err(Error::internal("a seam without self times")) };
        let mut times = column.as_primitive::<Int64Type>().values().to_vec();
        for (row, self_ns) in late {
            *times.get_mut(row).ok_or_else(|| Error::internal("a seam of another batch"))? = self_ns;
        }
        *column = Arc::new(Int64Array::new(times.into(), column.nulls().cloned()));
        RecordBatch::try_new(schema, columns).map_err(|error| Error::internal(error.to_string()))
    }
}
