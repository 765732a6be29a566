//! EasyProfiler records to tables.
//!
//! The id of a span or event is the number of its record: blocks, events and values of all threads are counted together
//! in file order, followed by bookmarks. An event or value that has a duration, or contains other records, is also a
//! span; otherwise the tree would have gaps.

mod declared;
mod header;
mod places;
mod plan;
mod seams;
mod threads;
mod tree;
mod turns;
mod values;

use std::borrow::Cow;

use traceloom_core::{Findings, Located, Records};
use traceloom_easyprofiler::{
    Block, Bookmark, Clock, Nestings, Record, Switch, TakePlain, Tree, Value, raw::BlockType, settled,
};
use traceloom_model::{
    EventCategory, Halt, Named, SpanCategory, Table, Tables,
    events::Event,
    spans::Span,
    switches::Switch as SwitchRow,
    trackers::{Clock as Times, Extent, Strings, Symbol},
};

use self::{
    declared::{Declarations, Declared},
    header::Origin,
    places::{Known, Places, Runs, TreePosition, Unknown},
    plan::Plan,
    seams::{OpenRow, self_ns},
    threads::{Current, Threads},
    turns::{MAX_SHARED_THREADS, TURN},
    values::{Moment, Values},
};
pub(crate) use self::{tree::TREE, turns::SPLIT};
use crate::{
    pipeline::Share,
    shared::{Args, Argument, Datum, Facts, push_trace, reading, report_clock, text},
    trace::Input,
};

pub(crate) fn to_tables(input: &Input<'_>, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let plan = Plan::of(tables);
    if let Some(tree) = input.prepared::<Tree>() {
        return fill(input, plan, Known::new(tree, input.share), tables);
    }
    match (plan.wants_self, input.share.walks()) {
        (false, _) => fill(input, plan, Unknown, tables),
        (true, 1) => fill(input, plan, Nestings::new(&input.options.read.limits), tables),
        (true, _) => fill(input, plan, Runs::new(input.share), tables),
    }
}

fn fill(input: &Input<'_>, plan: Plan, places: impl Places, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let mut reader = traceloom_easyprofiler::open(input.source.clone(), &reading(input))?;
    header::push(reader.header(), tables)?;
    let origin =
        if plan.reads_times { Origin::of(reader.header(), &reader.clock(), input)? } else { Origin::default() };
    let mut walk = Walk::new(input, plan, (reader.clock(), origin), places, tables);
    if plan.reads_descriptors {
        walk.run(&mut reader, tables)?;
        walk.end_turns(tables)?;
    }
    if plan.reads_records {
        walk.threads.push(tables)?;
    }
    let version = reader.header().version.to_string();
    let facts = header::facts(reader.header(), &version, &origin, walk.extent);
    push_trace(input, &Facts { start_native_ns: walk.times.start_native_ns(), ..facts }, tables)?;
    let mut findings = reader.into_findings();
    if input.is_checked {
        findings = settled(findings, input.source, &input.options.read)?;
    }
    report_clock(&walk.times, &mut findings)?;
    Ok(findings)
}

/// The state of one walk over the file.
struct Walk<'s, P> {
    share: &'s dyn Share,
    /// Whether this walk makes the rows of the current turn.
    is_mine: bool,
    turn: usize,
    /// The number of the first record after the turn.
    turn_end: i64,
    /// Whether other walks may know the records up to the end of the turn or section.
    asks: bool,
    /// The earliest start and the latest end of the records of other walks' turns, in ticks.
    skipped: (u64, u64),
    plan: Plan,
    clock: Clock,
    times: Times,
    places: P,
    declared: Declarations,
    threads: Threads,
    thread: Current,
    words: Words,
    /// The number of the next block, event or value.
    next_record: i64,
    next_switch: i64,
    values: Values,
    args: Args,
    extent: Extent,
}

/// A walk that receives plain records.
struct Step<'w, 's, 't, P> {
    walk: &'w mut Walk<'s, P>,
    tables: &'w mut Tables<'t>,
}

impl<P: Places> TakePlain<Halt> for Step<'_, '_, '_, P> {
    #[inline(always)]
    fn block(&mut self, block: Located<Block<'_>>) -> Result<(), Halt> {
        self.walk.block(&block.record, self.tables)
    }

    #[inline(always)]
    fn value(&mut self, value: Located<Value<'_>>) -> Result<(), Halt> {
        self.walk.value(&value.record, self.tables)
    }
}

/// Words that rows repeat.
#[derive(Clone, Copy, Debug)]
struct Words {
    block: Symbol,
    bookmark: Symbol,
    event: Symbol,
}

impl Words {
    fn new(strings: &mut Strings) -> Self {
        Self {
            block: strings.intern(SpanCategory::Block.as_str()),
            bookmark: strings.intern(EventCategory::Bookmark.as_str()),
            event: strings.intern(EventCategory::Event.as_str()),
        }
    }
}

/// The times of a record, on the clock of the file and on that of the tables.
#[derive(Clone, Copy, Debug)]
struct Interval {
    begin_ns: u64,
    end_ns: u64,
    ts_ns: i64,
    dur_ns: i64,
}

impl<'s, P: Places> Walk<'s, P> {
    fn new(
        input: &Input<'s>,
        plan: Plan,
        (clock, origin): (Clock, Origin),
        places: P,
        tables: &mut Tables<'_>,
    ) -> Self {
        let strings = &mut tables.strings;
        let is_mine = input.share.is_first();
        Self {
            share: input.share,
            is_mine,
            turn: 0,
            turn_end: TURN,
            asks: input.share.walks() > 1,
            skipped: (u64::MAX, 0),
            plan,
            clock,
            times: Times::new(origin.ns.into()),
            places,
            declared: Declarations::new(strings),
            threads: Threads::default(),
            thread: Current::default(),
            words: Words::new(strings),
            next_record: 0,
            next_switch: 0,
            values: Values::new(strings),
            args: Args::new(is_mine),
            extent: Extent::default(),
        }
    }

    /// Not inlined, so that the loop over the records contains the fast path only once.
    #[inline(never)]
    fn odd_block(&mut self, block: &Block<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        self.block(block, tables)
    }

    #[inline(never)]
    fn other(&mut self, record: &Record<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        match record {
            Record::Descriptor(descriptor) => self.declared.push(descriptor, &mut self.args, tables)?,
            Record::Thread(thread) => {
                self.thread = self.threads.open(thread, &self.thread, tables);
                self.places.thread(self.thread.id)?;
                if self.share.walks() > 1 && self.threads.len() > MAX_SHARED_THREADS {
                    return Err(self.share.give_up());
                }
            }
            Record::Blocks(_) => self.asks = self.share.walks() > 1,
            Record::Switch(switch) => self.switch(switch, tables)?,
            Record::Value(value) => self.value(value, tables)?,
            Record::Bookmark(bookmark) => {
                self.end_turns(tables)?;
                self.bookmark(bookmark, tables)?;
            }
            // A descriptor that is too short still gets an index in the list.
            Record::Hole | Record::Malformed(_) | Record::Residue(_) if self.threads.is_empty() => self.declared.hole(),
            _ => {}
        }
        Ok(())
    }

    #[inline(always)]
    fn block(&mut self, block: &Block<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let interval = self.interval(block.begin, block.end);
        let place = self.places.next(interval.begin_ns, interval.end_ns)?;
        let id = self.number();
        if block.block_type != BlockType::BLOCK {
            return self.event(id, block, interval, place, tables);
        }
        self.thread.last_end = block.end;
        let is_row = self.plan.wants_spans && self.takes(interval.ts_ns, tables);
        self.note_reach(&interval, &place, is_row, tables);
        if !is_row {
            return Ok(());
        }
        let declared = self.declared.get(block.descriptor);
        let name = match block.name.text {
            [] => declared.name.into(),
            _ if !self.plan.wants_span_names => declared.name.into(),
            name => Named::Bytes(name),
        };
        tables.push(self.span(id, &interval, &place, declared, name))
    }

    #[inline(never)]
    fn event(
        &mut self,
        id: i64,
        block: &Block<'_>,
        interval: Interval,
        place: TreePosition,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let declared = *self.declared.get(block.descriptor);
        let own = block.name.text;
        let name = if own.is_empty() { declared.name.into() } else { Named::Bytes(own) };
        if self.is_span(&interval, &place, block.end, tables) {
            tables.push(self.span(id, &interval, &place, &declared, name))?;
        }
        if !self.plan.wants_events || !self.takes(interval.ts_ns, tables) {
            return Ok(());
        }
        tables.push(Event {
            id,
            ts_ns: interval.ts_ns,
            thread_id: Some(self.thread.id),
            span_id: place.parent_id,
            name,
            category: self.words.event.into(),
            definition_id: declared.id,
        })
    }

    #[inline(never)]
    fn value(&mut self, value: &Value<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let interval = self.interval(value.begin, value.end);
        let place = self.places.next(interval.begin_ns, interval.end_ns)?;
        let id = self.number();
        let declared = *self.declared.get(value.descriptor);
        if self.is_span(&interval, &place, value.end, tables) {
            tables.push(self.span(id, &interval, &place, &declared, declared.name.into()))?;
        }
        if !self.plan.wants_values {
            return Ok(());
        }
        let Interval { ts_ns, .. } = interval;
        let is_taken = self.takes(ts_ns, tables);
        let moment = Moment { ts_ns, thread_id: self.thread.id, name: declared.name, is_taken };
        self.values.push(value, &moment, &mut self.args, tables)
    }

    /// Whether an event or value is also a span, and spans are wanted.
    fn is_span(&mut self, interval: &Interval, place: &TreePosition, end: u64, tables: &mut Tables<'_>) -> bool {
        // The previous record is the only candidate for a first child: if it is not a child, there is none.
        let has_children = interval.begin_ns < self.clock.ns(self.thread.last_end);
        self.thread.last_end = end;
        let is_span = has_children || interval.begin_ns < interval.end_ns;
        let is_row = is_span && self.plan.wants_spans && self.takes(interval.ts_ns, tables);
        self.note_reach(interval, place, is_row, tables);
        is_row
    }

    /// Reports a span, or a record that is not a row, with children in earlier turns.
    #[inline(always)]
    fn note_reach(&mut self, interval: &Interval, place: &TreePosition, is_row: bool, tables: &mut Tables<'_>) {
        if let Some(reach) = place.reach {
            let row = is_row.then(|| tables.waiting(Table::Spans));
            let row = OpenRow { row, dur_ns: interval.dur_ns, children_ns: place.children_ns };
            self.places.open(interval.begin_ns, reach, row);
        }
    }

    #[inline(always)]
    fn span<'a>(
        &self,
        id: i64,
        interval: &Interval,
        place: &TreePosition,
        declared: &Declared,
        name: Named<'a>,
    ) -> Span<'a> {
        Span {
            id,
            parent_id: place.parent_id,
            thread_id: self.thread.id,
            depth: place.depth,
            ts_ns: interval.ts_ns,
            dur_ns: Some(interval.dur_ns),
            self_ns: Some(self_ns(interval.dur_ns, place.children_ns)),
            name,
            category: self.words.block.into(),
            definition_id: declared.id,
            file: declared.file.map(Into::into),
            line: declared.line,
            color: declared.color,
        }
    }

    fn switch(&mut self, switch: &Switch<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let interval = self.interval(switch.begin, switch.end);
        let id = self.next_switch;
        self.next_switch += 1;
        if !self.plan.wants_switches || !self.takes(interval.ts_ns, tables) {
            return Ok(());
        }
        tables.push(SwitchRow {
            id,
            ts_ns: interval.ts_ns,
            dur_ns: interval.dur_ns,
            thread_id: self.thread.id,
            target_tid: switch.target,
            name: Named::Bytes(switch.name.text),
        })
    }

    fn bookmark(&mut self, bookmark: &Bookmark<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let ts_ns = self.times.ts_ns(bookmark.position_ns);
        if self.plan.wants_extent {
            self.extent.add(ts_ns);
        }
        let id = self.number();
        let shown = text(bookmark.text.text);
        let is_exact = matches!(shown, Cow::Borrowed(_));
        // It belongs to no thread, so a filter by threads leaves it out.
        let is_taken = tables.filter().threads.is_none() && tables.filter().takes_time(ts_ns);
        if !is_taken || !self.is_mine {
            self.args.skip(if is_exact { 1 } else { 2 });
            return Ok(());
        }
        tables.push(Event {
            id,
            ts_ns,
            thread_id: None,
            span_id: None,
            name: Named::Text(&shown),
            category: self.words.bookmark.into(),
            definition_id: None,
        })?;
        let argument = |key: &'static str, kind: &'static str, value| Argument {
            owner_table: Table::Events,
            owner_id: id,
            key: key.into(),
            idx: None,
            kind: kind.into(),
            value,
        };
        self.args.push(&argument("color", "uint32", Datum::Unsigned(bookmark.color.into())), tables)?;
        if is_exact {
            Ok(())
        } else {
            self.args.push(&argument("text", "string", Datum::Replaced(&shown, bookmark.text.text)), tables)
        }
    }

    #[inline]
    fn number(&mut self) -> i64 {
        let id = self.next_record;
        self.next_record += 1;
        id
    }

    #[inline]
    fn takes(&self, ts_ns: i64, tables: &Tables<'_>) -> bool {
        self.thread.is_taken && tables.filter().takes_time(ts_ns)
    }

    #[inline(always)]
    fn interval(&mut self, begin: u64, end: u64) -> Interval {
        let (begin_ns, end_ns) = self.clock.span(begin, end);
        let ts_ns = self.times.ts_ns(begin_ns);
        let dur_ns = saturate(end_ns.saturating_sub(begin_ns));
        if self.plan.wants_extent {
            self.extent.add(ts_ns);
            self.extent.add(ts_ns.saturating_add(dur_ns));
        }
        Interval { begin_ns, end_ns, ts_ns, dur_ns }
    }
}

#[inline]
fn saturate(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
