//! How the walks over a file deliver rows to the caller's thread, and how several walks share the rows.

use std::{any::Any, cell::RefCell, sync::Arc};

use arrow_array::RecordBatch;
use traceloom_core::{Findings, Limits, Notes, Result, Source, Turns};
use traceloom_model::{Columns, Flow, Halt, Table, TableSink, Tables, Wanted};

/// How many walks may share the work on a file, of which a small one is not worth several.
pub(crate) fn walks(source: &Source, limits: &Limits) -> Result<usize> {
    let worth = source.len()?.checked_div(limits.bytes_per_thread).unwrap_or(u64::MAX);
    Ok(limits.threads.min(usize::try_from(worth).unwrap_or(usize::MAX)).max(1))
}

/// The output of a walk, in order.
pub(crate) enum Step {
    Batch(Table, RecordBatch),
    Findings(Findings),
    /// Facts from earlier turns that the rows of the next batch, or of the next turn, depend on.
    Seams(Vec<Seam>),
}

/// Facts about one seam between turns; only the format knows what they are.
pub(crate) type Seam = Box<dyn Any + Send>;

/// A fact about the file that walks share; only the format knows what it is.
pub(crate) type Note = Arc<dyn Any + Send + Sync>;

/// Creates a [`Join`].
pub(crate) type StartJoin = fn(&Limits) -> Box<dyn Join>;

/// The rows of a format that several walks over a file may make in turns.
pub(crate) struct Split {
    /// The tables; the rows of all others are made by the first walk.
    pub(crate) tables: &'static [Table],
    /// Whether making the wanted columns costs much more than the walk itself.
    pub(crate) pays: fn(&Wanted) -> bool,
    pub(crate) join: Option<StartJoin>,
}

impl Split {
    /// The rows that a walk other than the first has to make.
    pub(crate) fn share(&self, wanted: &Wanted) -> Wanted {
        self.tables.iter().fold(Wanted::nothing(), |share, table| share.and(*table, wanted.columns(*table)))
    }
}

/// Completes, on the caller's thread, the rows that depend on earlier turns.
pub(crate) trait Join {
    /// Takes the next seam.
    fn seam(&mut self, seam: Seam) -> Result<()>;

    /// Completes a batch with the seams before it.
    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<RecordBatch>;
}

/// Where a walk delivers its output.
pub(crate) struct Outlet<'o, 't> {
    wanted: Wanted,
    /// What the caller wants of all walks.
    wanted_of_all: &'o Wanted,
    turns: RefCell<&'o mut Turns<'t, Step>>,
    notes: &'o Notes<Note>,
    /// Sent before the next batch.
    seams: RefCell<Vec<Seam>>,
}

impl<'o, 't> Outlet<'o, 't> {
    /// The outlet of a walk that makes the rows of `wanted`.
    pub(crate) fn new(
        wanted: Wanted,
        wanted_of_all: &'o Wanted,
        turns: &'o mut Turns<'t, Step>,
        notes: &'o Notes<Note>,
    ) -> Self {
        Self { wanted, wanted_of_all, turns: RefCell::new(turns), notes, seams: RefCell::default() }
    }

    /// Reports the problems of the file.
    pub(crate) fn tell(&self, findings: &Findings) {
        let mut turns = self.turns.borrow_mut();
        if turns.is_first() {
            turns.give(Step::Findings(findings.clone()));
        }
    }

    fn send_seams(&self) {
        let seams = self.seams.take();
        if !seams.is_empty() {
            self.turns.borrow_mut().give_aside(Step::Seams(seams));
        }
    }
}

impl TableSink for &Outlet<'_, '_> {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        self.send_seams();
        let is_taken = self.turns.borrow_mut().give(Step::Batch(table, batch));
        Ok(if is_taken { Flow::Continue } else { Flow::Stop })
    }
}

/// A mapper's view of the other walks.
pub(crate) trait Share {
    /// Ends a turn: sends the rows of these tables; returns whether this walk makes the rows that follow. Halts if the
    /// caller has left.
    fn end_turn(&self, split: &Split, tables: &mut Tables<'_>) -> Result<bool, Halt>;

    /// Whether this walk makes the rows of the first turn, and of the tables that are not split.
    fn is_first(&self) -> bool;

    /// Number of walks.
    fn walks(&self) -> usize;

    /// What the caller wants of all walks together.
    fn wanted(&self) -> &Wanted;

    /// The note about an offset, which `find` finds out if no other walk has; see [`Notes::get_or`].
    fn note(&self, offset: u64, find: &mut dyn FnMut() -> Note) -> Note;

    /// Sends facts that rows of this turn need from earlier turns. They arrive before the batch with the next row.
    fn seam(&self, seam: Seam);

    /// Leaves the rest to a single walk, because it depends on rows that other walks make.
    fn give_up(&self) -> Halt;
}

impl Share for Outlet<'_, '_> {
    fn end_turn(&self, split: &Split, tables: &mut Tables<'_>) -> Result<bool, Halt> {
        split.tables.iter().try_for_each(|table| tables.flush(*table))?;
        self.send_seams();
        let mut turns = self.turns.borrow_mut();
        let is_mine = turns.end();
        if turns.is_over() { Err(Halt::Stopped) } else { Ok(is_mine) }
    }

    fn is_first(&self) -> bool {
        self.turns.borrow().is_first()
    }

    fn walks(&self) -> usize {
        self.turns.borrow().walks()
    }

    fn wanted(&self) -> &Wanted {
        self.wanted_of_all
    }

    fn note(&self, offset: u64, find: &mut dyn FnMut() -> Note) -> Note {
        self.notes.get_or(offset, find)
    }

    fn seam(&self, seam: Seam) {
        self.seams.borrow_mut().push(seam);
    }

    fn give_up(&self) -> Halt {
        self.turns.borrow_mut().give_up();
        Halt::Stopped
    }
}
