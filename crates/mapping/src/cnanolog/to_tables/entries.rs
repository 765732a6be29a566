//! Entries: the rows of `logs` and their arguments.

use traceloom_cnanolog::{Clock as Ticks, Entry, Header, text::Messages};
use traceloom_model::{
    BATCH_ROWS, Halt, Table, Tables,
    logs::Log,
    trackers::{Clock, Extent, Symbol},
};

use super::{SPLIT, arguments::Arguments, sites::Sites};
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
        if id % TURN == 0 && id > 0 {
            self.is_mine = self.share.end_turn(&SPLIT, tables)?;
        }
        let ts_ns = entry.timestamp.map(|ticks| self.times.ts_ns(ticks));
        let is_made = self.is_mine && ts_ns.is_none_or(|ts_ns| tables.filter().takes_time(ts_ns));
        if let Some(arguments) = &mut self.arguments {
            if is_made {
                arguments.push(id, entry, tables)?;
            } else {
                arguments.skip(entry);
            }
        }
        if is_made && self.wants_logs { self.push_log(id, ts_ns, entry, tables) } else { Ok(()) }
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
