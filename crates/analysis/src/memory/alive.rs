//! The second pass: blocks alive at the peak and at the requested time, and double frees.

use hashbrown::HashMap;
use traceloom_model::{select, sink};

use super::{Moment, Report, sites::StackKey, usage::Peak};

/// Max number of frees whose address is searched among the allocations; more are counted as unknown.
const MAX_FREES: usize = 1 << 20;

select! {
    struct Allocations of allocations { trace_id, id, ts_ns, address, size_bytes, stack_id, freed_ts_ns, end_id }
}

select! {
    struct Frees of frees { trace_id, id, address, allocation_id }
}

pub(super) struct Alive {
    /// The last event of the peak, per trace.
    peak_events: Vec<(u64, i64)>,
    peak: Gathered,
    at: Option<Gathered>,
    /// Frees without an allocation: trace, address and event.
    unmatched: Vec<((u64, u64), i64)>,
    /// The first event that allocated each of these addresses.
    taken: HashMap<(u64, u64), i64>,
    /// Whether there are frees without an allocation.
    has_unmatched: bool,
}

/// Blocks in use at a time, by site.
#[derive(Default)]
pub(super) struct Gathered {
    ts_ns: i64,
    bytes: u64,
    count: u64,
    sites: HashMap<StackKey, (u64, u64)>,
}

impl Gathered {
    /// No blocks yet.
    pub(super) fn at(ts_ns: i64) -> Self {
        Self { ts_ns, ..Self::default() }
    }

    /// Adds a number of blocks, and their size.
    pub(super) fn add(&mut self, key: StackKey, bytes: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.count += count;
        let site = self.sites.entry(key).or_default();
        site.0 = site.0.saturating_add(bytes);
        site.1 += count;
    }

    pub(super) fn finish(self, report: &Report) -> Moment {
        let numbered = report.sites.iter().enumerate();
        let mut sites: Vec<_> = numbered
            .filter_map(|(number, site)| self.sites.get(&site.key).map(|(bytes, count)| (number, *bytes, *count)))
            .collect();
        sites.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        Moment { ts_ns: self.ts_ns, bytes: self.bytes, count: self.count, sites }
    }
}

impl Alive {
    /// `has_unmatched` says whether addresses must be remembered, which costs more than everything else.
    pub(super) fn new(peak: Peak, at_ns: Option<i64>, has_unmatched: bool) -> Self {
        Self {
            peak_events: peak.events,
            peak: Gathered::at(peak.ts_ns),
            at: at_ns.map(Gathered::at),
            unmatched: Vec::new(),
            taken: HashMap::new(),
            has_unmatched,
        }
    }

    fn take_allocations(&mut self, view: &Allocations<'_>) {
        for row in 0..view.rows {
            let (id, end) = (view.id.get(row), view.end_id.get(row));
            let key = (view.trace_id.get(row), view.stack_id.get(row));
            let bytes = view.size_bytes.get(row);
            let peak_event = self.peak_events.iter().find(|(trace_id, _)| *trace_id == key.0);
            if peak_event.is_some_and(|(_, event)| id <= *event && end.is_none_or(|end| end > *event)) {
                self.peak.add(key, bytes, 1);
            }
            if let Some(at) = &mut self.at
                && view.ts_ns.get(row) <= at.ts_ns
                && view.freed_ts_ns.get(row).is_none_or(|freed| freed > at.ts_ns)
            {
                at.add(key, bytes, 1);
            }
            if self.has_unmatched && self.taken.len() < MAX_FREES {
                let first = self.taken.entry((key.0, view.address.get(row))).or_insert(id);
                *first = id.min(*first);
            }
        }
    }

    fn take_frees(&mut self, view: &Frees<'_>) {
        for row in (0..view.rows).filter(|row| view.allocation_id.get(*row).is_none()) {
            if self.unmatched.len() < MAX_FREES {
                self.unmatched.push(((view.trace_id.get(row), view.address.get(row)), view.id.get(row)));
            }
        }
    }

    pub(super) fn finish(self, report: &mut Report) {
        // An address that was allocated before and has no allocation now was already freed.
        let was_taken = |(key, id): &&((u64, u64), i64)| self.taken.get(key).is_some_and(|first| first < id);
        let double = self.unmatched.iter().filter(was_taken).count() as u64;
        // Without addresses, all frees look alike and none is a double free.
        let double = if report.is_growth_only { 0 } else { double };
        report.totals.double_frees = double;
        report.totals.unknown_frees = report.totals.unknown_frees.saturating_sub(double);
        report.peak = self.peak.finish(report);
        report.at = self.at.map(|at| at.finish(report));
    }
}

sink! {
    impl for Alive as alive {
        Allocations(rows) => alive.take_allocations(rows),
        Frees(rows) if alive.has_unmatched => alive.take_frees(rows),
    }
}
