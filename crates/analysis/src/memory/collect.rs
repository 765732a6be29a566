//! The first pass: sums, usage, sites.

use arrow_array::RecordBatch;
use hashbrown::HashMap;
use traceloom_core::Result;
use traceloom_model::{Columns, EventCategory, Fate, Flow, Table, TableSink, select};
use traceloom_passes::{AllocationChanges, StackRows, Words};

use super::{
    Lifetimes, Options, Report, Totals,
    alive::Gathered,
    sites::{Frames, Sites},
    usage::{Peak, Usage},
};

select! {
    /// With all columns of [`AllocationChanges`].
    struct Allocations of allocations {
        trace_id, id, ts_ns, size_bytes, stack_id, fate, freed_ts_ns, end_id, lifetime_ns,
    }
}

select! {
    struct Frees of frees { ts_ns, allocation_id }
}

select! {
    struct Events of events { ts_ns, category }
}

/// Bounds of the lifetime classes: powers of ten from a microsecond to a thousand seconds.
const BOUNDS_NS: [u64; 10] = [
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
    u64::MAX,
];

/// Quarters of the trace are only known at its end, so bytes are added up in time steps that grow when there are too
/// many of them.
#[derive(Debug)]
pub(crate) struct Collected {
    totals: Totals,
    usage: Usage,
    fates: Words<Fate>,
    categories: Words<EventCategory>,
    sites: Sites,
    lifetimes: [(u64, u64); BOUNDS_NS.len()],
    extent: Option<(i64, i64)>,
    /// Whether the fate of any allocation is known.
    has_fates: bool,
    /// Bytes by site and time step, to be assigned to quarters.
    steps: HashMap<(usize, i64), u64>,
    /// The width of a step in nanoseconds, as a power of two.
    step_shift: u32,
}

/// Max number of steps; beyond it, steps become wider.
const MAX_STEPS: usize = 1 << 16;
/// How much wider steps become, as a power of two.
const WIDER: u32 = 2;
const MAX_SHIFT: u32 = 60;

impl Collected {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            totals: Totals::default(),
            usage: Usage::new(options.order_bytes),
            fates: Words::default(),
            categories: Words::default(),
            sites: Sites::default(),
            lifetimes: Default::default(),
            extent: None,
            has_fates: false,
            steps: HashMap::new(),
            step_shift: 0,
        }
    }

    /// Whether there are neither allocations nor frees.
    pub(crate) fn is_empty(&self) -> bool {
        self.totals.allocations == 0 && self.totals.frees == 0
    }

    fn seen(&mut self, ts_ns: i64) {
        let (first, last) = self.extent.unwrap_or((ts_ns, ts_ns));
        self.extent = Some((first.min(ts_ns), last.max(ts_ns)));
    }

    fn take_allocations(&mut self, view: &Allocations<'_>, changes: &AllocationChanges<'_>) {
        // Taken out, because other fields change while it is read.
        let mut words = std::mem::take(&mut self.fates);
        let fates = words.of(view.fate.values(), Fate::of);
        for row in 0..view.rows {
            let (ts_ns, bytes) = (view.ts_ns.get(row), view.size_bytes.get(row));
            self.seen(ts_ns);
            self.totals.allocations += 1;
            self.totals.allocated_bytes = self.totals.allocated_bytes.saturating_add(bytes);
            let number = self.sites.number((view.trace_id.get(row), view.stack_id.get(row)));
            self.usage.add(changes, row, number);
            self.add_step(number, ts_ns, bytes);
            let site = self.sites.at(number);
            site.count += 1;
            site.bytes = site.bytes.saturating_add(bytes);
            let fate = fates[view.fate.keys()[row] as usize];
            match fate {
                // The tracer does not record addresses, so nothing is known about frees.
                Some(Fate::Unknown) => continue,
                Some(Fate::Live) => self.take_live(number, ts_ns, bytes),
                _ => self.take_ended(number, view, row, fate),
            }
            self.has_fates = true;
        }
        self.fates = words;
    }

    fn take_live(&mut self, site: usize, ts_ns: i64, bytes: u64) {
        self.totals.live += 1;
        self.totals.live_bytes = self.totals.live_bytes.saturating_add(bytes);
        let site = self.sites.at(site);
        site.live += 1;
        site.live_bytes = site.live_bytes.saturating_add(bytes);
        site.oldest_live_ns = Some(site.oldest_live_ns.map_or(ts_ns, |oldest| oldest.min(ts_ns)));
    }

    fn take_ended(&mut self, site: usize, view: &Allocations<'_>, row: usize, fate: Option<Fate>) {
        let bytes = view.size_bytes.get(row);
        let lifetime = view.lifetime_ns.get(row).unwrap_or(0).max(0) as u64;
        let is_temporary = view.end_id.get(row) == Some(view.id.get(row) + 1) && fate == Some(Fate::Freed);
        let site = self.sites.at(site);
        site.freed += 1;
        site.lifetime_ns = site.lifetime_ns.saturating_add(lifetime);
        if is_temporary {
            site.temporary += 1;
            site.temporary_bytes = site.temporary_bytes.saturating_add(bytes);
        }
        self.totals.temporary += u64::from(is_temporary);
        match fate {
            Some(Fate::Reused) => self.totals.reused += 1,
            _ => self.totals.freed_bytes = self.totals.freed_bytes.saturating_add(bytes),
        }
        let bound = BOUNDS_NS.iter().position(|bound| lifetime < *bound).unwrap_or(BOUNDS_NS.len() - 1);
        self.lifetimes[bound].0 += 1;
        self.lifetimes[bound].1 = self.lifetimes[bound].1.saturating_add(bytes);
    }

    fn add_step(&mut self, site: usize, ts_ns: i64, bytes: u64) {
        let sum = self.steps.entry((site, ts_ns >> self.step_shift)).or_default();
        *sum = sum.saturating_add(bytes);
        if self.steps.len() > MAX_STEPS && self.step_shift < MAX_SHIFT {
            self.step_shift += WIDER;
            for ((site, step), bytes) in std::mem::take(&mut self.steps) {
                *self.steps.entry((site, step >> WIDER)).or_default() += bytes;
            }
        }
    }

    fn take_frees(&mut self, view: &Frees<'_>) {
        for row in 0..view.rows {
            self.seen(view.ts_ns.get(row));
            self.totals.frees += 1;
            self.totals.unknown_frees += u64::from(view.allocation_id.get(row).is_none());
        }
    }

    fn take_events(&mut self, view: &Events<'_>) {
        let categories = self.categories.of(view.category.values(), EventCategory::of);
        let is_gc = |key: &&i32| categories[**key as usize] == Some(EventCategory::Gc);
        self.totals.collections += view.category.keys().iter().filter(is_gc).count() as u64;
        view.ts_ns.values().iter().for_each(|ts_ns| self.seen(*ts_ns));
    }

    /// The report so far, the peak, and the blocks in use then if they are known without a second pass.
    pub(super) fn finish(mut self, options: &Options) -> (Report, Peak, Option<Gathered>) {
        let (first_ns, last_ns) = self.extent.unwrap_or_default();
        (self.totals.first_ns, self.totals.last_ns) = (first_ns, last_ns);
        let quarter = |ts_ns: i64| {
            let width = (i128::from(last_ns) - i128::from(first_ns) + 1).max(1);
            ((i128::from(ts_ns) - i128::from(first_ns)) * 4 / width).clamp(0, 3) as usize
        };
        for ((site, step), bytes) in &self.steps {
            let sum = &mut self.sites.at(*site).quarters[quarter(step << self.step_shift)];
            *sum = sum.saturating_add(*bytes);
        }
        let is_growth_only = self.totals.allocations > 0 && !self.has_fates;
        if is_growth_only {
            // Nothing could be matched, so these frees are not unusual.
            self.totals.unknown_frees = 0;
        }
        let peak = self.usage.peak();
        let alive = self.alive(&peak);
        let lifetimes = self.lifetimes.iter().zip(BOUNDS_NS);
        let lifetimes =
            lifetimes.map(|((count, bytes), below_ns)| Lifetimes { below_ns, count: *count, bytes: *bytes });
        let report = Report {
            totals: self.totals,
            curve: self.usage.curve(first_ns, last_ns, options.points),
            lifetimes: lifetimes.collect(),
            is_growth_only,
            is_coarse: self.usage.is_coarse(),
            sites: self.sites.finish(),
            ..Report::default()
        };
        (report, peak, alive)
    }

    fn alive(&self, peak: &Peak) -> Option<Gathered> {
        // Only sums that fit can be subtracted again.
        let fits = self.totals.allocated_bytes < u64::MAX;
        let alive = self.usage.alive(peak, self.sites.len()).filter(|_| fits)?;
        let mut gathered = Gathered::at(peak.ts_ns);
        for (key, (bytes, count)) in self.sites.keys().zip(alive) {
            gathered.add(key, bytes, count);
        }
        Some(gathered)
    }
}

impl TableSink for Collected {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Allocations => Allocations::COLUMNS,
            Table::Frees => Frees::COLUMNS,
            Table::Stacks => StackRows::COLUMNS,
            Table::Frames => Frames::COLUMNS,
            Table::Events => Events::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        match table {
            Table::Allocations => {
                self.take_allocations(&Allocations::of(&batch)?, &AllocationChanges::of(&batch)?);
            }
            Table::Frees => self.take_frees(&Frees::of(&batch)?),
            Table::Stacks => self.sites.take_stacks(&StackRows::of(&batch)?),
            Table::Frames => self.sites.take_frames(&Frames::of(&batch)?),
            _ => self.take_events(&Events::of(&batch)?),
        }
        Ok(Flow::Continue)
    }
}
