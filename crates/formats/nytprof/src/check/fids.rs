//! Which file numbers are defined.

use std::collections::HashSet;

/// The defined file numbers: small ones as bits, because files are numbered from 1.
#[derive(Debug, Default)]
pub(super) struct FidSet {
    bits: Vec<u64>,
    others: HashSet<u32>,
    is_full: bool,
    /// The last one found: statements of a file are consecutive.
    last: u32,
}

/// Numbers below this are kept as bits.
const BIT_FIDS: u32 = 1 << 22;

impl FidSet {
    #[inline]
    pub(super) fn contains_quickly(&mut self, fid: u32) -> bool {
        if fid == self.last && fid != 0 {
            return true;
        }
        let found = self.contains(fid);
        if found {
            self.last = fid;
        }
        found
    }

    pub(super) fn contains(&self, fid: u32) -> bool {
        if fid >= BIT_FIDS {
            return self.is_full || self.others.contains(&fid);
        }
        self.bits.get(fid as usize / 64).is_some_and(|word| word >> (fid % 64) & 1 == 1)
    }

    pub(super) fn insert(&mut self, fid: u32, max: usize) {
        if fid >= BIT_FIDS {
            self.is_full |= self.others.len() >= max;
            if !self.is_full {
                self.others.insert(fid);
            }
            return;
        }
        let index = fid as usize / 64;
        if self.bits.len() <= index {
            self.bits.resize(index + 1, 0);
        }
        if let Some(word) = self.bits.get_mut(index) {
            *word |= 1 << (fid % 64);
        }
    }

    /// The lowest number above 0 that is missing below the highest.
    pub(super) fn hole(&self) -> Option<u32> {
        if self.is_full {
            return None; // Too many to check.
        }
        let highest = (0..self.bits.len() as u32 * 64).rev().find(|fid| self.contains(*fid));
        let highest = self.others.iter().copied().max().or(highest)?;
        (1..highest).find(|fid| !self.contains(*fid))
    }
}
