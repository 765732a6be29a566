//! Allocations by site.

use hashbrown::HashMap;
use traceloom_model::select;

use super::clock::{CELLS, Clock, halve};
use crate::group::whole;

select! {
    pub(in crate::advise) struct AllocationRows of allocations { id, ts_ns, address, size_bytes, stack_id, freed_ts_ns, end_id, lifetime_ns }
}
select! { pub(in crate::advise) struct FreeRows of frees { ts_ns, address, allocation_id } }

/// Measurements of allocations.
#[derive(Debug, Default)]
pub(in crate::advise) struct Memory {
    /// By stack.
    pub(in crate::advise) sites: HashMap<Option<i64>, SiteUse>,
    pub(in crate::advise) clock: Clock,
    pub(in crate::advise) count: u64,
    pub(in crate::advise) bytes: u64,
    pub(in crate::advise) freed: u64,
    /// Times of frees of unallocated addresses, by address.
    pub(in crate::advise) lost_frees: HashMap<u64, Vec<i64>>,
}

/// The allocations of one site.
#[derive(Clone, Debug)]
pub(in crate::advise) struct SiteUse {
    pub(in crate::advise) count: u64,
    pub(in crate::advise) bytes: u64,
    pub(in crate::advise) live: u64,
    pub(in crate::advise) live_bytes: u64,
    /// Freed by the next event.
    pub(in crate::advise) temporary: u64,
    pub(in crate::advise) lifetime_ns: u64,
    /// Bytes that were never freed, by time of allocation.
    pub(in crate::advise) live_cells: [u64; CELLS],
    pub(in crate::advise) first_ns: i64,
}

const MAX_SITES: usize = 1 << 16;
const MAX_LOST: usize = 1 << 16;

impl Memory {
    pub(in crate::advise) fn add(&mut self, view: &AllocationRows<'_>) {
        for row in 0..view.rows {
            let ts_ns = view.ts_ns.get(row);
            let Self { sites, clock, .. } = self;
            let cell = clock.cell(ts_ns, || {
                sites.values_mut().for_each(|site| halve(&mut site.live_cells, |one, other| one + other));
            });
            let bytes = view.size_bytes.get(row);
            self.count += 1;
            self.bytes = self.bytes.saturating_add(bytes);
            let stack = view.stack_id.get(row);
            if sites.len() >= MAX_SITES && !sites.contains_key(&stack) {
                continue;
            }
            let site = sites.entry(stack).or_insert_with(|| SiteUse::new(ts_ns));
            site.count += 1;
            site.bytes = site.bytes.saturating_add(bytes);
            if view.freed_ts_ns.get(row).is_some() {
                self.freed += 1;
                site.temporary += u64::from(view.end_id.get(row) == Some(view.id.get(row).saturating_add(1)));
                site.lifetime_ns = site.lifetime_ns.saturating_add(whole(view.lifetime_ns.get(row).unwrap_or(0)));
            } else if view.address.get(row) != 0 {
                // A tracer without addresses does not record frees, so everything would seem to leak.
                site.live += 1;
                site.live_bytes = site.live_bytes.saturating_add(bytes);
                site.live_cells[cell] = site.live_cells[cell].saturating_add(bytes);
            }
        }
    }

    pub(in crate::advise) fn add_frees(&mut self, view: &FreeRows<'_>) {
        for row in (0..view.rows).filter(|row| view.allocation_id.get(*row).is_none()) {
            let address = view.address.get(row);
            if self.lost_frees.len() < MAX_LOST || self.lost_frees.contains_key(&address) {
                let times = self.lost_frees.entry(address).or_default();
                if times.len() < MAX_TIMES {
                    times.push(view.ts_ns.get(row));
                }
            }
        }
    }
}

/// Max number of frees kept per address.
const MAX_TIMES: usize = 16;

impl SiteUse {
    fn new(first_ns: i64) -> Self {
        Self {
            count: 0,
            bytes: 0,
            live: 0,
            live_bytes: 0,
            temporary: 0,
            lifetime_ns: 0,
            live_cells: [0; CELLS],
            first_ns,
        }
    }

    pub(in crate::advise) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.live += other.live;
        self.live_bytes = self.live_bytes.saturating_add(other.live_bytes);
        self.temporary += other.temporary;
        self.lifetime_ns = self.lifetime_ns.saturating_add(other.lifetime_ns);
        self.live_cells.iter_mut().zip(&other.live_cells).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
        self.first_ns = self.first_ns.min(other.first_ns);
    }
}
