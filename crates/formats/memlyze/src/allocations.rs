//! Which allocation a free ends, what is reused, what stays: in memory for the live ones only.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
};

use traceloom_core::{Limits, Result};

use crate::{Alloc, Free, raw::Dialect};

/// Follows the allocations of one file, event by event.
///
/// In the growth dialect events have no address, so nothing is paired: sizes are added up only.
#[derive(Debug)]
pub struct Allocations {
    dialect: Dialect,
    limits: Limits,
    live: HashMap<u64, Allocation, Scatter>,
    /// Addresses freed of late, each at the place that its value gives; a newer one pushes an older one out.
    freed: Vec<u64>,
    totals: Totals,
}

/// An allocation that is live, or was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Allocation {
    /// Its number among the ALLOC events, from 0, or the one that [`Allocations::alloc_as`] was given.
    pub number: u64,
    /// When it was made.
    pub time_us: u64,
    /// Where it lies.
    pub address: u64,
    /// How much memory.
    pub size_bytes: u64,
    /// Id of the stack.
    pub stack: u64,
    /// The thread.
    pub thread: u16,
}

impl Allocation {
    /// How long it lived if it ended at `end_us`.
    pub const fn lifetime_us(&self, end_us: u64) -> u64 {
        end_us.saturating_sub(self.time_us)
    }
}

/// What a FREE does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Freed {
    /// It ends this allocation.
    Allocation(Allocation),
    /// Nothing lives at the address, and it was freed not long ago.
    Again,
    /// Nothing lives at the address.
    Unknown,
    /// Growth dialect: a line shrank by an unknown size.
    Shrink,
}

/// What was counted; sums may exceed 64 bits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Totals {
    /// ALLOC events.
    pub allocs: u64,
    /// FREE events.
    pub frees: u64,
    /// Memory allocated.
    pub alloc_bytes: u128,
    /// Memory freed, as far as it is known which.
    pub freed_bytes: u128,
    /// Memory of the live allocations; in the growth dialect what it would be without any shrinking.
    pub live_bytes: u128,
    /// The most that `live_bytes` ever was.
    pub peak_bytes: u128,
    /// When that was first.
    pub peak_time_us: u64,
    /// Allocations at an address that was still in use: the free before them is missing.
    pub reused: u64,
    /// Frees of an address at which nothing lives.
    pub unmatched_frees: u64,
    /// Those of them that certainly free a second time; older ones may be missed.
    pub double_frees: u64,
}

/// Addresses that [`Freed::Again`] can tell from unknown ones.
const FREED_PLACES: usize = 1 << 12;

impl Allocations {
    /// Before the first event of a file.
    pub fn new(dialect: Dialect, limits: &Limits) -> Self {
        Self { dialect, limits: limits.clone(), live: HashMap::default(), freed: Vec::new(), totals: Totals::default() }
    }

    /// Takes an ALLOC; gives the allocation that it replaces at its address.
    pub fn alloc(&mut self, alloc: &Alloc) -> Result<Option<Allocation>> {
        self.alloc_as(self.totals.allocs, alloc)
    }

    /// The same for a caller who numbers allocations otherwise.
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

    /// Takes a FREE; says what it does.
    pub fn free(&mut self, free: &Free) -> Freed {
        self.totals.frees += 1;
        if self.dialect == Dialect::Growth {
            return Freed::Shrink;
        }
        // Zero is what an empty place holds; one more tells a freed address of zero from that.
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

    /// The allocation that lives at an address.
    pub fn at(&self, address: u64) -> Option<&Allocation> {
        self.live.get(&address)
    }

    /// The allocations that live now, in no particular order.
    pub fn live(&self) -> impl ExactSizeIterator<Item = &Allocation> {
        self.live.values()
    }

    /// What was counted so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}

/// Scatters addresses, at each event: quicker than the usual hash, and with a secret of its own as that, so that no file
/// can be made to put all of them near one place.
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
