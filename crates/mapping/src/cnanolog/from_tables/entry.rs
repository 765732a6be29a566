//! Entries waiting to be written.

use hashbrown::HashSet;
use traceloom_cnanolog::{
    Form, Types, put_packed, put_raw,
    raw::{ArgType, CNANOLOG_MAX_ENTRY_SIZE, SLOTS_DOCUMENT, SLOTS_LIBRARY},
};
use traceloom_core::{Arena, ByteOrder, Loss, Result, Sorter, Store, spill_row};
use traceloom_model::Table as Rows;

use super::{
    sites::{Levels, Site, Sites, Table},
    values::Values,
};
use traceloom_passes::{NameId, NamePool, Pass, Roster, Timeline};

/// Span ends come before everything else with the same timestamp.
pub(super) const ENDS: u8 = 0;
pub(super) const OTHERS: u8 = 1;

spill_row! {
    /// An entry to be written.
    #[derive(Debug, Eq, PartialEq)]
    pub(super) struct Entry {
        /// The sort key: the entry's time, unless the order of rows is kept.
        time: i64,
        /// [`ENDS`] or [`OTHERS`].
        phase: u8,
        number: u64,
        /// Nanoseconds from the origin.
        pub(super) ts_ns: i64,
        pub(super) site: u32,
        /// Offset of its arguments.
        pub(super) offset: u64,
        pub(super) len: u16,
    } by (time, phase, number)
}

/// Everything that goes into the file.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) sorter: Sorter<Entry>,
    pub(super) data: Store,
    pub(super) sites: Sites,
    pub(super) levels: Levels,
    pub(super) is_document: bool,
    /// Whether any row has a time.
    pub(super) has_times: bool,
    /// A single trace keeps its origin; several traces get a common one.
    timeline: Option<Timeline>,
    keeps_order: bool,
    /// The definitions that any entry refers to.
    pub(super) defined: HashSet<(usize, i64)>,
    bytes: Vec<u8>,
    message: Vec<u8>,
    number: u64,
}

impl Entries {
    pub(super) fn new(pass: &Pass<'_>) -> Self {
        let (limits, is_document) = (&pass.options.limits, pass.variant == "document");
        let others = [Rows::Spans, Rows::Events, Rows::Counters];
        let is_log = others.into_iter().all(|table| pass.rows(table) == 0);
        let is_one = pass.roster.traces.len() == 1;
        Self {
            sorter: Sorter::new(&Arena::new(limits.tree_bytes)),
            data: Store::new(limits.tree_bytes / 4),
            sites: Sites::new(limits.entries),
            levels: Levels::new(is_document),
            is_document,
            has_times: false,
            timeline: (!is_one).then_some(pass.timeline),
            // A log is in the order in which its threads delivered their entries.
            keeps_order: is_log && is_one,
            defined: HashSet::new(),
            bytes: Vec::new(),
            message: Vec::new(),
            number: 0,
        }
    }

    /// Maximum number of arguments of an entry.
    fn slots(&self) -> usize {
        if self.is_document { SLOTS_DOCUMENT } else { SLOTS_LIBRARY }
    }

    /// The origin in nanoseconds since 1970, if known.
    pub(super) fn unix_origin_ns(&self, roster: &Roster) -> Option<i64> {
        match &self.timeline {
            Some(timeline) => timeline.unix_origin_ns(),
            None => roster.traces.first().and_then(|trace| trace.unix_origin_ns),
        }
    }

    /// Nanoseconds from the origin of the output.
    pub(super) fn at(&self, ts_ns: i64) -> i64 {
        self.timeline.as_ref().map_or(ts_ns, |timeline| timeline.at(ts_ns).cast_signed())
    }

    /// The next number: entries with equal times are in this order.
    pub(super) fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Encodes the arguments; returns false if they do not fit or would not read back the same.
    fn lay_out(&mut self, values: &Values) -> bool {
        self.bytes.clear();
        if values.len() > self.slots() {
            return false;
        }
        if self.is_document {
            put_raw(values.iter(), ByteOrder::Little, &mut self.bytes);
        } else {
            put_packed(values.iter(), &mut self.bytes);
        }
        self.bytes.len() <= CNANOLOG_MAX_ENTRY_SIZE
    }

    fn prefers(&self) -> Form {
        if self.is_document { Form::Raw } else { Form::Packed }
    }

    /// Whether a site would print the encoded arguments as this message.
    pub(super) fn prints(&mut self, site: u32, format: &[u8], types: &[ArgType], message: &str) -> bool {
        let prefers = self.prefers();
        let Some(args) = Types::new(types).decode(&self.bytes, ByteOrder::Little, prefers) else { return false };
        self.message.clear();
        self.sites.program(site, format).render(format, args, &mut self.message);
        match std::str::from_utf8(&self.message) {
            Ok(text) => text == message,
            Err(_) => String::from_utf8_lossy(&self.message) == message,
        }
    }

    /// Adds an entry; its texts have already been shortened if necessary.
    pub(super) fn push(&mut self, site: Site, values: &Values, when: When, loss: &mut Loss) -> Result<()> {
        if values.is_cut() {
            loss.lose("ends of entries above 64 KiB", || format!("{} arguments", values.len()));
        }
        let fits = self.lay_out(values);
        debug_assert!(fits, "texts are cut and arguments counted before");
        let site = self.sites.id(site)?;
        self.add(site, when)
    }

    /// Lays out an entry for [`Self::add`], and returns the id of its site; `None` if its format does not print this
    /// message.
    pub(super) fn try_format(
        &mut self,
        site: Site,
        values: &Values,
        message: &str,
        names: &mut NamePool,
    ) -> Result<Option<u32>> {
        if !self.lay_out(values) {
            return Ok(None);
        }
        let id = self.sites.id(site)?;
        let format = names.get(site.format)?;
        Ok(self.prints(id, format.as_bytes(), values.types(), message).then_some(id))
    }

    /// Adds the entry that was laid out last.
    pub(super) fn add(&mut self, site: u32, when: When) -> Result<()> {
        let offset = if self.bytes.is_empty() { 0 } else { self.data.append(&self.bytes)? };
        let len = self.bytes.len() as u16;
        self.has_times |= when.ts_ns.is_some();
        let ts_ns = when.ts_ns.unwrap_or(when.first_ns);
        let time = if self.keeps_order { 0 } else { ts_ns };
        self.sorter.push(Entry { time, phase: when.phase, number: when.number, ts_ns, site, offset, len })
    }
}

/// When an entry happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    /// Nanoseconds from the origin of the output.
    pub(super) ts_ns: Option<i64>,
    /// Start of the trace, for an entry without a timestamp.
    pub(super) first_ns: i64,
    pub(super) phase: u8,
    pub(super) number: u64,
}

/// A site with the types of `values`.
pub(super) fn site(level: u8, format: NameId, (file, line): (Option<NameId>, Option<u32>), values: &Values) -> Site {
    Site { level, file, line: line.unwrap_or(0), format, types: Table::new(values.types()) }
}
