//! Collects the tables of traces before they are written.

use std::path::Path;

use arrow_array::RecordBatch;
use traceloom_core::{Error, Result};
use traceloom_mapping::{Trace, ingest};
use traceloom_model::{Columns, Filter, Flow, Table, TableSink};
use traceloom_passes::Together;

use super::{Shelf, runs::BoxedBatches, sort::Sorter};

/// Collects all tables, and spills those that get too large to disk: `take* into_tables`.
pub struct Intake {
    /// In the order of all shelves.
    sorters: Vec<Sorter>,
    memory_bytes: usize,
    bytes: usize,
    rows: Vec<u64>,
    /// Whether the current tables have merged evals.
    is_merged: bool,
    error: Option<Error>,
}

impl std::fmt::Debug for Intake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Intake {
    /// Creates an empty intake; tables that do not fit into memory go to files in this folder, which is created if
    /// needed.
    pub fn new(folder: &Path, memory_bytes: usize) -> Self {
        let sorters: Vec<_> = Shelf::all().map(|shelf| Sorter::new(shelf, folder)).collect();
        let rows = vec![0; sorters.len()];
        Self { sorters, memory_bytes, bytes: 0, rows, is_merged: false, error: None }
    }

    /// Takes a whole trace; the same pass also feeds another sink.
    pub fn take(&mut self, trace: &Trace, other: Option<&mut dyn TableSink>) -> Result<()> {
        self.rows.fill(0);
        self.read(trace, false, other)?;
        // Most formats have neither table and are read once.
        if [Table::Calls, Table::LineTimes].iter().any(|table| self.rows[*table as usize] > 0) {
            self.read(trace, true, None)?;
        }
        Ok(())
    }

    /// The number of rows of the last trace, by table.
    pub fn rows(&self) -> impl Iterator<Item = (Shelf, u64)> {
        Shelf::all().zip(self.rows.iter().copied())
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether some tables were spilled to files.
    pub fn is_spilled(&self) -> bool {
        self.sorters.iter().any(Sorter::is_spilled)
    }

    /// All tables, sorted; the files remain until the folder is removed.
    pub fn into_tables(self) -> impl Iterator<Item = (Shelf, Result<BoxedBatches>)> {
        Shelf::all().zip(self.sorters).map(|(shelf, sorter)| (shelf, sorter.finish()))
    }

    fn read(&mut self, trace: &Trace, is_merged: bool, other: Option<&mut dyn TableSink>) -> Result<()> {
        self.is_merged = is_merged;
        let options =
            traceloom_mapping::Options { filter: Filter::default(), merge_evals: is_merged, ..trace.options.clone() };
        match other {
            Some(other) => ingest(trace, &options, &mut Together::new(vec![self, other]))?,
            None => ingest(trace, &options, self)?,
        }
        self.error.take().map_or(Ok(()), Err)
    }

    fn shelf(&self, table: Table) -> Option<usize> {
        if self.is_merged {
            Shelf::all().position(|shelf| shelf.is_merged() && shelf.table() == table)
        } else {
            Some(table as usize)
        }
    }

    /// Spills the largest tables until there is room.
    fn make_room(&mut self) -> Result<()> {
        while self.bytes > self.memory_bytes {
            let Some(largest) = self.sorters.iter_mut().max_by_key(|sorter| sorter.bytes()) else { break };
            self.bytes -= largest.bytes();
            largest.spill()?;
        }
        Ok(())
    }
}

impl TableSink for Intake {
    fn wants(&self, table: Table) -> Columns {
        self.shelf(table).map_or(Columns::NONE, |_| Columns::ALL)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let Some(shelf) = self.shelf(table) else { return Ok(Flow::Continue) };
        self.rows[shelf] += batch.num_rows() as u64;
        self.bytes += self.sorters[shelf].push(batch);
        match self.make_room() {
            Ok(()) => Ok(Flow::Continue),
            Err(error) => {
                self.error = Some(error);
                Ok(Flow::Stop)
            }
        }
    }
}
