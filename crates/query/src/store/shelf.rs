//! The tables of a store.

use traceloom_model::Table;

/// A table of a store: one of the model, or one of those with evals of one place added together, which a trace gives
/// on another reading.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Shelf {
    table: Table,
    is_merged: bool,
}

impl Shelf {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Table::ALL.into_iter().map(Self::from).chain([Self::LINE_TIMES_MERGED])
    }

    /// Times of lines with evals added together.
    pub const LINE_TIMES_MERGED: Self = Self { table: Table::LineTimes, is_merged: true };

    /// What SQL calls it.
    pub fn name(self) -> &'static str {
        match (self.table, self.is_merged) {
            (Table::LineTimes, true) => "line_times_merged",
            (table, _) => table.name(),
        }
    }

    /// The shelf of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|shelf| shelf.name() == name)
    }

    /// The table that has its columns.
    pub fn table(self) -> Table {
        self.table
    }

    /// Whether evals of one place are added together.
    pub fn is_merged(self) -> bool {
        self.is_merged
    }
}

impl From<Table> for Shelf {
    fn from(table: Table) -> Self {
        Self { table, is_merged: table == Table::CallsMerged }
    }
}
