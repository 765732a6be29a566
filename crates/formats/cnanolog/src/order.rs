//! Puts the entries of any number of files into the order of time, in bounded memory.

use std::{cmp::Reverse, collections::BinaryHeap};

use traceloom_core::{Arena, Cursor, Entry as Spilled, Limits, Result, Spill};

use crate::Moment;

/// Where an entry lies and when it was logged; ordered by time, then by file and offset.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// When it was logged.
    pub moment: Moment,
    /// Which file, as the caller numbers them.
    pub file: u32,
    /// Where in the file, to be given to [`crate::Reader::seek`].
    pub offset: u64,
}

/// Places that are sorted at once.
const RUN: usize = 1 << 18;

impl Spilled for Place {
    const BYTES: usize = 24;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.moment.sec.to_le_bytes());
        bytes.extend_from_slice(&self.moment.nsec.to_le_bytes());
        bytes.extend_from_slice(&self.file.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let moment = Moment { sec: cursor.i64("sec")?, nsec: cursor.u32("nsec")? };
        Ok(Self { moment, file: cursor.u32("file")?, offset: cursor.u64("offset")? })
    }
}

/// Collects places and gives them back sorted: `push* sort pop*`.
///
/// Sorted runs go to a temporary file when [`Limits::tree_bytes`] are held. Who reads the entries then jumps
/// between batches of different threads: readers with a small [`Limits::window_bytes`] do that best.
#[derive(Debug)]
pub struct ByTime {
    arena: Arena,
    pending: Vec<Place>,
    /// Each a stack with its earliest place on top.
    runs: Vec<Spill<Place>>,
    heads: BinaryHeap<Reverse<(Place, usize)>>,
}

impl ByTime {
    /// Nothing collected yet.
    pub fn new(limits: &Limits) -> Self {
        let (pending, runs, heads) = (Vec::new(), Vec::new(), BinaryHeap::new());
        Self { arena: Arena::new(limits.tree_bytes), pending, runs, heads }
    }

    /// Adds a place.
    pub fn push(&mut self, place: Place) -> Result<()> {
        self.pending.push(place);
        if self.pending.len() == RUN { self.end_run() } else { Ok(()) }
    }

    /// Ends the collection.
    pub fn sort(&mut self) -> Result<()> {
        self.end_run()?;
        self.pending = Vec::new();
        for run in 0..self.runs.len() {
            self.advance(run)?;
        }
        Ok(())
    }

    /// The earliest place that is left.
    pub fn pop(&mut self) -> Result<Option<Place>> {
        let Some(Reverse((place, run))) = self.heads.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(place))
    }

    fn end_run(&mut self) -> Result<()> {
        self.pending.sort_unstable_by_key(|place| Reverse(*place));
        let mut run: Spill<Place> = self.arena.stack();
        for place in self.pending.drain(..) {
            run.push(place)?;
        }
        self.runs.push(run);
        Ok(())
    }

    fn advance(&mut self, run: usize) -> Result<()> {
        let Some(stack) = self.runs.get_mut(run) else { return Ok(()) };
        if let Some(place) = stack.pop()? {
            self.heads.push(Reverse((place, run)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_sorted_from_memory_and_from_the_file() {
        for tree_bytes in [0, 1 << 30] {
            let mut order = ByTime::new(&Limits::with(|limits| limits.tree_bytes = tree_bytes));
            let count = 2 * RUN + 1000;
            for index in 0..count as u64 {
                let scrambled = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let moment = Moment { sec: (scrambled >> 56) as i64 - 128, nsec: (scrambled >> 32) as u32 % 1000 };
                order.push(Place { moment, file: index as u32 % 3, offset: index }).expect("there is room");
            }
            order.sort().expect("there is room");
            let mut last = None;
            let mut found = 0;
            while let Some(place) = order.pop().expect("the file is ours") {
                assert!(last < Some(place));
                last = Some(place);
                found += 1;
            }
            assert_eq!(found, count);
        }
    }
}
