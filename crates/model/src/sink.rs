//! The consumers of tables, and the columns and rows that they want.

use std::{any::Any, fmt, sync::Arc};

use arrow_array::RecordBatch;
use traceloom_core::{Result, TimeRange};

use crate::Table;

/// Whether to continue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flow {
    /// Send more.
    Continue,
    /// Enough: the mapper stops.
    Stop,
}

/// Receives tables, batch by batch.
///
/// Call order: `wants* batch*`. `wants` is called before the first batch. A batch holds only the wanted columns, in
/// schema order. Batches of one table arrive in row order; batches of different tables are interleaved.
pub trait TableSink {
    /// The columns of a table that this sink wants.
    fn wants(&self, table: Table) -> Columns;

    /// Receives a batch.
    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow>;
}

impl<S: TableSink + ?Sized> TableSink for &mut S {
    fn wants(&self, table: Table) -> Columns {
        (**self).wants(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        (**self).batch(table, batch)
    }
}

/// Provides tables any number of times: a trace, several traces, or a store.
pub trait TableSource {
    /// Sends the wanted columns to the sink; returns early, without an error, when the sink says stop.
    ///
    /// Rows and their ids are the same each time. Traces follow one after the other, and their times are on one axis.
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()>;

    /// Keeps what one pass has to prepare, such as the tree of a file, for the next ones, until the result is dropped.
    fn keep(&self) -> Kept {
        Kept::default()
    }
}

impl<S: TableSource + ?Sized> TableSource for &S {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        (**self).pour(filter, sink)
    }

    fn keep(&self) -> Kept {
        (**self).keep()
    }
}

impl<S: TableSource + ?Sized> TableSource for Arc<S> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        (**self).pour(filter, sink)
    }

    fn keep(&self) -> Kept {
        (**self).keep()
    }
}

/// Data that several passes over a source share while this lives.
#[derive(Default)]
#[must_use = "the data is dropped with this"]
pub struct Kept(Option<Arc<dyn Any + Send + Sync>>);

impl Kept {
    /// Keeps this data.
    pub fn new(data: Arc<dyn Any + Send + Sync>) -> Self {
        Self(Some(data))
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("is_some", &self.0.is_some()).finish()
    }
}

/// A set of columns of one table.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Columns(u32);

impl Columns {
    /// No columns: the table is not wanted.
    pub const NONE: Self = Self(0);
    /// All columns of any table.
    pub const ALL: Self = Self(u32::MAX);

    /// The columns with these indices in the schema.
    pub const fn of(numbers: &[usize]) -> Self {
        let mut set = 0;
        let mut rest = numbers;
        while let [number, others @ ..] = rest {
            set |= 1 << *number;
            rest = others;
        }
        Self(set)
    }

    /// The columns with these names; a name that the table does not have is a bug in the program.
    pub fn named(table: Table, names: &[&str]) -> Self {
        let number = |name: &&str| table.columns().iter().position(|column| column.name == *name);
        let numbers: Vec<_> = names
            .iter()
            .map(|name| number(name).unwrap_or_else(|| panic!("{} has no column {name}", table.name())))
            .collect();
        Self::of(&numbers)
    }

    /// Whether the set contains the column with this index.
    #[inline]
    pub const fn has(self, number: usize) -> bool {
        self.0 & (1 << number) != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The rows that the sink needs; a mapper may leave out all others.
///
/// This is a hint: other rows may still arrive, and ids do not depend on it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    /// The `ts_ns` of interest.
    pub range: TimeRange,
    /// The `thread_id`s of interest; `None` for all.
    pub threads: Option<Vec<i64>>,
}

impl Filter {
    /// All threads in a time range.
    pub fn in_range(range: TimeRange) -> Self {
        Self { range, threads: None }
    }

    /// Whether a row with this time can matter.
    #[inline]
    pub fn takes_time(&self, ts_ns: i64) -> bool {
        self.range.contains(ts_ns)
    }

    /// Whether a row of this thread can matter.
    pub fn takes_thread(&self, thread_id: i64) -> bool {
        self.threads.as_ref().is_none_or(|threads| threads.contains(&thread_id))
    }
}

/// The wanted columns of every table, as plain data.
#[derive(Clone, Debug)]
pub struct Wanted([Columns; Table::ALL.len()]);

impl Wanted {
    /// Nothing.
    pub fn nothing() -> Self {
        Self([Columns::NONE; Table::ALL.len()])
    }

    /// Every column of every table.
    pub fn everything() -> Self {
        Self([Columns::ALL; Table::ALL.len()])
    }

    /// The columns that a sink wants.
    pub fn of(sink: &dyn TableSink) -> Self {
        Self(Table::ALL.map(|table| sink.wants(table)))
    }

    /// Adds columns of a table.
    #[must_use]
    pub fn and(mut self, table: Table, columns: Columns) -> Self {
        self.0[table as usize].0 |= columns.0;
        self
    }

    /// The wanted columns of a table.
    pub fn columns(&self, table: Table) -> Columns {
        self.0[table as usize]
    }

    /// Whether any of these columns is wanted.
    pub fn has_any(&self, table: Table, columns: &[&str]) -> bool {
        self.columns(table).0 & Columns::named(table, columns).0 != 0
    }
}

/// Keeps all batches: for tests and for small tables.
#[derive(Debug)]
pub struct Batches {
    wanted: Wanted,
    batches: Vec<(Table, RecordBatch)>,
}

impl Batches {
    /// Keeps the wanted columns.
    pub fn of(wanted: Wanted) -> Self {
        Self { wanted, batches: Vec::new() }
    }

    /// The batches of one table, in order.
    pub fn table(&self, table: Table) -> impl Iterator<Item = &RecordBatch> {
        self.batches.iter().filter(move |(of, _)| *of == table).map(|(_, batch)| batch)
    }

    /// Number of rows of one table.
    pub fn rows(&self, table: Table) -> usize {
        self.table(table).map(RecordBatch::num_rows).sum()
    }
}

impl TableSink for Batches {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        self.batches.push((table, batch));
        Ok(Flow::Continue)
    }
}
