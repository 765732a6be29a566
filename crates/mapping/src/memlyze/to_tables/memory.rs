//! Allocations and frees.
//!
//! An allocation is pushed when its fate is known: at the event that frees it or allocates its address again, and at
//! the end for live ones, by their number. So only live allocations are kept in memory. Ids are the numbers of the
//! events in the file, whatever their kind.
//!
//! In the growth dialect, allocations and frees cannot be paired: the fate of each allocation is `unknown`, and rows
//! come in file order.

use traceloom_core::Limits;
use traceloom_memlyze::{
    Alloc, Free,
    allocations::{Allocation as Lived, Allocations, Freed},
    raw::Dialect,
};
use traceloom_model::{Fate, Halt, Table, Tables, allocations::Allocation, frees::Free as FreeRow, trackers::Symbol};

use super::{names::row_id, places::Places, times::ns};

/// Pushes the rows of `allocations` and `frees`.
#[derive(Debug)]
pub(super) struct Memory {
    /// `None` if allocations cannot be paired, or no one needs it.
    tracker: Option<Allocations>,
    wants_allocations: bool,
    freed: Symbol,
    live: Symbol,
    reused: Symbol,
    unknown: Symbol,
}

/// How an allocation ended.
#[derive(Clone, Copy)]
struct End {
    fate: Symbol,
    /// The time and the number of the event.
    event: Option<(u64, i64)>,
}

impl Memory {
    pub(super) fn new(dialect: Dialect, limits: &Limits, tables: &mut Tables<'_>) -> Self {
        let wants_allocations = tables.wants(Table::Allocations);
        let is_asked = wants_allocations || tables.wants_any(Table::Frees, &["allocation_id"]);
        let tracks = is_asked && dialect == Dialect::Document;
        let mut intern = |text| tables.strings.intern(text);
        Self {
            tracker: tracks.then(|| Allocations::new(dialect, limits)),
            wants_allocations,
            freed: intern(Fate::Freed.as_str()),
            live: intern(Fate::Live.as_str()),
            reused: intern(Fate::Reused.as_str()),
            unknown: intern(Fate::Unknown.as_str()),
        }
    }

    #[inline]
    pub(super) fn alloc(
        &mut self,
        id: i64,
        alloc: &Alloc,
        places: Option<&Places>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        match &mut self.tracker {
            Some(tracker) => match tracker.alloc_as(id.cast_unsigned(), alloc)? {
                Some(replaced) => {
                    let end = End { fate: self.reused, event: Some((alloc.time_us, id)) };
                    self.push(&replaced, end, places, tables)
                }
                None => Ok(()),
            },
            None if self.wants_allocations => {
                let &Alloc { time_us, address, size_bytes, stack, thread, .. } = alloc;
                let lived = Lived { number: id.cast_unsigned(), time_us, address, size_bytes, stack, thread };
                self.push(&lived, End { fate: self.unknown, event: None }, places, tables)
            }
            None => Ok(()),
        }
    }

    #[inline]
    pub(super) fn free(
        &mut self,
        id: i64,
        ts_ns: i64,
        free: &Free,
        places: Option<&Places>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let freed = self.tracker.as_mut().map(|tracker| tracker.free(free));
        let ended = match freed {
            Some(Freed::Allocation(allocation)) => Some(allocation),
            _ => None,
        };
        if tables.filter().takes_time(ts_ns) {
            let allocation_id = ended.map(|allocation| row_id(allocation.number));
            tables.push(FreeRow { id, ts_ns, address: free.address, allocation_id })?;
        }
        match ended {
            Some(allocation) => {
                let end = End { fate: self.freed, event: Some((free.time_us, id)) };
                self.push(&allocation, end, places, tables)
            }
            None => Ok(()),
        }
    }

    /// Pushes the allocations that are live at the end.
    pub(super) fn finish(&self, places: Option<&Places>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if !self.wants_allocations {
            return Ok(());
        }
        let mut live: Vec<_> = self.tracker.iter().flat_map(Allocations::live).collect();
        live.sort_unstable_by_key(|allocation| allocation.number);
        let end = End { fate: self.live, event: None };
        live.into_iter().try_for_each(|allocation| self.push(allocation, end, places, tables))
    }

    #[inline]
    fn push(&self, lived: &Lived, end: End, places: Option<&Places>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let (ts_ns, thread_id) = (ns(lived.time_us), i64::from(lived.thread));
        if !tables.filter().takes_time(ts_ns) || !tables.filter().takes_thread(thread_id) {
            return Ok(());
        }
        tables.push(Allocation {
            id: row_id(lived.number),
            ts_ns,
            thread_id: Some(thread_id),
            address: lived.address,
            size_bytes: lived.size_bytes,
            stack_id: places.and_then(|places| places.row(lived.stack)),
            fate: end.fate.into(),
            freed_ts_ns: end.event.map(|(time_us, _)| ns(time_us)),
            end_id: end.event.map(|(_, id)| id),
            lifetime_ns: end.event.map(|(time_us, _)| ns(lived.lifetime_us(time_us))),
        })
    }
}
