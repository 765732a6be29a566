//! Pairs allocations with frees; only live allocations are kept in memory.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
};

use traceloom_core::{Limits, Result};

use crate::{Alloc, Free, raw::Dialect};

/// Tracks the allocations of one file, event by event.
///
/// In the growth dialect events have no address, so they are not paired: only sizes are summed.
#[derive(Debug)]
pub struct Allocations {
    dialect: Dialect,
    limits: Limits,
    live: HashMap<u64, Allocation, Scatter>,
    /// Recently freed addresses, each in the slot given by its value; a newer address replaces an older one.
    freed: Vec<u64>,
    totals: Totals,
}

/// An allocation that is or was live.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Allocation {
    /// Its number among the ALLOC events, from 0, or the number passed to [`Allocations::alloc_as`].
    pub number: u64,
    /// Time of the allocation.
    pub time_us: u64,
    /// Address of the memory.
    pub address: u64,
    /// Size of the memory.
    pub size_bytes: u64,
    /// Id of the stack.
    pub stack: u64,
    /// The thread.
    pub thread: u16,
}

impl Allocation {
    /// Its lifetime if it ended at `end_us`.
    pub const fn lifetime_us(&self, end_us: u64) -> u64 {
        end_us.saturating_sub(self.time_us)
    }
}

/// The effect of a FREE.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Freed {
    /// It ends this allocation.
    Allocation(Allocation),
    /// Nothing is allocated at the address, which was freed recently.
    Again,
    /// Nothing is allocated at the address.
    Unknown,
    /// Growth dialect: the memory of a source line shrank by an unknown size.
    Shrink,
}

/// The totals; sums may exceed 64 bits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Totals {
    /// ALLOC events.
    pub allocs: u64,
    /// FREE events.
    pub frees: u64,
    /// Bytes allocated.
    pub alloc_bytes: u128,
    /// Bytes freed, as far as known.
    pub freed_bytes: u128,
    /// Bytes of the live allocations; in the growth dialect, what they would be without any shrinking.
    pub live_bytes: u128,
    /// The maximum of `live_bytes`.
    pub peak_bytes: u128,
    /// When the peak was first reached.
    pub peak_time_us: u64,
    /// Allocations at an address that was still in use: the free before them is missing.
    pub reused: u64,
    /// Frees of an address at which nothing is allocated.
    pub unmatched_frees: u64,
    /// Those of the unmatched frees that certainly free memory twice; older ones may be missed.
    pub double_frees: u64,
}

/// Number of addresses that [`Freed::Again`] can distinguish from unknown ones.
const FREED_PLACES: usize = 1 << 12;

impl Allocations {
    /// The state before the first event of a file.
    pub fn new(dialect: Dialect, limits: &Limits) -> Self {
        Self { dialect, limits: limits.clone(), live: HashMap::default(), freed: Vec::new(), totals: Totals::default() }
    }

    /// Processes an ALLOC; returns the allocation that it replaces at its address.
    pub fn alloc(&mut self, alloc: &Alloc) -> Result<Option<Allocation>> {
        self.alloc_as(self.totals.allocs, alloc)
    }

    /// The same for callers that number allocations differently.
    pub fn alloc_as(&mut self, number: u64, alloc: &Alloc) -> Result<Option<Allocation>> {
        self.totals.allocs += 1;
        self.totals.alloc_bytes += u128::from(alloc.size_bytes);
        self.totals.live_bytes += u128::from(alloc.size_bytes);
        let replaced = if self.dialect == Dialect::Growth { None } else { self.insert(number, alloc)? };
        if let Some(replaced) = &replaced {
            self.totals.reused += 1;
            self.totals.live_bytes -= u128::from(replaced.size_bytes);
        }
        if self.totals.live_bytes > self.totals.peak_bytes {
            self.totals.peak_bytes = self.totals.live_bytes;
            self.totals.peak_time_us = alloc.time_us;
        }
        Ok(replaced)
    }

    fn insert(&mut self, number: u64, alloc: &Alloc) -> Result<Option<Allocation>> {
        let &Alloc { time_us, address, size_bytes, stack, thread, .. } = alloc;
        self.limits.check_entries("live allocations", self.live.len() as u64 + 1)?;
        Ok(self.live.insert(address, Allocation { number, time_us, address, size_bytes, stack, thread }))
    }

    /// Processes a FREE; returns its effect.
    pub fn free(&mut self, free: &Free) -> Freed {
        self.totals.frees += 1;
        if self.dialect == Dialect::Growth {
            return Freed::Shrink;
        }
        // Zero marks an empty slot; adding one distinguishes a freed address of zero from it.
        let mark = free.address.wrapping_add(1);
        if let Some(allocation) = self.live.remove(&free.address) {
            self.totals.live_bytes -= u128::from(allocation.size_bytes);
            self.totals.freed_bytes += u128::from(allocation.size_bytes);
            if self.freed.is_empty() {
                self.freed.resize(FREED_PLACES, 0);
            }
            if let Some(place) = self.freed.get_mut(freed_place(free.address)) {
                *place = mark;
            }
            return Freed::Allocation(allocation);
        }
        self.totals.unmatched_frees += 1;
        if mark != 0 && self.freed.get(freed_place(free.address)) == Some(&mark) {
            self.totals.double_frees += 1;
            return Freed::Again;
        }
        Freed::Unknown
    }

    /// The live allocation at an address.
    pub fn at(&self, address: u64) -> Option<&Allocation> {
        self.live.get(&address)
    }

    /// The live allocations, in no particular order.
    pub fn live(&self) -> impl ExactSizeIterator<Item = &Allocation> {
        self.live.values()
    }

    /// The totals so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}

/// Hashes addresses, once per event: faster than the default hash, but also seeded randomly, so that no file can be
/// made to put all of them close together.
#[derive(Clone, Copy, Debug)]
struct Scatter {
    secret: u64,
    factor: u64,
}

impl Default for Scatter {
    fn default() -> Self {
        let random = RandomState::new();
        Self { secret: random.hash_one(0), factor: random.hash_one(1) | 1 }
    }
}

impl BuildHasher for Scatter {
    type Hasher = Self;

    #[inline]
    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for Scatter {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let product = u128::from(value ^ self.secret) * u128::from(self.factor);
        self.secret = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.secret
    }
}

fn freed_place(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % FREED_PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Padding;

    fn alloc(address: u64, size_bytes: u64, time_us: u64) -> Alloc {
        Alloc { delta_us: 0, time_us, address, size_bytes, stack: 0, thread: 0, padding: Padding::default() }
    }

    fn free(address: u64, time_us: u64) -> Free {
        Free { delta_us: 0, time_us, address, padding: Padding::default() }
    }

    #[test]
    fn pairs_reuse_and_wrong_frees() {
        let mut tracker = Allocations::new(Dialect::Document, &Limits::default());
        assert_eq!(tracker.alloc(&alloc(16, 100, 1)).unwrap(), None);
        assert_eq!(tracker.alloc(&alloc(16, 200, 2)).unwrap().map(|old| old.number), Some(0));
        let Freed::Allocation(freed) = tracker.free(&free(16, 9)) else { panic!("not paired") };
        assert_eq!((freed.number, freed.lifetime_us(9)), (1, 7));
        assert_eq!(tracker.free(&free(16, 9)), Freed::Again);
        assert_eq!(tracker.free(&free(0, 9)), Freed::Unknown);
        assert_eq!(tracker.free(&free(u64::MAX, 9)), Freed::Unknown);
        tracker.alloc(&alloc(0, 50, 10)).unwrap();
        assert_eq!(tracker.at(0).map(|live| live.size_bytes), Some(50));
        let expected = Totals {
            allocs: 3,
            frees: 4,
            alloc_bytes: 350,
            freed_bytes: 200,
            live_bytes: 50,
            peak_bytes: 200,
            peak_time_us: 2,
            reused: 1,
            unmatched_frees: 3,
            double_frees: 1,
        };
        assert_eq!(tracker.totals(), &expected);
    }

    #[test]
    fn growth_is_added_up_only() {
        let mut tracker = Allocations::new(Dialect::Growth, &Limits::default());
        tracker.alloc(&alloc(0, 5, 0)).unwrap();
        tracker.alloc(&alloc(0, 6, 0)).unwrap();
        assert_eq!(tracker.free(&free(0, 1)), Freed::Shrink);
        assert_eq!((tracker.live().len(), tracker.totals().live_bytes, tracker.totals().reused), (0, 11, 0));
    }

    #[test]
    fn sizes_beyond_64_bits_add_up_and_the_limit_holds() {
        let limits = Limits::with(|limits| limits.entries = 2);
        let mut tracker = Allocations::new(Dialect::Document, &limits);
        tracker.alloc(&alloc(1, u64::MAX, 0)).unwrap();
        tracker.alloc(&alloc(2, u64::MAX, 0)).unwrap();
        assert_eq!(tracker.totals().peak_bytes, 2 * u128::from(u64::MAX));
        assert!(tracker.alloc(&alloc(3, 1, 0)).is_err());
    }
}
