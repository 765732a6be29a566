//! Several walks over a file make its rows in turns.

use traceloom_core::Records;
use traceloom_easyprofiler::{Reader, Record, SkipPlain, Value};
use traceloom_model::{BATCH_ROWS, Halt, Table, Tables, Wanted};

use super::{Step, Walk, places::Places, seams, values::Values};
use crate::{pipeline::Split, shared::Args};

/// Blocks, events and values per turn: several batches, because the end of a turn sends an incomplete batch of every
/// table.
pub(super) const TURN: i64 = 4 * BATCH_ROWS as i64;

/// Max number of threads in a file that several walks read: each of them keeps all threads.
pub(super) const MAX_SHARED_THREADS: usize = 16_384;

/// Converting times, nesting and laying out rows cost several times as much as finding the records.
pub(crate) static SPLIT: Split = Split {
    tables: &[Table::Spans, Table::Events, Table::Counters, Table::Args],
    pays: wants_rows,
    join: Some(seams::join),
};

fn wants_rows(wanted: &Wanted) -> bool {
    SPLIT.tables.iter().any(|table| !wanted.columns(*table).is_empty())
}

/// Whether walks skip such a record in the turns of other walks. If it has a problem, they mistook it for a plain one,
/// and only a single walk can continue.
pub(super) fn is_skipped(record: &Record<'_>) -> bool {
    matches!(record, Record::Block(_) | Record::Value(_) | Record::Malformed(_) | Record::Residue(_))
}

/// Facts from the records of other walks' turns.
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

impl<P: Places> Walk<'_, P> {
    /// Reads all records; makes the rows of this walk's turns.
    pub(super) fn run(&mut self, reader: &mut Reader, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if self.is_mine {
            self.places.start_turn(0)?;
        }
        loop {
            let room = u32::try_from(self.turn_end - self.next_record).unwrap_or(u32::MAX);
            if room == 0 {
                self.end_turn(tables)?;
                continue;
            }
            if self.is_mine {
                reader.plain_records(room, &mut Step { walk: self, tables })?;
            } else {
                self.skip(|skipped| reader.skip_records(room, skipped))?;
            }
            if self.next_record == self.turn_end {
                continue;
            }
            let found = reader.findings().total();
            let Some(located) = reader.next()? else { return Ok(()) };
            match &located.record {
                Record::Block(block) if self.is_mine => self.odd_block(block, tables)?,
                Record::Block(block) => self.skip(|skipped| skipped.record(block.begin, block.end)),
                Record::Value(value) if !self.is_mine => self.skip(|skipped| {
                    skipped.value(value);
                    skipped.record(value.begin, value.end);
                }),
                Record::Thread(_) if !self.plan.reads_records => return Ok(()),
                record => self.other(record, tables)?,
            }
            let is_skipped = is_skipped(&located.record);
            if is_skipped && self.is_mine && self.share.walks() > 1 && reader.findings().total() > found {
                return Err(self.share.give_up());
            }
        }
    }

    /// Ends a turn, and starts the next one.
    #[cold]
    fn end_turn(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        // Times that do not fit are counted over all turns, which only a single walk can do.
        if self.share.walks() > 1 && self.times.saturated() > 0 {
            return Err(self.share.give_up());
        }
        if self.is_mine {
            self.places.end_turn()?;
        }
        self.is_mine = self.share.end_turn(&SPLIT, tables)?;
        (self.turn, self.turn_end) = (self.turn + 1, self.turn_end.saturating_add(TURN));
        self.args.is_mine = self.is_mine;
        if self.is_mine {
            self.places.start_turn(self.turn)?;
        }
        Ok(())
    }

    /// Ends the last turn, if there was more than one: the first walk makes the rows that follow.
    pub(super) fn end_turns(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if self.turn > 0 && self.turn_end != i64::MAX {
            self.end_turn(tables)?;
        }
        self.turn_end = i64::MAX;
        self.is_mine = self.share.is_first();
        self.args.is_mine = self.is_mine;
        let (begin, end) = self.skipped;
        if begin <= end {
            self.interval(begin, end);
        }
        Ok(())
    }

    /// Counts records of another walk's turn.
    #[inline(always)]
    fn skip<T>(&mut self, read: impl FnOnce(&mut Skipped<'_>) -> T) -> T {
        let (begin, end) = self.skipped;
        let values = self.plan.wants_values.then_some((&mut self.values, &mut self.args));
        let (wants_times, last_end) = (self.plan.wants_extent, self.thread.last_end);
        let mut skipped = Skipped { wants_times, records: 0, begin, end, last_end, values };
        let outcome = read(&mut skipped);
        self.next_record += skipped.records;
        self.skipped = (skipped.begin, skipped.end);
        self.thread.last_end = skipped.last_end;
        outcome
    }
}
