//! Entries: the rows of `logs` and their arguments.

use std::sync::Arc;

use traceloom_cnanolog::{Clock as Ticks, Entry, Header, Passage, Reader, text::Messages};
use traceloom_model::{
    BATCH_ROWS, Halt, Table, Tables,
    logs::Log,
    trackers::{Clock, Extent, Symbol},
};

use super::{
    SPLIT,
    arguments::{self, Arguments},
    sites::Sites,
};
use crate::{pipeline::Share, shared::text};

/// The level of an entry whose site is unknown.
const NO_LEVEL: i64 = -1;

/// Number of entries per turn, if several walks share the rows.
const TURN: i64 = BATCH_ROWS as i64;

/// Pushes entries, numbered in file order.
pub(super) struct Entries<'s> {
    share: &'s dyn Share,
    /// Whether this walk makes the rows of the current turn.
    is_mine: bool,
    pub(super) times: Times,
    sites: Sites,
    next_id: i64,
    /// The number of the first entry after the turn.
    turn_end: i64,
    /// Whether other walks may know the entries of the turn.
    asks: bool,
    /// `None` if no one wants messages, which are the most expensive column.
    messages: Option<Messages>,
    message: Vec<u8>,
    arguments: Option<Arguments>,
    /// The name of the unknown level.
    no_level: Symbol,
    wants_logs: bool,
}

impl<'s> Entries<'s> {
    pub(super) fn new(header: &Header, sites: Sites, share: &'s dyn Share, tables: &mut Tables<'_>) -> Self {
        Self {
            share,
            is_mine: share.is_first(),
            times: Times::new(header),
            next_id: 0,
            turn_end: TURN,
            asks: share.walks() > 1,
            messages: tables.wants_any(Table::Logs, &["message"]).then(|| Messages::shared(share.walks())),
            message: Vec::new(),
            arguments: tables.wants(Table::Args).then(|| Arguments::new(sites.most_args(), tables)),
            no_level: tables.strings.intern("-"),
            wants_logs: tables.wants(Table::Logs),
            sites,
        }
    }

    /// Number of messages that were cut off.
    pub(super) fn cut(&self) -> u64 {
        self.messages.as_ref().map_or(0, Messages::cut)
    }

    /// Pushes one entry; an entry without a timestamp is in no time range, so it is never left out.
    #[inline]
    pub(super) fn push(&mut self, entry: &Entry<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let id = self.next_id;
        self.next_id += 1;
        if id == self.turn_end {
            self.end_turn(tables)?;
        }
        let ts_ns = entry.timestamp.map(|ticks| self.times.ts_ns(ticks));
        let is_made = self.is_mine && ts_ns.is_none_or(|ts_ns| tables.filter().takes_time(ts_ns));
        if let Some(arguments) = &mut self.arguments {
            if is_made {
                arguments.push(id, entry, tables)?;
            } else {
                arguments.skip(arguments::rows(entry));
            }
        }
        if is_made && self.wants_logs { self.push_log(id, ts_ns, entry, tables) } else { Ok(()) }
    }

    fn end_turn(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        self.is_mine = self.share.end_turn(&SPLIT, tables)?;
        self.turn_end += TURN;
        self.asks = self.share.walks() > 1;
        Ok(())
    }

    /// Whether the next entries are those of a whole turn whose rows another walk makes, and the reader has moved past
    /// them. The walk that comes first looks ahead, so that the entries are found once.
    pub(super) fn passes_turn(&mut self, reader: &mut Reader, tables: &mut Tables<'_>) -> Result<bool, Halt> {
        if self.next_id == self.turn_end && self.share.walks() > 1 {
            self.end_turn(tables)?;
        }
        // The first entry may define the origin.
        if !std::mem::take(&mut self.asks) || self.times.origin_ticks.is_none() {
            return Ok(false);
        }
        let note = self.share.note(reader.offset(), &mut || {
            let mut seen = Seen::new(self.times.ticks, self.arguments.is_some());
            let passage = reader.look_ahead(TURN as u64, |entry| seen.add(entry));
            let ahead: Ahead = passage.map(|passage| (passage, seen));
            Arc::new(ahead)
        });
        let Some(Some((passage, seen))) = note.downcast_ref::<Ahead>() else { return Ok(false) };
        let is_passed = !self.is_mine && reader.pass(passage);
        if is_passed {
            self.count(seen)?;
        }
        Ok(is_passed)
    }

    /// Counts the entries of another walk's turn.
    fn count(&mut self, seen: &Seen) -> Result<(), Halt> {
        self.next_id += TURN;
        if let Some(arguments) = &mut self.arguments {
            arguments.skip(seen.args);
        }
        if let Some((first, last)) = seen.times {
            self.times.ts_ns(first);
            self.times.ts_ns(last);
        }
        // Times that do not fit are counted one by one, which only a single walk can do.
        if self.times.clock.saturated() > 0 { Err(self.share.give_up()) } else { Ok(()) }
    }

    /// After the last entry: sends the rows of the last turn, if there was more than one.
    pub(super) fn end(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if self.next_id > TURN { self.share.end_turn(&SPLIT, tables).map(drop) } else { Ok(()) }
    }

    fn push_log(
        &mut self,
        id: i64,
        ts_ns: Option<i64>,
        entry: &Entry<'_>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        self.message.clear();
        if let Some(messages) = &mut self.messages {
            messages.put(entry, &mut self.message);
            if messages.depends_on_others() {
                return Err(self.share.give_up());
            }
        }
        let site = entry.site_index().and_then(|index| self.sites.common(index));
        tables.push(Log {
            id,
            ts_ns,
            thread_id: None,
            level: site.map_or(NO_LEVEL, |site| site.level),
            level_name: site.map_or(self.no_level, |site| site.level_name).into(),
            file: site.map(|site| site.file.into()),
            line: site.map(|site| site.line),
            format: site.map(|site| site.format.into()),
            message: &text(&self.message),
            definition_id: site.map(|_| entry.id.into()),
        })
    }
}

/// The entries of a turn, if they could be looked at, and the facts from them.
type Ahead = Option<(Passage, Seen)>;

/// Facts from entries whose rows other walks make.
#[derive(Clone, Copy, Debug)]
struct Seen {
    ticks: Ticks,
    /// The earliest and the latest timestamp.
    times: Option<(u64, u64)>,
    wants_args: bool,
    /// Number of rows of the arguments.
    args: usize,
}

impl Seen {
    fn new(ticks: Ticks, wants_args: bool) -> Self {
        Self { ticks, times: None, wants_args, args: 0 }
    }

    #[inline]
    fn add(&mut self, entry: &Entry<'_>) {
        if self.wants_args {
            self.args += arguments::rows(entry);
        }
        if let Some(at) = entry.timestamp {
            let (first, last) = self.times.unwrap_or((at, at));
            let is_before = |a, b| self.ticks.ticks_since_start(a) < self.ticks.ticks_since_start(b);
            self.times =
                Some((if is_before(at, first) { at } else { first }, if is_before(last, at) { at } else { last }));
        }
    }
}

/// Converts the times of the entries to times from the origin.
#[derive(Debug)]
pub(super) struct Times {
    ticks: Ticks,
    /// Set by the first entry if the header has no start.
    origin_ticks: Option<u64>,
    /// Counts from the start that the header states.
    clock: Clock,
    extent: Extent,
}

impl Times {
    fn new(header: &Header) -> Self {
        let origin_ticks = (header.start_timestamp != 0).then_some(header.start_timestamp);
        Self { ticks: header.clock(), origin_ticks, clock: Clock::new(0), extent: Extent::default() }
    }

    #[inline]
    fn ts_ns(&mut self, ticks: u64) -> i64 {
        let (sec, nsec) = self.ticks.since_start(ticks);
        let since_start = i128::from(sec) * 1_000_000_000 + i128::from(nsec);
        if self.origin_ticks.is_none() {
            self.origin_ticks = Some(ticks);
            self.clock = Clock::new(since_start);
        }
        let ts_ns = self.clock.ts_ns(since_start);
        self.extent.add(ts_ns);
        ts_ns
    }

    pub(super) fn origin_ticks(&self) -> Option<u64> {
        self.origin_ticks
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }
}
