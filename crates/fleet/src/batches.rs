//! The tables of one trace, ready to be written.

use std::{collections::BTreeMap, path::PathBuf};

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_query::{
    fleet::FleetTable,
    store::{BoxedBatches, Intake},
};

use crate::{Tags, read::FileFacts, rows};

/// The rows that one file adds to a store.
pub(crate) struct TraceTables {
    pub(crate) id: u64,
    pub(crate) tags: Tags,
    pub(crate) file: FileFacts,
    pub(crate) is_damaged: bool,
    /// Whether data is missing.
    pub(crate) is_incomplete: bool,
    /// Bytes in memory.
    pub(crate) bytes: usize,
    /// The folder of its temporary files, if some rows are in them.
    pub(crate) spilled: Option<PathBuf>,
    tables: BTreeMap<FleetTable, BoxedBatches>,
}

/// Memory for a small batch besides the bytes of its columns.
const SMALL: usize = 4096;

impl TraceTables {
    /// Tables without rows.
    pub(crate) fn new(id: u64, tags: Tags, file: FileFacts) -> Self {
        let tables = BTreeMap::new();
        Self { id, tags, file, is_damaged: false, is_incomplete: false, bytes: SMALL, spilled: None, tables }
    }

    /// Adds the tables of the trace.
    pub(crate) fn take(&mut self, intake: Intake) -> Result<()> {
        self.bytes += intake.bytes();
        let filled: Vec<bool> = intake.rows().map(|(_, rows)| rows > 0).collect();
        for ((shelf, batches), is_filled) in intake.into_tables().zip(filled) {
            if is_filled {
                self.tables.insert(FleetTable::Of(shelf), batches?);
            }
        }
        Ok(())
    }

    /// Adds the rows of a table of fleets.
    pub(crate) fn add(&mut self, table: FleetTable, batch: RecordBatch) {
        if batch.num_rows() > 0 {
            self.bytes += batch.get_array_memory_size();
            self.tables.insert(table, Box::new(std::iter::once(Ok(batch))));
        }
    }

    /// Marks the file as one that cannot be read.
    pub(crate) fn quarantine(&mut self, finding: &str) -> Result<()> {
        self.add(FleetTable::Quarantine, rows::quarantined(self.id, &self.file, finding)?);
        Ok(())
    }

    /// Takes the rows of a table.
    pub(crate) fn rows_of(&mut self, table: FleetTable) -> Option<BoxedBatches> {
        self.tables.remove(&table)
    }
}
