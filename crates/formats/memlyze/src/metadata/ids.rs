//! Sets and tables of ids, small if the ids count up from zero, as they nearly always do.

use std::collections::HashSet;

use traceloom_core::{Limits, Result, reserve};

/// Finds the row of an id. Call order: `(push* finish row*)*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdTable {
    rows: u32,
    /// The id of each row; empty while every row's id equals its number.
    ids: Vec<u64>,
    /// Rows by ascending id, one per id; empty if they are already in this order.
    order: Vec<u32>,
}

impl IdTable {
    /// Sets the id of the next row.
    pub(crate) fn push(&mut self, id: u64, limits: &Limits, what: &'static str) -> Result<()> {
        limits.check_entries(what, u64::from(self.rows) + 1)?;
        if self.ids.is_empty() && id != u64::from(self.rows) {
            reserve(&mut self.ids, self.rows as usize + 1)?;
            self.ids.extend(0..u64::from(self.rows));
        }
        if !self.ids.is_empty() || id != u64::from(self.rows) {
            reserve(&mut self.ids, 1)?;
            self.ids.push(id);
        }
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }

    /// Sorts the ids; returns those that occur more than once. The last row with an id is kept.
    pub(crate) fn finish(&mut self) -> Result<Vec<u64>> {
        let mut twice = Vec::new();
        self.order.clear();
        if self.ids.is_sorted_by(|one, two| one < two) {
            return Ok(twice);
        }
        let ids = &self.ids;
        let id_of = |row: u32| ids.get(row as usize).copied().unwrap_or(0);
        let mut order = Vec::new();
        reserve(&mut order, self.rows as usize)?;
        order.extend(0..self.rows);
        order.sort_unstable_by_key(|row| (id_of(*row), std::cmp::Reverse(*row)));
        order.dedup_by(|later, kept| {
            let same = id_of(*later) == id_of(*kept);
            if same && twice.last() != Some(&id_of(*kept)) {
                twice.push(id_of(*kept));
            }
            same
        });
        self.order = order;
        Ok(twice)
    }

    /// The row of an id.
    #[inline]
    pub(crate) fn row(&self, id: u64) -> Option<usize> {
        if self.ids.is_empty() {
            return (id < u64::from(self.rows)).then_some(id as usize);
        }
        self.search(id)
    }

    /// All ids below this one exist.
    pub(crate) fn dense(&self) -> u64 {
        if self.ids.is_empty() { self.rows.into() } else { 0 }
    }

    fn search(&self, id: u64) -> Option<usize> {
        if self.order.is_empty() {
            return self.ids.binary_search(&id).ok();
        }
        let by_id = |row: &u32| self.ids.get(*row as usize).copied().cmp(&Some(id));
        let place = self.order.binary_search_by(by_id).ok()?;
        self.order.get(place).map(|row| *row as usize)
    }

    /// Ids with their rows, by ascending id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, usize)> {
        (0..self.len()).map(|place| {
            let row = self.order.get(place).map_or(place, |row| *row as usize);
            (self.ids.get(row).copied().unwrap_or(row as u64), row)
        })
    }

    /// Number of distinct ids.
    pub(crate) fn len(&self) -> usize {
        if self.order.is_empty() { self.rows as usize } else { self.order.len() }
    }
}

/// A set of ids in bounded memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet {
    /// One bit per small id.
    bits: Vec<u64>,
    large: HashSet<u64>,
}

/// Ids below this one have a bit: at most a quarter of a megabyte, even for one hostile id.
const SMALL: u64 = 1 << 21;
/// Maximum number of large ids; real files have none.
const MAX_LARGE: usize = 1 << 20;

impl IdSet {
    /// Adds an id; returns whether it is new. A full set accepts no more large ids and reports none as new.
    #[inline]
    pub(crate) fn insert(&mut self, id: u64) -> Result<bool> {
        let bit = 1 << (id % 64);
        match self.bits.get_mut(word_of(id)) {
            Some(word) if *word & bit != 0 => Ok(false),
            Some(word) => {
                *word |= bit;
                Ok(true)
            }
            None => self.insert_slow(id),
        }
    }

    #[cold]
    fn insert_slow(&mut self, id: u64) -> Result<bool> {
        if id >= SMALL {
            return Ok(self.large.len() < MAX_LARGE && self.large.insert(id));
        }
        let words = (word_of(id) + 1).next_power_of_two();
        let more = words - self.bits.len();
        reserve(&mut self.bits, more)?;
        self.bits.resize(words, 0);
        self.insert(id)
    }

    /// Whether an id is in the set.
    #[inline(always)]
    pub(crate) fn contains(&self, id: u64) -> bool {
        match self.bits.get(word_of(id)) {
            Some(word) => word & 1 << (id % 64) != 0,
            None => self.contains_large(id),
        }
    }

    #[cold]
    fn contains_large(&self, id: u64) -> bool {
        self.large.contains(&id)
    }

    /// All ids, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let small =
            self.bits.iter().zip(0u64..).flat_map(|(word, index)| {
                (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| index * 64 + bit)
            });
        let mut large: Vec<u64> = self.large.iter().copied().collect();
        large.sort_unstable();
        small.chain(large)
    }
}

#[inline(always)]
fn word_of(id: u64) -> usize {
    usize::try_from(id / 64).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(ids: &[u64]) -> (IdTable, Vec<u64>) {
        let mut table = IdTable::default();
        for id in ids {
            table.push(*id, &Limits::default(), "ids").unwrap();
        }
        let twice = table.finish().unwrap();
        (table, twice)
    }

    #[test]
    fn rows_are_found_whatever_the_order() {
        for ids in [&[0, 1, 2, 3][..], &[5, 6, 900], &[0, 1, 10, 11, 2, 3], &[u64::MAX, 0], &[1], &[]] {
            let (table, twice) = table(ids);
            assert!(twice.is_empty());
            for (row, id) in ids.iter().enumerate() {
                assert_eq!(table.row(*id), Some(row), "{ids:?}");
            }
            assert_eq!(table.row(4), None);
            let mut sorted = ids.to_vec();
            sorted.sort_unstable();
            assert!(table.iter().map(|(id, _)| id).eq(sorted), "{ids:?}");
        }
    }

    #[test]
    fn the_last_row_of_an_id_counts() {
        let (table, twice) = table(&[0, 1, 1, 2, 0, 0]);
        assert_eq!(twice, [0, 1]);
        assert_eq!(table.iter().collect::<Vec<_>>(), [(0, 5), (1, 2), (2, 3)]);
        assert_eq!(table.row(1), Some(2));
    }

    #[test]
    fn a_set_holds_small_and_large_ids() {
        let mut set = IdSet::default();
        for id in [3, 0, u64::MAX, 70, SMALL - 1, SMALL] {
            assert!(set.insert(id).unwrap());
            assert!(!set.insert(id).unwrap());
            assert!(set.contains(id));
        }
        assert!(!set.contains(1));
        assert!(set.iter().eq([0, 3, 70, SMALL - 1, SMALL, u64::MAX]));
    }
}
