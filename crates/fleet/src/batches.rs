//! The tables of one trace on their way into files.

use std::{collections::BTreeMap, path::PathBuf};

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_query::{
    fleet::FleetTable,
    store::{BoxedBatches, Intake},
};

use crate::{Tags, read::FileFacts, rows};

/// What a store gets of one file.
pub(crate) struct TraceTables {
    pub(crate) id: u64,
    pub(crate) tags: Tags,
    pub(crate) file: FileFacts,
    pub(crate) is_damaged: bool,
    /// Whether data is missing.
    pub(crate) is_incomplete: bool,
    /// What it holds in memory.
    pub(crate) bytes: usize,
    /// The folder of its temporary files, if a part of it waits in them.
    pub(crate) spilled: Option<PathBuf>,
    tables: BTreeMap<FleetTable, BoxedBatches>,
}

/// What a row costs besides the bytes of its columns.
const SMALL: usize = 4096;

impl TraceTables {
    /// Without rows.
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

    /// Makes it a file that cannot be read.
    pub(crate) fn quarantine(&mut self, finding: &str) -> Result<()> {
        self.add(FleetTable::Quarantine, rows::quarantined(self.id, &self.file, finding)?);
        Ok(())
    }

    /// The rows of a table, once.
    pub(crate) fn rows_of(&mut self, table: FleetTable) -> Option<BoxedBatches> {
        self.tables.remove(&table)
    }
}
