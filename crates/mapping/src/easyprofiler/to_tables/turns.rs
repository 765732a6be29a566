//! Several walks over a file make its rows in turns.

use traceloom_core::{Options, Result, Source};
use traceloom_easyprofiler::{Record, SkipPlain, Value};
use traceloom_model::{BATCH_ROWS, SelectColumn, Table, Wanted, events, spans};

use super::{seams, tree, values::Values};
use crate::{
    pipeline::{Prepared, Split},
    shared::Args,
};

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

/// Whether walks skip such a record in the turns of other walks. If it has a problem, they took it for a plain one, and
/// only a single walk can go on.
pub(super) fn is_skipped(record: &Record<'_>) -> bool {
    matches!(record, Record::Block(_) | Record::Value(_) | Record::Malformed(_) | Record::Residue(_))
}

/// What the records of other walks' turns tell about the file.
#[derive(Debug)]
pub(super) struct Skipped<'v> {
    pub(super) wants_times: bool,
    pub(super) records: i64,
    /// The earliest start in ticks; later than any end if there are no records.
    pub(super) begin: u64,
    /// The latest end.
    pub(super) end: u64,
    /// The end of the last record.
    pub(super) last_end: u64,
    /// Numbers the rows of values, if they are wanted.
    pub(super) values: Option<(&'v mut Values, &'v mut Args)>,
}

impl Skipped<'_> {
    /// A single record.
    pub(super) fn record(&mut self, begin: u64, end: u64) {
        self.times(begin, end);
        self.run(1, end);
    }
}

impl SkipPlain for Skipped<'_> {
    #[inline(always)]
    fn wants_times(&self) -> bool {
        self.wants_times
    }

    #[inline(always)]
    fn times(&mut self, begin: u64, end: u64) {
        self.begin = self.begin.min(begin);
        self.end = self.end.max(end);
    }

    #[inline(always)]
    fn value(&mut self, value: &Value<'_>) {
        if let Some((values, args)) = &mut self.values {
            values.skip(value, args);
        }
    }

    fn run(&mut self, count: u32, end: u64) {
        self.records += i64::from(count);
        self.last_end = end;
    }
}
