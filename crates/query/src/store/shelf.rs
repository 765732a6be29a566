//! The tables of a store.

use traceloom_model::Table;

/// A table of a store: one of the model, or one with merged evals, for which a trace is read again.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Shelf {
    table: Table,
    is_merged: bool,
}

impl Shelf {
    /// All tables.
    pub fn all() -> impl Iterator<Item = Self> {
        Table::ALL.into_iter().map(Self::from).chain([Self::LINE_TIMES_MERGED])
    }

    /// Line times with merged evals.
    pub const LINE_TIMES_MERGED: Self = Self { table: Table::LineTimes, is_merged: true };

    /// Name in SQL.
    pub fn name(self) -> &'static str {
        match (self.table, self.is_merged) {
            (Table::LineTimes, true) => "line_times_merged",
            (table, _) => table.name(),
        }
    }

    /// The table with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|shelf| shelf.name() == name)
    }

    /// The table of the model with the same columns.
    pub fn table(self) -> Table {
        self.table
    }

    /// Whether evals of one line are merged.
    pub fn is_merged(self) -> bool {
        self.is_merged
    }
}

impl From<Table> for Shelf {
    fn from(table: Table) -> Self {
        Self { table, is_merged: table == Table::CallsMerged }
    }
}
