//! Sorting more than fits into memory: sorted runs, merged when they are read.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{Arena, Spill, SpillIter, SpillRow};
use crate::Result;

/// Bytes of a run. Merging holds one segment of each run, so runs are long.
const RUN_BYTES: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };

/// Takes entries in any order.
#[derive(Debug)]
pub struct Sorter<T> {
    arena: Arena,
    buffer: Vec<T>,
    runs: Vec<Spill<T>>,
}

impl<T: SpillRow + Ord> Sorter<T> {
    const RUN: usize = RUN_BYTES / size_of::<T>();

    /// Empty; runs go to the arena.
    pub fn new(arena: &Arena) -> Self {
        Self { arena: arena.clone(), buffer: Vec::new(), runs: Vec::new() }
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: T) -> Result<()> {
        if self.buffer.len() >= Self::RUN {
            self.end_run()?;
        }
        self.buffer.push(entry);
        Ok(())
    }

    /// Everything in order.
    pub fn finish(mut self) -> Result<Sorted<T>> {
        self.end_run()?;
        Ok(Sorted { runs: self.runs })
    }

    fn end_run(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        sort_nearly_sorted(&mut self.buffer);
        let mut run = self.arena.stack();
        self.buffer.drain(..).try_for_each(|entry| run.push(entry))?;
        self.runs.push(run);
        Ok(())
    }
}

/// Sorts, and is quick where entries are close to their places, as they are in traces: a span that comes after its
/// children moves past them and no further.
fn sort_nearly_sorted<T: Copy + Ord>(entries: &mut [T]) {
    // Beyond this many steps a general sort is the quicker one.
    let mut steps_left = entries.len().saturating_mul(8);
    for index in 1..entries.len() {
        let entry = entries[index];
        let mut place = index;
        while place > 0 && entry < entries[place - 1] {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        if place == index {
            continue;
        }
        entries[place] = entry;
        match steps_left.checked_sub(index - place) {
            Some(left) => steps_left = left,
            None => return entries.sort_unstable(),
        }
    }
}

/// Entries in order, as often as they are asked for.
#[derive(Debug)]
pub struct Sorted<T> {
    runs: Vec<Spill<T>>,
}

impl<T: SpillRow + Ord> Sorted<T> {
    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(Spill::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Both together in one order.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.runs.extend(other.runs);
        self
    }

    /// Walks from the least to the greatest.
    pub fn iter(&self) -> Result<Merge<'_, T>> {
        let mut waiting = BinaryHeap::with_capacity(self.runs.len());
        let mut rests: Vec<_> = self.runs.iter().map(Spill::iter).collect();
        for (run, rest) in rests.iter_mut().enumerate() {
            if let Some(head) = rest.next() {
                waiting.push(Reverse((head?, run)));
            }
        }
        let current = waiting.pop();
        let lasts = self.runs.iter().map(|run| run.last().copied()).collect();
        Ok(Merge { current, waiting, rests, lasts })
    }
}

/// Entries of a [`Sorted`] from the least to the greatest.
#[derive(Debug)]
pub struct Merge<'a, T> {
    /// The next entry of all, and its run. Most often the run has the one after it as well.
    current: Option<Reverse<(T, usize)>>,
    /// The next entry of each other run that is not at its end.
    waiting: BinaryHeap<Reverse<(T, usize)>>,
    rests: Vec<SpillIter<'a, T>>,
    /// The greatest entry of each run.
    lasts: Vec<Option<T>>,
}

impl<T: SpillRow + Ord> Iterator for Merge<'_, T> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((entry, run)) = self.current?;
        self.current = match self.rests[run].next() {
            Some(Ok(next)) => Some(self.first_of(Reverse((next, run)))),
            Some(Err(error)) => return Some(Err(error)),
            None => self.waiting.pop(),
        };
        Some(Ok(entry))
    }
}

impl<T: SpillRow + Ord> Merge<'_, T> {
    /// Appends up to `most` entries; none at the end.
    pub fn fill(&mut self, entries: &mut Vec<T>, most: usize) -> Result<()> {
        let end = entries.len() + most;
        while entries.len() < end {
            if self.is_alone() {
                self.fill_from_one(entries, end)?;
                continue;
            }
            match self.next() {
                Some(entry) => entries.push(entry?),
                None => break,
            }
        }
        Ok(())
    }

    /// Whether all of the current run comes before all others: runs of a trace hardly overlap.
    fn is_alone(&self) -> bool {
        let Some(Reverse((_, run))) = self.current else { return false };
        match (self.lasts[run], self.waiting.peek()) {
            (Some(last), Some(Reverse((head, _)))) => last < *head,
            (last, _) => last.is_some(),
        }
    }

    /// Appends entries of the current run up to its end.
    fn fill_from_one(&mut self, entries: &mut Vec<T>, end: usize) -> Result<()> {
        let Some(Reverse((mut entry, run))) = self.current else { return Ok(()) };
        while entries.len() < end {
            entries.push(entry);
            match self.rests[run].next().transpose()? {
                Some(next) => entry = next,
                None => {
                    self.current = self.waiting.pop();
                    return Ok(());
                }
            }
        }
        self.current = Some(Reverse((entry, run)));
        Ok(())
    }

    #[inline]
    fn first_of(&mut self, next: Reverse<(T, usize)>) -> Reverse<(T, usize)> {
        match self.waiting.peek_mut() {
            // The greatest of the heap is the least entry.
            Some(mut other) if *other > next => std::mem::replace(&mut *other, next),
            _ => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(values: impl Iterator<Item = u64>, limit_bytes: u64) -> Vec<u64> {
        let mut sorter = Sorter::new(&Arena::new(limit_bytes));
        values.for_each(|value| sorter.push(value).unwrap());
        let sorted = sorter.finish().unwrap();
        sorted.iter().unwrap().map(Result::unwrap).collect()
    }

    /// Numbers below `count`, each once, in an order without pattern.
    fn shuffled(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |number| number * 7_919 % count)
    }

    #[test]
    fn several_runs_come_out_in_order() {
        let count = 2 * Sorter::<u64>::RUN as u64 + 12_345;
        for limit in [0, u64::MAX] {
            assert!(sorted(shuffled(count), limit).into_iter().eq(0..count), "limit {limit}");
        }
    }

    #[test]
    fn runs_beside_each_other_are_taken_whole_and_in_order() {
        let run = Sorter::<u64>::RUN as u64;
        // The second run has one entry that belongs before the first.
        let values = (1..=run).chain([0]).chain(run + 1..2 * run).chain(2 * run..2 * run + 10);
        let mut sorter = Sorter::new(&Arena::new(u64::MAX));
        values.for_each(|value| sorter.push(value).unwrap());
        let sorted = sorter.finish().unwrap();
        let (mut merge, mut all) = (sorted.iter().unwrap(), Vec::new());
        loop {
            let before = all.len();
            merge.fill(&mut all, 1000).unwrap();
            assert!(all.len() <= before + 1000);
            if all.len() == before {
                break;
            }
        }
        assert!(all.into_iter().eq(0..2 * run + 10));
    }

    #[test]
    fn nearly_sorted_and_reversed_entries_come_out_in_order() {
        let nearly = (0..10_000).map(|number| number ^ 7);
        assert!(sorted(nearly, u64::MAX).into_iter().eq(0..10_000));
        assert!(sorted((0..10_000).rev(), u64::MAX).into_iter().eq(0..10_000));
        assert!(sorted(std::iter::empty(), 0).is_empty());
    }
}
