//! How the walks over a file deliver rows to the caller's thread, and how several walks share the rows.

use std::cell::RefCell;

use arrow_array::RecordBatch;
use traceloom_core::{Findings, Result, Turns};
use traceloom_model::{Columns, Flow, Halt, Table, TableSink, Tables, Wanted};

/// The output of a walk, in order.
pub(crate) enum Step {
    Batch(Table, RecordBatch),
    Findings(Findings),
}

/// The rows of a format that several walks over a file may make in turns.
pub(crate) struct Split {
    /// The tables; the rows of all others are made by the first walk.
    pub(crate) tables: &'static [Table],
    /// Whether making the wanted columns costs much more than the walk itself.
    pub(crate) pays: fn(&Wanted) -> bool,
}

impl Split {
    /// What a walk other than the first has to make.
    pub(crate) fn share(&self, wanted: &Wanted) -> Wanted {
        self.tables.iter().fold(Wanted::nothing(), |share, table| share.and(*table, wanted.columns(*table)))
    }
}

/// Where a walk delivers its output.
pub(crate) struct Outlet<'o, 't> {
    wanted: Wanted,
    turns: RefCell<&'o mut Turns<'t, Step>>,
}

impl<'o, 't> Outlet<'o, 't> {
    pub(crate) fn new(wanted: Wanted, turns: &'o mut Turns<'t, Step>) -> Self {
        Self { wanted, turns: RefCell::new(turns) }
    }

    /// Reports the problems of the file.
    pub(crate) fn tell(&self, findings: &Findings) {
        let mut turns = self.turns.borrow_mut();
        if turns.is_first() {
            turns.give(Step::Findings(findings.clone()));
        }
    }
}

impl TableSink for &Outlet<'_, '_> {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        let is_taken = self.turns.borrow_mut().give(Step::Batch(table, batch));
        Ok(if is_taken { Flow::Continue } else { Flow::Stop })
    }
}

/// A mapper's view of the other walks.
pub(crate) trait Share {
    /// Ends a turn: sends the rows of these tables; returns whether this walk makes the rows that follow.
    fn end_turn(&self, split: &Split, tables: &mut Tables<'_>) -> Result<bool, Halt>;

    /// Whether this walk makes the rows of the first turn, and of the tables that are not split.
    fn is_first(&self) -> bool;

    /// How many walks there are.
    fn walks(&self) -> usize;

    /// Leaves the rest to a single walk, because it depends on rows that other walks make.
    fn give_up(&self) -> Halt;
}

impl Share for Outlet<'_, '_> {
    fn end_turn(&self, split: &Split, tables: &mut Tables<'_>) -> Result<bool, Halt> {
        split.tables.iter().try_for_each(|table| tables.flush(*table))?;
        Ok(self.turns.borrow_mut().end())
    }

    fn is_first(&self) -> bool {
        self.turns.borrow().is_first()
    }

    fn walks(&self) -> usize {
        self.turns.borrow().walks()
    }

    fn give_up(&self) -> Halt {
        self.turns.borrow_mut().give_up();
        Halt::Stopped
    }
}
