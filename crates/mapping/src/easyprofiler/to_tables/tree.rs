//! The tree of a whole file, which is needed before the first row: parents come after their children.

use std::{ops::ControlFlow, sync::Arc};

use traceloom_core::{Error, Located, Notes, Options, Records, Result, Source, Turns, in_turns};
use traceloom_easyprofiler::{
    Block, Clock, Passage, Reader, Record, RunNesting, SkipPlain, TakePlain, TreeBuilder, TreeRun, Value,
};

use traceloom_model::{Table, Wanted};

use super::turns::{MIN_AHEAD, TURN, is_skipped};
use crate::{
    pipeline::walks,
    prepared::{Preparation, Prepared},
};

/// Parents and depths.
pub(crate) static TREE: Preparation = Preparation { is_needed, prepare };

fn is_needed(wanted: &Wanted) -> bool {
    wanted.has_any(Table::Spans, &["parent_id", "depth"]) || wanted.has_any(Table::Events, &["span_id"])
}

/// Reads the times of all records and nests them, with several walks that take turns if there are several threads.
///
/// The runs of the tree are the turns of the rows.
fn prepare(source: &Source, options: &Options) -> Result<Prepared> {
    let mut builder = TreeBuilder::new(&options.limits);
    let threads = walks(source, &options.limits)?;
    if threads < 2 {
        let mut reader = traceloom_easyprofiler::open(source.clone(), options)?;
        builder.start_run();
        read(&mut reader, &mut Alone { builder: &mut builder })?;
    } else {
        let notes = Notes::new(threads);
        let walk = |turns: &mut Turns<'_, TreeRun>| {
            let mut reader = traceloom_easyprofiler::open(source.clone(), options)?;
            let is_mine = turns.is_mine();
            let nesting = RunNesting::default();
            let run = TreeRun::default();
            let mut sharing = Sharing { turns, notes: &notes, is_mine, run, nesting, thread: None, is_over: false };
            read(&mut reader, &mut sharing)?;
            sharing.end_turn()
        };
        in_turns(threads, &walk, &mut |run| builder.push_run(&run).map(ControlFlow::Continue))?;
    }
    Ok(Arc::new(builder.finish()?))
}

/// Receives the times of records.
trait TakeTimes {
    /// Whether it wants the times of this turn.
    fn is_mine(&self) -> bool;
    fn thread(&mut self, id: u64) -> Result<()>;
    fn push(&mut self, begin_ns: u64, end_ns: u64) -> Result<()>;
    /// The turn is over; returns false if nothing more is wanted.
    fn end_turn(&mut self) -> Result<bool>;
    /// The next `count` records, if they belong to another walk and can be passed.
    fn passage(&self, count: u32, reader: &mut Reader) -> Option<Passage>;
    /// A record had a problem; returns false if only a single walk can continue.
    fn takes_odd(&mut self) -> bool;
}

fn read(reader: &mut Reader, taker: &mut impl TakeTimes) -> Result<()> {
    let clock = reader.clock();
    let (mut room, mut asks) = (TURN as u32, true);
    loop {
        if room == 0 {
            if !taker.end_turn()? {
                return Ok(());
            }
            (room, asks) = (TURN as u32, true);
        }
        let count = reader.skippable().min(room);
        if std::mem::take(&mut asks)
            && count >= MIN_AHEAD
            && let Some(passage) = taker.passage(count, reader)
            && reader.pass(&passage)
        {
            room -= count;
            continue;
        }
        let before = room;
        if taker.is_mine() {
            reader.plain_records(before, &mut Times { clock, room: &mut room, taker })?;
        } else {
            reader.skip_records(before, &mut Counted { room: &mut room })?;
        }
        if room == 0 {
            continue;
        }
        let found = reader.findings().total();
        let Some(located) = reader.next()? else { return Ok(()) };
        match &located.record {
            Record::Thread(thread) => taker.thread(thread.id)?,
            Record::Blocks(_) => asks = true,
            Record::Block(block) => Times { clock, room: &mut room, taker }.push(block.begin, block.end)?,
            Record::Value(value) => Times { clock, room: &mut room, taker }.push(value.begin, value.end)?,
            _ => {}
        }
        if is_skipped(&located.record) && reader.findings().total() > found && !taker.takes_odd() {
            return Ok(());
        }
    }
}

/// Converts the times of records and passes them on.
struct Times<'t, T> {
    clock: Clock,
    /// Number of records until the end of the turn.
    room: &'t mut u32,
    taker: &'t mut T,
}

impl<T: TakeTimes> Times<'_, T> {
    #[inline(always)]
    fn push(&mut self, begin: u64, end: u64) -> Result<()> {
        *self.room -= 1;
        let (begin_ns, end_ns) = self.clock.span(begin, end);
        self.taker.push(begin_ns, end_ns)
    }
}

impl<T: TakeTimes> TakePlain<Error> for Times<'_, T> {
    #[inline(always)]
    fn block(&mut self, block: Located<Block<'_>>) -> Result<()> {
        self.push(block.record.begin, block.record.end)
    }

    #[inline(always)]
    fn value(&mut self, value: Located<Value<'_>>) -> Result<()> {
        self.push(value.record.begin, value.record.end)
    }
}

/// Counts the records of other walks' turns.
struct Counted<'t> {
    room: &'t mut u32,
}

impl SkipPlain for Counted<'_> {
    #[inline(always)]
    fn wants_times(&self) -> bool {
        false
    }

    fn times(&mut self, _: u64, _: u64) {}

    #[inline(always)]
    fn value(&mut self, _: &Value<'_>) {}

    fn run(&mut self, count: u32, _: u64) {
        *self.room -= count;
    }
}

/// A single walk nests all records.
struct Alone<'b> {
    builder: &'b mut TreeBuilder,
}

impl TakeTimes for Alone<'_> {
    fn is_mine(&self) -> bool {
        true
    }

    fn thread(&mut self, id: u64) -> Result<()> {
        self.builder.thread(id)
    }

    #[inline(always)]
    fn push(&mut self, begin_ns: u64, end_ns: u64) -> Result<()> {
        self.builder.push(begin_ns, end_ns)
    }

    fn end_turn(&mut self) -> Result<bool> {
        self.builder.start_run();
        Ok(true)
    }

    fn passage(&self, _count: u32, _reader: &mut Reader) -> Option<Passage> {
        None
    }

    fn takes_odd(&mut self) -> bool {
        true
    }
}

/// One of several walks: each nests the records of its turns among themselves.
struct Sharing<'w, 't> {
    turns: &'w mut Turns<'t, TreeRun>,
    notes: &'w Notes<Option<Passage>>,
    is_mine: bool,
    run: TreeRun,
    nesting: RunNesting,
    thread: Option<u64>,
    is_over: bool,
}

impl TakeTimes for Sharing<'_, '_> {
    fn is_mine(&self) -> bool {
        self.is_mine
    }

    fn thread(&mut self, id: u64) -> Result<()> {
        self.thread = Some(id);
        if self.is_mine { self.run.thread(id, &mut self.nesting) } else { Ok(()) }
    }

    #[inline(always)]
    fn push(&mut self, begin_ns: u64, end_ns: u64) -> Result<()> {
        // Records that are not plain come in any turn.
        if self.is_mine { self.run.push(begin_ns, end_ns, &mut self.nesting) } else { Ok(()) }
    }

    fn end_turn(&mut self) -> Result<bool> {
        if self.is_mine {
            self.run.end(&mut self.nesting)?;
            self.is_over = !self.turns.give(std::mem::take(&mut self.run));
        }
        self.is_mine = self.turns.end();
        if let Some(id) = self.thread.filter(|_| self.is_mine) {
            self.run.thread(id, &mut self.nesting)?;
        }
        Ok(!self.is_over)
    }

    fn passage(&self, count: u32, reader: &mut Reader) -> Option<Passage> {
        let offset = reader.offset();
        let find = || reader.look_ahead(count, &mut Counted { room: &mut { count } });
        self.notes.get_or(offset, find).filter(|_| !self.is_mine)
    }

    fn takes_odd(&mut self) -> bool {
        let is_lost = self.is_mine && self.turns.walks() > 1;
        if is_lost {
            self.turns.give_up();
        }
        !is_lost
    }
}
