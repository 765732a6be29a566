//! Sorts more than fits in memory: sorted runs, merged as they are read.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
};

use super::{
    Arena, SpillRow,
    run::{Reader, Run},
};
use crate::Result;

/// Size of a run of unsorted entries. Merging unpacks one segment of each run, so runs are long.
const RUN_BYTES: usize = if cfg!(test) { 1 << 20 } else { 16 << 20 };
/// Number of entries within which a late entry is put in order: few enough to stay in the processor's cache.
const WINDOW: usize = 1 << 13;
/// Number of runs shorter than [`RUN_BYTES`] after which the entries count as unsorted.
const MAX_SHORT_RUNS: usize = 16;

/// Sorts entries that arrive in any order. The sort is stable.
///
/// The entries of a trace arrive nearly in order: they pass through a window that sorts them, and form one long run, or
/// several if the order starts over.
#[derive(Debug)]
pub struct Sorter<T> {
    arena: Arena,
    window: Vec<T>,
    /// Number of entries that the window holds; as many as a run if the entries arrive in no order.
    window_len: usize,
    /// Entries that arrived too late for the window.
    late: Vec<T>,
    /// Equal entries are in the order of these runs.
    runs: Vec<Run<T>>,
    /// The run of entries that passed through the window.
    current: usize,
    /// Runs that ended early because the order started over.
    short_runs: usize,
}

impl<T: SpillRow + Ord> Sorter<T> {
    const RUN: usize = RUN_BYTES / size_of::<T>();

    /// An empty sorter; runs go to the arena.
    pub fn new(arena: &Arena) -> Self {
        Self {
            arena: arena.clone(),
            window: Vec::new(),
            window_len: WINDOW,
            late: Vec::new(),
            runs: vec![Run::new(arena)],
            current: 0,
            short_runs: 0,
        }
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: T) -> Result<()> {
        if self.window.len() >= self.window_len {
            self.move_window(WINDOW / 8)?;
        }
        self.window.push(entry);
        Ok(())
    }

    /// Returns all entries in order.
    pub fn finish(mut self) -> Result<Sorted<T>> {
        self.move_window(0)?;
        self.add_late_run()?;
        self.runs.retain(|run| run.len() > 0);
        Ok(Sorted { runs: self.runs })
    }

    #[cold]
    fn move_window(&mut self, kept: usize) -> Result<()> {
        if self.window_len > WINDOW {
            let window = std::mem::take(&mut self.window);
            self.window = self.add_run(window)?;
            return Ok(());
        }
        sort_nearly_sorted(&mut self.window);
        if self.came_late() > WINDOW / 2 {
            self.start_over()?;
        }
        let came_late = self.came_late();
        let settled = came_late.max(self.window.len().saturating_sub(kept));
        self.late.extend_from_slice(&self.window[..came_late]);
        self.runs[self.current].extend(&self.window[came_late..settled])?;
        self.window.drain(..settled);
        if self.late.len() >= Self::RUN { self.add_late_run() } else { Ok(()) }
    }

    /// Number of entries of the sorted window that belong before the end of the current run.
    fn came_late(&self) -> usize {
        let last = self.runs[self.current].last();
        last.map_or(0, |last| self.window.partition_point(|entry| entry < last))
    }

    /// Starts another run with the late entries. If that happens too often, the entries have no order, and passing them
    /// through the window first would be wasted work.
    fn start_over(&mut self) -> Result<()> {
        let came_late = self.came_late();
        let run = &mut self.runs[self.current];
        run.extend(&self.window[came_late..])?;
        self.window.truncate(came_late);
        self.short_runs += usize::from(run.len() < Self::RUN as u64);
        self.add_late_run()?;
        self.current = self.runs.len();
        self.runs.push(Run::new(&self.arena));
        if self.short_runs > MAX_SHORT_RUNS {
            self.window_len = Self::RUN.max(WINDOW + 1);
        }
        Ok(())
    }

    fn add_late_run(&mut self) -> Result<()> {
        let late = std::mem::take(&mut self.late);
        self.late = self.add_run(late)?;
        Ok(())
    }

    /// Makes a run of unsorted entries; returns their buffer for reuse.
    fn add_run(&mut self, mut entries: Vec<T>) -> Result<Vec<T>> {
        sort_nearly_sorted(&mut entries);
        let mut run = Run::new(&self.arena);
        run.extend(&entries)?;
        self.runs.push(run);
        entries.clear();
        Ok(entries)
    }
}

/// Sorts; fast if entries are close to their final positions, as they are in traces: a span that comes after its
/// children moves past them and no further.
fn sort_nearly_sorted<T: Copy + Ord>(entries: &mut [T]) {
    // Beyond this many steps, a general sort is faster.
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
            None => return entries.sort(),
        }
    }
}

/// Sorted entries; they can be read any number of times.
#[derive(Debug)]
pub struct Sorted<T> {
    runs: Vec<Run<T>>,
}

impl<T: SpillRow + Ord> Sorted<T> {
    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(Run::len).sum()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Merges two sets of sorted entries.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.runs.extend(other.runs);
        self
    }

    /// Reads the entries in ascending order.
    pub fn iter(&self) -> Result<Merge<'_, T>> {
        let readers = self.runs.iter().map(Run::read).collect::<Result<Vec<_>>>()?;
        let heads = readers.iter().zip(0..).filter_map(|(reader, run)| Some(Reverse((*reader.ready().first()?, run))));
        let mut waiting: BinaryHeap<_> = heads.collect();
        let current = waiting.pop().map(|Reverse((_, run))| run);
        Ok(Merge { current, waiting, readers })
    }
}

/// Iterates over a [`Sorted`] in ascending order.
#[derive(Debug)]
pub struct Merge<'a, T> {
    /// The run that has the next entry. Usually it has many of the following entries, too.
    current: Option<usize>,
    /// The next entry of each other run that has one.
    waiting: BinaryHeap<Reverse<(T, usize)>>,
    readers: Vec<Reader<'a, T>>,
}

impl<T: SpillRow + Ord> Iterator for Merge<'_, T> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let run = self.current?;
        let entry = *self.readers[run].ready().first()?;
        match self.go_on(run, 1) {
            Ok(()) => Some(Ok(entry)),
            Err(error) => Some(Err(error)),
        }
    }
}

impl<T: SpillRow + Ord> Merge<'_, T> {
    /// Appends up to `most` entries; appends none at the end.
    pub fn fill(&mut self, entries: &mut Vec<T>, most: usize) -> Result<()> {
        let end = entries.len() + most;
        while let Some(run) = self.current
            && entries.len() < end
        {
            let ready = self.readers[run].ready();
            let mut first = ready.get(..end - entries.len()).unwrap_or(ready);
            if let Some(Reverse(head)) = self.waiting.peek() {
                let comes_first = |entry: &T| (*entry, run) < *head;
                if !first.last().is_some_and(comes_first) {
                    // If runs overlap, they usually alternate after a few entries.
                    first = &first[..first.iter().take_while(|entry| comes_first(entry)).count()];
                }
            }
            let count = first.len();
            entries.extend_from_slice(first);
            self.go_on(run, count)?;
        }
        Ok(())
    }

    /// Moves past entries of the current run, and finds the run that comes next.
    #[inline]
    fn go_on(&mut self, run: usize, count: usize) -> Result<()> {
        self.readers[run].take(count)?;
        match (self.readers[run].ready().first(), self.waiting.peek_mut()) {
            // The greatest item of the heap is the smallest entry.
            (Some(next), Some(mut other)) if *other > Reverse((*next, run)) => {
                let Reverse((_, first)) = std::mem::replace(&mut *other, Reverse((*next, run)));
                self.current = Some(first);
            }
            (Some(_), _) => {}
            (None, other) => self.current = other.map(|other| PeekMut::pop(other).0.1),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill_row;

    fn sorted(values: impl Iterator<Item = u64>, limit_bytes: u64) -> Vec<u64> {
        let mut sorter = Sorter::new(&Arena::new(limit_bytes));
        values.for_each(|value| sorter.push(value).unwrap());
        let sorted = sorter.finish().unwrap();
        sorted.iter().unwrap().map(Result::unwrap).collect()
    }

    /// Each number below `count` once, in scrambled order.
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
    fn what_comes_late_and_what_starts_over_finds_its_place() {
        let count = 20 * WINDOW as u64;
        for limit in [0, u64::MAX] {
            // A parent after more children than the window holds, as in a file ordered by end.
            let by_end = (1..=count).chain([0]).chain(count + 2..2 * count).chain([count + 1]);
            assert!(sorted(by_end, limit).into_iter().eq(0..2 * count));
            // A thread that continues at the time at which another thread ended.
            let sections = (0..count).step_by(2).chain((0..count).skip(1).step_by(2));
            assert!(sorted(sections, limit).into_iter().eq(0..count));
        }
    }

    #[test]
    fn an_order_that_starts_over_makes_a_run_each_time_until_there_is_none() {
        const SECTION: u64 = 3 * WINDOW as u64;
        for (sections, has_order) in [(3, true), (2 * MAX_SHORT_RUNS as u64, false)] {
            let mut sorter = Sorter::new(&Arena::new(u64::MAX));
            let numbers =
                || (0..sections).flat_map(|section| (0..SECTION).map(move |number| number * sections + section));
            numbers().for_each(|number| sorter.push(number).unwrap());
            assert_eq!(sorter.window_len == WINDOW, has_order, "{sections} sections");
            let sorted = sorter.finish().unwrap();
            // The first entries of a section may come too late for a window, and form a separate run.
            assert!(!has_order || sorted.runs.len() as u64 <= 2 * sections);
            assert!(sorted.iter().unwrap().map(Result::unwrap).eq(0..sections * SECTION));
        }
    }

    spill_row! {
        #[derive(Debug, Eq, PartialEq)]
        struct Numbered { key: u32, number: u64 } by (key)
    }

    #[test]
    fn entries_of_one_key_keep_their_order() {
        let mut sorter = Sorter::new(&Arena::new(u64::MAX));
        let count = 5 * WINDOW as u64;
        let rows = (0..count).map(|number| Numbered { key: (number / 3 % (count / 6)) as u32, number });
        rows.for_each(|row| sorter.push(row).unwrap());
        let rows: Vec<Numbered> = sorter.finish().unwrap().iter().unwrap().map(Result::unwrap).collect();
        assert!(rows.is_sorted_by_key(|row| (row.key, row.number)) && rows.len() as u64 == count);
    }

    #[test]
    fn nearly_sorted_and_reversed_entries_come_out_in_order() {
        let nearly = (0..10_000).map(|number| number ^ 7);
        assert!(sorted(nearly, u64::MAX).into_iter().eq(0..10_000));
        assert!(sorted((0..10_000).rev(), u64::MAX).into_iter().eq(0..10_000));
        assert!(sorted(std::iter::empty(), 0).is_empty());
    }
}
