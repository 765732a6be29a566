//! SQL over traces.
//!
//! [`Trace::sql`] and [`Traces::sql`] run one query. A [`Session`] runs many, also on folders, on patterns such as
//! `*.prof` and on Parquet stores.
//!
//! The tables are the same as in [`crate::tables`], with the names from the [reference].
//!
//! [reference]: https://example.invalid/traceloom/blob/main/docs/tables.md

use std::{fmt, path::Path, sync::Arc};

use traceloom_core::Result;

pub use traceloom_query::{Answer, Cells, Failure, Format, Offset, Options, Relation, Session, Stop, Writer, store};

use crate::{
    Trace, Traces,
    tables::{RecordBatch, arrow_schema::SchemaRef},
};

impl Trace {
    /// Runs a query; its rows are held in memory.
    pub fn sql(&self, query: &str) -> Result<Rows> {
        Rows::of(&self.session(&Options::default())?, query)
    }

    /// A session for queries on this trace.
    pub fn session(&self, options: &Options) -> Result<Session> {
        Session::new(vec![self.inner().clone()], Vec::new(), options)
    }
}

impl Traces {
    /// Runs a query on all traces, on one time axis; its rows are held in memory.
    pub fn sql(&self, query: &str) -> Result<Rows> {
        Rows::of(&self.session(&Options::default())?, query)
    }

    /// A session for queries on all traces, on one time axis.
    pub fn session(&self, options: &Options) -> Result<Session> {
        let mut options = options.clone();
        options.offsets.extend_from_slice(&self.offsets);
        Session::new(self.iter().map(|trace| trace.inner().clone()).collect(), Vec::new(), &options)
    }

    /// Adds the traces to a store, a folder of Parquet files that is created if needed; traces that are already in it
    /// are skipped.
    pub fn add_to_store(&self, folder: impl AsRef<Path>, options: &store::Options) -> Result<store::Report> {
        let traces: Vec<_> = self.iter().map(|trace| trace.inner().clone()).collect();
        store::write(&traces, folder.as_ref(), options, &mut |_| {})
    }
}

/// All rows of a result.
///
/// [`Display`](fmt::Display) writes a line per row, with the names of the columns above and tabs between the cells.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rows {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows; every batch has these columns.
    pub batches: Vec<RecordBatch>,
}

impl Rows {
    fn of(session: &Session, query: &str) -> Result<Self> {
        let mut answer = session.ask(query)?;
        let mut batches = Vec::new();
        while let Some(batch) = answer.next()? {
            batches.push(batch);
        }
        Ok(Self { schema: answer.schema(), batches })
    }

    /// The cells as text; NULL is an empty string.
    pub fn cells(&self) -> Result<Vec<Vec<String>>> {
        let cells = Cells::new(Arc::clone(&self.schema));
        let mut rows = Vec::new();
        for batch in &self.batches {
            rows.extend(cells.rows(batch)?);
        }
        Ok(rows)
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        writeln!(f, "{}", heads.join("\t"))?;
        let rows = self.cells().map_err(|_| fmt::Error)?;
        rows.iter().try_for_each(|row| writeln!(f, "{}", row.join("\t")))
    }
}
