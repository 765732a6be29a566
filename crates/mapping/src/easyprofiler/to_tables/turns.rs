//! Several walks over a file make its rows in turns.

use traceloom_core::{Located, Options, Result, Source};
use traceloom_easyprofiler::{Block, TakePlain, Value};
use traceloom_model::{BATCH_ROWS, Halt, SelectColumn, Table, Wanted, events, spans};

use super::{Walk, places::Places, seams, tree};
use crate::pipeline::{Prepared, Split};

/// Blocks, events and values per turn: several batches, because the end of a turn sends what is there of every table.
pub(super) const TURN: i64 = 4 * BATCH_ROWS as i64;

/// Converting times, nesting and laying out rows cost several times as much as finding the records.
pub(crate) static SPLIT: Split = Split {
    tables: &[Table::Spans, Table::Events, Table::Counters, Table::Args],
    pays: wants_rows,
    prepare: Some(prepare),
    join: Some(seams::join),
};

fn wants_rows(wanted: &Wanted) -> bool {
    SPLIT.tables.iter().any(|table| !wanted.columns(*table).is_empty())
}

/// Whether parents or depths are wanted.
fn wants_tree(wanted: &Wanted) -> bool {
    let columns = wanted.columns(Table::Spans);
    let wants_places = columns.has(spans::column::parent_id::NUMBER) || columns.has(spans::column::depth::NUMBER);
    wants_places || wanted.columns(Table::Events).has(events::column::span_id::NUMBER)
}

fn prepare(source: &Source, options: &Options, wanted: &Wanted) -> Result<Prepared> {
    let tree = if wants_tree(wanted) { Some(tree::tree(source, options, options.limits.threads)?) } else { None };
    Ok(Box::new(tree))
}

/// What the records of other walks' turns tell about the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skipped {
    /// The earliest start in ticks; later than any end if there are no records.
    pub(super) begin: u64,
    /// The latest end.
    pub(super) end: u64,
}

impl Default for Skipped {
    fn default() -> Self {
        Self { begin: u64::MAX, end: 0 }
    }
}

/// A walk that only counts, during the turn of another walk.
pub(super) struct Skip<'w, 's, P>(pub(super) &'w mut Walk<'s, P>);

impl<P: Places> Skip<'_, '_, P> {
    #[inline(always)]
    fn take(&mut self, begin: u64, end: u64) {
        let Self(walk) = self;
        walk.next_record += 1;
        walk.thread.last_end = end;
        walk.skipped.begin = walk.skipped.begin.min(begin);
        walk.skipped.end = walk.skipped.end.max(end);
    }
}

impl<P: Places> TakePlain<Halt> for Skip<'_, '_, P> {
    #[inline(always)]
    fn block(&mut self, block: Located<Block<'_>>) -> Result<(), Halt> {
        self.take(block.record.begin, block.record.end);
        Ok(())
    }

    #[inline(always)]
    fn value(&mut self, value: Located<Value<'_>>) -> Result<(), Halt> {
        self.take(value.record.begin, value.record.end);
        self.0.skip_value(&value.record);
        Ok(())
    }
}
