//! Several walks over a file make its rows in turns.

use std::sync::Arc;

use traceloom_core::Records;
use traceloom_easyprofiler::{Passage, Reader, Record, SkipPlain, Value};
use traceloom_model::{BATCH_ROWS, Halt, Table, Tables, Wanted};

use super::{Step, Walk, places::Places, plan::EXTENT, seams, values};
use crate::pipeline::Split;

/// Blocks, events and values per turn: several batches, because the end of a turn sends an incomplete batch of every
/// table.
pub(super) const TURN: i64 = 2 * BATCH_ROWS as i64;

/// Fewer records are read by every walk: that is cheaper than a note.
pub(super) const MIN_AHEAD: u32 = 256;

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Skipped {
    wants_times: bool,
    wants_values: bool,
    records: i64,
    /// The earliest start in ticks; later than any end if there are no records.
    begin: u64,
    /// The latest end.
    end: u64,
    /// The end of the last record.
    last_end: u64,
    /// Number of rows of the values.
    value_rows: usize,
}

impl Skipped {
    fn new(wants_times: bool, wants_values: bool) -> Self {
        Self { wants_times, wants_values, records: 0, begin: u64::MAX, end: 0, last_end: 0, value_rows: 0 }
    }

    /// A single record.
    fn record(&mut self, begin: u64, end: u64) {
        self.times(begin, end);
        self.run(1, end);
    }
}

impl SkipPlain for Skipped {
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
        if self.wants_values {
            self.value_rows += values::rows(value);
        }
    }

    fn run(&mut self, count: u32, end: u64) {
        self.records += i64::from(count);
        self.last_end = end;
    }
}

/// Records ahead, if they could be looked at, and the facts from them.
type Ahead = Option<(Passage, Skipped)>;

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
            if self.asks {
                self.asks = false;
                self.ask(room, reader);
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
        self.asks = self.share.walks() > 1;
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

    /// Asks for the note about the records up to the end of the turn or section, and moves past them if another walk
    /// makes their rows. The walk that comes first looks ahead, so that the records are looked at once.
    fn ask(&mut self, room: u32, reader: &mut Reader) {
        let count = reader.skippable().min(room);
        if count < MIN_AHEAD {
            return;
        }
        let (wants_times, wants_values) = (self.share.wanted().has_any(Table::Traces, EXTENT), self.plan.wants_values);
        let note = self.share.note(reader.offset(), &mut || {
            let mut skipped = Skipped::new(wants_times, wants_values);
            let passage = reader.look_ahead(count, &mut skipped);
            let ahead: Ahead = passage.map(|passage| (passage, skipped));
            Arc::new(ahead)
        });
        if let Some(Some((passage, skipped))) = note.downcast_ref::<Ahead>()
            && !self.is_mine
            && reader.pass(passage)
        {
            self.count(skipped);
        }
    }

    /// Reads records of another walk's turn.
    #[inline(always)]
    fn skip<T>(&mut self, read: impl FnOnce(&mut Skipped) -> T) -> T {
        let mut skipped = Skipped::new(self.plan.wants_extent, self.plan.wants_values);
        let outcome = read(&mut skipped);
        self.count(&skipped);
        outcome
    }

    /// Counts records of another walk's turn.
    fn count(&mut self, skipped: &Skipped) {
        if skipped.records == 0 {
            return;
        }
        self.next_record += skipped.records;
        self.thread.last_end = skipped.last_end;
        self.values.skip(skipped.value_rows, &mut self.args);
        if self.plan.wants_extent {
            let (begin, end) = self.skipped;
            self.skipped = (begin.min(skipped.begin), end.max(skipped.end));
        }
    }
}
