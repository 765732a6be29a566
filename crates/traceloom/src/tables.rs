//! Traces as Arrow tables, the same tables for all formats.
//!
//! [`Tables`] pours them into a [`TableSink`], or collects a small table. [`select!`] selects columns and reads them by
//! name:
//!
#![cfg_attr(feature = "easyprofiler", doc = "```")]
#![cfg_attr(not(feature = "easyprofiler"), doc = "```ignore")]
//! use traceloom::{
//!     Trace,
//!     tables::{Table, select},
//! };
//!
//! select! { struct Durations of spans { name, dur_ns } }
//!
//! let trace = Trace::sample("easyprofiler")?;
//! let mut longest = 0;
//! for batch in trace.tables().batches(Table::Spans)? {
//!     let spans = Durations::of(&batch)?;
//!     longest = (0..spans.rows).filter_map(|row| spans.dur_ns.get(row)).fold(longest, i64::max);
//! }
//! println!("the longest span took {longest} ns");
//! # Ok::<(), traceloom::Error>(())
//! ```

#[cfg(doc)]
use std::ops::ControlFlow;

use arrow_array::{RecordBatchIterator, RecordBatchReader};
use arrow_schema::ArrowError;
use traceloom_core::{Result, TimeRange};

pub use arrow_array::{self, RecordBatch};
pub use arrow_schema;
pub use traceloom_model::{
    Batches, ClockKind, Columns, EventCategory, Fate, Filter, Flow, Kept, LineLevel, SpanCategory, Table, TableSink,
    TableSource, Wanted, select,
};

/// Everything about the tables: one module per table, builders, the integrity check.
pub use traceloom_model as model;

use crate::{IntoFlow, Pull, Trace};

/// The tables of a trace or of several traces, read as often as needed.
pub struct Tables<'t> {
    source: Box<dyn TableSource + 't>,
    filter: Filter,
}

impl<'t> Tables<'t> {
    pub(crate) fn new(source: impl TableSource + 't) -> Self {
        Self { source: Box::new(source), filter: Filter::default() }
    }

    /// Skips rows outside a time range if that saves work; some may still be returned.
    #[must_use]
    pub fn in_range(mut self, range: TimeRange) -> Self {
        self.filter.range = range;
        self
    }

    /// Pours the columns that a sink requests into it, batch by batch, until the sink stops.
    pub fn pour(&self, sink: &mut dyn TableSink) -> Result<()> {
        self.source.pour(&self.filter, sink)
    }

    /// Passes some columns of one table to `visit`, batch by batch; it may stop early by returning
    /// [`ControlFlow::Break`].
    pub fn for_each<F: IntoFlow>(
        &self,
        table: Table,
        columns: Columns,
        visit: impl FnMut(&RecordBatch) -> F,
    ) -> Result<()> {
        self.pour(&mut Visitor { table, columns, visit })
    }

    /// All rows of one table, in memory; use this only for small tables.
    pub fn batches(&self, table: Table) -> Result<Vec<RecordBatch>> {
        let mut sink = Batches::of(Wanted::nothing().and(table, Columns::ALL));
        self.pour(&mut sink)?;
        Ok(sink.table(table).cloned().collect())
    }

    /// The number of rows of one table.
    pub fn rows(&self, table: Table) -> Result<u64> {
        let mut rows = 0;
        // A table is poured if any of its columns is requested.
        self.for_each(table, Columns::of(&[0]), |batch| rows += batch.num_rows() as u64)?;
        Ok(rows)
    }
}

impl std::fmt::Debug for Tables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("filter", &self.filter).finish_non_exhaustive()
    }
}

struct Visitor<V> {
    table: Table,
    columns: Columns,
    visit: V,
}

impl<F: IntoFlow, V: FnMut(&RecordBatch) -> F> TableSink for Visitor<V> {
    fn wants(&self, table: Table) -> Columns {
        if table == self.table { self.columns } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> Result<Flow> {
        let flow = (self.visit)(&batch).into_flow()?;
        Ok(if flow.is_continue() { Flow::Continue } else { Flow::Stop })
    }
}

impl TableSource for Tables<'_> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        self.source.pour(filter, sink)
    }

    fn keep(&self) -> Kept {
        self.source.keep()
    }
}

impl Trace {
    /// The trace as tables.
    pub fn tables(&self) -> Tables<'_> {
        Tables::new(self)
    }

    /// Some columns of a table as an Arrow stream of batches, which any Arrow library can read.
    ///
    /// A separate thread reads the trace and is never more than a few batches ahead.
    pub fn stream(&self, table: Table, columns: Columns) -> impl RecordBatchReader + Send + use<> {
        let trace = self.clone();
        let batches = Pull::new(move |give| trace.tables().for_each(table, columns, |batch| give(batch.clone())));
        let batches = batches.map(|batch| batch.map_err(|error| ArrowError::ExternalError(error.into())));
        RecordBatchIterator::new(batches, table.partial_schema(columns))
    }
}

impl TableSource for Trace {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        self.inner().pour(filter, sink)
    }

    fn keep(&self) -> Kept {
        self.inner().keep()
    }
}
